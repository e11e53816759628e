"""Fast and hybrid Dawid-Skene.

EM with hard labels (Sinha, Rao and Balasubramanian, 2018).

Fast: the model of `dawid_skene`, from the one-hot majority vote instead of vote shares, with each row's posterior
replaced by the one-hot of its most probable class after every E-step:

    M:  as in Dawid-Skene, with q one-hot and s = 0.01 pseudo-votes in each cell of psi
    E:  q_n = onehot( argmax_m log pi_m + Σ_{i ∈ V_n} log psi_{i, x_ni, m} )

until Σ_m |Δpi_m| < 1e-4, or 100 times. The posterior returned is that of the last E-step before it was hardened.
Ties go to the lowest class. Hard counts are often exactly zero, which is why the pseudo-votes are more than in
Dawid-Skene itself.

Hybrid: the soft steps of `dawid_skene` from vote shares until Σ_m |Δpi_m| ≤ 0.005, then the hard ones until
Σ_m |Δpi_m| < 1e-4, or 100 iterations in all. It gives nearly the answer of soft EM in fewer iterations.
"""

from __future__ import annotations

import numpy as np

from deem_core.control import NO_CONTROL, Control
from deem_core.methods import dawid_skene, em
from deem_core.methods.contract import Aggregate
from deem_core.votes import Votes
from deem_core.votes.arrays import hard
from deem_core.votes.majority import vote_shares
from deem_core.votes.patterns import Table

TOLERANCE, MAX_ITERATIONS = 1e-4, 100
SMOOTHING = 0.01

SWITCH = 0.005
"""Σ|Δpi| from which on the hybrid uses hard labels."""


def aggregate(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Fit by hard EM from the majority vote.

    ``rng`` is not used. ``skills`` are Σ_m pi_m psi_imm.
    """
    return _hardened_em(votes, control=control, soft_until=np.inf)


def hybrid(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Fit by soft, then hard EM from vote shares.

    ``rng`` is not used. ``skills`` are Σ_m pi_m psi_imm.
    """
    return _hardened_em(votes, control=control, soft_until=SWITCH)


def _hardened_em(votes: Votes, *, control: Control, soft_until: float) -> Aggregate:
    fitted, hard_from = fit(Table.of_votes(votes), control=control, soft_until=soft_until)
    return dawid_skene.answer(
        votes,
        fitted,
        lead=(f"Hard labels from iteration {hard_from} on.",) if hard_from > 1 else (),
        note="" if fitted.run.converged else f"Class shares were still moving after {fitted.run.done} iterations.",
    )


def fit(table: Table, *, control: Control = NO_CONTROL, soft_until: float = np.inf) -> tuple[em.Fit, int]:
    """Run EM on distinct rows with their counts.

    It is hard from the iteration after Σ|Δpi| has fallen to ``soft_until`` (at once if that is infinite), which is
    returned beside the fit; 0 if it never was.
    """
    steps = dawid_skene.Steps(table, SMOOTHING)
    posterior = vote_shares(table.codes, table.n_classes)
    is_hard = bool(np.isinf(soft_until))
    hard_from = 1 if is_hard else 0
    psi, pi, likelihood = np.empty(0), np.full(table.n_classes, np.inf), 0.0

    def step(done: int) -> bool:
        nonlocal psi, pi, likelihood, is_hard, hard_from
        before = pi
        psi, pi = steps.maximise(hard(posterior) if is_hard else posterior)
        likelihood = steps.expect(psi, pi, posterior)
        moved = float(np.abs(pi - before).sum())
        if is_hard:
            return moved < TOLERANCE
        if moved <= soft_until:
            is_hard, hard_from = True, done + 2
        return False

    run = em.iterate(step, max_iterations=MAX_ITERATIONS, control=control)
    return em.Fit(posterior, psi, pi, run, likelihood if table.n_rows else None), hard_from
