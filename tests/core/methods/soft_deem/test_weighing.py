import numpy as np
import pytest
import torch

from deem_core import Votes
from deem_core.methods.pools import log_pool
from deem_core.methods.soft_deem import weighing
from deem_core.methods.soft_deem.weighing import SoftRows, learner_weights, weigh
from tests.core.methods.soft_deem.helpers import soft_ensemble


def test_evidence_is_the_formula_written_out():
    soft, weights = np.array([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]]), np.array([0.4, 1.0, 1.6])
    made = weigh(torch.tensor(soft), torch.tensor(weights))
    plain = soft ** (0.5 * weights[:, None])
    np.testing.assert_allclose(made.log_q.exp(), plain / plain.sum(1, keepdims=True), atol=1e-14)
    assert made.cast.all()


@pytest.mark.parametrize("scale", [1e-6, 3.0, 1e6])
def test_the_scale_of_probabilities_does_not_matter(scale):
    soft = torch.tensor(np.random.default_rng(0).random((5, 3, 4)))
    weights = torch.tensor([0.3, 1.0, 1.7], dtype=torch.float64)
    torch.testing.assert_close(weigh(scale * soft, weights).log_q, weigh(soft, weights).log_q)


def test_a_missing_vote_is_flat_and_marked():
    soft = torch.tensor([[[0.0, 0.0], [torch.nan, torch.nan], [0.0, 1.0]]])
    made = weigh(soft, torch.ones(3))
    assert made.cast.tolist() == [[False, False, True]]
    torch.testing.assert_close(made.log_q[0, :2].exp(), torch.full((2, 2), 0.5))
    assert made.codes.tolist() == [[-1, -1, 1]]
    assert made.certain.tolist() == [True]


def test_certain_are_rows_whose_votes_leave_no_choice():
    soft = torch.tensor([[[0.0, 1.0], [1.0, 0.0]], [[0.0, 1.0], [0.999, 0.001]]])
    assert weigh(soft, torch.ones(2)).certain.tolist() == [True, False]


def test_one_hot_votes_stay_one_hot_whatever_the_weights():
    hot = torch.eye(3)[torch.tensor([[0, 2, 1]])]
    assert torch.equal(weigh(hot, torch.tensor([0.01, 1.0, 9.0])).log_q.exp(), hot)


def test_learners_weigh_as_in_the_weighted_pool(monkeypatch):
    votes, _ = soft_ensemble(coverage=0.8)
    np.testing.assert_array_equal(learner_weights(votes), log_pool(votes, np.random.default_rng(0)).skills)
    monkeypatch.setattr(weighing, "WEIGHED_ROWS", 300)
    np.testing.assert_allclose(learner_weights(votes), log_pool(votes, np.random.default_rng(0)).skills, atol=0.15)


def test_a_silent_learner_has_no_weight():
    votes, _ = soft_ensemble()
    soft = votes.soft.copy()
    soft[:, 2] = 0
    assert np.isnan(learner_weights(Votes.from_soft(soft))).tolist() == [False, False, True, False, False, False]


def test_soft_rows_give_the_evidence_of_those_asked_for():
    votes, _ = soft_ensemble(n=20)
    rows = SoftRows(votes.soft, np.arange(5, 20), torch.ones(6))
    made = rows.evidence(torch.tensor([[0, 3], [14, 14]]))
    torch.testing.assert_close(made.log_q, weigh(torch.tensor(votes.soft[[[5, 8], [19, 19]]]), torch.ones(6)).log_q)
