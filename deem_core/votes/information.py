"""Mutual information of all pairs of columns, in nats.

The plug-in estimate from counts, I = Σ_ab p(a, b) log( p(a, b) / (p(a) p(b)) ), equal to scikit-learn's
``mutual_info_score``; a pair is judged on the rows in which both are there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import xlogy

from deem_core.typing import Floats, Integers
from deem_core.votes.arrays import NO_VOTE, chunks, distinct_rows, one_hot

_PRODUCT_PAIRS = 1_000  # pairs from which one product of one-hot columns beats a count per pair (measured)
_PRODUCT_UNITS = 4_096  # d·K beyond which the product is no longer affordable
_CHUNK = 1 << 23  # cells of one-hot columns held at once
_EXACT = 1 << 24  # rows up to which float32 counts exactly


@dataclass(frozen=True)
class PairInformation:
    """Mutual information of pairs of d columns, (d, d) each.

    Attributes
    ----------
    information : float64
        In nats; the entropy on the diagonal; NaN for a pair that shares no row.
    normalised : float64
        Divided by the mean of both entropies over the same rows (scikit-learn's ``normalized_mutual_info_score``);
        0 where neither column varies.
    """

    information: Floats
    normalised: Floats


def pair_information(codes: Integers) -> PairInformation:
    """Compare every pair of columns of (n, d) codes; -1 is missing.

    Equal rows are counted once.
    """
    rows = distinct_rows(codes)
    return counted_information(rows.codes, rows.weights)


def counted_information(codes: Integers, counts: Floats) -> PairInformation:
    """Compare every pair of columns of distinct rows with counts.

    That is (u, d) codes and (u,) numbers of rows that each stands for. The states that occur are numbered anew, so
    that the cost follows the states in these rows and not the number of classes. Many pairs of few states are counted
    by one product of one-hot columns, others pair by pair.
    """
    d = codes.shape[1]
    if not len(codes):
        return PairInformation(np.full((d, d), np.nan), np.full((d, d), np.nan))
    states, packed = _renumber(codes)
    if d * (d + 1) // 2 >= _PRODUCT_PAIRS and d * states <= _PRODUCT_UNITS:
        return _by_product(packed, counts, states)
    return _pair_by_pair(packed, counts, states)


def table_information(joint: Floats) -> Floats:
    """Return the mutual information (…) of tables of weights (…, K, L).

    An empty table has none.
    """
    weight = joint.sum(axis=(-2, -1))
    rows, columns = joint.sum(axis=-1), joint.sum(axis=-2)
    own = xlogy(joint, joint).sum(axis=(-2, -1)) - xlogy(rows, rows).sum(axis=-1) - xlogy(columns, columns).sum(axis=-1)
    safe = np.where(weight > 0, weight, 1)
    return np.asarray(np.maximum(own / safe + np.log(safe), 0))


def _renumber(codes: Integers) -> tuple[int, Integers]:
    """Return how many states occur, and the codes over them, (n, d)."""
    highest = int(codes.max(initial=0))
    seen = np.zeros(highest + 2, bool)
    seen[codes.ravel()] = True  # -1 marks the last place
    if seen[:-1].all():
        return highest + 1, codes
    seen[-1] = False
    number = np.append(np.cumsum(seen[:-1]) - 1, NO_VOTE).astype(np.int32)
    return max(1, int(seen.sum())), number[codes]


def _by_product(codes: Integers, counts: Floats, K: int) -> PairInformation:
    u, d = codes.shape
    weights = counts[:, None].astype(np.float32 if counts.sum() < _EXACT else np.float64)
    together = np.zeros((d * K, d * K))
    for rows in chunks(u, _CHUNK // (d * K)):
        hot = one_hot(codes[rows], K, weights.dtype).reshape(-1, d * K)
        together += hot.T @ (weights[rows] * hot)
    joint = together.reshape(d, K, d, K)
    log_joint = xlogy(joint, joint).sum(axis=(1, 3))
    mine = joint.sum(axis=3)  # (d, K, d): votes of the first on the rows where both are there
    log_mine = xlogy(mine, mine).sum(axis=1)
    return _finish(log_joint, log_mine, mine.sum(axis=1))


def _pair_by_pair(codes: Integers, counts: Floats, K: int) -> PairInformation:
    d = codes.shape[1]
    log_joint, log_mine, common = np.zeros((d, d)), np.zeros((d, d)), np.zeros((d, d))
    places = np.ascontiguousarray(codes.T + 1, np.int32)  # (d, n), 0 for nothing there
    wide = places * np.int32(K + 1) if (K + 1) ** 2 < 2**31 else places.astype(np.int64) * (K + 1)
    dense = max(4 * codes.shape[0], 1 << 12) >= (K + 1) ** 2
    complete = not (codes == NO_VOTE).any()
    alone = [_log_counts(np.bincount(own, counts)) for own in places] if complete else []
    for i in range(d):
        for j in range(i, d):
            table = _table(wide[i] + places[j], counts, K, dense, complete)
            log_joint[i, j] = log_joint[j, i] = _log_counts(table.cells)
            common[i, j] = common[j, i] = table.cells.sum()
            log_mine[i, j] = alone[i] if complete else _log_counts(table.rows)
            log_mine[j, i] = alone[j] if complete else _log_counts(table.columns)
    return _finish(log_joint, log_mine, common)


@dataclass(frozen=True)
class _Table:
    """Counts of a pair: cells, rows and columns of its table."""

    cells: NDArray[Any]
    rows: NDArray[Any]
    columns: NDArray[Any]


def _table(pairs: Integers, counts: Floats, K: int, dense: bool, complete: bool) -> _Table:
    if dense:
        grid = np.bincount(pairs, counts, minlength=(K + 1) ** 2).reshape(K + 1, K + 1)[1:, 1:]
        return _Table(grid.ravel(), grid.sum(axis=1), grid.sum(axis=0))
    of_pair, cells = pd.factorize(pairs)
    together = np.bincount(of_pair, counts)
    first, second = cells // (K + 1), cells % (K + 1)
    both = (first > 0) & (second > 0)
    together = together[both]
    if complete:
        return _Table(together, together, together)
    return _Table(together, np.bincount(first[both], together), np.bincount(second[both], together))


def _log_counts(counts: NDArray[Any]) -> float:
    """Return Σ c log c."""
    return float(xlogy(counts, counts).sum())


def _finish(log_joint: Floats, log_mine: Floats, common: Floats) -> PairInformation:
    """Return both figures from sums of c log c, (d, d) each.

    ``log_mine`` is that of the side of the first column.
    """
    n = np.where(common > 0, common, np.nan)
    entropy = np.maximum(np.log(n) - log_mine / n, 0)  # of the first over the common rows
    information = np.maximum(log_joint / n - (log_mine + log_mine.T) / n + np.log(n), 0)
    information = np.minimum(information, np.minimum(entropy, entropy.T))  # rounding aside it never exceeds either
    mean = (entropy + entropy.T) / 2
    normalised = np.divide(information, mean, out=np.zeros_like(mean), where=mean > 0)
    return PairInformation(information, np.where(np.isnan(n), np.nan, normalised))
