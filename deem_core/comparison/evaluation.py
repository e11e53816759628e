"""Evaluation of an answer where the truth is known.

Call it when training is over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deem_core.answers.answer import Answer
from deem_core.answers.label_sets import SetAnswer
from deem_core.files.plain import from_plain, to_plain
from deem_core.methods import dawid_skene
from deem_core.text import count, interval, percent, points
from deem_core.typing import Codes, Mask
from deem_core.votes import NO_VOTE, Votes, intervals
from deem_core.votes.describe import accuracy, majority_accuracy
from deem_core.votes.label_sets import label_sets, question
from deem_core.votes.scale import label_scores
from deem_core.votes.statistics import FairVote, paired_difference, scale_errors, scores

TITLES = {"fused": "Fused labels", "dawid_skene": "Dawid-Skene", "majority_vote": "Majority vote"}
"""What is evaluated, and what people call it."""


@dataclass(frozen=True)
class MethodScore:
    """How right one method is, with 95% intervals over rows.

    Where labels have an order also their mean absolute error, in the units of the scale, and the quadratic weighted
    kappa. Where a row has several labels, accuracy is that of whole sets, and the last three are over all pairs of row
    and label: the share that is wrong, F1 of all pairs together, and the mean F1 of the labels.
    """

    name: str
    title: str
    accuracy: float
    macro_f1: float
    accuracy_interval: tuple[float, float]
    macro_f1_interval: tuple[float, float]
    mean_absolute_error: float | None = None
    quadratic_kappa: float | None = None
    hamming_loss: float | None = None
    label_micro_f1: float | None = None
    label_macro_f1: float | None = None


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


def evaluate_sets(answer: SetAnswer, dawid_skene_codes: Codes | None = None) -> Evaluation | None:
    """Compare sets of labels with the truth; None without truth.

    Dawid-Skene and the majority vote answer each label, too; a tied label is drawn as `Answer.majority` draws it.
    """
    votes = answer.votes
    if votes.truth is None or not (votes.truth != NO_VOTE).any():
        return None
    other, known = answer, votes.truth != NO_VOTE
    if dawid_skene_codes is None:
        other, dawid_skene_codes = by_dawid_skene(answer)
    votes, rng = other.votes, np.random.default_rng(0)  # its classes are the sets of both
    assert votes.truth is not None  # noqa: S101  # as above
    truth, sets = votes.truth, label_sets(votes)
    labels = {"fused": answer.codes, "dawid_skene": dawid_skene_codes, "majority_vote": answer.majority}
    methods = []
    for name, codes in labels.items():
        own = scores(codes[None], truth, votes.n_classes + len(votes.truth_only), rng)
        right = sets.members[truth[known]]
        said = sets.members[codes[known]] & (codes[known] != NO_VOTE)[:, None]
        means, ends = own.means, own.intervals
        pairs = (float((said != right).mean()), _f1(said.ravel(), right.ravel()))
        each = [_f1(said[:, k], right[:, k]) for k in range(len(sets.labels))]
        title = "Majority vote of each label" if name == "majority_vote" else TITLES[name]
        methods.append(
            MethodScore(
                *(name, title, means["accuracy"], means["macro_f1"], ends["accuracy"], ends["macro_f1"], None, None),
                *(*pairs, float(np.mean(each))),
            )
        )
    fused = labels.pop("fused")
    return Evaluation(
        accuracy=accuracy(fused, truth),
        majority_vote_accuracy=accuracy(answer.majority, truth),
        dawid_skene_accuracy=accuracy(dawid_skene_codes, truth),
        rows=int(known.sum()),
        methods=tuple(methods),
        gains={name: paired_difference(fused[None], codes[None], truth) for name, codes in labels.items()},
        majority_vote_first_class_accuracy=accuracy(answer.majority, truth),
        alike=tuple(name for name, codes in labels.items() if np.array_equal(codes, fused)),
    )


def by_dawid_skene(answer: SetAnswer) -> tuple[SetAnswer, Codes]:
    """Return Dawid-Skene's sets, over the classes of both answers."""
    votes, rng = answer.votes, np.random.default_rng(0)
    K = len(answer.label_names)
    found = [dawid_skene.aggregate(question(votes.without_truth(), k), rng).posterior[:, 1] for k in range(K)]
    other = SetAnswer.of(votes, np.stack(found, axis=1))
    return other, other.codes


def _f1(said: Mask, right: Mask) -> float:
    """Return F1 of yes or no.

    It is 1 where there is nothing to find and nothing was said.
    """
    total = int(said.sum() + right.sum())
    return 2 * int((said & right).sum()) / total if total else 1.0


def evaluate(answer: Answer, dawid_skene_codes: Codes | None = None) -> Evaluation | None:
    """Compare an answer with the truth of its votes; None without truth.

    Parameters
    ----------
    answer : Answer
    dawid_skene_codes : (n,) array of int, optional
        The labels of Dawid-Skene, where they are known already.
    """
    if isinstance(answer, SetAnswer):
        return evaluate_sets(answer)
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
