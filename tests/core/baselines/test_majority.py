import numpy as np
import pytest

from deem_core.baselines import majority
from tests.core.baselines.helpers import DEGENERATE, check_sound, make_votes, random_votes

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


def test_ties_are_counted_in_a_note():
    assert majority.aggregate(make_votes([[0, 1], [1, 1]], 2), RNG).notes == (
        "Ties decided in 1 of 2 rows: the first class won there.",
    )


def test_blocks_do_not_change_the_shares(monkeypatch):
    votes = random_votes(np.random.default_rng(2), 100, 5, 3, 0.6)
    whole = majority.aggregate(votes, RNG).posterior
    monkeypatch.setattr(majority, "_BLOCK", 7)
    np.testing.assert_array_equal(majority.aggregate(votes, RNG).posterior, whole)
