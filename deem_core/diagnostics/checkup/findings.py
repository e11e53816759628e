"""Findings: what is worth knowing about a table of votes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from deem_core.errors import InputError
from deem_core.text import listing
from deem_core.votes import Votes
from deem_core.votes.recode import MIN_LEARNERS

Severity = Literal["warning", "note"]

Kind = Literal[
    "spellings",
    "unused_probabilities",
    "few_learners",
    "silent_learners",
    "constant_learners",
    "one_sided_learners",
    "identical_learners",
    "near_copies",
    "near_identical",
    "worse_than_chance",
    "chance_learners",
    "sparse_learners",
    "separate_learners",
    "rows_without_votes",
    "few_votes_per_row",
    "unanimous_rows",
    "imbalance",
    "unpredicted_classes",
    "rare_classes",
    "unused_classes",
    "similar_labels",
    "few_rows",
    "memory",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""Every kind of finding, in the order in which `checkup` returns them within a severity."""


@dataclass(frozen=True)
class Finding:
    """One thing the user should know before training.

    Attributes
    ----------
    kind : str
        One of `KINDS`; stable, for scripts.
    severity : "warning" or "note"
        A warning may spoil the answer; a note explains what will be done or seen.
    title : str
        A few words.
    sentence : str
        What was found and what it means.
    advice : str
        What to do about it.
    learners : tuple of str
        Learners concerned, in the order of the table.
    leave_out : tuple of str
        Learners that one may leave out at once; empty where that is not the remedy or too few would remain.
    classes : tuple
        Classes concerned, in their original labels.
    numbers : dict
        The figures behind the sentence, plain numbers and tuples.
    """

    kind: Kind
    severity: Severity
    title: str
    sentence: str
    advice: str
    learners: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    classes: tuple[Any, ...] = ()
    numbers: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a kind that nobody knows."""
        if self.kind not in KINDS:
            raise InputError(f"There is no finding of kind {self.kind!r}; the kinds are {', '.join(KINDS)}.")


def may_leave(votes: Votes, names: Iterable[str]) -> tuple[str, ...]:
    """Return the learners to leave out.

    None if fewer than three that vote would remain.
    """
    chosen = set(names)
    remaining = sum(
        share > 0 and name not in chosen for name, share in zip(votes.learners, votes.learner_coverage, strict=True)
    )
    return in_order(votes, chosen) if remaining >= MIN_LEARNERS else ()


def in_order(votes: Votes, names: Iterable[str]) -> tuple[str, ...]:
    """Return learners without repetition, in the order of the table."""
    chosen = set(names)
    return tuple(name for name in votes.learners if name in chosen)


def as_list(labels: Iterable[Any], most: int = 8) -> str:
    """Return names or labels as text, cut after a few."""
    return listing([str(label) for label in labels], most, rest="others")


def basis(rows_used: int, n_rows: int) -> str:
    """Say on how many rows something was judged, if not all."""
    return f" (judged on {rows_used:,} of {n_rows:,} rows)" if rows_used < n_rows else ""
