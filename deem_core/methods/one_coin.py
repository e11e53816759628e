"""One-coin Dawid-Skene.

Every learner has one accuracy, whatever the class, and errs evenly.

Pr(X_i = l | Y = m) is p_i for l = m and (1 − p_i)/(K − 1) otherwise. From vote shares q, EM repeats

    M:  pi_m = mean_n q_nm,    p_i = (Σ_{n: i ∈ V_n} q_{n, x_ni} + s) / (votes of i + K·s),  s = 0.01
    E:  q_nm ∝ exp( log pi_m + Σ_{i ∈ V_n} log((1 − p_i)/(K − 1)) + Σ_{i: x_ni = m} log((K − 1)·p_i / (1 − p_i)) )

until the mean log-likelihood changes by no more than 1e-5 of itself, or 100 times. Ties go to the lowest class.
A vote costs the same whatever K is, but experts on single classes cannot be seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from deem_core.control import NO_CONTROL, Control
from deem_core.methods import em
from deem_core.methods.contract import Aggregate
from deem_core.typing import Floats, Integers
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.arrays import credit, normalise_logs, weighted_votes
from deem_core.votes.majority import vote_shares
from deem_core.votes.patterns import Table

TOLERANCE, MAX_ITERATIONS = 1e-5, 100
SMOOTHING = 0.01

MAX_PSI_CELLS = 1 << 26
"""Confusion matrices, which the accuracies say already, are written out up to this many cells (512 MB)."""


def aggregate(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Fit by EM from vote shares.

    ``rng`` is not used. ``skills`` are the accuracies p (d,).
    """
    fitted = fit(Table.of_votes(votes), control=control)
    return em.aggregate(
        votes,
        votes.distinct.spread(fitted.posterior),
        fitted.run,
        log_likelihood=fitted.log_likelihood,
        psi=_confusions(fitted.accuracy, votes.n_classes),
        pi=fitted.pi,
        skills=np.where(votes.learner_coverage > 0, fitted.accuracy, np.nan),
        rule=partial(posterior_of, accuracy=fitted.accuracy, pi=fitted.pi),
    )


@dataclass(frozen=True)
class CoinFit:
    """Accuracies found on distinct rows, and how.

    The posterior (u, K), accuracies (d,), pi (K,), and the mean log-likelihood of the rows with votes, if any.
    """

    posterior: Floats
    accuracy: Floats
    pi: Floats
    run: em.Iterations
    log_likelihood: float | None


def fit(table: Table, *, control: Control = NO_CONTROL) -> CoinFit:
    """Fit on distinct rows with their counts."""
    K, counts = table.n_classes, table.counts
    cast = table.codes != NO_VOTE
    n_cast, n_rows = counts @ cast, table.n_rows
    posterior = vote_shares(table.codes, K)
    accuracy, pi, likelihood = np.empty(0), np.empty(0), -np.inf

    def step(done: int) -> bool:
        nonlocal accuracy, pi, posterior, likelihood
        accuracy = (credit(table.codes, counts[:, None] * posterior) + SMOOTHING) / (n_cast + K * SMOOTHING)
        pi = counts @ posterior / n_rows if n_rows else np.full(K, 1 / K)
        posterior = _scores(table.codes, accuracy, pi)
        sums = normalise_logs(posterior) + cast @ np.log((1 - accuracy) / (K - 1))
        before, likelihood = likelihood, float(counts @ sums) / max(n_rows, 1.0)
        return done > 0 and em.likelihood_settled(before, likelihood, TOLERANCE)

    run = em.iterate(step, max_iterations=MAX_ITERATIONS, control=control)
    return CoinFit(posterior, accuracy, pi, run, likelihood if n_rows else None)


def posterior_of(codes: Integers, accuracy: Floats, pi: Floats) -> Floats:
    """Return Pr(Y = m | votes) of (n, d) codes, (n, K)."""
    posterior = _scores(codes, accuracy, pi)
    normalise_logs(posterior)
    return posterior


def _scores(codes: Integers, accuracy: Floats, pi: Floats) -> Floats:
    """Return log Pr(votes, Y = m) of each row but for a constant, (n, K)."""
    K = len(pi)
    scores = weighted_votes(codes, np.log(accuracy / ((1 - accuracy) / (K - 1))), K)
    with np.errstate(divide="ignore"):  # a class that no row holds has the score −inf and stays empty
        scores += np.log(pi)
    return scores


def _confusions(accuracy: Floats, n_classes: int) -> Floats | None:
    d, K = len(accuracy), n_classes
    if d * K * K > MAX_PSI_CELLS:
        return None
    psi = np.repeat((1 - accuracy) / (K - 1), K * K).reshape(d, K, K)
    psi[:, np.arange(K), np.arange(K)] = accuracy[:, None]
    return psi
