"""Majority vote: the plurality label and the vote shares of every row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deem_core.typing import Codes, Floats, Integers, Mask
from deem_core.votes.arrays import NO_VOTE, chunks

_CHUNK = 1 << 16  # rows per step where a pass over all rows would need large temporaries
_BLOCK = 1 << 20  # (row, class) cells counted at once


@dataclass(frozen=True)
class MajorityVote:
    """Plurality label of every row.

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

    codes: Codes
    support: Codes
    tied: Mask

    @property
    def n_tied(self) -> int:
        """Rows decided by the tie rule alone."""
        return int(self.tied.sum())


def majority_vote(codes: Integers) -> MajorityVote:
    """Return the most frequent code of every row.

    Each row is sorted and scanned once for its longest run, so the cost does not depend on K.
    """
    n = len(codes)
    label = np.full(n, NO_VOTE, np.int32)
    support = np.zeros(n, np.int32)
    tied = np.zeros(n, bool)
    for rows in chunks(n, _CHUNK):
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


def vote_shares(codes: Integers, n_classes: int) -> Floats:
    """Return the (n, K) shares of the votes in (n, d) codes.

    Zeros in a row without votes.
    """
    n, K = len(codes), n_classes
    shares = np.empty((n, K))
    for rows in chunks(n, _BLOCK // K):
        block = codes[rows]
        cells = block + K * np.arange(len(block), dtype=np.int64)[:, None]
        counts = np.bincount(cells[block != NO_VOTE], minlength=len(block) * K).reshape(-1, K)
        shares[rows] = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return shares
