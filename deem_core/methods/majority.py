"""Majority votes: plain, and weighted by agreement with the result.

The weighted one is iterative (Li and Yu, 2014). From the labels y of the majority vote, with V_n the learners that
voted in row n and a_i the share of learner i's votes that equal y, repeat

    w_i = K·a_i − 1,    y_n = argmax_k Σ_{i ∈ V_n} w_i 1[x_ni = k]

until no label changes, or 100 times. A learner at chance weighs nothing and one below it counts against its vote.
K/(K − 1)·w is the tangent at chance of the log-odds log((K − 1)·a / (1 − a)) of a learner with one accuracy, so the
posterior is softmax_k( K/(K − 1) · Σ_i w_i 1[x_ni = k] ). Ties go to the lowest class.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from deem_core.control import NO_CONTROL, Control
from deem_core.methods import em
from deem_core.methods.contract import Aggregate, fill_silent_rows, silence_notes
from deem_core.typing import Codes, Floats, Integers, Mask
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.arrays import normalise_logs, weighted_votes
from deem_core.votes.majority import majority_vote, vote_shares

MAX_ITERATIONS = 100


def aggregate(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Return vote shares, p(y = k | row) = V_k / Σ_l V_l.

    V_k are the votes for class k.

    The codes are those of `Votes.majority_vote`: a draw goes to the first of the tied classes, and a note says so.
    ``rng`` and ``control`` are not used.
    """
    rule = partial(shares_or_uniform, n_classes=votes.n_classes)
    voted = votes.votes_per_row > 0
    notes = _draw_notes(votes) + silence_notes(voted)
    return Aggregate(posterior=rule(votes.codes), voted=voted, notes=notes, handles=("little to gain",), rule=rule)


def shares_or_uniform(codes: Integers, n_classes: int) -> Floats:
    """Return the vote shares of (n, d) codes, (n, K), 1/K in rows without votes."""
    shares = vote_shares(codes, n_classes)
    fill_silent_rows(shares, (codes != NO_VOTE).any(axis=1))
    return shares


def _draw_notes(votes: Votes) -> tuple[str, ...]:
    tied = votes.majority_vote.n_tied
    if not tied:
        return ()
    rows = "1 row is" if tied == 1 else f"{tied:,} rows are"
    return (
        f"{rows} tied between classes with equally many votes. The label is the first of these classes, which is "
        "arbitrary.",
    )


def weighted_vote(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Weigh learners by their agreement with the weighted vote.

    ``rng`` is not used. ``skills`` are the a (d,).
    """
    rows = votes.distinct
    weights, voted = rows.weights, rows.weights > 0
    n_cast = votes.class_counts.sum(axis=1)
    labels = majority_vote(rows.codes).codes
    agreement, scores = np.empty(0), np.empty(0)

    def step(done: int) -> bool:
        nonlocal labels, agreement, scores
        agreement = weights @ (rows.codes == labels[:, None]) / np.maximum(n_cast, 1)
        scores = class_scores(rows.codes, agreement, votes.n_classes)
        before, labels = labels, scores.argmax(axis=1).astype(np.int32)
        return bool((before == labels)[voted].all())

    run = em.iterate(step, max_iterations=MAX_ITERATIONS, control=control)
    return em.aggregate(
        votes,
        rows.spread(scores_to_posterior(scores, voted)),
        run,
        note="" if run.converged else f"Labels were still changing after {run.done} iterations.",
        skills=np.where(n_cast > 0, agreement, np.nan),
    )


def class_scores(codes: Codes, ability: Floats, n_classes: int) -> Floats:
    """Return Σ_{i ∈ V_n} (K·a_i − 1) 1[x_ni = k], (n, K).

    Classes without a vote score 0.
    """
    return weighted_votes(codes, n_classes * ability - 1, n_classes)


def scores_to_posterior(scores: Floats, voted: Mask) -> Floats:
    """Return softmax_k( K/(K − 1) · scores ), (n, K), computed in place; 1/K in rows without votes."""
    K = scores.shape[1]
    scores *= K / (K - 1)
    normalise_logs(scores)
    fill_silent_rows(scores, voted)
    return scores
