"""Mutual information of all pairs of columns at once: what one learner's vote tells about another's, in nats.

The plug-in estimate from counts, I = Σ_ab p(a, b) log( p(a, b) / (p(a) p(b)) ), equal to scikit-learn's
``mutual_info_score``; a pair is judged on the rows in which both are there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from deem_core.majority import NO_VOTE
from deem_core.one_hot import one_hot

Float = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]

_PRODUCT_PAIRS = 1_000  # pairs from which one product of one-hot columns beats a count per pair (measured)
_PRODUCT_UNITS = 4_096  # d·K beyond which the product is no longer affordable
_CHUNK = 1 << 23  # cells of one-hot columns held at once; rows stay below 2²⁴, up to which float32 counts exactly


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

    information: Float
    normalised: Float


def pair_information(codes: Codes) -> PairInformation:
    """Compare every pair of columns of (n, d) codes, -1 for nothing there.

    The states that occur are numbered anew, so that the cost follows the states in these rows and not the number of
    classes. Many pairs of few states are counted by one product of one-hot columns, others pair by pair.
    """
    d = codes.shape[1]
    if not len(codes):
        return PairInformation(np.full((d, d), np.nan), np.full((d, d), np.nan))
    states, packed = _renumbered(codes)
    if d * (d + 1) // 2 >= _PRODUCT_PAIRS and d * states <= _PRODUCT_UNITS:
        return _by_product(packed, states)
    return _pair_by_pair(packed, states)


def table_information(joint: Float) -> Float:
    """Return the mutual information (…) of tables of weights (…, K, L); 0 for an empty table."""
    weight = joint.sum(axis=(-2, -1))
    rows, columns = joint.sum(axis=-1), joint.sum(axis=-2)
    own = xlogy(joint, joint).sum(axis=(-2, -1)) - xlogy(rows, rows).sum(axis=-1) - xlogy(columns, columns).sum(axis=-1)
    safe = np.where(weight > 0, weight, 1)
    return np.asarray(np.maximum(own / safe + np.log(safe), 0))


def _renumbered(codes: Codes) -> tuple[int, Codes]:
    """Return how many states occur and the codes over them, (n, d)."""
    highest = int(codes.max(initial=0))
    seen = np.zeros(highest + 2, bool)
    seen[codes.ravel()] = True  # -1 marks the last place
    seen[-1] = False
    number = np.append(np.cumsum(seen[:-1]) - 1, NO_VOTE).astype(np.int32)
    return max(1, int(seen.sum())), number[codes]


def _by_product(codes: Codes, K: int) -> PairInformation:
    n, d = codes.shape
    counts = np.zeros((d * K, d * K))
    step = max(1, _CHUNK // (d * K))
    for start in range(0, n, step):
        hot = one_hot(codes[start : start + step], K).reshape(-1, d * K)
        counts += hot.T @ hot
    joint = counts.reshape(d, K, d, K)
    log_joint = xlogy(joint, joint).sum(axis=(1, 3))
    mine = joint.sum(axis=3)  # (d, K, d): votes of the first on the rows where both are there
    log_mine = xlogy(mine, mine).sum(axis=1)
    return _finish(log_joint, log_mine, mine.sum(axis=1))


def _pair_by_pair(codes: Codes, K: int) -> PairInformation:
    d = codes.shape[1]
    log_joint, log_mine, common = np.zeros((d, d)), np.zeros((d, d)), np.zeros((d, d))
    places = np.ascontiguousarray(codes.T + 1, np.int32)  # (d, n), 0 for nothing there
    wide = places * np.int32(K + 1) if (K + 1) ** 2 < 2**31 else places.astype(np.int64) * (K + 1)
    dense = max(4 * codes.shape[0], 1 << 12) >= (K + 1) ** 2
    complete = not (codes == NO_VOTE).any()
    alone = [_log_counts(np.bincount(own[own > 0])) for own in places] if complete else []
    for i in range(d):
        for j in range(i, d):
            table = _table(wide[i] + places[j], K, dense, complete)
            log_joint[i, j] = log_joint[j, i] = _log_counts(table.cells)
            common[i, j] = common[j, i] = table.cells.sum()
            log_mine[i, j] = alone[i] if complete else _log_counts(table.rows)
            log_mine[j, i] = alone[j] if complete else _log_counts(table.columns)
    return _finish(log_joint, log_mine, common)


@dataclass(frozen=True)
class _Table:
    """Counts of a pair: of its cells, and of either side over the same rows."""

    cells: NDArray[Any]
    rows: NDArray[Any]
    columns: NDArray[Any]


def _table(pairs: Codes, K: int, dense: bool, complete: bool) -> _Table:
    if dense:
        grid = np.bincount(pairs, minlength=(K + 1) ** 2).reshape(K + 1, K + 1)[1:, 1:]
        return _Table(grid.ravel(), grid.sum(axis=1), grid.sum(axis=0))
    found, counts = np.unique(pairs, return_counts=True)
    first, second = found // (K + 1), found % (K + 1)
    both = (first > 0) & (second > 0)
    counts = counts[both]
    if complete:
        return _Table(counts, counts, counts)
    return _Table(counts, np.bincount(first[both], counts), np.bincount(second[both], counts))


def _log_counts(counts: NDArray[Any]) -> float:
    """Return Σ c log c."""
    return float(xlogy(counts, counts).sum())


def _finish(log_joint: Float, log_mine: Float, common: Float) -> PairInformation:
    """Return both figures from Σ c log c of the tables and of the side of the first, (d, d) each."""
    n = np.where(common > 0, common, np.nan)
    entropy = np.maximum(np.log(n) - log_mine / n, 0)  # of the first over the common rows
    information = np.maximum(log_joint / n - (log_mine + log_mine.T) / n + np.log(n), 0)
    information = np.minimum(information, np.minimum(entropy, entropy.T))  # rounding aside it never exceeds either
    mean = (entropy + entropy.T) / 2
    normalised = np.divide(information, mean, out=np.zeros_like(mean), where=mean > 0)
    return PairInformation(information, np.where(np.isnan(n), np.nan, normalised))
