"""L-SML and FlyingSquid, which ask about one class at a time."""

from itertools import combinations

import numpy as np
import pytest

from deem_core import InputError, simulation
from deem_core.methods import flyingsquid, lsml
from deem_core.methods.one_vs_rest import Signs
from deem_core.votes.describe import accuracy
from tests.core.methods.helpers import make_votes, random_votes

RNG = np.random.default_rng(0)


def binary_votes(accuracies, n=40_000, seed=1):
    """Balanced classes, symmetric and independent errors: the model of both methods."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n)
    right = rng.random((n, len(accuracies))) < accuracies
    return make_votes(np.where(right, truth[:, None], 1 - truth[:, None]), 2), truth


def signs_of(codes, k=1):
    z = np.where(codes == k, 1.0, -1.0) * (codes >= 0)
    return Signs(z, (codes >= 0).astype(float), np.ones(len(codes)), 0.5)


@pytest.mark.parametrize("method", [lsml, flyingsquid])
def test_accuracies_of_independent_learners_are_recovered(method):
    accuracies = np.array([0.9, 0.8, 0.7, 0.65, 0.6])
    votes, truth = binary_votes(accuracies)
    made = method.aggregate(votes, RNG)
    told = made.skills if method is lsml else (made.skills + 1) / 2
    np.testing.assert_allclose(told, accuracies, atol=0.03)
    weights = np.log(accuracies / (1 - accuracies))
    best = accuracy(((2 * votes.codes - 1) @ weights > 0).astype(int), truth)
    assert accuracy(made.codes, truth) > best - 0.003


def test_the_skill_of_flyingsquid_is_the_median_over_pairs_of_others():
    """Two learners share their errors, so that triplets disagree, and mean and median with them."""
    votes, _ = binary_votes([0.9, 0.8, 0.75, 0.7, 0.85], n=4000)
    codes = np.array(votes.codes)
    codes[:, 4] = np.where(np.arange(4000) % 4, codes[:, 0], codes[:, 4])
    signs = signs_of(codes)
    product = np.abs(signs.z.T @ signs.z) / 4000
    for i, found in enumerate(flyingsquid.triplet_skills(signs)):
        others = [j for j in range(5) if j != i]
        each = [np.sqrt(product[i, j] * product[i, k] / product[j, k]) for j, k in combinations(others, 2)]
        assert found == pytest.approx(min(1, np.median(each)))
        assert abs(np.mean(each) - np.median(each)) > 1e-3


def test_two_classes_are_one_question():
    votes = random_votes(np.random.default_rng(2), 400, 5, 2, 0.8)
    votes = votes.select_rows((votes.votes_per_row > 0) & ~votes.majority_vote.tied)
    for method in (lsml, flyingsquid):
        one = method.aggregate(votes, RNG).posterior
        other = method.aggregate(make_votes(np.where(votes.codes < 0, -1, 1 - votes.codes), 2), RNG).posterior
        np.testing.assert_allclose(one, other[:, ::-1], atol=1e-6)


def test_a_rank_one_matrix_with_holes_is_filled():
    v = np.array([0.9, 0.5, 0.7, 0.3])
    trusted = ~np.eye(4, dtype=bool)
    trusted[0, 1] = trusted[1, 0] = False
    np.testing.assert_allclose(lsml.rank_one(np.where(trusted, np.outer(v, v), 9), trusted), v, atol=1e-4)
    np.testing.assert_array_equal(lsml.rank_one(np.eye(3), np.zeros((3, 3), bool)), 0)


@pytest.mark.parametrize("seed", range(3))
def test_the_branches_of_a_tree_are_found_as_groups(seed):
    votes = simulation.tree(10_000, rng=np.random.default_rng(seed)).votes
    groups = lsml.find_groups(signs_of(votes.codes, 0))
    assert groups.max() == 2
    assert all(len(set(groups[start : start + 4])) == 1 for start in (0, 4, 8))


def test_good_learners_among_guessers_are_not_taken_for_a_group():
    drawn = simulation.condind(10_000, rng=np.random.default_rng(3))
    for k in range(3):
        assert lsml.find_groups(signs_of(drawn.votes.codes, k)).max() == 0


def test_pairs_that_never_meet_do_no_harm():
    votes, truth = binary_votes([0.9, 0.8, 0.8, 0.7, 0.7, 0.7], n=6000)
    codes = votes.codes.copy()
    codes[::2, :1], codes[1::2, 1:2] = -1, -1
    apart = make_votes(codes, 2)
    for method in (lsml, flyingsquid):
        assert accuracy(method.aggregate(apart, RNG).codes, truth) > accuracy(apart.majority_vote.codes, truth)


def test_hundreds_of_rare_classes_do_not_make_lsml_collapse():
    """Within the reference's grid of balances nobody ever votes for a class of a thousand, and one label is left."""
    drawn = simulation.families(4000, rng=np.random.default_rng(5), n_classes=400, accuracies=(0.6, 0.65, 0.7, 0.75))
    made = lsml.aggregate(drawn.votes, RNG)
    assert accuracy(made.codes, drawn.truth) > accuracy(drawn.votes.majority_vote.codes, drawn.truth)
    assert np.bincount(made.codes).max() < 40


@pytest.mark.parametrize("share", [0.004, 0.996])
def test_the_share_of_a_very_rare_side_is_found(share):
    rng = np.random.default_rng(6)
    truth = (rng.random(50_000) < share).astype(int)
    right = rng.random((50_000, 5)) < [0.97, 0.98, 0.99, 0.985, 0.995]
    votes = make_votes(np.where(right, truth[:, None], 1 - truth[:, None]), 2)
    made = lsml.aggregate(votes, RNG)
    assert made.posterior[:, 1].mean() == pytest.approx(share, abs=0.002)


def test_fewer_than_three_learners_are_refused():
    for method in (lsml, flyingsquid):
        with pytest.raises(InputError, match="needs at least three learners"):
            method.aggregate(make_votes([[0, 1], [1, 1]], 2), RNG)


def test_too_many_learners_for_triplets_are_refused():
    with pytest.raises(InputError, match="refused above 200 learners"):
        flyingsquid.aggregate(make_votes(np.zeros((2, 201), int), 2), RNG)
