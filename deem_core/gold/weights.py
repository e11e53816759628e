"""Weighted vote: learners weigh by what they got right on gold rows.

With k_j right of g_j votes on gold rows, a_0 the share that all learners got right together, and four pseudo-votes for
each learner,

    a_0 = (hits + 6) / (votes + 10),    a_j = (k_j + 4·a_0) / (g_j + 4) within [0.02, 0.98],
    w_j = log( a_j·(K − 1) / (1 − a_j) ),    y_n = argmax_k Σ_{j: x_nj = k} w_j

which is the naive Bayes vote of learners with one accuracy each. A gold row is labelled by the weights of all others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deem_core.control import NO_CONTROL, Control
from deem_core.errors import InputError
from deem_core.methods.contract import Aggregate, fill_silent_rows, silence_notes
from deem_core.text import count
from deem_core.typing import Codes, Floats, Integers
from deem_core.votes import NO_VOTE, Gold, Votes
from deem_core.votes.arrays import normalise_logs, weighted_votes

PSEUDO_VOTES = 4.0
"""Votes at the common accuracy that each learner starts with."""
PRIOR_HITS, PRIOR_VOTES = 6.0, 10.0
"""Of the common accuracy."""
BOUND = 0.02
"""Accuracies stay this far from 0 and 1."""


def accuracies(right: NDArray[Any], judged: Integers) -> Floats:
    """Return shrunk accuracies of (…, d) right votes among judged ones."""
    hits, total = right.sum(axis=-1, keepdims=True), judged.sum(axis=-1, keepdims=True)
    common = (hits + PRIOR_HITS) / (total + PRIOR_VOTES)
    return np.asarray(np.clip((right + PSEUDO_VOTES * common) / (judged + PSEUDO_VOTES), BOUND, 1 - BOUND))


def weights(accuracy: Floats, n_classes: int) -> Floats:
    """Return the weight of a vote, log(a·(K − 1) / (1 − a))."""
    return np.log(accuracy * (n_classes - 1) / (1 - accuracy))


def learner_weights(votes: Votes, gold: Gold) -> Floats:
    """Return the weight of each learner by all gold rows, (d,)."""
    right, judged = _counts(votes, gold)
    return weights(accuracies(right.sum(axis=0), judged.sum(axis=0)), votes.n_classes)


def left_out_scores(votes: Votes, gold: Gold) -> Floats:
    """Return the scores of gold rows by the weights of all others, (g, K)."""
    right, judged = _counts(votes, gold)
    others = weights(accuracies(right.sum(axis=0) - right, judged.sum(axis=0) - judged), votes.n_classes)  # (g, d)
    codes = votes.codes[gold.rows]
    scores = np.zeros((len(codes), votes.n_classes))
    row, learner = np.nonzero(codes != NO_VOTE)
    np.add.at(scores, (row, codes[row, learner]), others[row, learner])
    return scores


def aggregate(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Fuse votes by weights learnt from their gold rows.

    ``rng`` and ``control`` are not used. ``skills`` are the shrunk accuracies (d,).

    Raises
    ------
    InputError
        If the votes have no gold rows.
    """
    if votes.gold is None:
        raise InputError("The vote weighted by gold rows needs gold rows. Provide some known labels as gold.")
    gold = votes.gold
    right, judged = _counts(votes, gold)
    accuracy = accuracies(right.sum(axis=0), judged.sum(axis=0))
    own = weights(accuracy, votes.n_classes)

    def rule(codes: Integers) -> Floats:
        scores = weighted_votes(codes, own, votes.n_classes)
        normalise_logs(scores)
        fill_silent_rows(scores, (codes != NO_VOTE).any(axis=1))
        return scores

    voted = votes.votes_per_row > 0
    note = f"Weights were learned from {count(gold.n_rows, 'gold row')}."
    return Aggregate(
        posterior=rule(votes.codes), voted=voted, skills=accuracy, notes=(note, *silence_notes(voted)), rule=rule
    )


def _counts(votes: Votes, gold: Gold) -> tuple[Codes, Codes]:
    """Return right votes and votes on each gold row, both (g, d)."""
    codes = votes.codes[gold.rows]
    judged = (codes != NO_VOTE).astype(np.int32)
    return ((codes == gold.labels[:, None]) & (judged > 0)).astype(np.int32), judged
