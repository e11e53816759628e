"""Weights by gold rows, against the formula written out once more."""

import math

import numpy as np
import pytest

from deem_core import InputError, Votes, fuse
from deem_core.gold.weights import accuracies, aggregate, learner_weights, left_out_scores
from tests.core.gold.helpers import gold_of, panel

CODES = np.array([[0, 0, 1], [1, 0, 1], [2, 2, -1], [0, 1, 1], [2, 0, 0]], np.int32)
TRUTH = np.array([0, 1, 2, 0, 2], np.int32)


def by_hand(rows, j):
    """The weight of learner j by some gold rows."""
    votes = hits = right = judged = 0
    for row in rows:
        for learner in range(3):
            if CODES[row, learner] >= 0:
                votes += 1
                hits += CODES[row, learner] == TRUTH[row]
                if learner == j:
                    judged += 1
                    right += CODES[row, learner] == TRUTH[row]
    common = (hits + 6) / (votes + 10)
    accuracy = min(max((right + 4 * common) / (judged + 4), 0.02), 0.98)
    return math.log(accuracy * 2 / (1 - accuracy))


def test_weights_are_those_of_the_formula():
    votes = Votes(CODES, np.arange(3), ("a", "b", "c"))
    rows = [0, 1, 2, 3]
    expected = [by_hand(rows, j) for j in range(3)]
    np.testing.assert_allclose(learner_weights(votes, gold_of(TRUTH, rows)), expected)


def test_a_gold_row_is_scored_by_the_weights_of_the_others():
    votes = Votes(CODES, np.arange(3), ("a", "b", "c"))
    rows = [0, 1, 2, 3]
    scores = left_out_scores(votes, gold_of(TRUTH, rows))
    for at, row in enumerate(rows):
        others = [each for each in rows if each != row]
        expected = np.zeros(3)
        for j in range(3):
            if CODES[row, j] >= 0:
                expected[CODES[row, j]] += by_hand(others, j)
        np.testing.assert_allclose(scores[at], expected)


def test_accuracies_stay_away_from_certainty():
    assert accuracies(np.array([1000, 0]), np.array([1000, 1000])).tolist() == pytest.approx([0.98, 0.02])


def test_the_weighted_vote_needs_gold():
    with pytest.raises(InputError, match="needs gold rows"):
        fuse(panel(50), method="gold_vote")


def test_strong_judges_outvote_twice_as_many_weak_ones():
    votes = panel()
    gold = gold_of(votes.truth, np.arange(30))
    made = aggregate(votes.with_gold(gold), np.random.default_rng(0))
    rest = slice(30, None)
    assert (made.codes == votes.truth)[rest].mean() > (votes.majority_vote.codes == votes.truth)[rest].mean() + 0.2
    assert made.posterior.sum(axis=1) == pytest.approx(1)
    np.testing.assert_allclose(made.rule(votes.codes), made.posterior)
