"""Labelling rules: what each votes for, how often, and against whom.

The table that weak supervision looks at first (Snorkel's LFAnalysis). With rows n, votes x_ni and V_n the rules that
vote on row n, all as shares of all rows:

    coverage_i = #{n : i ∈ V_n} / N
    overlap_i  = #{n : i ∈ V_n, |V_n| ≥ 2} / N
    conflict_i = #{n : i ∈ V_n, x_nj ≠ x_ni for some j ∈ V_n} / N

If the votes of a row are not all the same, everyone who votes there has somebody against it, so one pass that finds the
rows with two different votes is enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deem_core.files.results import Result
from deem_core.files.tables import class_texts
from deem_core.groups.one_class import one_class_learners
from deem_core.typing import Integers, Mask
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.arrays import chunks

_BLOCK = 1 << 21  # votes looked at in one go


@dataclass(frozen=True)
class Rule:
    """One learner, seen as a labelling rule.

    Attributes
    ----------
    learner : str
    polarity : tuple of str
        The classes it ever votes for, in the order of the classes; empty for a rule that never fires.
    n_votes : int
        Rows it votes on.
    coverage, overlap, conflict : float
        Shares of all rows: it votes; it votes and so does another; it votes and another votes for another class.
    precision : float, optional
        Evaluation only: share of its votes that are right, where the truth is known; None if it is not.
    n_judged : int
        Votes behind the precision.
    """

    learner: str
    polarity: tuple[str, ...]
    n_votes: int
    coverage: float
    overlap: float
    conflict: float
    precision: float | None = None
    n_judged: int = 0


@dataclass(frozen=True)
class RuleTable(Result):
    """All rules of a file, in its order.

    Attributes
    ----------
    rules : tuple of d Rule
    n_rows, n_covered, n_overlapping, n_conflicting : int
        All rows, and those with a vote, with two votes or more, and with two different ones.
    """

    rules: tuple[Rule, ...]
    n_rows: int
    n_covered: int
    n_overlapping: int
    n_conflicting: int

    def to_frame(self) -> pd.DataFrame:
        """Return a row per rule; precision only where the truth is known."""
        frame = pd.DataFrame(
            {
                "rule": [rule.learner for rule in self.rules],
                "votes_for": [", ".join(rule.polarity) for rule in self.rules],
                "votes": [rule.n_votes for rule in self.rules],
                "coverage": [rule.coverage for rule in self.rules],
                "overlap": [rule.overlap for rule in self.rules],
                "conflict": [rule.conflict for rule in self.rules],
            }
        )
        if any(rule.precision is not None for rule in self.rules):
            frame["precision"] = [np.nan if rule.precision is None else rule.precision for rule in self.rules]
        return frame


def find_rules(votes: Votes) -> RuleTable | None:
    """Return the table of a file that is made of one-class rules.

    None for any other file, in which such a table would say little.
    """
    return rule_table(votes) if one_class_learners(votes).made_of_rules else None


def rule_table(votes: Votes) -> RuleTable:
    """Return polarity, coverage, overlap and conflict of every learner.

    Parameters
    ----------
    votes : Votes
        Truth in it serves the precision only.

    Examples
    --------
    >>> from deem_core import Votes
    >>> from deem_core.diagnostics import rule_table
    >>> votes = Votes.from_labels([["spam", None], ["spam", "ham"], [None, "ham"], [None, None]])
    >>> rule_table(votes).to_frame()["conflict"].tolist()
    [0.25, 0.25]
    """
    n, d = votes.n_rows, votes.n_learners
    both, against = np.zeros(d, np.int64), np.zeros(d, np.int64)
    hits, judged = np.zeros(d, np.int64), np.zeros(d, np.int64)
    totals = np.zeros(3, np.int64)
    for rows in chunks(n, _BLOCK // max(d, 1)):
        block = votes.codes[rows]
        cast = block != NO_VOTE
        together, divided = _rows_shared(block, cast)
        both += _count(cast, together)
        against += _count(cast, divided)
        totals += [int(cast.any(axis=1).sum()), int(together.sum()), int(divided.sum())]
        if votes.truth is not None:
            truth = votes.truth[rows]
            judged += _count(cast, truth != NO_VOTE)
            hits += ((block == truth[:, None]) & cast).sum(axis=0)
    names, counts = np.array(class_texts(votes), object), votes.class_counts
    size = max(n, 1)
    return RuleTable(
        rules=tuple(
            Rule(
                learner=name,
                polarity=tuple(names[counts[j] > 0].tolist()),
                n_votes=int(counts[j].sum()),
                coverage=float(counts[j].sum() / size),
                overlap=float(both[j] / size),
                conflict=float(against[j] / size),
                precision=float(hits[j] / judged[j]) if judged[j] else None,
                n_judged=int(judged[j]),
            )
            for j, name in enumerate(votes.learners)
        ),
        n_rows=n,
        n_covered=int(totals[0]),
        n_overlapping=int(totals[1]),
        n_conflicting=int(totals[2]),
    )


def _rows_shared(codes: Integers, cast: Mask) -> tuple[Mask, Mask]:
    """Return the rows with several votes, and with different ones, (b,)."""
    highest = codes.max(axis=1)
    lowest = np.where(cast, codes, np.iinfo(codes.dtype).max).min(axis=1)
    return cast.sum(axis=1) >= 2, (highest != NO_VOTE) & (lowest != highest)


def _count(cast: Mask, rows: Mask) -> NDArray[np.int64]:
    """Count each learner's votes on some rows, (d,)."""
    votes: NDArray[np.int64] = cast[rows].sum(axis=0)
    return votes
