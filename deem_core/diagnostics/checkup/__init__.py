"""Checkup: problems of a table of votes, before anything is trained.

The truth is never used here. Where a table is large, some tests rest on evenly spread rows; their findings
say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from deem_core.diagnostics.checkup import duplicates, learners, rows, size
from deem_core.diagnostics.checkup.findings import KINDS, Finding, Kind, Severity
from deem_core.diagnostics.checkup.reading import unused_probabilities
from deem_core.diagnostics.checkup.spellings import similar, spellings
from deem_core.votes import Votes
from deem_core.votes.merging import merge_spellings

__all__ = ["KINDS", "Finding", "Kind", "Severity", "checkup", "spellings", "unused_probabilities"]

Check = Callable[[Votes], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    learners.number,
    learners.silent,
    learners.habits,
    duplicates.copies,
    learners.sparse,
    learners.separate,
    rows.votes_in_rows,
    rows.unanimous,
    rows.classes,
    similar,
    size.rows_per_unit,
    size.memory,
)


def checkup(votes: Votes) -> tuple[Finding, ...]:
    """Return findings about votes, warnings first.

    Where classes look like spellings of one label, that comes first, and everything else is judged as if they were
    merged: lost majorities, rare classes and low agreement are its symptoms.

    Parameters
    ----------
    votes : Votes
        Truth in it is not looked at.

    Returns
    -------
    tuple of Finding
        Empty for an ensemble without peculiarities.
    """
    if not votes.n_rows:
        return ()
    cause = spellings(votes)
    if cause is not None:
        votes = merge_spellings(votes)
    findings = [finding for check in CHECKS for finding in check(votes)]
    found = tuple(sorted(findings, key=lambda finding: (finding.severity != "warning", KINDS.index(finding.kind))))
    return found if cause is None else (cause, *found)
