"""Sums over votes that several baselines need: votes weighted by learner, and how learners fare against a posterior."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deem_core.baselines.contract import Float
from deem_core.votes import NO_VOTE

_BLOCK = 1 << 20  # (row, class) or (row, learner) cells handled at once


def weighted_votes(codes: NDArray[np.integer[Any]], weights: Float, n_classes: int) -> Float:
    """Return S_nk = Σ_{i: x_ni = k} w_i, (n, K), for (n, d) codes and (d,) weights."""
    n, K = len(codes), n_classes
    sums = np.empty((n, K))
    step = max(1, _BLOCK // max(K, codes.shape[1]))
    for start in range(0, n, step):
        block = codes[start : start + step]
        cast = block != NO_VOTE
        cells = (block + K * np.arange(len(block), dtype=np.int64)[:, None])[cast]
        each = np.broadcast_to(weights, block.shape)[cast]
        sums[start : start + step] = np.bincount(cells, each, minlength=len(block) * K).reshape(-1, K)
    return sums


def credit(codes: NDArray[np.integer[Any]], posterior: Float) -> Float:
    """Return Σ_n q_{n, x_ni} over the rows that each learner voted on, (d,): its expected number of right votes."""
    total = np.zeros(codes.shape[1])
    step = max(1, _BLOCK // codes.shape[1])
    for start in range(0, len(codes), step):
        block = codes[start : start + step]
        got = np.take_along_axis(posterior[start : start + step], np.maximum(block, 0).astype(np.intp), axis=1)
        total += (got * (block != NO_VOTE)).sum(axis=0)
    return total


def normalise_logs(scores: Float) -> Float:
    """Turn (n, K) logarithms into rows that sum to 1, in place, and return the (n,) logarithms of their sums."""
    peak = scores.max(axis=1, keepdims=True)
    scores -= peak
    np.exp(scores, out=scores)
    total = scores.sum(axis=1, keepdims=True)
    scores /= total
    sums: Float = (peak + np.log(total))[:, 0]
    return sums


def hard(posterior: Float) -> Float:
    """Return the (n, K) one-hot rows of the most probable classes, the lowest among equals; zero rows stay zero."""
    made = np.zeros_like(posterior)
    rows = np.flatnonzero(posterior.any(axis=1))
    made[rows, posterior[rows].argmax(axis=1)] = 1
    return made
