"""Dependence of learners beside a comparison: how far they err together."""

from __future__ import annotations

import numpy as np

from deem_core.comparison.result import Dependence
from deem_core.groups.effective_votes import effective_votes
from deem_core.groups.mistakes import PairSample, correlation, shared_mistakes
from deem_core.typing import Codes
from deem_core.votes import NO_VOTE, Votes


def measure(votes: Votes, rng: np.random.Generator) -> Dependence:
    """Return how much learners err together.

    Without the truth by `deem_core.groups`; with it also the errors themselves, for evaluation only.

    Parameters
    ----------
    votes : Votes
    rng : numpy.random.Generator
        Draws rows and pairs where there are too many.
    """
    sample = PairSample.of(votes, rng)
    found = effective_votes(votes, sample, shared_mistakes(votes, sample))
    rho, rows = (None, 0) if votes.truth is None else error_correlation(sample, votes.truth)
    return Dependence(
        votes_per_row=found.per_row,
        n_eff=found.n_eff,
        rho_others=found.rho_others,
        error_correlation=rho,
        error_rows=rows,
    )


def error_correlation(sample: PairSample, truth: Codes) -> tuple[float | None, int]:
    """Return the mean correlation of errors, and the rows with known truth.

    Over the pairs of the sample, by their common rows::

        ρ_ij = corr( 1[x_i ≠ y], 1[x_j ≠ y] )

    None if no pair has enough of them. Evaluation only.
    """
    y = truth[sample.rows]
    known = y != NO_VOTE
    total, weight = 0.0, 0
    for i, j in sample.pairs.tolist():
        both = sample.both(i, j)
        both = both[known[both]]
        rho = correlation(sample.codes[i, both] != y[both], sample.codes[j, both] != y[both])
        if rho is not None:
            total += len(both) * rho
            weight += len(both)
    return (total / weight if weight else None), int(known.sum())
