"""Chance: learners that agree with the others no more than guessing.

Kappa of each learner with the majority of all the others, by Cohen's definition, and its standard error under
independence (Fleiss, Cohen & Everitt 1969). Low agreement is no proof of a poor learner: one who knows what
nobody else knows cannot agree with anybody either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deem_core.groups.kappa import Ranked
from deem_core.typing import Floats
from deem_core.votes import Votes
from deem_core.votes.arrays import NO_VOTE, spread_rows

MAX_ROWS = 20_000
"""Rows on which learners are judged, evenly spread; kappa is then good to about 0.01."""

ERRORS = 3.0
"""Standard errors of a bound; with 100 learners one in seven tables has a learner outside by chance."""


@dataclass(frozen=True)
class ChanceTest:
    """Each learner against the majority of the others, (d,) each.

    Attributes
    ----------
    rows : int64
        Rows in which it voted and the others have a clear majority (ties are left out).
    observed, expected : float64
        Share of those rows in which it voted with that majority, and the share expected of two voters who know
        nothing of each other and use the classes as often as these two.
    kappa : float64
        (observed − expected) / (1 − expected): 1 is perfect agreement, 0 is chance, negative is worse. NaN where
        there is nothing to judge by: no rows, or only one class used by both.
    error : float64
        Standard error of kappa for a learner that is independent of the others.
    rows_used, n_rows : int
        Rows that were looked at, and rows there are.
    """

    rows: NDArray[np.int64]
    observed: Floats
    expected: Floats
    kappa: Floats
    error: Floats
    rows_used: int
    n_rows: int

    @property
    def low(self) -> Floats:
        """Lower bound of kappa."""
        return self.kappa - ERRORS * self.error

    @property
    def high(self) -> Floats:
        """Upper bound of kappa."""
        return self.kappa + ERRORS * self.error


def chance_test(votes: Votes, max_rows: int = MAX_ROWS) -> ChanceTest:
    """Compare every learner with the majority of the others.

    At most ``max_rows`` evenly spread rows are used.
    """
    d, K = votes.n_learners, votes.n_classes
    voted = np.flatnonzero(votes.votes_per_row >= 2)
    codes = votes.codes[voted[spread_rows(len(voted), max_rows, nearest=True)]].astype(np.int64)  # (b, d)
    ranked = Ranked.of(codes)
    rows = np.zeros(d, np.int64)
    figures = np.full((4, d), np.nan)
    for i, own in enumerate(np.ascontiguousarray(codes.T)):
        majority, clear = ranked.others(own)
        judged = clear & (own != NO_VOTE)
        rows[i] = judged.sum()
        if rows[i]:
            figures[:, i] = _kappa(own[judged], majority[judged], K)
    observed, expected, kappa, error = figures
    return ChanceTest(rows, observed, expected, kappa, error, rows_used=len(codes), n_rows=votes.n_rows)


def _kappa(own: NDArray[np.int64], majority: NDArray[np.int64], K: int) -> tuple[Any, ...]:
    """Return observed and expected agreement, kappa and its standard error."""
    p, q = np.bincount(own, minlength=K) / len(own), np.bincount(majority, minlength=K) / len(own)
    observed, expected = float((own == majority).mean()), float(p @ q)
    if expected > 1 - 1e-12:
        return observed, expected, np.nan, np.nan
    variance = expected + expected**2 - float((p * q * (p + q)).sum())
    error = np.sqrt(max(variance, 0) / len(own)) / (1 - expected)
    return observed, expected, (observed - expected) / (1 - expected), error
