"""Next order: which rows to send to which learner, for crowds.

Learner j has one accuracy a_j, by its agreement with the answer. If it votes l on a row with posterior p, the largest
posterior times the chance of that vote is max_k p_k·Pr(l | k), so that its answer is expected to raise the chance that
the label is right by

    gain = Σ_l max_k p_k·Pr(l | k) − max_k p_k,    Pr(l | k) = a_j if l = k, else (1 − a_j) / (K − 1)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deem_core.answers.answer import Answer
from deem_core.errors import InputError
from deem_core.files.tables import id_texts
from deem_core.gold.weights import accuracies
from deem_core.typing import Floats
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.arrays import chunks

MOST_ROWS = 50_000
"""Rows looked at: the least certain ones."""
FEWEST_VOTES = 5
"""Votes that a learner needs to have, or nobody knows how good it is."""
LEARNERS_ASKED = 10
"""By default no learner gets more than its share among so many."""


@dataclass(frozen=True, eq=False)
class Orders:
    """Answers to buy next, the most useful first.

    Attributes
    ----------
    votes : Votes
    rows, learners : (m,) int
        Positions.
    gains : (m,) float
        Expected rise of the chance that the row's label is right.
    accuracy : (d,) float
        Of each learner, as it was estimated.
    """

    votes: Votes
    rows: NDArray[np.int64]
    learners: NDArray[np.int64]
    gains: Floats
    accuracy: Floats

    def __len__(self) -> int:
        """Return the number of answers to buy."""
        return len(self.rows)

    def to_frame(self) -> pd.DataFrame:
        """Return a line per answer: row from 1, id, learner, expected gain."""
        columns: dict[str, Any] = {"row": self.rows + 1}
        if not isinstance(self.votes.ids, pd.RangeIndex):
            columns["id"] = pd.Series(id_texts(self.votes.ids[self.rows]).to_pylist(), dtype=object)
        columns["learner"] = [self.votes.learners[j] for j in self.learners]
        columns["expected_gain"] = self.gains
        return pd.DataFrame(columns)


def next_order(answer: Answer, n: int, *, per_row: int = 1, per_learner: int | None = None) -> Orders:
    """Choose rows and learners whose answers are worth most.

    Parameters
    ----------
    answer : Answer
        Of votes in which some are missing.
    n : int
        Answers to buy.
    per_row : int
        Answers for a row at most.
    per_learner : int, optional
        Answers of a learner at most; a tenth of ``n`` by default, where ten learners are known.

    Raises
    ------
    InputError
        If a number is below 1, or everybody has voted on every row already.

    Examples
    --------
    >>> from deem_core import fuse, next_order, simulate
    >>> answer = fuse(simulate("crowd", 200, seed=0).votes, random_state=0)
    >>> next_order(answer, 5).to_frame().columns.tolist()
    ['row', 'learner', 'expected_gain']
    """
    for name, value in (("n", n), ("per_row", per_row), ("per_learner", per_learner)):
        if value is not None and value < 1:
            raise InputError(f"{name} is {value}; it must be at least 1.")
    votes = answer.votes
    accuracy = expected_accuracies(answer)
    known = votes.class_counts.sum(axis=1) >= FEWEST_VOTES
    able = known & (accuracy > 1 / votes.n_classes)
    order = [int(j) for j in np.argsort(-accuracy, kind="stable") if able[j]]
    most = per_learner or max(1, math.ceil(n / max(min(len(order), LEARNERS_ASKED), 1)))
    rows = _uncertain(answer)
    if not order or not (votes.codes[rows][:, order] == NO_VOTE).any():
        raise InputError("No learner whose accuracy is known has a row left to vote on, so there is nothing to order.")
    chosen: list[tuple[float, int, int]] = []
    left = dict.fromkeys(order, most)
    best = _best_gains(answer, rows, order, accuracy)
    for row in rows[np.argsort(-best, kind="stable")].tolist():
        taken = 0
        for j in order:
            if taken == per_row or len(chosen) == n:
                break
            if left[j] and votes.codes[row, j] == NO_VOTE:
                gain = float(expected_gain(answer.posterior[row][None], float(accuracy[j]))[0])
                chosen.append((gain, row, j))
                left[j] -= 1
                taken += 1
        if len(chosen) == n:
            break
    chosen.sort(key=lambda each: (-each[0], each[1], each[2]))
    gains, at, who = zip(*chosen, strict=True)
    return Orders(votes, np.array(at, np.int64), np.array(who, np.int64), np.array(gains), accuracy)


def expected_gain(posterior: Floats, accuracy: float) -> Floats:
    """Return the gain of one vote on each of (b, K) posteriors, (b,).

    The accuracy must be above chance, 1/K.
    """
    p = np.asarray(posterior, np.float64)
    K = p.shape[1]
    wrong = (1 - accuracy) / max(K - 1, 1)
    top = p.max(axis=1, keepdims=True)
    # Of a learner above chance, a vote for the likeliest class never makes another one likelier than it.
    return np.asarray(np.maximum(np.maximum(accuracy * p, wrong * top).sum(axis=1) - top[:, 0], 0.0))


def expected_accuracies(answer: Answer) -> Floats:
    """Return each learner's share of votes that the posterior backs, shrunk, (d,)."""
    votes = answer.votes
    backed = np.zeros(votes.n_learners)
    for part in chunks(votes.n_rows, 1 << 16):
        codes, posterior = votes.codes[part], np.asarray(answer.posterior[part], np.float64)
        cast = codes != NO_VOTE
        backed += np.where(cast, np.take_along_axis(posterior, np.maximum(codes, 0), axis=1), 0.0).sum(axis=0)
    return accuracies(backed, votes.class_counts.sum(axis=1))


def _uncertain(answer: Answer) -> NDArray[np.intp]:
    """Return the rows with someone left to ask, least certain first."""
    rows = np.flatnonzero(~answer.silent & (answer.votes.votes_per_row < answer.votes.n_learners))
    if answer.votes.gold is not None:
        rows = rows[~answer.votes.gold.known[rows]]
    return rows[np.argsort(answer.confidence[rows], kind="stable")][:MOST_ROWS]


def _best_gains(answer: Answer, rows: NDArray[np.intp], order: list[int], accuracy: Floats) -> Floats:
    """Return the best gain of a learner who has not voted, (b,)."""
    free = answer.votes.codes[rows][:, order] == NO_VOTE
    best = np.where(free.any(axis=1), free.argmax(axis=1), -1)
    gains = np.zeros(len(rows))
    for at in np.unique(best[best >= 0]).tolist():
        own = best == at
        gains[own] = expected_gain(answer.posterior[rows[own]], float(accuracy[order[at]]))
    return gains
