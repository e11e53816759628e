"""Dawid-Skene: a confusion matrix for every learner, by EM.

Votes are independent given the label, with psi[i, l, m] = Pr(X_i = l | Y = m) and pi[m] = Pr(Y = m). From
vote shares q, with V_n the votes that row n has and N the rows that have any, EM repeats

    M:  pi_m = Σ_n q_nm / N,    psi_ilm = (Σ_n q_nm 1[x_ni = l] + s) / (Σ_n q_nm 1[i ∈ V_n] + K·s)
    E:  q_nm = exp(log pi_m + Σ_{i ∈ V_n} log psi_{i, x_ni, m} − L_n),    L_n = log Σ_m exp(the same)

until mean L changes by no more than ``tolerance`` of itself (1e-5), or 100 times. The answer depends on where EM stops
(accuracy on rare experts may rise and fall while L hardly moves), so the iterations are part of the result. Ties go to
the lowest class. Equal rows are computed once.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from deem_core.control import NO_CONTROL, Control
from deem_core.methods import em
from deem_core.methods.contract import Aggregate, check_stop_rule
from deem_core.typing import Floats, Integers
from deem_core.votes import Votes
from deem_core.votes.arrays import hard, normalise_logs
from deem_core.votes.majority import vote_shares
from deem_core.votes.patterns import Table

TOLERANCE, MAX_ITERATIONS = 1e-5, 100
"""The stop rule used everywhere unless another one is named."""

CONVERGED_TOLERANCE, CONVERGED_MAX_ITERATIONS = 1e-9, 500
"""The stop rule of "Dawid-Skene, converged"."""

SMOOTHING = 1e-9
"""s, the pseudo-votes added to each cell of psi: enough for finite logarithms and for uniform columns where a
learner never voted on a class, far too little to move the likelihood. EM with it never lowers Σ_n L_n + s·Σ log psi."""


def aggregate(
    votes: Votes,
    rng: np.random.Generator,
    *,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
    control: Control = NO_CONTROL,
) -> Aggregate:
    """Fit Dawid-Skene by EM from vote shares.

    Time per iteration is O(votes cast in distinct rows · K); memory beside the posterior is O(the same votes + d·K²).

    Parameters
    ----------
    votes : Votes
        A missing vote is left out of its row; rows without votes play no part and get pi.
    rng : Generator
        Not used: the start is fixed.
    tolerance : float
        Stop when the mean log-likelihood changes by no more than this share of itself.
    max_iterations : int
        One iteration is an M-step and the E-step after it.
    control : Control
        Asked after each iteration whether to end there.

    Returns
    -------
    Aggregate
        With psi, pi and the log-likelihood of the last iteration. ``skills`` is Σ_m pi_m psi_imm, the
        accuracy that the model expects of each learner.
    """
    fitted = fit(Table.of_votes(votes), tolerance=tolerance, max_iterations=max_iterations, control=control)
    return answer(votes, fitted, note=_stop_note(fitted.run, tolerance))


def with_gold(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Fit with the posterior of gold rows held at their labels.

    `aggregate` where there are none. A gold row whose label no learner votes for counts as any other row. This is what
    Dawid-Skene by its name does; other methods that ask it know nothing of gold.
    """
    gold = votes.gold
    if gold is None:
        return aggregate(votes, rng, control=control)
    fixed = np.flatnonzero(gold.known & (gold.codes < votes.n_classes) & (votes.votes_per_row > 0))
    rest = votes.without_gold().select_rows(np.setdiff1d(np.arange(votes.n_rows), fixed)).distinct
    table = Table(
        np.concatenate([votes.codes[fixed], rest.codes]),
        np.concatenate([np.ones(len(fixed)), rest.weights]),
        votes.n_classes,
    )
    held = np.eye(votes.n_classes)[gold.codes[fixed]]
    fitted = fit(table, control=control, held=held)
    posterior = posterior_of(votes.codes, fitted.psi, fitted.pi)
    return _aggregate(votes, fitted, posterior, (), _stop_note(fitted.run, TOLERANCE))


def fit(
    table: Table,
    *,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
    control: Control = NO_CONTROL,
    held: Floats | None = None,
) -> em.Fit:
    """Fit Dawid-Skene on distinct rows with their counts.

    Parameters are those of `aggregate`; ``held`` is the posterior of the first rows, (h, K), which stays as it is.
    """
    check_stop_rule(tolerance, max_iterations)
    rows = TableRows(table, held=held)
    psi, pi, run, likelihood = estimate(rows, tolerance=tolerance, max_iterations=max_iterations, control=control)
    return em.Fit(rows.posterior, psi, pi, run, likelihood)


def estimate(
    rows: em.Rows,
    *,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
    control: Control = NO_CONTROL,
) -> tuple[Floats, Floats, em.Iterations, float | None]:
    """Run EM on rows, wherever they are.

    Returns psi (d, K, K), pi (K,), how it ended, and the mean log-likelihood of the rows with votes, if any.
    """
    psi, pi, likelihood = np.empty(0), np.empty(0), -np.inf

    def step(done: int) -> bool:
        nonlocal psi, pi, likelihood
        votes, mass = rows.count()
        psi, pi = maximised(votes, mass)
        before, likelihood = likelihood, rows.expect(psi, pi)
        return done > 0 and em.likelihood_settled(before, likelihood, tolerance)

    run = em.iterate(step, max_iterations=max_iterations, control=control)
    return psi, pi, run, likelihood if rows.n_rows else None


def answer(votes: Votes, fitted: em.Fit, *, lead: tuple[str, ...] = (), note: str = "") -> Aggregate:
    """Return the answer of a fit on these votes' distinct rows."""
    return _aggregate(votes, fitted, votes.distinct.spread(fitted.posterior), lead, note)


