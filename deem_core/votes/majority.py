"""Majority vote: the plurality label and the vote shares of every row.

Where several classes have the most votes the row is a draw. A label is still needed: that of `majority_vote` is the
first of them in class order, which says nothing about the row; `break_ties` chooses by a posterior instead. As a
yardstick the majority vote is worth what a fair draw is worth in expectation (`fair_hits`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deem_core.typing import Codes, Floats, Integers, Mask, Posterior
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


@dataclass(frozen=True)
class Leaders:
    """The classes that share the lead in some tied rows.

    Attributes
    ----------
    rows : (t,) intp
        Tied rows, ascending.
    starts : (t,) intp
        Where the pairs of each row begin.
    classes : (p,) int32
        The classes, ascending within a row.
    """

    rows: NDArray[np.intp]
    starts: NDArray[np.intp]
    classes: Codes

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Classes that share the lead in each row, (t,); two or more."""
        return np.diff(self.starts, append=len(self.classes))


def leaders(codes: Integers, majority: MajorityVote) -> Iterator[Leaders]:
    """Yield the tied classes of tied rows, block by block.

    Each row is sorted and its runs as long as the longest are kept, so that memory follows the votes, not K.
    """
    tied = np.flatnonzero(majority.tied)
    d = codes.shape[1]
    for part in chunks(len(tied), _BLOCK // max(d, 1)):
        rows = tied[part]
        ordered = np.sort(codes[rows], axis=1)  # (b, d)
        begins = np.ones(ordered.shape, bool)
        begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        places = np.flatnonzero(begins)
        lengths = np.diff(places, append=ordered.size)
        of_row, classes = places // d, ordered.ravel()[places]
        longest = (lengths == majority.support[rows][of_row]) & (classes != NO_VOTE)
        of_row = of_row[longest]
        yield Leaders(rows, np.searchsorted(of_row, np.arange(len(rows))), classes[longest].astype(np.int32))


def break_ties(codes: Integers, majority: MajorityVote, posterior: Posterior) -> Codes:
    """Return the majority vote with ties given to the most probable class, (n,).

    Among the tied classes only, the lowest index where they are equally probable.

    Parameters
    ----------
    codes : (n, d) array of int
    majority : MajorityVote
        Of the same codes.
    posterior : (n, K) array
    """
    labels = majority.codes.copy()
    for tied in leaders(codes, majority):
        of_row = np.repeat(np.arange(len(tied.rows)), tied.sizes)
        chances = posterior[tied.rows[of_row], tied.classes]
        best = chances == np.maximum.reduceat(chances, tied.starts)[of_row]
        first = np.flatnonzero(best)[np.searchsorted(of_row[best], np.arange(len(tied.rows)))]
        labels[tied.rows] = tied.classes[first]
    return labels


def fair_hits(codes: Integers, majority: MajorityVote, truth: Integers) -> Floats:
    """Return the chance of each row that the majority vote is right, (n,).

    Ties are a fair draw: 1[truth among the tied classes] / their number. 0 without votes or without truth.

    Parameters
    ----------
    codes : (n, d) array of int
    majority : MajorityVote
        Of the same codes.
    truth : (n,) array of int
        -1 where it is not known.
    """
    hits: Floats = ((majority.codes == truth) & (truth != NO_VOTE)).astype(np.float64)
    for tied in leaders(codes, majority):
        found = tied.classes == np.repeat(truth[tied.rows], tied.sizes)
        hits[tied.rows] = np.add.reduceat(found, tied.starts, dtype=np.float64) / tied.sizes
    return hits


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
