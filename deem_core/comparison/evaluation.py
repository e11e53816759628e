"""Evaluation of an answer where the truth is known.

Call it when training is over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deem_core.answers.answer import Answer
from deem_core.files.plain import from_plain, to_plain
from deem_core.methods import dawid_skene
from deem_core.text import count, interval, percent, points
from deem_core.typing import Codes
from deem_core.votes import NO_VOTE, Votes, intervals
from deem_core.votes.describe import accuracy, majority_accuracy
from deem_core.votes.scale import label_scores
from deem_core.votes.statistics import FairVote, paired_difference, scale_errors, scores

TITLES = {"fused": "Fused labels", "dawid_skene": "Dawid-Skene", "majority_vote": "Majority vote"}
"""What is evaluated, and what people call it."""


@dataclass(frozen=True)
class MethodScore:
    """How right one method is, with 95% intervals over rows.

    Where labels have an order also their mean absolute error, in the units of the scale, and the quadratic weighted
    kappa.
    """

    name: str
    title: str
    accuracy: float
    macro_f1: float
    accuracy_interval: tuple[float, float]
    macro_f1_interval: tuple[float, float]
    mean_absolute_error: float | None = None
    quadratic_kappa: float | None = None


@dataclass(frozen=True)
class Evaluation:
    """How right the labels, Dawid-Skene and the majority vote are.

    Attributes
    ----------
    accuracy, majority_vote_accuracy, dawid_skene_accuracy : float
        That of the majority vote is the expected value of a fair draw of its ties.
    rows : int
        With known truth.
    methods : tuple of MethodScore
        In the order of `TITLES`.
    gains : dict of str to (float, float, float)
        Accuracy of the labels minus that of another method, with the ends of its 95% interval. Against the majority
        vote a tied row counts by the share of its draw.
    majority_vote_first_class_accuracy : float, optional
        The majority vote with ties given to the first class; None where an older version did not tell.
    alike : tuple of str
        Those of the other methods that give every row the same label.
    """

    accuracy: float
    majority_vote_accuracy: float
    dawid_skene_accuracy: float
    rows: int
    methods: tuple[MethodScore, ...]
    gains: dict[str, tuple[float, float, float]]
    majority_vote_first_class_accuracy: float | None = None
    alike: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        plain: dict[str, Any] = to_plain(self)
        return plain

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Evaluation:
        """Inverse of `to_dict`; KeyError or TypeError if something is missing or damaged."""
        evaluation = from_plain(cls, values)
        for name in ("majority_vote", "dawid_skene"):
            evaluation.gains[name]  # sentences need both
        return evaluation

    def sentence(self) -> str:
        """Say what the labels are worth against the majority vote and Dawid-Skene.

        A gain or loss is one whose interval leaves out 0. An interval around 0 that is wider than
        `intervals.TELLING` to either side says that there are too few rows to tell.
        """
        known = f"on the {count(self.rows, 'row')} with known truth"
        if "majority_vote" in self.alike:  # then there is nothing to win or lose
            own = next(method for method in self.methods if method.name == "fused")
            ends = interval(*own.accuracy_interval)
            return f"Right {known}: {percent(self.accuracy)} (95% interval {ends}). {self._dawid_skene()}"
        gain, low, high = self.gains["majority_vote"]
        told = points(gain, low, high)
        if low > 0:
            worth = f"That is a gain {known}: {told}."
        elif high < 0:
            worth = f"That is a loss {known}: {told}. Here the majority vote is the better answer."
        elif intervals.tells_alike(low, high):
            worth = f"That is no clear gain {known}: {told}."
        else:
            few = "1 row with known truth is" if self.rows == 1 else f"{self.rows:,} rows with known truth are"
            worth = f"{few} too few to tell whether that is a gain: {told}."
        return f"{worth} {self._dawid_skene()}"

    def _dawid_skene(self) -> str:
        """Say how Dawid-Skene does beside the labels."""
        gain, low, high = self.gains["dawid_skene"]
        if "dawid_skene" in self.alike:
            return "Dawid-Skene gives the same labels."
        if low > 0:
            return f"Dawid-Skene is worse, by {100 * gain:.1f} points."
        if high < 0:
            return f"Dawid-Skene is better here, by {-100 * gain:.1f} points."
        if intervals.tells_alike(low, high):
            return "Dawid-Skene is on a par."
        return f"Dawid-Skene: {percent(self.dawid_skene_accuracy)}, too close to tell apart."


def scale_scores(votes: Votes, labels: Codes | FairVote) -> tuple[float | None, float | None]:
    """Return the mean absolute error and the quadratic weighted kappa of labels, (S, n).

    None for both where labels have no order, or no row with a known truth has a place on the scale.
    """
    if not votes.ordered or votes.truth is None:
        return None, None
    error, kappa = scale_errors(labels, votes.truth, label_scores(votes))
    return (None, None) if np.isnan(error) else (error, kappa)


def evaluate(answer: Answer, dawid_skene_codes: Codes | None = None) -> Evaluation | None:
    """Compare an answer with the truth of its votes; None without truth.

    Parameters
    ----------
    answer : Answer
    dawid_skene_codes : (n,) array of int, optional
        The labels of Dawid-Skene, where they are known already.
    """
    votes = answer.votes
    if votes.truth is None or not (votes.truth != NO_VOTE).any():
        return None
    rng = np.random.default_rng(0)
    if dawid_skene_codes is None:
        dawid_skene_codes = dawid_skene.aggregate(votes.without_truth(), rng).codes
    fair = FairVote.of(votes)
    labels: dict[str, Codes | FairVote] = {
        "fused": answer.codes[None],
        "dawid_skene": dawid_skene_codes[None],
        "majority_vote": fair,
    }
    n_labels = votes.n_classes + len(votes.truth_only)
    methods = []
    for name, codes in labels.items():
        own = scores(codes, votes.truth, n_labels, rng)
        methods.append(
            MethodScore(
                name,
                TITLES[name],
                own.means["accuracy"],
                own.means["macro_f1"],
                own.intervals["accuracy"],
                own.intervals["macro_f1"],
                *scale_scores(votes, codes),
            )
        )
    gains = {
        name: paired_difference(labels["fused"], codes, votes.truth)
        for name, codes in labels.items()
        if name != "fused"
    }
    return Evaluation(
        accuracy=accuracy(answer.codes, votes.truth),
        majority_vote_accuracy=majority_accuracy(votes),
        dawid_skene_accuracy=accuracy(dawid_skene_codes, votes.truth),
        rows=int((votes.truth != NO_VOTE).sum()),
        methods=tuple(methods),
        gains=gains,
        majority_vote_first_class_accuracy=accuracy(votes.majority_vote.codes, votes.truth),
        alike=tuple(
            name
            for name, codes in (("dawid_skene", dawid_skene_codes), ("majority_vote", answer.majority))
            if np.array_equal(codes, answer.codes)
        ),
    )
