"""Dawid-Skene: a confusion matrix for every learner, by EM.

Votes are independent given the label, with psi[i, l, m] = Pr(X_i = l | Y = m) and pi[m] = Pr(Y = m). From
vote shares q, with V_n the votes that row n has and N the rows that have any, EM repeats

    M:  pi_m = Σ_n q_nm / N,    psi_ilm = (Σ_n q_nm 1[x_ni = l] + s) / (Σ_n q_nm 1[i ∈ V_n] + K·s)
    E:  q_nm = exp(log pi_m + Σ_{i ∈ V_n} log psi_{i, x_ni, m} − L_n),    L_n = log Σ_m exp(the same)

until mean L changes by no more than ``tolerance`` of itself (1e-5), or 100 times. The answer depends on where EM stops
(accuracy on rare experts may rise and fall while L hardly moves), so the iterations are part of the result. Ties go to
the lowest class.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from deem_core.control import NO_CONTROL, Control
from deem_core.methods import em
from deem_core.methods.contract import Aggregate, check_stop_rule
from deem_core.typing import Floats, Integers, Mask
from deem_core.votes import Votes
from deem_core.votes.arrays import chunks, sparse_one_hot
from deem_core.votes.majority import vote_shares

TOLERANCE, MAX_ITERATIONS = 1e-5, 100
"""The stop rule used everywhere unless another one is named."""

CONVERGED_TOLERANCE, CONVERGED_MAX_ITERATIONS = 1e-9, 500
"""The stop rule of "Dawid-Skene, converged"."""

SMOOTHING = 1e-9
"""s, the pseudo-votes added to each cell of psi: enough for finite logarithms and for uniform columns where a
learner never voted on a class, far too little to move the likelihood. EM with it never lowers Σ_n L_n + s·Σ log psi."""

_BLOCK = 1 << 17  # (row, class) cells handled at once in the E-step: 1 MB of float64, which caches hold


def aggregate(
    votes: Votes,
    rng: np.random.Generator,
    *,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
    control: Control = NO_CONTROL,
) -> Aggregate:
    """Fit Dawid-Skene by EM from vote shares.

    Time per iteration is O(votes cast · K); memory beside the posterior is O(votes cast + d·K²).

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
    check_stop_rule(tolerance, max_iterations)
    d, K = votes.n_learners, votes.n_classes
    ballots = sparse_one_hot(votes.codes, K)
    posterior = vote_shares(votes.codes, K)
    voted = votes.votes_per_row > 0
    psi, pi, likelihood = np.empty(0), np.empty(0), -np.inf

    def step(done: int) -> bool:
        nonlocal psi, pi, likelihood
        psi, pi = m_step(ballots, posterior, voted, d)
        before, likelihood = likelihood, e_step(ballots, psi, pi, posterior) / max(int(voted.sum()), 1)
        return done > 0 and em.likelihood_settled(before, likelihood, tolerance)

    run = em.iterate(step, max_iterations=max_iterations, control=control)
    return em.aggregate(
        votes,
        posterior,
        run,
        note=_stop_note(run, tolerance),
        log_likelihood=likelihood if voted.any() else None,
        psi=psi,
        pi=pi,
        skills=expected_accuracies(votes, psi, pi),
        rule=partial(posterior_of, psi=psi, pi=pi),
    )


def posterior_of(codes: Integers, psi: Floats, pi: Floats) -> Floats:
    """Return Pr(Y = m | votes) of (n, d) codes, (n, K)."""
    posterior = np.empty((len(codes), len(pi)))
    e_step(sparse_one_hot(codes, len(pi)), psi, pi, posterior)
    return posterior


def m_step(
    ballots: Any, posterior: Floats, voted: Mask, n_learners: int, *, smoothing: float = SMOOTHING
) -> tuple[Floats, Floats]:
    """Return psi (d, K, K) and pi (K,) given the ballots (n, d·K) and the posterior (n, K).

    A class that no row holds keeps pi = 0: EM cannot bring it back. Without any vote pi is uniform.
    """
    K = posterior.shape[1]
    psi: Floats = (ballots.T @ posterior).reshape(n_learners, K, K)  # expected votes for l in rows of class m
    psi += smoothing
    psi /= psi.sum(axis=1, keepdims=True)
    mass = voted.astype(np.float64) @ posterior
    total = mass.sum()
    return psi, mass / total if total else np.full(K, 1 / K)


def e_step(ballots: Any, psi: Floats, pi: Floats, posterior: Floats) -> float:
    """Write Pr(Y = m | votes of the row) into the (n, K) posterior and return Σ_n log Pr(votes of row n).

    A row without votes gets pi and adds log 1.
    """
    n, K = posterior.shape
    with np.errstate(divide="ignore"):  # a class with pi = 0 has the score −inf and the posterior 0
        log_pi = np.log(pi)
    log_psi = np.log(psi).reshape(-1, K)  # (d·K, K)
    likelihood = 0.0
    for rows in chunks(n, _BLOCK // K):
        scores = ballots[rows] @ log_psi  # (b, K)
        scores += log_pi
        peak = scores.max(axis=1, keepdims=True)
        np.exp(scores - peak, out=scores)
        total = scores.sum(axis=1, keepdims=True)
        np.divide(scores, total, out=posterior[rows])
        likelihood += float(peak.sum() + np.log(total).sum())
    return likelihood


def expected_accuracies(votes: Votes, psi: Floats, pi: Floats) -> Floats:
    """Return Σ_m pi_m psi_imm, (d,), NaN for a learner without votes."""
    return np.where(votes.learner_coverage > 0, np.einsum("imm,m->i", psi, pi), np.nan)


def _stop_note(run: em.Iterations, tolerance: float) -> str:
    rule = f"a relative change of the mean log-likelihood below {tolerance:g}"
    return f"Stopped after {run.done:,} iterations {'at' if run.converged else 'without reaching'} {rule}."
