"""Array helpers: chunks, spread rows, one-hot votes, distinct rows, sums of votes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array

from deem_core.typing import Codes, Floats, Integers, Mask, Posterior, Rows

NO_VOTE = -1
"""Class code of a vote that was not cast."""

_BLOCK = 1 << 20  # (row, class) or (row, learner) cells handled at once
_PRINTED_ROWS = 1 << 14  # rows fingerprinted at once: caches hold their columns


def chunks(n: int, size: int) -> Iterator[slice]:
    """Yield slices of at most ``size`` rows that cover n rows.

    They keep temporaries small; a size below 1 counts as 1.
    """
    size = max(1, size)
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def spread_rows(n: int, most: int, *, nearest: bool = False) -> NDArray[np.intp]:
    """Return at most ``most`` of n rows at even distances.

    Row j stands at j (n − 1) / (most − 1), from the first row to the last. Whole numbers are exact; in floating point
    the last row of a long table may lie beyond its end.

    Parameters
    ----------
    n, most : int
    nearest : bool
        Whether a position between two rows goes to the nearer one, halves to the even one, and not to the one before.
    """
    if n <= most:
        return np.arange(n)
    steps = max(most - 1, 1)
    rows, rest = np.divmod(np.arange(most, dtype=np.int64) * (n - 1), steps)
    if nearest:
        rows += (2 * rest > steps) | ((2 * rest == steps) & (rows % 2 == 1))
    return rows.astype(np.intp, copy=False)


def one_hot(codes: Integers, n_classes: int, dtype: DTypeLike = np.float32) -> NDArray[Any]:
    """Return (b, d) codes as one-hot votes (b, d, K).

    A vote that was not cast is a zero vector.
    """
    encoded = np.zeros((*codes.shape, n_classes), dtype)
    np.put_along_axis(encoded, np.maximum(codes, 0)[..., None].astype(np.intp), (codes >= 0)[..., None], axis=-1)
    return encoded


def as_probabilities(rows: Rows, n_classes: int) -> NDArray[Any]:
    """Return probabilities (n, d, K) as they are, and codes (n, d) as one-hot votes."""
    return rows if rows.ndim == 3 else one_hot(rows.astype(np.int32, copy=False), n_classes)


def votes_cast(rows: Rows) -> Mask:
    """Return which votes were cast, (n, d), of codes (n, d) or probabilities (n, d, K)."""
    return np.asarray(rows != NO_VOTE if rows.ndim == 2 else rows.any(axis=2))


def withhold(rows: Rows, absent: Mask) -> Rows:
    """Return codes (n, d) or probabilities (n, d, K) without the votes that are ``absent`` (n, d)."""
    return np.where(absent, NO_VOTE, rows) if rows.ndim == 2 else np.where(absent[..., None], 0, rows)


def sparse_one_hot(codes: Integers, n_classes: int) -> csr_array:
    """Return (n, d) codes as a sparse one-hot matrix (n, d·K).

    Vote l of learner i is a 1 in column i·K + l.
    """
    n, d = codes.shape
    cast = codes != NO_VOTE
    columns = (codes + n_classes * np.arange(d, dtype=np.int64))[cast]
    starts = np.concatenate([[0], np.cumsum(cast.sum(axis=1))])
    return csr_array((np.ones(len(columns)), columns, starts), shape=(n, d * n_classes))


@dataclass(frozen=True)
class Distinct:
    """Rows of votes without repetition.

    Attributes
    ----------
    codes : (u, d)
        Distinct rows, in order of first appearance.
    of_row : (n,)
        Position in ``codes`` of each row: ``codes[of_row]`` gives the rows back.
    counts : (u,)
        How often each occurs.
    """

    codes: Codes
    of_row: Integers
    counts: NDArray[np.int64]

    @property
    def weights(self) -> Floats:
        """How often each row occurs to learn from, (u,).

        A row without votes counts for nothing.
        """
        return np.where((self.codes != NO_VOTE).any(axis=1), self.counts, 0).astype(np.float64)

    def spread(self, values: NDArray[Any], axis: int = 0) -> NDArray[Any]:
        """Return values of the distinct rows as those of all rows.

        From (u, …) to (n, …) along ``axis``; the array itself where no row repeats.
        """
        alone = len(self.codes) == len(self.of_row)  # in order of first appearance: each row is at its place
        return values if alone else np.take(values, self.of_row, axis=axis)  # a third of the time of values[of_row]


def distinct_rows(codes: Integers) -> Distinct:
    """Return the distinct rows of an (n, d) array.

    Rows are told apart by 64-bit numbers in one pass. Where so many digits can hold a row they are the row; otherwise
    they are fingerprints, every row is compared with the one it is said to equal, and should two fingerprints ever
    coincide, the rows are sorted after all.
    """
    prints, exact = _fingerprints(codes)
    of_row, _ = pd.factorize(prints)
    first = _first_rows(of_row)
    rows = np.ascontiguousarray(codes if len(first) == len(codes) else codes[first], np.int32)
    if not exact and not all((rows[of_row[part]] == codes[part]).all() for part in chunks(len(codes), 1 << 16)):
        _, first, of_row = np.unique(codes, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        of_row = np.argsort(order)[of_row.reshape(-1)]
        rows = np.ascontiguousarray(codes[first[order]], np.int32)
    counts = np.bincount(of_row, minlength=len(rows))
    return Distinct(rows, of_row.astype(np.int32 if len(codes) < 1 << 31 else np.int64), counts)


def _fingerprints(codes: Integers) -> tuple[NDArray[np.uint64], bool]:
    """Return a number for each row, (n,), and whether it is exact."""
    n, d = codes.shape
    least = int(codes.min(initial=0))
    states = int(codes.max(initial=0)) - least + 1
    exact = states**d < 1 << 64
    factor = np.uint64(states if exact else 0x9E3779B97F4A7C15)
    weights = np.random.default_rng(0).integers(1, 2**63, size=(d,), dtype=np.uint64) | np.uint64(1)
    prints = np.zeros(n, np.uint64)
    for rows in chunks(n, _PRINTED_ROWS):
        own = prints[rows]
        columns = (codes[rows].T.astype(np.int64) - least).view(np.uint64)
        for j in range(d):
            digits = columns[j]
            if not exact:
                digits = (digits + np.uint64(1)) * weights[j]
                digits ^= digits >> np.uint64(29)
            own *= factor
            own += digits
    return prints, exact


def _first_rows(of_row: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return where each of the numbers 0, 1, … is first met, (u,).

    They are given in order of appearance.
    """
    return np.flatnonzero(np.diff(np.maximum.accumulate(of_row), prepend=-1))


