"""Facts about votes: what `describe` prints and the Data page shows."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deem_core.typing import Floats, Integers
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.majority import fair_hits
from deem_core.votes.recode import as_votes


@dataclass(frozen=True)
class Facts:
    """Counts and shares of a table of votes.

    Attributes
    ----------
    n_votes : int
        Votes cast, of the n·d possible ones.
    coverage : float
    n_unanimous, n_tied, n_silent : int
        Rows with at least two votes that all agree, rows in which several classes share the most votes, rows
        without any vote.
    learner_coverage : (d,) share of rows voted on
    learner_agreement : (d,) share of its votes that equal the majority vote; NaN for a silent learner
    class_votes : (K,) votes for each class
    class_rows : (K,) rows whose majority vote is the class
    constant_learners, identical_learners
        See `Votes`.
    n_truth : int
        Rows whose truth is known.
    majority_accuracy, majority_first_class_accuracy : float, optional
        Evaluation only: share of the rows with known truth that majority vote gets right, with ties as a fair draw
        (its expected value), and with ties given to the first class.
    learner_accuracy : (d,), optional
        Evaluation only: the same for each learner, over the rows it voted on.
    learner_class : (d,)
        Class that each learner votes for most.
    fewest_votes, most_votes : int
        Votes of a row.
    """

    n_votes: int
    coverage: float
    n_unanimous: int
    n_tied: int
    n_silent: int
    learner_coverage: Floats
    learner_agreement: Floats
    learner_class: NDArray[np.intp]
    class_votes: NDArray[np.int64]
    class_rows: NDArray[np.int64]
    constant_learners: tuple[str, ...]
    identical_learners: tuple[tuple[str, ...], ...]
    n_truth: int
    majority_accuracy: float | None
    learner_accuracy: Floats | None
    majority_first_class_accuracy: float | None = None
    fewest_votes: int = 0
    most_votes: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain values; arrays become lists."""
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(self).items()}


def describe(votes: Any) -> Facts:
    """Compute the facts of Votes, a frame or an array.

    Truth, where there is any, serves the two evaluation figures only.

    Examples
    --------
    >>> from deem_core import Votes, describe
    >>> describe(Votes.from_labels([["cat", "cat", "dog"], ["dog", "dog", "dog"]])).n_unanimous
    1
    """
    votes = as_votes(votes)
    tally = FactsTally(votes.learners, votes.n_classes)
    tally.add(votes)
    return tally.facts()


