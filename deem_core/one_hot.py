"""One-hot votes: dense for a batch, sparse for a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array

from deem_core.majority import NO_VOTE


def one_hot(codes: NDArray[np.integer[Any]], n_classes: int, dtype: DTypeLike = np.float32) -> NDArray[Any]:
    """Return (b, d) class codes as (b, d, K) one-hot votes, zero vectors where the code is -1."""
    encoded = np.zeros((*codes.shape, n_classes), dtype)
    np.put_along_axis(encoded, np.maximum(codes, 0)[..., None].astype(np.intp), (codes >= 0)[..., None], axis=-1)
    return encoded


def sparse_one_hot(codes: NDArray[np.integer[Any]], n_classes: int) -> csr_array:
    """Return (n, d) codes as a sparse (n, d·K) matrix with a 1 in column i·K + l for vote l of learner i."""
    n, d = codes.shape
    cast = codes != NO_VOTE
    columns = (codes + n_classes * np.arange(d, dtype=np.int64))[cast]
    starts = np.concatenate([[0], np.cumsum(cast.sum(axis=1))])
    return csr_array((np.ones(len(columns)), columns, starts), shape=(n, d * n_classes))
