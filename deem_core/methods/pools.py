"""Pools of soft votes: means of what the learners believe.

P_nik is the probability that learner i gives to class k in row n, V_n the learners that voted in row n. A
missing vote leaves its learner out of that row. Logarithms are of max(P, `FLOOR`), so that one learner's zero
cannot veto a class. Ties go to the lowest class. No pool uses ``rng``; only the weighted one repeats, ten rounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deem_core.control import NO_CONTROL, Control
from deem_core.errors import InputError
from deem_core.methods import em
from deem_core.methods.contract import Aggregate, fill_silent_rows, silence_notes
from deem_core.typing import Floats, Mask
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.arrays import chunks, spread_rows

FLOOR = 1e-3
"""Smallest probability that a logarithm sees."""

SHARPNESS = 3.0
"""How many independent learners a row of the weighted pool counts as, whatever their number."""

ROUNDS = 10
"""Rounds of weights and targets in the weighted pool."""

SETTLED = 1e-3
"""The weighted pool counts as converged when no weight moved by more than this in its last round."""

LEAST = 1e-6
"""Smallest probability that is tempered: a vote that was certain may be doubted as well."""

TEMPERS = (0.02, 20.0)
"""Range of the calibrated pool's β: nearly flat, and nearly a vote."""

ALONE = 1e-6
"""Sum of the others' probabilities up to which a learner has a row for itself."""

_HALVINGS = 30
_TEMPERED_CELLS = 1 << 24  # (row, learner, class) cells of the rows, evenly spread, by which learners are calibrated
_BLOCK = 1 << 20  # (row, learner, class) cells handled at once


