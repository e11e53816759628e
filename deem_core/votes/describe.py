"""Facts about votes: what `describe` prints and the Data page shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deem_core.typing import Floats, Integers
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.majority import fair_hits


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
    """

    n_votes: int
    coverage: float
    n_unanimous: int
    n_tied: int
    n_silent: int
    learner_coverage: Floats
    learner_agreement: Floats
    class_votes: NDArray[np.int64]
    class_rows: NDArray[np.int64]
    constant_learners: tuple[str, ...]
    identical_learners: tuple[tuple[str, ...], ...]
    n_truth: int
    majority_accuracy: float | None
    learner_accuracy: Floats | None
    majority_first_class_accuracy: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain values; arrays become lists."""
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(self).items()}


def describe(votes: Votes) -> Facts:
    """Compute the facts.

    Truth, where there is any, serves the two evaluation figures only.

    Examples
    --------
    >>> from deem_core import Votes, describe
    >>> describe(Votes.from_labels([["cat", "cat", "dog"], ["dog", "dog", "dog"]])).n_unanimous
    1
    """
    majority = votes.majority_vote
    known = votes.truth is not None and bool((votes.truth != NO_VOTE).any())
    return Facts(
        n_votes=int(votes.votes_per_row.sum()),
        coverage=votes.coverage,
        n_unanimous=int(votes.unanimous.sum()),
        n_tied=majority.n_tied,
        n_silent=int((votes.votes_per_row == 0).sum()),
        learner_coverage=votes.learner_coverage,
        learner_agreement=_hit_rates(votes, majority.codes),
        class_votes=votes.class_counts.sum(axis=0),
        class_rows=np.bincount(majority.codes + 1, minlength=votes.n_classes + 1)[1:],
        constant_learners=votes.constant_learners,
        identical_learners=votes.identical_learners,
        n_truth=0 if votes.truth is None else int((votes.truth != NO_VOTE).sum()),
        majority_accuracy=majority_accuracy(votes) if known else None,
        learner_accuracy=_hit_rates(votes, votes.truth) if known and votes.truth is not None else None,
        majority_first_class_accuracy=accuracy(majority.codes, votes.truth)
        if known and votes.truth is not None
        else None,
    )


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


def _hit_rates(votes: Votes, target: Integers) -> Floats:
    """Return the share of each learner's votes that equal a target, (d,).

    Only rows where both the vote and the (n,) target exist count.
    """
    rates = np.full(votes.n_learners, np.nan)
    for j in range(votes.n_learners):
        both = (votes.codes[:, j] != NO_VOTE) & (target != NO_VOTE)
        if both.any():
            rates[j] = (votes.codes[both, j] == target[both]).mean()
    return rates
