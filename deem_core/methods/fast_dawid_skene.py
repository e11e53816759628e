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

from typing import Any

import numpy as np

from deem_core.control import NO_CONTROL, Control
from deem_core.methods import dawid_skene, em
from deem_core.methods.contract import Aggregate
from deem_core.typing import Floats
from deem_core.votes import Votes
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
    return dawid_skene.answer(votes, fitted, **_words(fitted.run, hard_from))


def answer_by(votes: Votes, psi: Floats, pi: Floats, run: em.Iterations, hard_from: int) -> Aggregate:
    """Return the answer of parameters that were found on other rows."""
    return dawid_skene.answer_by(votes, psi, pi, run, **_words(run, hard_from))


def _words(run: em.Iterations, hard_from: int) -> dict[str, Any]:
    """Return the sentences about the end, and what comes before them."""
    lead = (f"Hard labels from iteration {hard_from} on.",) if hard_from > 1 else ()
    note = "" if run.converged else f"Class shares were still moving after {run.done} iterations."
    return {"lead": lead, "note": note}


def fit(table: Table, *, control: Control = NO_CONTROL, soft_until: float = np.inf) -> tuple[em.Fit, int]:
    """Run EM on distinct rows with their counts.

    It is hard from the iteration after Σ|Δpi| has fallen to ``soft_until`` (at once if that is infinite), which is
    returned beside the fit; 0 if it never was.
    """
    rows = dawid_skene.TableRows(table, harden=bool(np.isinf(soft_until)))
    psi, pi, run, likelihood, hard_from = estimate(rows, control=control, soft_until=soft_until)
    return em.Fit(rows.posterior, psi, pi, run, likelihood), hard_from


def estimate(
    rows: em.Rows, *, control: Control = NO_CONTROL, soft_until: float = np.inf
) -> tuple[Floats, Floats, em.Iterations, float | None, int]:
    """Run EM on rows, wherever they are.

    Their first count is hard if ``soft_until`` is infinite. Returns psi (d, K, K), pi (K,), how it ended, the mean
    log-likelihood of the rows with votes, if any, and from which iteration on it was hard.
    """
    is_hard = bool(np.isinf(soft_until))
    hard_from = 1 if is_hard else 0
    psi, pi, likelihood = np.empty(0), np.array(np.inf), 0.0

    def step(done: int) -> bool:
        nonlocal psi, pi, likelihood, is_hard, hard_from
        before = pi
        votes, mass = rows.count()
        psi, pi = dawid_skene.maximised(votes, mass, SMOOTHING)
        moved = float(np.abs(pi - before).sum())
        if is_hard:
            likelihood = rows.expect(psi, pi, harden=True)
            return moved < TOLERANCE
        if moved <= soft_until:
            is_hard, hard_from = True, done + 2
        likelihood = rows.expect(psi, pi, harden=is_hard)
        return False

    run = em.iterate(step, max_iterations=MAX_ITERATIONS, control=control)
    return psi, pi, run, likelihood if rows.n_rows else None, hard_from
