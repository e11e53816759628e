"""Checks of what an answer is made of."""

from __future__ import annotations

import numpy as np

from deem_core.errors import InputError
from deem_core.typing import Floats, Posterior
from deem_core.votes import Votes

_TOLERANCE = 1e-3  # of the sum of a row's probabilities
_BLOCK_ROWS = 1 << 18  # rows checked at once


def check_support(votes: Votes, support: Floats) -> None:
    """Refuse a support of other rows."""
    if len(support) != votes.n_rows:
        raise InputError(f"The support has {len(support):,} entries; the votes have {votes.n_rows:,} rows.")


def check_posterior(votes: Votes, posterior: Posterior) -> None:
    """Refuse what is not a posterior of these votes.

    Rows without votes are not looked at.
    """
    if posterior.shape != (votes.n_rows, votes.n_classes):
        raise InputError(
            f"The posterior has the shape {posterior.shape}; these votes need ({votes.n_rows}, {votes.n_classes}): "
            "a row for each row and a column for each class."
        )
    for start in range(0, len(posterior), _BLOCK_ROWS):
        block = posterior[start : start + _BLOCK_ROWS]
        good = (block.min(axis=1) >= 0) & (np.abs(block.sum(axis=1) - 1) < _TOLERANCE)  # NaN is not good
        bad = ~good & (votes.votes_per_row[start : start + _BLOCK_ROWS] > 0)
        if bad.any():
            raise InputError(
                f"Row {start + int(bad.argmax()) + 1:,} of the posterior does not hold probabilities: "
                "they must be at least 0 and sum to 1."
            )
