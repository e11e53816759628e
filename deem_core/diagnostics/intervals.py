"""Intervals: how far a share from a sample may be from the real one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm


def wilson(share: ArrayLike, counts: ArrayLike, level: float = 0.95) -> NDArray[np.float64]:
    """Return Wilson's interval of each share, (2, …): low and high.

    It keeps within 0 and 1 and holds for few cases too. NaN where a share is NaN or rests on nothing.

    Parameters
    ----------
    share : (…) array
        Shares of successes.
    counts : (…) array of int
        Cases that each share rests on.
    """
    p, n = np.asarray(share, np.float64), np.asarray(counts, np.float64)
    n = np.where(n > 0, n, np.nan)
    z2: Any = norm.ppf(0.5 + level / 2) ** 2
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    return np.stack([np.clip(middle - half, 0, 1), np.clip(middle + half, 0, 1)])
