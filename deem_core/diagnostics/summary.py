"""Summary of an answer: how sure its labels are, and whether it lives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deem_core.diagnostics import confidence
from deem_core.diagnostics.agreement import spread_rows
from deem_core.diagnostics.answers import Fused, class_names, logits
from deem_core.diagnostics.health import ALARM, restart_agreement, share_ratio
from deem_core.diagnostics.result import Result
from deem_core.votes import Votes

Float = NDArray[np.float64]

BINS = 50
"""Bins of the histograms of confidence and margin."""

_AGREEMENT_ROWS = 5_000  # rows on which restarts are compared


@dataclass(frozen=True)
class ConfidenceSummary(Result):
    """How sure the labels are.

    Attributes
    ----------
    edges : (B + 1,) float64
        Bins of both histograms, from 0 to 1.
    confidence, margin : (B,) int64
        Rows by the probability of their label, and by its lead over the next.
    review_score : (101,) float64
        Percentiles of the review score.
    fused, majority : (K,) int64
        Rows of each class by the fused label and by the majority vote.
    classes : tuple of K str
    n_silent : int
        Rows without votes, which are in none of the above.
    """

    edges: Float
    confidence: NDArray[np.int64]
    margin: NDArray[np.int64]
    review_score: Float
    fused: NDArray[np.int64]
    majority: NDArray[np.int64]
    classes: tuple[str, ...]
    n_silent: int

    def to_frame(self) -> pd.DataFrame:
        """Return a row per bin."""
        columns = {"from": self.edges[:-1], "to": self.edges[1:], "rows_by_confidence": self.confidence}
        return pd.DataFrame({**columns, "rows_by_margin": self.margin})


@dataclass(frozen=True)
class AnswerHealth(Result):
    """Whether the answer lives.

    Attributes
    ----------
    share_ratio : float
        How much of its majority-vote share the worst class keeps (`health.share_ratio`).
    alarm : bool
        Whether that is below `health.ALARM`: a class died.
    restart_agreement : (R,) float64
        Mean agreement of each kept restart with the others; NaN for a single one.
    """

    share_ratio: float
    alarm: bool
    restart_agreement: Float

    def to_frame(self) -> pd.DataFrame:
        """Return a row per restart."""
        return pd.DataFrame({"restart": np.arange(len(self.restart_agreement)), "agreement": self.restart_agreement})


def summarise_confidence(votes: Votes, posterior: confidence.Posterior, labels: NDArray[np.int32]) -> ConfidenceSummary:
    """Return histograms and class counts of the rows with votes.

    Parameters
    ----------
    votes : Votes
    posterior : (n, K) array
    labels : (n,) array of int
        Its fused classes, -1 for rows without votes.
    """
    voted = votes.votes_per_row > 0
    p = posterior[voted]
    edges = np.linspace(0, 1, BINS + 1)
    score = confidence.review_score(votes, posterior)[voted]
    return ConfidenceSummary(
        edges=edges,
        confidence=np.histogram(np.clip(confidence.confidence(p), 0, 1), edges)[0],
        margin=np.histogram(np.clip(confidence.margin(p), 0, 1), edges)[0],
        review_score=np.percentile(score, np.arange(101)),
        fused=np.bincount(labels[voted], minlength=votes.n_classes),
        majority=np.bincount(votes.majority_vote.codes[voted], minlength=votes.n_classes),
        classes=class_names(votes.classes),
        n_silent=int((~voted).sum()),
    )


def answer_health(model: Fused, votes: Votes, labels: NDArray[np.int32]) -> AnswerHealth:
    """Return whether a class died in the fused labels (n,), and how well the restarts agree."""
    ratio = share_ratio(labels, votes.majority_vote.codes, votes.n_classes)
    voted = np.flatnonzero(votes.votes_per_row > 0)
    some = votes.codes[voted[spread_rows(len(voted), _AGREEMENT_ROWS)]]
    own = logits(model, some).argmax(axis=2)  # (R, b)
    return AnswerHealth(ratio, ratio < ALARM, restart_agreement(own))
