"""Dependence of learners beside a comparison: how far they err together."""

from __future__ import annotations

import numpy as np

from deem_core.comparison.result import Dependence
from deem_core.groups.mistakes import PairSample, correlation
from deem_core.groups.panel import PanelHealth
from deem_core.votes import NO_VOTE, Votes


def measure(votes: Votes, health: PanelHealth, rng: np.random.Generator) -> Dependence:
    """Return how much learners err together.

    Without the truth as the panel's health has it; with it also the errors themselves, for evaluation only.

    Parameters
    ----------
    votes : Votes
    health : PanelHealth
        Of the same votes.
    rng : numpy.random.Generator
        Draws rows and pairs where there are too many.
    """
    rho, rows = error_correlation(votes, rng)
    return Dependence(
        votes_per_row=health.effective.per_row,
        n_eff=health.effective.n_eff,
        rho_others=health.effective.rho_others,
        error_correlation=rho,
        error_rows=rows,
    )


def error_correlation(votes: Votes, rng: np.random.Generator) -> tuple[float | None, int]:
    """Return the mean correlation of two learners' errors, and its rows.

    Over pairs of learners, by their common rows with known truth::

        ρ_ij = corr( 1[x_i ≠ y], 1[x_j ≠ y] )

    None if no pair has enough of them. Evaluation only.
    """
    if votes.truth is None:
        return None, 0
    known = np.flatnonzero(votes.truth != NO_VOTE)
    sample = PairSample.of(votes.select_rows(known), rng)
    truth = votes.truth[known][sample.rows]
    total, weight = 0.0, 0
    for i, j in sample.pairs.tolist():
        both = sample.both(i, j)
        y = truth[both]
        rho = correlation(sample.codes[i, both] != y, sample.codes[j, both] != y)
        if rho is not None:
            total += len(both) * rho
            weight += len(both)
    return (total / weight if weight else None), len(known)
