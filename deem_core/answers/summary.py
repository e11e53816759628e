"""Summary of an answer: a few numbers, without the truth."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AnswerSummary:
    """An answer in a few numbers, without the truth.

    Attributes
    ----------
    n_rows, n_learners, n_classes : int
    class_shares, majority_shares : list of K floats
        Of the rows with votes, by the fused label and by the majority vote.
    changed, overruled : int
        Rows whose label differs from the majority vote (in a tied row: from all tied classes), and from a unanimous
        one.
    mean_confidence, agreement : float, optional
        Over the rows with votes; agreement is the share of labels that equal the majority vote. None without votes.
    mean_score : float, optional
        Mean expected score of the rows with votes, where labels have an order.
    """

    n_rows: int
    n_learners: int
    n_classes: int
    class_shares: list[float]
    majority_shares: list[float]
    changed: int
    overruled: int
    mean_confidence: float | None
    agreement: float | None
    mean_score: float | None = None
