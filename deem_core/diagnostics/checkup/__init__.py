"""Checkup: problems of a table of votes, before anything is trained.

The truth is never used here. Where a table is large, some tests rest on evenly spread rows; their findings
say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from deem_core.diagnostics.checkup import duplicates, learners, rows, size
from deem_core.diagnostics.checkup.findings import KINDS, Finding, Kind, Severity
from deem_core.votes import Votes

__all__ = ["KINDS", "Finding", "Kind", "Severity", "checkup"]

Check = Callable[[Votes], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    learners.number,
    learners.silent,
    learners.constant,
    duplicates.copies,
    learners.chance,
    learners.sparse,
    learners.separate,
    rows.votes_in_rows,
    rows.unanimous,
    rows.classes,
    size.rows_per_unit,
    size.memory,
)


def checkup(votes: Votes) -> tuple[Finding, ...]:
    """Return findings about votes, warnings first.

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
    findings = [finding for check in CHECKS for finding in check(votes)]
    return tuple(sorted(findings, key=lambda finding: (finding.severity != "warning", KINDS.index(finding.kind))))
