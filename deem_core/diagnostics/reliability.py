"""Reliability: how often each learner is right, without truth and with it, and how it goes with the others.

Reliability is another thing than importance: this ranks learners by being right, that by having a say.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deem_core.baselines.tally import credit
from deem_core.diagnostics.agreement import clustered_order, pair_agreement, spread_rows
from deem_core.diagnostics.confidence import Posterior, fused_codes
from deem_core.diagnostics.intervals import wilson
from deem_core.diagnostics.result import Result, long_frame
from deem_core.errors import InputError
from deem_core.one_hot import sparse_one_hot
from deem_core.votes import NO_VOTE, Votes

Float = NDArray[np.float64]

CONSENSUS = "fused label"
"""Name of the fused label among the learners."""

MAX_ROWS = 100_000
"""Rows, evenly spread, over which correlations are taken."""


@dataclass(frozen=True)
class Reliability(Result):
    """How often each of d learners is right.

    Attributes
    ----------
    source : "estimated" or "real"
        Agreement with the fused label, usually optimistic; or with the truth.
    learners : tuple of d str
    accuracy : (d,) float64
        NaN for a learner without votes on the rows looked at.
    low, high : (d,) float64
        Wilson's 95 % interval over rows. That of an estimate says nothing of how far the fused labels are from right.
    rows : (d,) int64
        Rows that each learner voted on (with known truth, if real).
    """

    source: str
    learners: tuple[str, ...]
    accuracy: Float
    low: Float
    high: Float
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


def estimated_reliability(votes: Votes, posterior: Posterior) -> Reliability:
    """Return each learner's accuracy without truth: the mean of p(x_ni | x_n) over the rows it voted on."""
    rows = np.asarray((votes.codes != NO_VOTE).sum(axis=0), np.int64)
    return _reliability("estimated", votes, credit(votes.codes, np.asarray(posterior)), rows)


def real_reliability(votes: Votes) -> Reliability:
    """Return each learner's accuracy on the rows with known truth. Evaluation only."""
    truth = _truth(votes)
    known = truth != NO_VOTE
    cast = votes.codes[known] != NO_VOTE
    right = (votes.codes[known] == truth[known, None]) & cast
    return _reliability("real", votes, right.sum(axis=0), cast.sum(axis=0))


def any_learner_right(votes: Votes) -> float:
    """Return the share of rows with known truth and votes on which at least one learner is right. Evaluation only.

    No choice among the votes can be right more often.
    """
    truth = _truth(votes)
    rows = (truth != NO_VOTE) & (votes.votes_per_row > 0)
    if not rows.any():
        return float("nan")
    return float((votes.codes[rows] == truth[rows, None]).any(axis=1).mean())


@dataclass(frozen=True)
class Correlation(Result):
    """How learners and the fused label go together (paper, the heatmap beside the recovery graph).

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
    matrix: Float
    order: NDArray[np.intp]

    @property
    def with_consensus(self) -> Float:
        """Correlation of each learner with the fused label, (d,)."""
        return self.matrix[-1, :-1]

    def to_frame(self) -> pd.DataFrame:
        """Return a row per pair."""
        return long_frame({"correlation": self.matrix}, ("first", self.names), ("second", self.names))


def correlation(votes: Votes, posterior: Posterior, max_rows: int = MAX_ROWS) -> Correlation:
    """Return the correlation of all learners and the fused label, over at most ``max_rows`` evenly spread rows."""
    rows = spread_rows(votes.n_rows, max_rows)
    some, p = votes.select_rows(rows).without_truth(), posterior[rows]
    name = CONSENSUS
    while name in some.learners:
        name += "*"
    codes = np.column_stack([some.codes, fused_codes(some, p)])
    both = replace(some, codes=codes, learners=(*some.learners, name), soft=None)
    agreed = pair_agreement(both).share  # NaN for pairs with too few common rows
    expected, first = _chance(both)
    spread = np.sqrt((1 - first) * (1 - first.T))
    matrix = np.divide(agreed - expected, spread, out=np.full_like(spread, np.nan), where=spread > 1e-12)
    np.fill_diagonal(matrix, 1.0)
    return Correlation(both.learners, matrix, clustered_order(matrix))


def _chance(votes: Votes) -> tuple[Float, Float]:
    """Return Σ_k p_k q_k and Σ_k p_k² of every pair over the rows it shares, (d, d) each; p is the first's."""
    d, K = votes.n_learners, votes.n_classes
    present = (votes.codes != NO_VOTE).astype(np.float64)
    counts = np.asarray(sparse_one_hot(votes.codes, K).T @ present).reshape(d, K, d)  # of the first where both voted
    common = np.maximum(present.T @ present, 1)
    share = counts / common[:, None, :]
    return np.einsum("ikj,jki->ij", share, share), np.asarray((share**2).sum(axis=1))


def _truth(votes: Votes) -> NDArray[np.int32]:
    if votes.truth is None:
        raise InputError("There is no truth to compare the learners with.")
    return votes.truth


def _reliability(source: str, votes: Votes, right: NDArray[Any], rows: NDArray[Any]) -> Reliability:
    accuracy = np.divide(right, rows, out=np.full(len(rows), np.nan), where=rows > 0)
    low, high = wilson(accuracy, rows)
    return Reliability(source, votes.learners, accuracy, low, high, np.asarray(rows, np.int64))
