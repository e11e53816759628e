import numpy as np
import pytest

from deem_core.methods import majority
from deem_core.votes import majority as votes_majority
from tests.core.methods.helpers import DEGENERATE, check_sound, make_votes, random_votes

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("votes", DEGENERATE.values(), ids=DEGENERATE)
def test_degenerate_votes_give_sound_posteriors(votes):
    made = majority.aggregate(votes, RNG)
    check_sound(made, votes)
    np.testing.assert_array_equal(made.codes, votes.majority_vote.codes)


@pytest.mark.parametrize(("n", "d", "K", "coverage"), [(500, 6, 2, 1), (500, 7, 5, 0.3), (3000, 4, 900, 0.8)])
def test_codes_are_those_of_the_votes_themselves(n, d, K, coverage):
    votes = random_votes(np.random.default_rng(1), n, d, K, coverage)
    made = majority.aggregate(votes, RNG)
    np.testing.assert_array_equal(made.codes, votes.majority_vote.codes)
    check_sound(made, votes)


def test_posteriors_are_vote_shares():
    made = majority.aggregate(make_votes([[0, 1, 1, -1], [2, 2, 2, 2], [-1, -1, -1, -1]], 3), RNG)
    np.testing.assert_allclose(made.posterior, [[1 / 3, 2 / 3, 0], [0, 0, 1], [1 / 3, 1 / 3, 1 / 3]])


def test_ties_are_said_and_how_they_are_broken():
    (note,) = majority.aggregate(make_votes([[0, 1], [1, 1], [0, 1]], 2), RNG).notes
    assert note.startswith("2 rows are tied between classes with equally many votes. The label is the first")
    assert majority.aggregate(make_votes([[0, 0], [1, 1]], 2), RNG).notes == ()


def test_blocks_do_not_change_the_shares(monkeypatch):
    votes = random_votes(np.random.default_rng(2), 100, 5, 3, 0.6)
    whole = majority.aggregate(votes, RNG).posterior
    monkeypatch.setattr(votes_majority, "_BLOCK", 7)
    np.testing.assert_array_equal(majority.aggregate(votes, RNG).posterior, whole)


def test_weighted_labels_are_a_fixed_point_of_the_formula():
    votes = random_votes(np.random.default_rng(1), 400, 6, 4, 0.7)
    made = majority.weighted_vote(votes, RNG)
    assert made.converged
    for i in range(6):
        rows = votes.codes[:, i] >= 0
        np.testing.assert_allclose(made.skills[i], (votes.codes[rows, i] == made.codes[rows]).mean())
    for row in np.flatnonzero(votes.votes_per_row > 0):
        scores = np.zeros(4)
        for i, vote in enumerate(votes.codes[row]):
            if vote >= 0:
                scores[vote] += 4 * made.skills[i] - 1
        assert made.codes[row] == scores.argmax()
        shares = np.exp(scores * 4 / 3)
        np.testing.assert_allclose(made.posterior[row], shares / shares.sum())


def test_a_learner_that_is_always_contrary_counts_against_its_vote():
    good = np.random.default_rng(2).integers(2, size=200)
    votes = make_votes(np.column_stack([good, good, good, 1 - good]), 2)
    made = majority.weighted_vote(votes, RNG)
    np.testing.assert_allclose(made.skills, [1, 1, 1, 0])
    np.testing.assert_array_equal(made.codes, good)
    np.testing.assert_allclose(made.posterior.max(axis=1), 1 / (1 + np.exp(-8)))  # 2·(3 + 1)
