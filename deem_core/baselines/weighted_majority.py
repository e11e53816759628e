"""Iterative weighted majority vote: learners count by how often they agree with the result (Li and Yu, 2014).

From the labels y of the majority vote, with V_n the learners that voted in row n and a_i the share of learner i's
votes that equal y, repeat

    w_i = K·a_i − 1,    y_n = argmax_k Σ_{i ∈ V_n} w_i 1[x_ni = k]

until no label changes, or 100 times. A learner at chance weighs nothing and one below it counts against its vote.
K/(K − 1)·w is the tangent at chance of the log-odds log((K − 1)·a / (1 − a)) of a learner with one accuracy, so the
posterior is softmax_k( K/(K − 1) · Σ_i w_i 1[x_ni = k] ). Ties go to the lowest class.
"""

from __future__ import annotations

import numpy as np

from deem_core.baselines.contract import Aggregate, Float, Stop, cut_notes, fill_silent_rows, never, silence_notes
from deem_core.baselines.tally import normalise_logs, weighted_votes
from deem_core.votes import Votes

MAX_ITERATIONS = 100


def aggregate(votes: Votes, rng: np.random.Generator, *, stop: Stop = never) -> Aggregate:
    """Weigh learners by their agreement with the weighted vote; ``rng`` is not used. ``skills`` are the a (d,)."""
    K = votes.n_classes
    voted = votes.votes_per_row > 0
    n_cast = votes.class_counts.sum(axis=1)
    labels = votes.majority_vote.codes
    converged, cut, iterations = False, False, 0
    while not converged and not cut and iterations < MAX_ITERATIONS:
        hits = ((votes.codes == labels[:, None]) & voted[:, None]).sum(axis=0)
        agreement = hits / np.maximum(n_cast, 1)
        scores = class_scores(votes, agreement)
        before, labels = labels, np.where(voted, scores.argmax(axis=1), -1).astype(np.int32)
        converged = bool((before == labels).all())
        iterations += 1
        cut = not converged and iterations < MAX_ITERATIONS and stop()
    scores *= K / (K - 1)
    normalise_logs(scores)
    fill_silent_rows(scores, voted)
    notes = cut_notes(cut, f"{iterations} iterations")
    if not converged and not cut:
        notes = (f"Labels were still changing after {iterations} iterations.",)
    return Aggregate(
        posterior=scores,
        voted=voted,
        iterations=iterations,
        converged=converged,
        cut=cut,
        skills=np.where(n_cast > 0, agreement, np.nan),
        notes=notes + silence_notes(voted),
    )


def class_scores(votes: Votes, ability: Float) -> Float:
    """Return Σ_{i ∈ V_n} (K·a_i − 1) 1[x_ni = k], (n, K); classes without a vote score 0."""
    return weighted_votes(votes.codes, votes.n_classes * ability - 1, votes.n_classes)
