"""Conditional kappa: agreement of two learners beyond the majority of the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deem_core.typing import Floats
from deem_core.votes import Votes
from deem_core.votes.arrays import NO_VOTE

MAX_ROWS = 8_000
"""Rows on which κ is estimated."""
MIN_COMMON_ROWS = 30
"""A pair with fewer common rows has κ = 0: too little is known of it."""
_DENSE_CELLS = 1 << 14  # K² up to which tables of counts are cheaper than sorting


def conditional_kappa(votes: Votes, rng: np.random.Generator, max_rows: int = MAX_ROWS) -> Floats:
    """Return the conditional κ of every pair of learners, (d, d).

    Given m, the majority vote of all learners but i and j (ties to the lowest class)::

        κ_ij = (g − e) / (1 − e)
        g = P(x_i = x_j)
        e = Σ_m p(m) Σ_k p(x_i = k | m) p(x_j = k | m)

    over the rows with both votes and at least one other. κ is 0 for a pair with fewer than
    `MIN_COMMON_ROWS` such rows, and where the others explain everything (e = 1); the diagonal is 1.
    At most ``max_rows`` rows are used, drawn by ``rng`` from those with three votes or more.
    """
    return kappa_and_rows(votes, rng, max_rows)[0]


def kappa_and_rows(votes: Votes, rng: np.random.Generator, max_rows: int) -> tuple[Floats, NDArray[np.int64]]:
    """Return κ and the number of rows it rests on, both (d, d)."""
    d, K = votes.n_learners, votes.n_classes
    rows = np.flatnonzero(votes.votes_per_row >= 3)
    if len(rows) > max_rows:
        rows = np.sort(rng.choice(rows, max_rows, replace=False))
    codes = votes.codes[rows].astype(np.int64)  # (b, d)
    ranked = Ranked.of(codes)
    cast = (codes != NO_VOTE).astype(np.float32)
    common = np.rint(cast.T @ cast).astype(np.int64)  # each such row holds a third vote, so that m is never missing
    columns = np.ascontiguousarray(codes.T)
    kappa = np.eye(d)
    complete = bool(cast.all())
    for i in range(d):
        without_i = ranked.scores - ranked.unit * (ranked.classes == columns[i])  # (3, b)
        for j in range(i + 1, d):
            if common[i, j] < MIN_COMMON_ROWS:
                continue
            x_i, x_j, top, scores = columns[i], columns[j], ranked.classes, without_i
            if not complete:
                both = np.flatnonzero((x_i != NO_VOTE) & (x_j != NO_VOTE))
                x_i, x_j, top, scores = x_i[both], x_j[both], top[:, both], scores[:, both]
            m = ranked.best(scores - ranked.unit * (top == x_j))
            kappa[i, j] = kappa[j, i] = _kappa_given(x_i, x_j, m, K)
    return kappa, common


@dataclass(frozen=True)
class Ranked:
    """The three or four classes with most votes in every row.

    Three are enough to know the winner after any two votes are removed, four to know whether it is tied.

    Only the classes of the removed votes lose one, so of the three at least one loses nothing and still beats
    all classes below. Count and class are packed into one number, ``count · unit + (unit − 1 − class)`` with
    ``unit`` a power of two above every class: the largest is the winner, the lower class among equals.
    """

    unit: int
    scores: NDArray[np.int64]  # (top, b)
    classes: NDArray[np.int64]  # (top, b), -2 where a row has fewer classes: equal to no vote, not even a missing one

    @classmethod
    def of(cls, codes: NDArray[np.int64], top: int = 3) -> Ranked:
        """Rank the ``top`` classes of every row of (b, d) codes.

        Every row is sorted, and the end of each run of equal votes gets its score.
        """
        b, d = codes.shape
        unit = 1 << int(codes.max(initial=1) + 1).bit_length()
        ordered = np.sort(codes, axis=1)
        starts, ends = np.ones((b, d), bool), np.ones((b, d), bool)
        starts[:, 1:] = ends[:, :-1] = ordered[:, 1:] != ordered[:, :-1]
        position = np.arange(d)
        length = position + 1 - np.maximum.accumulate(np.where(starts, position, 0), axis=1)
        scores = np.where(ends & (ordered != NO_VOTE), length * unit + (unit - 1 - ordered), 0)
        if d < top:
            scores = np.pad(scores, ((0, 0), (0, top - d)))
        best = np.ascontiguousarray(np.partition(scores, -top, axis=1)[:, -top:].T)
        return cls(unit, best, np.where(best >= unit, unit - 1 - (best & (unit - 1)), -2))

    def best(self, scores: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the class with the best of (top, b) scores.

        Some vote must be left in every row.
        """
        best: NDArray[np.int64] = self.unit - 1 - (scores.max(axis=0) & (self.unit - 1))
        return best

    def without(self, own: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the scores, (top, b), after one learner's votes (b,) are removed."""
        return np.asarray(self.scores - self.unit * (self.classes == own))

    def others(self, own: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the majority of the other learners, (b,), and where it is clear."""
        scores = self.without(own)
        ordered = np.sort(scores // self.unit, axis=0)  # votes for each of the best classes
        return self.best(scores), ordered[-1] > ordered[-2]

    def decided(self, scores: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return the rows where one class leads alone, (b,), by (4, b) scores."""
        lead = np.partition(scores // self.unit, -2, axis=0)
        return np.asarray(lead[-1] > lead[-2])


def _kappa_given(x_i: NDArray[np.int64], x_j: NDArray[np.int64], m: NDArray[np.int64], K: int) -> float:
    """Return κ of two learners' votes given m, all (b,), with all votes cast."""
    offset = m * K
    if K * K <= _DENSE_CELLS:
        count_i = np.bincount(offset + x_i, minlength=K * K).reshape(K, K)  # [m, k]
        count_j = np.bincount(offset + x_j, minlength=K * K).reshape(K, K)
        matched = (count_i * count_j).sum(axis=1)
        e = float((matched / np.maximum(count_i.sum(axis=1), 1)).sum()) / len(m)
    else:  # the same sum row by row: Σ over rows of p(x_j = the row's x_i | m)
        ordered, wanted = np.sort(offset + x_j), np.sort(offset + x_i)
        matched = np.searchsorted(ordered, wanted, "right") - np.searchsorted(ordered, wanted, "left")
        e = float((matched / np.bincount(m)[wanted // K]).sum()) / len(m)
    g = float((x_i == x_j).mean())
    return (g - e) / (1 - e) if e < 1 - 1e-12 else 0.0
