"""Groups found by BIC: proposals, changes, and trees whose groups are known."""

import math

import numpy as np
import pytest

from deem_core import simulation
from deem_core.control import Stopped, StopWhen
from deem_core.groups.em import fit
from deem_core.groups.search import SEARCH_ROUNDS, Scores, canonical, changes, dendrogram, find_groups, second_look
from deem_core.votes.patterns import Table
from tests.core.groups.helpers import noisy_copies

TRUE_GROUPS = ((0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11))


def branches(groups, d):
    return len(groups) + d - sum(map(len, groups))


def search(votes, seed=0, **options):
    return find_groups(votes, np.random.default_rng(seed), **options)


def test_the_dendrogram_goes_from_single_learners_to_three_branches():
    kappa = np.eye(6)
    kappa[0, 1] = kappa[1, 0] = 0.9
    kappa[2, 3] = kappa[3, 2] = 0.8
    partitions = list(dendrogram(kappa))
    assert partitions[:3] == [(), ((0, 1),), ((0, 1), (2, 3))]
    assert [branches(groups, 6) for groups in partitions] == [6, 5, 4, 3]


def test_changes_are_one_step_away_and_leave_three_branches():
    kappa = np.eye(6)
    steps = set(changes(((0, 1, 2), (3, 4)), kappa))
    assert ((3, 4),) in steps  # dissolved
    assert ((0, 1), (3, 4)) in steps  # a member freed
    assert ((0, 1, 2), (3, 4, 5)) not in steps  # would leave two branches
    assert all(branches(groups, 6) >= 3 for groups in steps)
    assert all(groups == canonical(groups) for groups in steps)


def test_a_single_learner_joins_a_group_and_the_closest_singles_are_paired():
    kappa = np.eye(7)
    kappa[5, 6] = kappa[6, 5] = 0.5
    steps = set(changes(((0, 1),), kappa))
    assert ((0, 1, 2),) in steps
    assert ((0, 1), (5, 6)) in steps
    assert sum(len(groups) == 2 for groups in steps) == 4  # the four pairs of largest κ


def test_the_score_is_the_bayesian_information_criterion():
    votes = simulation.make("tree", 400, seed=0).votes
    table = Table.of(votes.codes, 3)
    groups = TRUE_GROUPS[:1]
    fitted = fit(table, groups, rounds=SEARCH_ROUNDS)
    parameters = 2 + 12 * 3 * 2 + 1 * 3 * 2
    assert Scores(table)(groups) == pytest.approx(fitted.log_likelihood - parameters / 2 * math.log(400))


def test_a_second_look_dissolves_large_groups_of_the_best_rivals():
    scores = Scores(Table.of(np.zeros((5, 9), np.int32), 2))
    best, complete, far = ((0, 1, 2), (4, 5)), ((0, 1, 2), (3, 4, 5)), ((7, 8),)
    scores.known = {best: 0.0, complete: -50.0, far: -90.0}
    assert set(second_look(best, scores)) == {((3, 4, 5),), ((0, 1, 2),)}  # pairs stay, and so does the best itself


@pytest.mark.parametrize("seed", range(3))
def test_the_groups_of_a_tree_are_found(seed):
    found = search(simulation.make("tree", 3000, seed=seed).votes)
    groups = set(found.best.groups)
    assert groups <= set(TRUE_GROUPS)
    assert len(groups) >= 2  # one may be dissolved: the label then stands where its latent was
    assert found.best.score >= max(placement.score for placement in found.placements) - 10


def test_independent_learners_are_not_grouped():
    assert search(simulation.make("ampdata", 3000, seed=0).votes).best.groups == ()


def test_noisy_copies_are_a_group():
    votes = noisy_copies(0, n=3000)
    copies = tuple(i for i, name in enumerate(votes.learners) if name.startswith("noise_1_") or name == "noise_1")
    assert copies in search(votes).best.groups


def test_missing_votes_do_not_hide_the_groups():
    votes = simulation.simulate("tree", 3000, seed=1, missing=0.2).votes
    assert set(search(votes).best.groups) <= set(TRUE_GROUPS)


def test_the_same_seed_gives_the_same_groups():
    votes = simulation.make("tree", 12_000, seed=0).votes
    assert search(votes, seed=3).placements == search(votes, seed=3).placements


def test_a_search_can_be_stopped():
    with pytest.raises(Stopped):
        search(simulation.make("tree", 1000, seed=0).votes, control=StopWhen(lambda: True))
