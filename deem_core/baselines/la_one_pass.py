"""LA, one pass: a stream of rows, each labelled by the learners' abilities so far (Yang et al., 2024).

Each learner has c_i right votes of t_i, started at 1 of 2 (a Beta(2, 2) prior's mode), and the ability
a_i = c_i / t_i. Rows are visited once, in random order:

    y_n = argmax_k Σ_{i: x_ni = k} a_i,    then t_i += 1 and c_i += 1[x_ni = y_n] for the learners that voted

The posterior is the share Σ_{i: x_ni = k} a_i / Σ_{i ∈ V_n} a_i at the visit. There is nothing to converge: it ends
with the last row. If it is cut, the rows not yet visited are labelled by the abilities reached. Ties go to the lowest
class (the reference draws one); the order of the rows matters, so the method is stochastic.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deem_core.baselines.contract import Aggregate, Float, Stop, cut_notes, fill_silent_rows, never, silence_notes
from deem_core.baselines.tally import weighted_votes
from deem_core.votes import NO_VOTE, Votes

START_RIGHT, START_VOTES = 1.0, 2.0
_LOOK_EVERY = 2048  # rows between two looks at the clock


@dataclass(frozen=True)
class Pass:
    """What one pass leaves: the posterior (n, K) at each row's visit, abilities (d,), and how many rows it saw."""

    posterior: Float
    ability: Float
    n_seen: int
    cut: bool


def aggregate(votes: Votes, rng: np.random.Generator, *, stop: Stop = never) -> Aggregate:
    """Label every row at its visit; ``rng`` draws the order. ``skills`` are the final abilities (d,)."""
    voted = votes.votes_per_row > 0
    done = one_pass(votes, rng, stop)
    fill_silent_rows(done.posterior, voted)
    return Aggregate(
        posterior=done.posterior,
        voted=voted,
        iterations=1,
        converged=not done.cut,
        cut=done.cut,
        skills=abilities(votes, done),
        notes=pass_notes(done) + silence_notes(voted),
    )


def one_pass(votes: Votes, rng: np.random.Generator, stop: Stop) -> Pass:
    """Visit the rows with votes in random order."""
    K = votes.n_classes
    order = rng.permutation(np.flatnonzero(votes.votes_per_row > 0))
    posterior = np.zeros((votes.n_rows, K))
    right, total = np.full(votes.n_learners, START_RIGHT), np.full(votes.n_learners, START_VOTES)
    ability = right / total
    complete = bool((votes.codes != NO_VOTE).all())
    for at, row in enumerate(order.tolist()):
        if at % _LOOK_EVERY == 0 and at and stop():
            rest = order[at:]
            shares = weighted_votes(votes.codes[rest], ability, K)
            posterior[rest] = shares / shares.sum(axis=1, keepdims=True)
            return Pass(posterior, ability, at, True)
        codes = votes.codes[row]
        who: NDArray[np.intp] | slice = slice(None) if complete else np.flatnonzero(codes != NO_VOTE)
        said = codes[who]
        tally = np.bincount(said, ability[who])
        posterior[row, : len(tally)] = tally / tally.sum()
        total[who] += 1
        right[who] += said == tally.argmax()
        ability[who] = right[who] / total[who]
    return Pass(posterior, ability, len(order), False)


def abilities(votes: Votes, done: Pass) -> Float:
    """Return the abilities, NaN for learners without votes."""
    return np.where(votes.learner_coverage > 0, done.ability, np.nan)


def pass_notes(done: Pass) -> tuple[str, ...]:
    """Return the sentence about a pass that was cut."""
    return cut_notes(done.cut, f"{done.n_seen:,} rows of its pass")
