"""LA, lightweight label aggregation in one pass over the rows or two (Yang et al., 2024).

One pass is a stream of rows, each labelled by the abilities so far. Each learner has c_i right votes of t_i, started
at 1 of 2 (a Beta(2, 2) prior's mode), and the ability a_i = c_i / t_i. Rows are visited once, in random order:

    y_n = argmax_k Σ_{i: x_ni = k} a_i,    then t_i += 1 and c_i += 1[x_ni = y_n] for the learners that voted

The posterior is the share Σ_{i: x_ni = k} a_i / Σ_{i ∈ V_n} a_i at the visit. There is nothing to converge: it ends
with the last row. If it is cut, the rows not yet visited are labelled by the abilities reached. Ties go to the lowest
class (the reference draws one); the order of the rows matters, so the method is stochastic.

Two passes take the abilities a (d,) that the first one ends with and label every row anew:

    y_n = argmax_k Σ_{i ∈ V_n} (K·a_i − 1) 1[x_ni = k]

with the posterior softmax_k( K/(K − 1) · the same sums ), as the weighted majority vote has it. If the first pass is
cut, the abilities reached so far serve. Ties go to the lowest class (the reference starts its maximum at −1, so that a
class that weighs less can never win; here it can).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deem_core.control import NO_CONTROL, Control
from deem_core.methods.contract import Aggregate, cut_notes, fill_silent_rows, silence_notes
from deem_core.methods.majority import class_scores, scores_to_posterior
from deem_core.typing import Floats
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.arrays import weighted_votes

START_RIGHT, START_VOTES = 1.0, 2.0
_LOOK_EVERY = 2048  # rows between two looks at the clock


@dataclass(frozen=True)
class Pass:
    """Result of one pass.

    The posterior (n, K) at each row's visit, abilities (d,), and how many rows it saw.
    """

    posterior: Floats
    ability: Floats
    n_seen: int
    cut: bool


def one_pass(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Label every row at its visit.

    ``rng`` draws the order. ``skills`` are the final abilities (d,).
    """
    stream = stream_rows(votes, rng, control)
    fill_silent_rows(stream.posterior, votes.votes_per_row > 0)
    return _aggregate(votes, stream, stream.posterior, passes=1)


def two_passes(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Label every row by the abilities of a first pass.

    ``rng`` draws its order. ``skills`` are these abilities (d,).
    """
    stream = stream_rows(votes, rng, control)
    rows = votes.distinct
    scores = class_scores(rows.codes, stream.ability, votes.n_classes)
    posterior = rows.spread(scores_to_posterior(scores, rows.weights > 0))
    return _aggregate(votes, stream, posterior, passes=2)


def _aggregate(votes: Votes, stream: Pass, posterior: Floats, *, passes: int) -> Aggregate:
    voted = votes.votes_per_row > 0
    return Aggregate(
        posterior=posterior,
        voted=voted,
        iterations=passes,
        converged=not stream.cut,
        cut=stream.cut,
        skills=np.where(votes.learner_coverage > 0, stream.ability, np.nan),
        notes=cut_notes(stream.cut, f"{stream.n_seen:,} rows of its pass") + silence_notes(voted),
    )


def stream_rows(votes: Votes, rng: np.random.Generator, control: Control) -> Pass:
    """Visit the rows with votes in random order."""
    K = votes.n_classes
    order = rng.permutation(np.flatnonzero(votes.votes_per_row > 0))
    posterior = np.zeros((votes.n_rows, K))
    right, total = np.full(votes.n_learners, START_RIGHT), np.full(votes.n_learners, START_VOTES)
    ability = right / total
    complete = bool((votes.codes != NO_VOTE).all())
    for at, row in enumerate(order.tolist()):
        if at % _LOOK_EVERY == 0 and at and control.stopped():
            rest = order[at:]
            shares = weighted_votes(votes.codes[rest], ability, K)
            posterior[rest] = shares / shares.sum(axis=1, keepdims=True)
            return Pass(posterior, ability, at, True)
        codes = votes.codes[row]
        who: NDArray[np.intp] | slice = slice(None) if complete else np.flatnonzero(codes != NO_VOTE)
        cast = codes[who]
        tally = np.bincount(cast, ability[who])
        posterior[row, : len(tally)] = tally / tally.sum()
        total[who] += 1
        right[who] += cast == tally.argmax()
        ability[who] = right[who] / total[who]
    return Pass(posterior, ability, len(order), False)
