"""Effective votes by the truth."""

import numpy as np
import pytest

from deem_core import Votes, simulate
from deem_core.diagnostics import panel_health, true_effective_votes
from tests.core.groups.helpers import table


def of(votes):
    return true_effective_votes(votes, np.random.default_rng(0))


def test_independent_mistakes_count_fully_and_copies_as_one():
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=5000)
    codes = np.where(rng.random((5000, 8)) < 0.7, truth[:, None], rng.integers(3, size=(5000, 8)))
    assert of(table(codes, 3, truth=truth)) == pytest.approx(8, abs=0.4)
    assert of(table(codes[:, [0] * 8], 3, truth=truth)) == pytest.approx(1)


def test_it_is_the_formula_of_kish():
    ensemble = simulate("tree", 1000, seed=0)
    wrong = (ensemble.votes.codes != ensemble.truth[:, None]).astype(float)
    d = wrong.shape[1]
    rho = np.corrcoef(wrong.T)[np.triu_indices(d, 1)].mean()
    assert of(ensemble.votes) == pytest.approx(d / (1 + (d - 1) * rho))


def test_without_truth_there_is_none():
    votes = simulate("tree", 300, seed=0).votes
    assert of(votes.without_truth()) is None
    assert of(Votes(votes.codes, votes.classes, votes.learners, truth=np.full(300, -1))) is None
    few = np.full(300, -1)
    few[:20] = 0
    assert of(Votes(votes.codes, votes.classes, votes.learners, truth=few)) is None


@pytest.mark.parametrize("name", ["tree", "copies", "experts"])
def test_the_figure_without_truth_is_near(name):
    votes = simulate(name, 3000, seed=1).votes
    assert 0.5 < panel_health(votes, np.random.default_rng(0)).effective.n_eff / of(votes) < 2
