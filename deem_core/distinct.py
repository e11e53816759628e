"""Distinct rows of votes: many rows are alike, and what holds of one holds of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray


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

    codes: NDArray[np.int32]
    of_row: NDArray[np.intp]
    counts: NDArray[np.int64]


def distinct_rows(codes: NDArray[np.integer[Any]]) -> Distinct:
    """Return the distinct rows of an (n, d) array.

    Rows are compared by a 64-bit fingerprint, which takes one pass instead of a sort; then every row is compared
    with the one it is said to equal, and should two fingerprints ever coincide, the rows are sorted after all.
    """
    weights = np.random.default_rng(0).integers(1, 2**63, size=(codes.shape[1],), dtype=np.uint64)
    with np.errstate(over="ignore"):
        prints = np.zeros(len(codes), np.uint64)
        for j in range(codes.shape[1]):
            mixed = (codes[:, j].astype(np.uint64) + np.uint64(1)) * (weights[j] | np.uint64(1))
            prints = prints * np.uint64(0x9E3779B97F4A7C15) + (mixed ^ (mixed >> np.uint64(29)))
    of_row, found = pd.factorize(prints)
    first = np.full(len(found), -1, np.intp)
    first[of_row[::-1]] = np.arange(len(codes))[::-1]
    rows = np.ascontiguousarray(codes[first], np.int32)
    if not all((rows[of_row[at : at + 65536]] == codes[at : at + 65536]).all() for at in range(0, len(codes), 65536)):
        rows, of_row = np.unique(codes, axis=0, return_inverse=True)
        rows = rows.astype(np.int32)
    return Distinct(rows, of_row.reshape(-1), np.bincount(of_row.reshape(-1), minlength=len(rows)))
