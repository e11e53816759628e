"""Fast and hybrid Dawid-Skene."""

import numpy as np

from deem_core import simulation
from deem_core.methods import dawid_skene, fast_dawid_skene
from deem_core.votes.describe import accuracy
from tests.core.methods.helpers import random_votes

RNG = np.random.default_rng(0)


def plain_hard_em(codes, K, iterations):
    """Hard EM in loops from the majority vote; smoothing 0.01."""
    labels = np.array([np.bincount(row[row >= 0], minlength=K).argmax() for row in codes])
    scores = np.zeros((len(codes), K))
    for _ in range(iterations):
        pi = np.bincount(labels, minlength=K) / len(labels)
        psi = np.full((codes.shape[1], K, K), 0.01)
        for row, label in zip(codes, labels, strict=True):
            for i, vote in enumerate(row):
                if vote >= 0:
                    psi[i, vote, label] += 1
        psi /= psi.sum(axis=1, keepdims=True)
        scores = np.log(pi) + np.array([sum(np.log(psi[i, v]) for i, v in enumerate(row) if v >= 0) for row in codes])
        labels = scores.argmax(axis=1)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def test_hard_em_is_that_of_plain_loops():
    votes = random_votes(np.random.default_rng(1), 120, 5, 3, 0.8)
    votes = votes.select_rows(votes.votes_per_row > 0)
    made = fast_dawid_skene.aggregate(votes, RNG)
    assert made.converged
    np.testing.assert_allclose(made.posterior, plain_hard_em(votes.codes, 3, made.iterations), atol=1e-9)


def test_the_hybrid_begins_soft_and_ends_hard():
    votes = simulation.tree(2000, rng=np.random.default_rng(2)).votes
    made = fast_dawid_skene.hybrid(votes, RNG)
    assert made.converged
    assert made.notes[0].startswith("Hard labels from iteration ")
    switch = int(made.notes[0].split()[4])
    assert 2 < switch <= made.iterations


def test_both_answer_nearly_as_soft_em_does():
    drawn = simulation.condind(4000, rng=np.random.default_rng(3))
    soft = accuracy(dawid_skene.aggregate(drawn.votes, RNG).codes, drawn.truth)
    for method in (fast_dawid_skene.aggregate, fast_dawid_skene.hybrid):
        assert abs(accuracy(method(drawn.votes, RNG).codes, drawn.truth) - soft) < 0.01
