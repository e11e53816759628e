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
    return _aggregate(votes, fitted, votes.distinct.spread(fitted.posterior))


def answer_by(votes: Votes, accuracy: Floats, pi: Floats, run: em.Iterations) -> Aggregate:
    """Return the answer of parameters that were found on other rows."""
    posterior = posterior_of(votes.codes, accuracy, pi)
    return _aggregate(votes, CoinFit(posterior, accuracy, pi, run, None), posterior)


def _aggregate(votes: Votes, fitted: CoinFit, posterior: Floats) -> Aggregate:
    return em.aggregate(
        votes,
        posterior,
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
    rows = TableRows(table)
    accuracy, pi, run, likelihood = estimate(rows, control=control)
    return CoinFit(rows.posterior, accuracy, pi, run, likelihood)


def estimate(rows: em.Rows, *, control: Control = NO_CONTROL) -> tuple[Floats, Floats, em.Iterations, float | None]:
    """Run EM on rows, wherever they are.

    Returns accuracies (d,), pi (K,), how it ended, and the mean log-likelihood of the rows with votes, if any.
    """
    accuracy, pi, likelihood = np.empty(0), np.empty(0), -np.inf

    def step(done: int) -> bool:
        nonlocal accuracy, pi, likelihood
        right, mass, n_cast = rows.count()
        K = len(mass)
        accuracy = (right + SMOOTHING) / (n_cast + K * SMOOTHING)
        pi = mass / rows.n_rows if rows.n_rows else np.full(K, 1 / K)
        before, likelihood = likelihood, rows.expect(accuracy, pi)
        return done > 0 and em.likelihood_settled(before, likelihood, TOLERANCE)

    run = em.iterate(step, max_iterations=MAX_ITERATIONS, control=control)
    return accuracy, pi, run, likelihood if rows.n_rows else None


class TableRows:
    """Rows of one table, as EM asks for them (`em.Rows`)."""

    def __init__(self, table: Table) -> None:
        self.table, self.cast, self.n_rows = table, table.codes != NO_VOTE, table.n_rows
        self.n_cast = table.counts @ self.cast
        self.posterior = vote_shares(table.codes, table.n_classes)

    def count(self) -> tuple[Floats, ...]:
        """Return expected right votes (d,), rows of each class (K,), votes (d,)."""
        counts = self.table.counts
        right = credit(self.table.codes, counts[:, None] * self.posterior)
        return right, counts @ self.posterior, self.n_cast

    def expect(self, *parameters: Floats, harden: bool = False) -> float:
        """Take the posterior under accuracies and pi; see `em.Rows`.

        There is no hard form.
        """
        return self.log_likelihood(*parameters) / max(self.n_rows, 1.0)

    def log_likelihood(self, accuracy: Floats, pi: Floats) -> float:
        """Do the same and return the sum."""
        self.posterior = _scores(self.table.codes, accuracy, pi)
        sums = normalise_logs(self.posterior) + self.cast @ np.log((1 - accuracy) / (len(pi) - 1))
        return float(self.table.counts @ sums)


def expected(table: Table, parameters: tuple[Floats, ...], harden: bool = False) -> em.Expected:
    """Return the sums over a part of the rows.

    Under accuracies and pi; from vote shares without these.
    """
    rows = TableRows(table)
    likelihood = rows.log_likelihood(*parameters) if parameters else 0.0
    return em.Expected(rows.count(), likelihood, table.n_rows)


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
