"""Fast Dawid-Skene: EM with hard labels (Sinha, Rao and Balasubramanian, 2018).

The model of `dawid_skene`, from the one-hot majority vote instead of vote shares, with each row's posterior
replaced by the one-hot of its most probable class after every E-step:

    M:  as in Dawid-Skene, with q one-hot and s = 0.01 pseudo-votes in each cell of psi
    E:  q_n = onehot( argmax_m log pi_m + Σ_{i ∈ V_n} log psi_{i, x_ni, m} )

until Σ_m |Δpi_m| < 1e-4, or 100 times. The posterior returned is that of the last E-step before it was hardened.
Ties go to the lowest class. Hard counts are often exactly zero, which is why the pseudo-votes are more than in
Dawid-Skene itself.
"""

from __future__ import annotations

import numpy as np

from deem_core.baselines import dawid_skene
from deem_core.baselines.contract import Aggregate, Stop, cut_notes, never, silence_notes
from deem_core.baselines.majority import vote_shares
from deem_core.baselines.tally import hard
from deem_core.one_hot import sparse_one_hot
from deem_core.votes import Votes

TOLERANCE, MAX_ITERATIONS = 1e-4, 100
SMOOTHING = 0.01


def aggregate(votes: Votes, rng: np.random.Generator, *, stop: Stop = never) -> Aggregate:
    """Fit by hard EM from the majority vote; ``rng`` is not used. ``skills`` are Σ_m pi_m psi_imm."""
    return hardened_em(votes, stop=stop, soft_until=np.inf)


def hardened_em(votes: Votes, *, stop: Stop, soft_until: float) -> Aggregate:
    """Run EM, hard from the iteration after Σ|Δpi| has fallen to ``soft_until`` (at once if that is infinite)."""
    K = votes.n_classes
    ballots = sparse_one_hot(votes.codes, K)
    voted = votes.votes_per_row > 0
    posterior = vote_shares(votes.codes, K)
    is_hard = np.isinf(soft_until)
    hard_from = 1 if is_hard else 0
    pi = np.full(K, np.inf)
    converged, cut, iterations, likelihood = False, False, 0, 0.0
    while not converged and not cut and iterations < MAX_ITERATIONS:
        before = pi
        labels = hard(posterior) if is_hard else posterior
        psi, pi = dawid_skene.m_step(ballots, labels, voted, votes.n_learners, smoothing=SMOOTHING)
        likelihood = dawid_skene.e_step(ballots, psi, pi, posterior)
        iterations += 1
        moved = float(np.abs(pi - before).sum())
        converged = bool(is_hard) and moved < TOLERANCE
        if not is_hard and moved <= soft_until:
            is_hard, hard_from = True, iterations + 1
        cut = not converged and iterations < MAX_ITERATIONS and stop()
    notes = cut_notes(cut, f"{iterations} iterations")
    if not cut and not converged:
        notes = (f"Class shares were still moving after {iterations} iterations.",)
    if hard_from > 1:
        notes = (f"Hard labels from iteration {hard_from} on.", *notes)
    return Aggregate(
        posterior=posterior,
        voted=voted,
        iterations=iterations,
        converged=converged,
        cut=cut,
        log_likelihood=likelihood / int(voted.sum()) if voted.any() else None,
        psi=psi,
        pi=pi,
        skills=np.where(votes.learner_coverage > 0, np.einsum("imm,m->i", psi, pi), np.nan),
        notes=notes + silence_notes(voted),
    )
