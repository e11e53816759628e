"""Reliability of learners, estimated and real, and their correlation.

Reliability is another thing than importance: this ranks learners by being right, that by having a say.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deem_core.answers import Answer
from deem_core.errors import InputError
from deem_core.files.results import Result, long_frame
from deem_core.typing import Codes, Floats
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.agreement import clustered_order, pair_agreement
from deem_core.votes.arrays import credit, sparse_one_hot, spread_rows
from deem_core.votes.intervals import wilson

CONSENSUS = "fused label"
"""Name of the fused label among the learners."""

MAX_ROWS = 100_000
"""Rows, evenly spread, over which correlations are taken."""


@dataclass(frozen=True)
class Reliability(Result):
    """Accuracy of each of d learners.

    Attributes
    ----------
    source : "estimated", "gold" or "real"
        Agreement with the fused label, usually optimistic; with gold labels; or with the truth.
    learners : tuple of d str
    accuracy : (d,) float64
        NaN for a learner without votes on the rows looked at.
    low, high : (d,) float64
        Wilson's 95% interval over rows. That of an estimate says nothing of how far the fused labels are from right.
    rows : (d,) int64
        Rows that each learner voted on (with known truth, if real).
    """

    source: str
    learners: tuple[str, ...]
    accuracy: Floats
    low: Floats
    high: Floats
    rows: NDArray[np.int64]

    def to_frame(self) -> pd.DataFrame:
        """Return a row per learner."""
        return pd.DataFrame(
            {
                "learner": list(self.learners),
                f"{self.source}_accuracy": self.accuracy,
                "low": self.low,
                "high": self.high,
                "rows": self.rows,
            }
        )


def estimated_reliability(answer: Answer) -> Reliability:
    """Return each learner's accuracy without truth.

    The mean of p(x_ni | x_n) over the rows it voted on. Where probabilities were not kept, its agreement with the
    labels.
    """
    votes = answer.votes
    cast = votes.codes != NO_VOTE
    rows = np.asarray(cast.sum(axis=0), np.int64)
    if not answer.probabilities_known:
        return _reliability("estimated", votes, ((votes.codes == answer.codes[:, None]) & cast).sum(axis=0), rows)
    return _reliability("estimated", votes, credit(votes.codes, answer.posterior), rows)


def real_reliability(votes: Votes) -> Reliability:
    """Return each learner's accuracy by the truth. For evaluation only."""
    truth = _truth(votes)
    known = truth != NO_VOTE
    cast = votes.codes[known] != NO_VOTE
    right = (votes.codes[known] == truth[known, None]) & cast
    return _reliability("real", votes, right.sum(axis=0), cast.sum(axis=0))


def any_learner_right(votes: Votes) -> float:
    """Return the share of rows with any learner right.

    Of the rows with known truth and votes. For evaluation only.

    No choice among the votes can be right more often.
    """
    truth = _truth(votes)
    rows = (truth != NO_VOTE) & (votes.votes_per_row > 0)
    if not rows.any():
        return float("nan")
    return float((votes.codes[rows] == truth[rows, None]).any(axis=1).mean())


@dataclass(frozen=True)
class Correlation(Result):
    """Correlation of learners and the fused label (paper, recovery graph's heatmap).

    Attributes
    ----------
    names : tuple of d + 1 str
        The learners, then the fused label.
    matrix : (d + 1, d + 1) float64
        Correlation of the one-hot votes, Σ_k cov([x=k], [y=k]) / √(Σ_k var[x=k] · Σ_k var[y=k]): 1 for equal votes,
        0 for independent ones, Pearson's for two classes, and the same however the classes are numbered. NaN for a
        pair that shares too few rows or of which one never varies.
    order : (d + 1,) intp
        Those that go together side by side.
    """

    names: tuple[str, ...]
    matrix: Floats
    order: NDArray[np.intp]

    @property
    def with_consensus(self) -> Floats:
        """Correlation of each learner with the fused label, (d,)."""
        return self.matrix[-1, :-1]

    def to_frame(self) -> pd.DataFrame:
        """Return a row per pair."""
        return long_frame({"correlation": self.matrix}, ("first", self.names), ("second", self.names))


def correlation(answer: Answer, max_rows: int = MAX_ROWS) -> Correlation:
    """Return the correlation of all learners and the fused label.

    At most ``max_rows`` evenly spread rows are used.
    """
    rows = spread_rows(answer.votes.n_rows, max_rows, nearest=True)
    some = answer.votes.select_rows(rows).without_truth()
    name = CONSENSUS
    while name in some.learners:
        name += "*"
    codes = np.column_stack([some.codes, answer.codes[rows]])
    both = replace(some, codes=codes, learners=(*some.learners, name), soft=None)
    agreed = pair_agreement(both).share  # NaN for pairs with too few common rows
    expected, first = _chance(both)
    spread = np.sqrt((1 - first) * (1 - first.T))
    matrix = np.divide(agreed - expected, spread, out=np.full_like(spread, np.nan), where=spread > 1e-12)
    np.fill_diagonal(matrix, 1.0)
    return Correlation(both.learners, matrix, clustered_order(matrix))


def _chance(votes: Votes) -> tuple[Floats, Floats]:
    """Return Σ_k p_k q_k and Σ_k p_k² of every pair, (d, d) each.

    Over the rows it shares; p is the first's.
    """
    d, K = votes.n_learners, votes.n_classes
    present = (votes.codes != NO_VOTE).astype(np.float64)
    counts = np.asarray(sparse_one_hot(votes.codes, K).T @ present).reshape(d, K, d)  # of the first where both voted
    common = np.maximum(present.T @ present, 1)
    share = counts / common[:, None, :]
    return np.einsum("ikj,jki->ij", share, share), np.asarray((share**2).sum(axis=1))


def _truth(votes: Votes) -> Codes:
    if votes.truth is None:
        raise InputError("There is no truth to compare the learners with.")
    return votes.truth


def _reliability(source: str, votes: Votes, right: NDArray[Any], rows: NDArray[Any]) -> Reliability:
    accuracy = np.divide(right, rows, out=np.full(len(rows), np.nan), where=rows > 0)
    low, high = wilson(accuracy, rows)
    return Reliability(source, votes.learners, accuracy, low, high, np.asarray(rows, np.int64))
