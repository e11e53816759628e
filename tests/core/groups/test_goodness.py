"""Test of fit: drawn tables, true models, and models that leave dependence unexplained."""

import numpy as np
import pytest

from deem_core import simulation
from deem_core.groups import goodness as goodness_module
from deem_core.groups.em import fit
from deem_core.groups.goodness import draw, goodness
from deem_core.votes.patterns import Table

GROUPS = ((0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11))


def outcome(votes, groups, seed=0, **options):
    return goodness(votes.codes, votes.n_classes, groups, np.random.default_rng(seed), **options)


def fitted_tree(n=20_000):
    votes = simulation.make("tree", n, seed=0).votes
    return votes, fit(Table.of(votes.codes, 3), GROUPS).model


def test_drawn_votes_follow_the_model():
    votes, model = fitted_tree()
    drawn = draw(model, votes.codes, np.random.default_rng(0))
    given = model.confusion_given_root()
    for i in (0, 5, 11):
        share = np.bincount(drawn[:, i], minlength=3) / len(drawn)
        np.testing.assert_allclose(share, given[i] @ model.pi, atol=0.02)
    # two learners of one group, given their latent; two of different groups, given the label
    latent = model.A[0] @ model.pi
    for (i, j), joint in (
        ((0, 1), (model.B[0] * latent) @ model.B[1].T),
        ((0, 5), (given[0] * model.pi) @ given[5].T),
    ):
        counts = np.bincount(drawn[:, i] * 3 + drawn[:, j], minlength=9).reshape(3, 3) / len(drawn)
        np.testing.assert_allclose(counts, joint, atol=0.02)


def test_missing_votes_are_missing_in_drawn_tables():
    votes = simulation.simulate("tree", 500, seed=0, missing=0.3).votes
    model = fit(Table.of(votes.codes, 3), GROUPS).model
    drawn = draw(model, votes.codes, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn == -1, votes.codes == -1)


@pytest.mark.parametrize("rows", [600, 3000])
@pytest.mark.parametrize("seed", range(3))
def test_the_true_model_has_no_excess_at_any_size(rows, seed):
    found = outcome(simulation.make("tree", rows, seed=seed).votes, GROUPS)
    assert found.excess < max(0.005, 3 * found.noise)
    assert found.observed.between < 0  # fitted to the same rows: without draws a true model would look too good


@pytest.mark.parametrize("rows", [600, 3000])
def test_independence_is_refuted_where_groups_err_together(rows):
    found = outcome(simulation.make("tree", rows, seed=0).votes, ())
    assert found.excess > 0.05
    assert found.excess > 10 * found.noise


def test_a_group_that_is_none_shows_inside_it():
    mixed = ((0, 1, 4, 5), (8, 9, 10, 11))
    right = outcome(simulation.make("tree", 3000, seed=0).votes, GROUPS)
    wrong = outcome(simulation.make("tree", 3000, seed=0).votes, mixed)
    assert right.within_excess < 0.005 < wrong.within_excess


def test_missing_votes_do_not_refute_a_true_model():
    found = outcome(simulation.simulate("tree", 3000, seed=0, missing=0.2).votes, GROUPS)
    assert found.excess < 0.005


def test_learners_who_depend_on_nobody_cannot_be_tested():
    codes = np.random.default_rng(0).integers(3, size=(300, 6)).astype(np.int32)
    found = goodness(codes, 3, (), np.random.default_rng(0))
    assert found.excess is None or found.noise > 0.05


def test_pairs_need_common_rows():
    codes = np.full((300, 20), -1, np.int32)
    codes[np.arange(300)[:, None], np.random.default_rng(0).integers(20, size=(300, 3))] = 0
    assert not goodness_module.testable(codes)
    assert goodness_module.testable(simulation.make("tree", 300, seed=0).votes.codes)


def test_a_large_table_is_tested_on_some_of_its_rows(monkeypatch):
    monkeypatch.setattr(goodness_module, "TEST_ROWS", 500)
    assert outcome(simulation.make("tree", 2000, seed=0).votes, GROUPS, draws=2).n_rows == 500


def test_many_learners_and_classes_are_tested_on_fewer_rows(monkeypatch):
    votes = simulation.make("tree", 3000, seed=0).votes
    monkeypatch.setattr(goodness_module, "TEST_CELLS", 36 * 500)
    assert outcome(votes, GROUPS).n_rows == 500


def test_tables_of_pairs_leave_missing_votes_out():
    one, other = np.array([0, 1, -1, 1]), np.array([1, 1, 0, -1])
    counted = goodness_module._counts(one, other, np.array([2.0, 3.0, 5.0, 7.0]), 2)
    assert counted.tolist() == [[0, 2], [0, 3]]
