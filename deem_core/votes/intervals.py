"""Intervals of shares and of paired differences; none has zero width.

Every interval in the app, the reports and the JSON comes from here. Resampling rows says nothing where all sampled rows
are right, as it never draws an error: these intervals do, since they ask which shares the rows seen would be unlikely
under. A share of 1 on 59 rows is 94 to 100%.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, ndtri

from deem_core.typing import Floats

LEVEL = 0.95
TELLING = 0.02
"""Distance from 0 within which an interval tells that two methods are alike; further out, rows are too few."""

_HALVINGS = 60


def wilson(share: ArrayLike, counts: ArrayLike, level: float = LEVEL) -> Floats:
    """Return Wilson's interval of each share, (2, …): low and high.

    Its coverage is right on average and dips near 0 and 1; for the many points of a curve, and where what a share rests
    on is no whole number. NaN where a share is NaN or rests on nothing.

    Parameters
    ----------
    share : (…) array
        Shares of successes.
    counts : (…) array
        Cases that each share rests on.
    """
    p, n = np.asarray(share, np.float64), np.asarray(counts, np.float64)
    n = np.where(n > 0, n, np.nan)
    z2: Any = ndtri(0.5 + level / 2) ** 2  # not scipy.stats, which takes half a second to import
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    return np.stack([np.clip(middle - half, 0, 1), np.clip(middle + half, 0, 1)])


def exact(successes: ArrayLike, counts: ArrayLike, level: float = LEVEL) -> Floats:
    """Return the interval of Clopper and Pearson of each share, (2, …).

    It never covers less than its level. Successes may be in shares, such as half a hit in a tie, which spread less than
    whole ones. NaN where a share rests on nothing.

    Parameters
    ----------
    successes, counts : (…) array
    """
    n = np.asarray(counts, np.float64)
    x = np.clip(np.asarray(successes, np.float64), 0, n)
    tail = (1 - level) / 2
    with np.errstate(invalid="ignore"):
        low = np.where(x > 0, betaincinv(np.where(x > 0, x, 1), n - x + 1, tail), 0.0)
        high = np.where(x < n, betaincinv(x + 1, np.where(x < n, n - x, 1), 1 - tail), 1.0)
    return np.where(n > 0, np.stack([low, high]), np.nan)


def paired(wins: float, losses: float, rows: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the interval of a paired difference of accuracies.

    Tango's score interval of (wins − losses) / rows: all differences that the rows do not speak against. Stretched
    to 0 where the exact test on the rows won or lost (McNemar's, binomial with ½) does not rule 0 out, so that no gain
    is called sure on a handful of rows.

    Parameters
    ----------
    wins, losses : float
        Rows on which the first alone is right, and the second alone; in shares where ties are drawn.
    rows : int
        All rows with known truth.
    """
    gain = (wins - losses) / rows
    z: Any = ndtri(0.5 + level / 2)
    low, high = -_score_end(losses, wins, rows, z), _score_end(wins, losses, rows, z)
    if _chance(max(wins, losses), min(wins, losses)) >= (1 - level) / 2:
        low, high = min(low, 0.0), max(high, 0.0)
    return min(low, gain), max(high, gain)


def _score_end(wins: float, losses: float, n: int, z: float) -> float:
    """Return the largest difference whose score statistic is z at most (Tango 1998)."""
    low, high = (wins - losses) / n, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        b = -wins - losses + (2 * n - wins + losses) * middle
        lost = (np.sqrt(max(b * b + 8 * n * losses * middle * (1 - middle), 0.0)) - b) / (4 * n)
        spread = n * (2 * lost + middle * (1 - middle))
        beyond = n * middle - wins + losses > z * np.sqrt(max(spread, 0.0))
        low, high = (low, middle) if beyond else (middle, high)
    return (low + high) / 2


def _chance(more: float, fewer: float) -> float:
    """Return the one-sided chance of such counts by luck."""
    return 1.0 if more <= fewer else float(betainc(more, fewer + 1, 0.5))


def tells_alike(low: float, high: float) -> bool:
    """Tell whether an interval around 0 is close enough to call methods alike."""
    return max(abs(low), abs(high)) <= TELLING


def spread_of_sum(middle: float, ends: Floats) -> tuple[float, float]:
    """Return the interval of a number that independent shares move (square-and-add).

    Zou and Donner's MOVER: the distances that the ends of each share's own interval move the number add up as
    variances do.

    Parameters
    ----------
    middle : float
        The number as estimated.
    ends : (2, …) array
        The number with one share at a time at the lower and at the upper end of its interval.
    """
    moves = np.nan_to_num(np.asarray(ends, np.float64) - middle).reshape(2, -1)
    below, above = np.minimum(moves, 0).min(axis=0), np.maximum(moves, 0).max(axis=0)
    return middle - float(np.sqrt((below**2).sum())), middle + float(np.sqrt((above**2).sum()))