def answer_by(
    votes: Votes, psi: Floats, pi: Floats, run: em.Iterations, *, lead: tuple[str, ...] = (), note: str | None = None
) -> Aggregate:
    """Return the answer of parameters that were found on other rows."""
    posterior = posterior_of(votes.codes, psi, pi)
    note = _stop_note(run, TOLERANCE) if note is None else note
    return _aggregate(votes, em.Fit(posterior, psi, pi, run), posterior, lead, note)


def _aggregate(votes: Votes, fitted: em.Fit, posterior: Floats, lead: tuple[str, ...], note: str) -> Aggregate:
    return em.aggregate(
        votes,
        posterior,
        fitted.run,
        lead=lead,
        note=note,
        log_likelihood=fitted.log_likelihood,
        psi=fitted.psi,
        pi=fitted.pi,
        skills=expected_accuracies(votes, fitted.psi, fitted.pi),
        rule=partial(posterior_of, psi=fitted.psi, pi=fitted.pi),
    )


def posterior_of(codes: Integers, psi: Floats, pi: Floats) -> Floats:
    """Return Pr(Y = m | votes) of (n, d) codes, (n, K)."""
    posterior = np.empty((len(codes), len(pi)))
    Steps(Table(np.asarray(codes, np.int32), np.ones(len(codes)), len(pi))).expect(psi, pi, posterior)
    return posterior


class Steps:
    """Steps of EM on one table."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.ballots = table.ballots()  # (u, d·K)
        self.counted = table.counted(self.ballots)

    def count(self, posterior: Floats) -> tuple[Floats, Floats]:
        """Return expected votes (d·K, K) and rows (K,) of each class."""
        return self.counted.T @ posterior, self.table.counts @ posterior

    def expect(self, psi: Floats, pi: Floats, posterior: Floats) -> float:
        """Write Pr(Y = m | votes of the row) into the (u, K) posterior.

        A row without votes gets pi. Returns the mean of log Pr(votes of a row) over all others.
        """
        return self.log_likelihood(psi, pi, posterior) / max(self.table.n_rows, 1.0)

    def log_likelihood(self, psi: Floats, pi: Floats, posterior: Floats) -> float:
        """Do the same and return the sum."""
        with np.errstate(divide="ignore"):  # a class with pi = 0 has the score −inf and the posterior 0
            log_pi = np.log(pi)
        log_psi = np.log(psi).reshape(-1, len(pi))  # (d·K, K)
        likelihood = 0.0
        for rows in self.table.blocks():
            scores = self.ballots[rows] @ log_psi  # (b, K)
            scores += log_pi
            likelihood += float(self.table.counts[rows] @ normalise_logs(scores))
            posterior[rows] = scores
        return likelihood


def maximised(votes: Floats, mass: Floats, smoothing: float = SMOOTHING) -> tuple[Floats, Floats]:
    """Return psi (d, K, K) and pi (K,), the M-step.

    Given are expected votes (d·K, K) and rows (K,) of each class. ``smoothing`` are pseudo-votes added to each cell of
    psi. A class that no row holds keeps pi = 0: EM cannot bring it back. Without any vote pi is uniform.
    """
    K, total = len(mass), mass.sum()
    psi = votes.reshape(-1, K, K).copy()  # of learners, for vote l in rows of class m
    psi += smoothing
    psi /= psi.sum(axis=1, keepdims=True)
    return psi, mass / total if total else np.full(K, 1 / K)


class TableRows:
    """Rows of one table, as EM asks for them (`em.Rows`).

    Parameters
    ----------
    table : Table
    held : (h, K), optional
        Posterior of the first rows, which stays as it is.
    harden : bool
        Whether the first count is of the most probable classes alone.
    """

    def __init__(self, table: Table, *, held: Floats | None = None, harden: bool = False) -> None:
        self.steps, self.n_rows, self.harden = Steps(table), table.n_rows, harden
        self.posterior = vote_shares(table.codes, table.n_classes)
        self.held = np.empty((0, table.n_classes)) if held is None else held
        self.posterior[: len(self.held)] = self.held

    def count(self) -> tuple[Floats, ...]:
        """Return expected votes (d·K, K) and rows (K,) of each class."""
        return self.steps.count(hard(self.posterior) if self.harden else self.posterior)

    def expect(self, *parameters: Floats, harden: bool = False) -> float:
        """Take the posterior under psi and pi; see `em.Rows`."""
        psi, pi = parameters
        likelihood, self.harden = self.steps.expect(psi, pi, self.posterior), harden
        self.posterior[: len(self.held)] = self.held
        return likelihood


def expected(table: Table, parameters: tuple[Floats, ...], harden: bool = False) -> em.Expected:
    """Return the sums over a part of the rows.

    Under psi and pi; from vote shares without these.
    """
    if not parameters:
        rows = TableRows(table, harden=harden)
        return em.Expected(rows.count(), 0.0, table.n_rows)
    steps = Steps(table)
    posterior = np.empty((len(table.codes), table.n_classes))
    psi, pi = parameters
    likelihood = steps.log_likelihood(psi, pi, posterior)
    return em.Expected(steps.count(hard(posterior) if harden else posterior), likelihood, table.n_rows)


def expected_accuracies(votes: Votes, psi: Floats, pi: Floats) -> Floats:
    """Return Σ_m pi_m psi_imm, (d,), NaN for a learner without votes."""
    return np.where(votes.learner_coverage > 0, np.einsum("imm,m->i", psi, pi), np.nan)


def _stop_note(run: em.Iterations, tolerance: float) -> str:
    rule = f"a relative change of the mean log-likelihood below {tolerance:g}"
    return f"Stopped after {run.done:,} iterations {'at' if run.converged else 'without reaching'} {rule}."
