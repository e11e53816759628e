"""Agreement of learners, pair by pair and row by row.

Nothing here needs the truth. Agreement is no merit by itself: copies agree best of all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import squareform

from deem_core.errors import InputError
from deem_core.typing import Floats, Integers
from deem_core.votes import Votes
from deem_core.votes.arrays import NO_VOTE, chunks, spread_rows

MIN_COMMON_ROWS = 5
"""A pair that shares fewer rows has no agreement: a few rows say nothing."""

MAX_COMPARISONS = 2_000_000_000
"""Votes compared at most (rows × pairs of learners); beyond it, evenly spread rows stand for all."""

SHARE_BINS = 10
"""Bins of the shares below 100%."""

_CHUNK = 1 << 18  # rows
_SPARSE = 0.2  # coverage below which it is quicker to pick a learner's rows than to compare all
_OPTIMAL_ORDER = 200  # learners up to which the best of all orders of a tree is worth its cubic cost


@dataclass(frozen=True)
class PairAgreement:
    """Agreement of each pair of learners.

    Attributes
    ----------
    share : (d, d) float64
        Share of the rows where both voted in which they voted for the same class; NaN for a pair with fewer
        than ``min_common`` such rows; 1 on the diagonal.
    common : (d, d) int64
        Rows used in which both voted.
    order : (d,) intp
        The learners, so that those who agree stand side by side (see `clustered_order`).
    rows_used, n_rows : int
        Rows that were compared, and rows there are.
    """

    share: Floats
    common: NDArray[np.int64]
    order: NDArray[np.intp]
    rows_used: int
    n_rows: int

    @property
    def sampled(self) -> bool:
        """Whether evenly spread rows stood for all of them."""
        return self.rows_used < self.n_rows


@dataclass(frozen=True)
class RowAgreement:
    """Rows by how many learners agree on them.

    The winning group of a row are those who vote for its most frequent class.

    Attributes
    ----------
    by_size : (d + 1,) int64
        Rows whose winning group has 0, 1, …, d learners; 0 means that nobody voted.
    by_share : (11,) int64
        Rows whose winning group holds (0, 10%], …, (80%, 90%], (90%, 100%) and all of the votes cast, over
        the rows with at least two votes.
    n_rows, n_silent, n_single : int
        All rows, rows without votes, rows with a single vote: nobody to agree with.
    complete : bool
        Whether every learner voted on every row, so that sizes and shares tell the same.
    """

    by_size: NDArray[np.int64]
    by_share: NDArray[np.int64]
    n_rows: int
    n_silent: int
    n_single: int
    complete: bool


def pair_agreement(
    votes: Votes, min_common: int = MIN_COMMON_ROWS, max_comparisons: int = MAX_COMPARISONS
) -> PairAgreement:
    """Compare every pair of learners, column against column.

    The cost does not depend on the number of classes.

    Parameters
    ----------
    votes : Votes
    min_common : int
        Rows that a pair must share.
    max_comparisons : int
        See `MAX_COMPARISONS`.
    """
    n_pairs = votes.n_learners * (votes.n_learners + 1) // 2
    looked_at = votes.coverage if votes.coverage < _SPARSE else 1  # share of a pair's rows
    most = int(max_comparisons / max(n_pairs * looked_at, 1)) or 1
    codes = votes.codes if votes.n_rows <= most else votes.codes[spread_rows(votes.n_rows, most, nearest=True)]
    narrow = np.int16 if votes.n_classes < np.iinfo(np.int16).max else np.int32  # half the bytes, twice the speed
    common = _common_rows(codes)
    equal = _equal_votes(np.ascontiguousarray(codes.T, narrow))
    share = np.where(common >= max(min_common, 1), equal / np.maximum(common, 1), np.nan)
    np.fill_diagonal(share, 1.0)
    return PairAgreement(share, common, clustered_order(share), len(codes), votes.n_rows)


def clustered_order(share: Floats) -> NDArray[np.intp]:
    """Return an order of the learners that puts similar ones together, (d,).

    Average linkage on 1 − agreement, the branches turned so that neighbours are as alike as can be. A pair
    without agreement (NaN) counts as an average one.

    Parameters
    ----------
    share : (d, d) array
        Symmetric, as in `PairAgreement`.
    """
    d = len(share)
    if share.shape != (d, d):
        raise InputError(f"Agreement must be a square table; this has shape {share.shape}.")
    if d < 3:
        return np.arange(d)
    apart = 1 - squareform(np.where(np.eye(d, dtype=bool), 0, share), checks=False)
    distance = np.maximum(apart, 0)  # correlations of identical learners may be a hair above 1
    known = distance[~np.isnan(distance)]
    distance = np.nan_to_num(distance, nan=float(known.mean()) if len(known) else 1.0)
    tree = linkage(distance, "average")
    if d <= _OPTIMAL_ORDER:
        tree = optimal_leaf_ordering(tree, distance)
    return np.asarray(leaves_list(tree), np.intp)


def row_agreement(votes: Votes) -> RowAgreement:
    """Count the rows by how many learners agree on them."""
    size, cast = votes.majority_vote.support, votes.votes_per_row
    judged = cast >= 2
    s, v = size[judged].astype(np.int64), cast[judged].astype(np.int64)
    bins = np.where(s == v, SHARE_BINS, (SHARE_BINS * s + v - 1) // v - 1)  # ⌈10 s/v⌉ − 1 in whole numbers
    return RowAgreement(
        by_size=np.bincount(size, minlength=votes.n_learners + 1),
        by_share=np.bincount(bins, minlength=SHARE_BINS + 1),
        n_rows=votes.n_rows,
        n_silent=int((cast == 0).sum()),
        n_single=int((cast == 1).sum()),
        complete=bool((cast == votes.n_learners).all()),
    )


def _common_rows(codes: Integers) -> NDArray[np.int64]:
    """Count the rows that each pair of learners voted on, (d, d)."""
    common = np.zeros((codes.shape[1],) * 2, np.int64)
    for rows in chunks(len(codes), _CHUNK):  # float32 counts exactly up to 2²⁴
        cast = (codes[rows] != NO_VOTE).astype(np.float32)
        common += (cast.T @ cast).astype(np.int64)
    return common


def _equal_votes(columns: Integers) -> NDArray[np.int64]:
    """Count the equal votes of each pair of learners, (d, d).

    The codes come as (d, n).
    """
    d = len(columns)
    equal = np.zeros((d, d), np.int64)
    for i, column in enumerate(columns):
        voted = column != NO_VOTE
        if voted.mean() < _SPARSE:
            others, own = columns[i:, voted], column[voted]
        else:
            others, own = columns[i:], np.where(voted, column, NO_VOTE - 1)  # equal to nobody's missing vote
        for j, other in enumerate(others, start=i):
            equal[i, j] = equal[j, i] = np.count_nonzero(other == own)
    return equal