class FactsTally:
    """Facts of votes that come in parts.

    Parameters
    ----------
    learners : sequence of d str
    n_classes : int
    """

    def __init__(self, learners: Sequence[str], n_classes: int) -> None:
        d, K = len(learners), n_classes
        self.learners = tuple(learners)
        self.n_rows = self.n_unanimous = self.n_tied = self.n_silent = self.n_truth = 0
        self.fewest, self.most = np.iinfo(np.int32).max, 0
        self.class_counts = np.zeros((d, K), np.int64)
        self.class_rows = np.zeros(K, np.int64)
        self.majority_hits = np.zeros((2, d), np.int64)  # hits and rows of each learner
        self.truth_hits = np.zeros((2, d), np.int64)
        self.fair_hits, self.first_hits = 0.0, 0
        self._prints = [b""] * d  # of the columns, part by part

    def add(self, votes: Votes) -> None:
        """Count a part; its truth serves the evaluation figures only."""
        majority, per_row = votes.majority_vote, votes.votes_per_row
        self.n_rows += votes.n_rows
        self.n_unanimous += int(votes.unanimous.sum())
        self.n_tied += majority.n_tied
        self.n_silent += int((per_row == 0).sum())
        if votes.n_rows:
            self.fewest, self.most = min(self.fewest, int(per_row.min())), max(self.most, int(per_row.max()))
        self.class_counts += votes.class_counts
        self.class_rows += np.bincount(majority.codes + 1, minlength=votes.n_classes + 1)[1:]
        self.majority_hits += _hits(votes, majority.codes)
        self._chain([hashlib.sha256(votes.codes[:, j].tobytes()).digest() for j in range(votes.n_learners)])
        if votes.truth is not None and (known := votes.truth != NO_VOTE).any():
            self.n_truth += int(known.sum())
            self.truth_hits += _hits(votes, votes.truth)
            self.fair_hits += float(fair_hits(votes.codes, majority, votes.truth)[known].sum())
            self.first_hits += int((majority.codes[known] == votes.truth[known]).sum())

    def merge(self, other: FactsTally) -> None:
        """Count the rows of a part that was counted elsewhere.

        Parts come in their order.
        """
        self.n_rows += other.n_rows
        self.n_unanimous += other.n_unanimous
        self.n_tied += other.n_tied
        self.n_silent += other.n_silent
        self.n_truth += other.n_truth
        self.fewest, self.most = min(self.fewest, other.fewest), max(self.most, other.most)
        self.class_counts += other.class_counts
        self.class_rows += other.class_rows
        self.majority_hits += other.majority_hits
        self.truth_hits += other.truth_hits
        self.fair_hits += other.fair_hits
        self.first_hits += other.first_hits
        self._chain(other._prints)

    def _chain(self, prints: Sequence[bytes]) -> None:
        """Take the fingerprints of the columns of a part, (d,)."""
        pairs = zip(self._prints, prints, strict=True)
        self._prints = [hashlib.sha256(before + own).digest() for before, own in pairs]

    def facts(self) -> Facts:
        """Return the facts of all parts."""
        cast = self.class_counts.sum(axis=1)
        coverage = cast / max(self.n_rows, 1)
        known = self.n_truth > 0
        return Facts(
            n_votes=int(cast.sum()),
            coverage=float(coverage.mean()),
            n_unanimous=self.n_unanimous,
            n_tied=self.n_tied,
            n_silent=self.n_silent,
            learner_coverage=coverage,
            learner_agreement=_rates(self.majority_hits),
            class_votes=self.class_counts.sum(axis=0),
            class_rows=self.class_rows,
            constant_learners=self._constant(cast),
            identical_learners=self._identical(cast),
            n_truth=self.n_truth,
            majority_accuracy=self.fair_hits / self.n_truth if known else None,
            learner_accuracy=_rates(self.truth_hits) if known else None,
            majority_first_class_accuracy=self.first_hits / self.n_truth if known else None,
            learner_class=self.class_counts.argmax(axis=1),
            fewest_votes=min(self.fewest, self.most),
            most_votes=self.most,
        )

    def _constant(self, cast: NDArray[np.int64]) -> tuple[str, ...]:
        constant = ((self.class_counts > 0).sum(axis=1) == 1) & (cast >= 2)
        return tuple(name for name, is_constant in zip(self.learners, constant, strict=True) if is_constant)

    def _identical(self, cast: NDArray[np.int64]) -> tuple[tuple[str, ...], ...]:
        groups: dict[bytes, list[str]] = {}
        for name, column, votes in zip(self.learners, self._prints, cast, strict=True):
            if votes:
                groups.setdefault(column, []).append(name)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def agreement_with(votes: Votes, target: Integers) -> Floats:
    """Return the share of each learner's votes that equal a target, (d,).

    Of the rows (n,) that have one; NaN for a learner without votes there.
    """
    return _rates(_hits(votes, target))


def accuracy(codes: Integers, truth: Integers) -> float:
    """Return the share of rows with known truth that are right.

    A row without a label counts as wrong; NaN without truth.
    """
    known = truth != NO_VOTE
    return float((codes[known] == truth[known]).mean()) if known.any() else float("nan")


def majority_accuracy(votes: Votes) -> float:
    """Return the expected accuracy of the majority vote, ties drawn fairly.

    Over the rows with known truth; a row without votes counts as wrong. NaN without truth.
    """
    if votes.truth is None or not (known := votes.truth != NO_VOTE).any():
        return float("nan")
    return float(fair_hits(votes.codes, votes.majority_vote, votes.truth)[known].mean())


def _hits(votes: Votes, target: Integers) -> NDArray[np.int64]:
    """Return each learner's votes that equal an (n,) target, and those that could, (2, d).

    Only rows where both the vote and the target exist count.
    """
    hits = np.zeros((2, votes.n_learners), np.int64)
    for j in range(votes.n_learners):
        both = (votes.codes[:, j] != NO_VOTE) & (target != NO_VOTE)
        hits[:, j] = (votes.codes[both, j] == target[both]).sum(), both.sum()
    return hits


def _rates(hits: NDArray[np.int64]) -> Floats:
    """Return the share of hits, (d,); NaN for a learner without a vote."""
    return np.where(hits[1] > 0, hits[0] / np.maximum(hits[1], 1), np.nan)