def mean_prob(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Return the linear pool T_nk = mean_{i ∈ V_n} P_nik, (n, K)."""
    soft = _soft(votes, "mean_prob")
    posterior = np.empty((votes.n_rows, votes.n_classes))
    for rows in _blocks(soft):
        posterior[rows] = soft[rows].sum(axis=1, dtype=np.float64)
    return _answer(votes, posterior)


def geo_pool(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Return the geometric pool T_n = softmax_k( mean_{i ∈ V_n} log P_nik ), (n, K)."""
    soft = _soft(votes, "geo_pool")
    return _answer(votes, _log_pooled(soft, votes, np.ones(votes.n_learners)))


def log_pool(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Return the weighted log-opinion pool.

    Learners count by how well they predict it.

    From the geometric pool T, ten times with N_i the rows that learner i voted on:

        w_i ∝ exp( mean_{n ∈ N_i} Σ_k T_nk log P_nik ),  mean w = 1
        T_n = softmax_k( 3 · mean_{i ∈ V_n} w_i log P_nik )

    ``skills`` are the weights w (d,).
    """
    soft = _soft(votes, "log_pool")
    active = votes.learner_coverage > 0
    weights = active.astype(np.float64)
    posterior = _log_pooled(soft, votes, weights)
    moved = np.inf

    def step(done: int) -> bool:
        nonlocal weights, posterior, moved
        before, weights = weights, _weights(soft, votes, posterior, active)
        posterior = _log_pooled(soft, votes, SHARPNESS * weights)
        moved = float(np.abs(weights - before).max())
        return False  # always ten rounds

    run = em.iterate(step, max_iterations=ROUNDS, control=control)
    settled = moved <= SETTLED
    return em.aggregate(
        votes,
        _normalise(votes, posterior),
        replace(run, converged=settled),
        note="" if settled else _unsettled(votes, weights),
        reached=f"{run.done} rounds",
        skills=np.where(active, weights, np.nan),
    )


def cal_pool(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Return the mean of probabilities, each learner's doubted as it deserves.

    A learner that is surer than right outshouts the others in a mean, and one that is less sure is not heard. So its
    probabilities are tempered, P_nik^β_i normalised, until its mean confidence is the share of rows on which its most
    probable class is that of all others together:

        mean_n max_k P_nik^β_i / Σ_l P_nil^β_i = share of n with argmax_k P_nik = argmax_k Σ_{j ≠ i} P_njk

    ``skills`` are these shares (d,); NaN for a learner that is nowhere beside another.
    """
    soft = _soft(votes, "cal_pool")
    tempers, agreement = _tempers(votes, control)
    posterior = np.zeros((votes.n_rows, votes.n_classes))
    for rows in _blocks(soft):
        cast = votes.codes[rows] != NO_VOTE
        posterior[rows] = (_tempered(_least_logs(soft[rows]), tempers[:, None]) * cast[..., None]).sum(axis=1)
    return replace(_answer(votes, posterior), skills=agreement)


def _tempers(votes: Votes, control: Control) -> tuple[Floats, Floats]:
    """Return β (d,), and how often each learner agrees with all others, (d,)."""
    assert votes.soft is not None  # noqa: S101  # for mypy: refused before
    most = max(_TEMPERED_CELLS // (votes.n_learners * votes.n_classes), 1_000)
    soft = votes.soft[spread_rows(votes.n_rows, most)].astype(np.float64)
    together = soft.sum(axis=1)
    tempers, agreement = np.ones(votes.n_learners), np.full(votes.n_learners, np.nan)
    for i in range(votes.n_learners):
        control.check()
        own, others = soft[:, i], together - soft[:, i]
        both = own.any(axis=1) & (others.max(axis=1, initial=0) > ALONE)
        if both.any():
            agreement[i] = (own[both].argmax(axis=1) == others[both].argmax(axis=1)).mean()
            tempers[i] = _temper(own[both], agreement[i])
    return tempers, agreement


def _temper(own: Floats, agreement: float) -> float:
    """Return β in `TEMPERS` at which probabilities (b, K) are as sure as they agree.

    Halved in logs: confidence rises with β.
    """
    low, high = TEMPERS
    logs = _least_logs(own)
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(low * high))
        if _tempered(logs, np.float64(middle)).max(axis=1).mean() > agreement:
            high = middle
        else:
            low = middle
    return float(np.sqrt(low * high))


def _least_logs(soft: NDArray[np.floating[Any]]) -> Floats:
    """Return log max(P, `LEAST`)."""
    return np.asarray(np.log(np.maximum(soft, LEAST).astype(np.float64)))


def _tempered(logs: Floats, temper: Floats | np.float64) -> Floats:
    """Return P^β of log P, normalised over the last axis.

    β has the axes before it, or none.
    """
    powers = logs * temper
    powers -= powers.max(axis=-1, keepdims=True)
    np.exp(powers, out=powers)
    powers /= powers.sum(axis=-1, keepdims=True)
    return np.asarray(powers)


def _unsettled(votes: Votes, weights: Floats) -> str:
    """Return the sentence about weights that ten rounds did not settle.

    Mostly it is one learner's, which is too sure of itself.
    """
    most = int(weights.argmax())
    return (
        f"Weights were still moving after {ROUNDS} rounds: {votes.learners[most]} counts {weights[most]:.1f} times as "
        "much as the average learner. An overconfident learner can dominate this pool."
    )


def _soft(votes: Votes, method: str) -> NDArray[np.float32]:
    if votes.soft is None:
        raise InputError(
            f"{method} pools probabilities, and these votes are labels only: use soft votes, or choose a method for "
            "labels such as mv or ds."
        )
    return votes.soft


def _blocks(soft: NDArray[np.float32]) -> Iterator[slice]:
    return chunks(len(soft), _BLOCK // (soft.shape[1] * soft.shape[2]))


def _logs(soft: NDArray[np.float32], cast: Mask) -> Floats:
    """Return floored logarithms (b, d, K), 0 for votes that were not cast (b, d)."""
    logs = np.maximum(soft, np.float32(FLOOR)).astype(np.float64)
    np.log(logs, out=logs)
    logs *= cast[..., None]
    return logs


def _log_pooled(soft: NDArray[np.float32], votes: Votes, weights: Floats) -> Floats:
    """Return softmax_k( mean_{i ∈ V_n} weights_i log P_nik ), (n, K)."""
    pooled = np.empty((votes.n_rows, votes.n_classes))
    n_votes = np.maximum(votes.votes_per_row, 1)[:, None]
    for rows in _blocks(soft):
        scores = np.einsum("nik,i->nk", _logs(soft[rows], votes.codes[rows] != NO_VOTE), weights) / n_votes[rows]
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        pooled[rows] = scores / scores.sum(axis=1, keepdims=True)
    return pooled


def _weights(soft: NDArray[np.float32], votes: Votes, target: Floats, active: Mask) -> Floats:
    """Return w (d,) with mean 1 over the learners that voted.

    The others get 0.
    """
    fit = np.zeros(votes.n_learners)
    for rows in _blocks(soft):
        logs = _logs(soft[rows], votes.codes[rows] != NO_VOTE)
        fit += np.einsum("nik,nk->i", logs, target[rows], optimize=True)
    n_cast = votes.class_counts.sum(axis=1)
    weights: Floats = np.where(active, np.exp(fit / np.maximum(n_cast, 1)), 0.0)  # at least FLOOR where active
    if active.any():
        weights /= weights[active].mean()
    return weights


def _normalise(votes: Votes, posterior: Floats) -> Floats:
    """Normalise the posterior in place and fill rows without votes.

    Float32 votes leave its sums a little off 1.
    """
    fill_silent_rows(posterior, votes.votes_per_row > 0)
    posterior /= posterior.sum(axis=1, keepdims=True)
    return posterior


def _answer(votes: Votes, posterior: Floats) -> Aggregate:
    """Return the answer of a pool that does not iterate."""
    voted = votes.votes_per_row > 0
    return Aggregate(posterior=_normalise(votes, posterior), voted=voted, notes=silence_notes(voted))
