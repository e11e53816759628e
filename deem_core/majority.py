"""Majority vote: the plurality label of every row, and how often only the tie rule decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

NO_VOTE = -1
_CHUNK = 1 << 16  # rows per step where a pass over all rows would need large temporaries


@dataclass(frozen=True)
class MajorityVote:
    """The plurality label of every row.

    Attributes
    ----------
    codes : (n,) int32
        Most frequent class of the row; among equals the one with the lowest class index; -1 for a
        row without votes.
    support : (n,) int32
        Votes for that class.
    tied : (n,) bool
        Whether another class had as many votes.
    """

    codes: NDArray[np.int32]
    support: NDArray[np.int32]
    tied: NDArray[np.bool_]

    @property
    def n_tied(self) -> int:
        """Rows decided by the tie rule alone."""
        return int(self.tied.sum())


def majority_vote(codes: NDArray[np.integer[Any]]) -> MajorityVote:
    """Return the most frequent code of every row of an (n, d) array.

    Each row is sorted and scanned once for its longest run, so the cost does not depend on K.
    """
    n = len(codes)
    label = np.full(n, NO_VOTE, np.int32)
    support = np.zeros(n, np.int32)
    tied = np.zeros(n, bool)
    for start in range(0, n, _CHUNK):
        rows = slice(start, start + _CHUNK)
        ordered = np.ascontiguousarray(np.sort(codes[rows], axis=1).T)  # (d, b): one sorted vote after the other
        best, run = support[rows], np.zeros(ordered.shape[1], np.int32)
        previous = np.full_like(run, NO_VOTE)
        for vote in ordered:
            run = np.where(vote == previous, run + 1, 1) * (vote != NO_VOTE)
            longer = run > best  # ascending votes: an equal run later on never replaces the lower class
            tied[rows] = (tied[rows] & ~longer) | ((run == best) & (run > 0) & (vote != label[rows]))
            label[rows] = np.where(longer, vote, label[rows])
            best[:] = np.maximum(best, run)
            previous = vote
    return MajorityVote(label, support, tied)