def weighted_votes(codes: Integers, weights: Floats, n_classes: int) -> Floats:
    """Return the weighted votes for each class, (n, K).

    S_nk = Σ_{i: x_ni = k} w_i, for (n, d) codes and (d,) weights.
    """
    n, K = len(codes), n_classes
    sums = np.empty((n, K))
    for rows in chunks(n, _BLOCK // max(K, codes.shape[1])):
        block = codes[rows]
        cast = block != NO_VOTE
        cells = (block + K * np.arange(len(block), dtype=np.int64)[:, None])[cast]
        each = np.broadcast_to(weights, block.shape)[cast]
        sums[rows] = np.bincount(cells, each, minlength=len(block) * K).reshape(-1, K)
    return sums


def credit(codes: Integers, posterior: Posterior) -> Floats:
    """Return each learner's expected number of right votes, (d,).

    That is Σ_n q_{n, x_ni} over the rows that learner i voted on.
    """
    total = np.zeros(codes.shape[1])
    for rows in chunks(len(codes), _BLOCK // codes.shape[1]):
        block = codes[rows]
        shares = np.take_along_axis(posterior[rows], np.maximum(block, 0).astype(np.intp), axis=1)
        total += (shares * (block != NO_VOTE)).sum(axis=0)
    return total


def normalise_logs(scores: Floats) -> Floats:
    """Turn (n, K) log weights into probabilities, in place.

    Returns the (n,) logarithms of the sums of the rows.
    """
    peak = scores.max(axis=1, keepdims=True)
    scores -= peak
    np.exp(scores, out=scores)
    total = scores.sum(axis=1, keepdims=True)
    scores /= total
    sums: Floats = (peak + np.log(total))[:, 0]
    return sums


def hard(posterior: Floats) -> Floats:
    """Return the one-hot rows of the most probable classes, (n, K).

    The lowest class wins among equals; zero rows stay zero.
    """
    labels = np.zeros_like(posterior)
    rows = np.flatnonzero(posterior.any(axis=1))
    labels[rows, posterior[rows].argmax(axis=1)] = 1
    return labels
