"""The lead of learners in a class: their importance as a multiple of the median learner's."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LEAST_MIDDLE = 0.05
"""A median below this share of the most important learner's counts as this share: ratios to nothing mean nothing."""


def lead(by_class: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each column (d, K) over its median; NaN where that is not positive, as in a class without rows."""
    middle = np.full(by_class.shape[1], np.nan)
    known = np.isfinite(by_class).all(axis=0)
    if len(by_class):
        middle[known] = np.median(by_class[:, known], axis=0)
    peak = np.nan_to_num(by_class).max(axis=0, initial=0)
    middle = np.where(middle > 0, np.maximum(middle, LEAST_MIDDLE * peak), np.nan)
    return np.asarray(by_class / middle)
