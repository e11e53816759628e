"""Majority vote as a baseline: the share of a row's votes that each class got."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deem_core.baselines.contract import Aggregate, Float, Stop, fill_silent_rows, never, silence_notes
from deem_core.votes import NO_VOTE, Votes

_BLOCK = 1 << 20  # (row, class) cells counted at once


def aggregate(votes: Votes, rng: np.random.Generator, *, stop: Stop = never) -> Aggregate:
    """Return vote shares, p(y = k | row) = V_k / Σ_l V_l with V_k the votes for class k.

    The codes are those of `Votes.majority_vote`: ties go to the lowest class index. ``rng`` and ``stop`` are not
    used.
    """
    posterior = vote_shares(votes.codes, votes.n_classes)
    voted = votes.votes_per_row > 0
    fill_silent_rows(posterior, voted)
    tied = votes.majority_vote.n_tied
    notes = () if not tied else (f"Ties decided in {tied:,} of {votes.n_rows:,} rows: the first class won there.",)
    return Aggregate(posterior=posterior, voted=voted, notes=notes + silence_notes(voted))


def vote_shares(codes: NDArray[np.integer[Any]], n_classes: int) -> Float:
    """Return the (n, K) shares of the votes in (n, d) codes; zeros in a row without votes."""
    n, K = len(codes), n_classes
    shares = np.empty((n, K))
    step = max(1, _BLOCK // K)
    for start in range(0, n, step):
        block = codes[start : start + step]
        cells = block + K * np.arange(len(block), dtype=np.int64)[:, None]
        counts = np.bincount(cells[block != NO_VOTE], minlength=len(block) * K).reshape(-1, K)
        shares[start : start + step] = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return shares
