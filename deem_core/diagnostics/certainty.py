"""Certainty of an answer: confidence, restart support, dead classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deem_core.answers import Answer
from deem_core.diagnostics.model_view import FittedModel, class_names, logits
from deem_core.files.results import Result
from deem_core.training.health import ALARM, restart_agreement, share_ratio
from deem_core.typing import Codes, Floats, Rows
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.arrays import chunks, distinct_rows, spread_rows

BINS = 50
"""Bins of the histograms of confidence and margin."""

_AGREEMENT_ROWS = 5_000  # rows on which restarts are compared
_SUPPORT_CELLS = 1 << 22  # (restart, row, class) logits held at once


@dataclass(frozen=True)
class ConfidenceSummary(Result):
    """Histograms of how sure the labels are.

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

    edges: Floats
    confidence: NDArray[np.int64]
    margin: NDArray[np.int64]
    review_score: Floats
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
    """Dead classes and agreement of restarts.

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
    restart_agreement: Floats

    def to_frame(self) -> pd.DataFrame:
        """Return a row per restart."""
        return pd.DataFrame({"restart": np.arange(len(self.restart_agreement)), "agreement": self.restart_agreement})


def summarise_confidence(answer: Answer) -> ConfidenceSummary:
    """Return histograms and class counts of the rows with votes."""
    votes, voted = answer.votes, ~answer.silent
    edges = np.linspace(0, 1, BINS + 1)
    return ConfidenceSummary(
        edges=edges,
        confidence=np.histogram(np.clip(answer.confidence[voted], 0, 1), edges)[0],
        margin=np.histogram(np.clip(answer.margin[voted], 0, 1), edges)[0],
        review_score=np.percentile(answer.review_score[voted], np.arange(101)),
        fused=np.bincount(answer.codes[voted], minlength=votes.n_classes),
        majority=np.bincount(answer.majority[voted], minlength=votes.n_classes),
        classes=class_names(votes.classes),
        n_silent=int((~voted).sum()),
    )


def restart_support(model: FittedModel, votes: Votes, fused: Codes) -> Floats:
    """Return the share of the kept restarts behind each fused label, (n,).

    NaN for rows without votes.

    Parameters
    ----------
    model : DEEM, SoftDEEM, IRBM or GroupedDawidSkene
    votes : Votes
        In the model's terms.
    fused : (n,) array of int
    """
    read = model.read(votes)
    if read.ndim == 3:  # hardly two rows of probabilities are the same
        return row_support(model, read, fused)
    rows = distinct_rows(np.column_stack([votes.codes, fused]))
    return rows.spread(row_support(model, rows.codes[:, :-1], rows.codes[:, -1]))


def row_support(model: FittedModel, rows: Rows, label: Codes) -> Floats:
    """Return the share of the restarts behind each label, (n,)."""
    support = np.full(len(rows), np.nan)
    restarts = max(1, sum(part.n_restarts for part in model.parts_))
    for part in chunks(len(rows), max(256, _SUPPORT_CELLS // (restarts * len(model.classes_)))):
        own = logits(model, rows[part]).argmax(axis=2)  # (R, b)
        support[part] = (own == label[part]).mean(axis=0)
    support[label == NO_VOTE] = np.nan
    return support


def answer_health(model: FittedModel, votes: Votes, labels: Codes) -> AnswerHealth:
    """Return whether a class died, and how well restarts agree.

    ``labels`` are the fused labels, (n,).
    """
    ratio = share_ratio(labels, votes.majority_vote.codes, votes.n_classes)
    voted = np.flatnonzero(votes.votes_per_row > 0)
    some = model.read(votes)[voted[spread_rows(len(voted), _AGREEMENT_ROWS, nearest=True)]]
    own = logits(model, some).argmax(axis=2)  # (R, b)
    return AnswerHealth(ratio, ratio < ALARM, restart_agreement(own))
