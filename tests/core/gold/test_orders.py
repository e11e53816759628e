"""Next orders, against enumeration of all votes."""

import numpy as np
import pytest

from deem_core import Answer, InputError, Votes, fuse, next_order, simulate
from deem_core.gold.orders import expected_gain


def enumerated(posterior, accuracy):
    """The expected rise of the largest posterior, vote by vote, by Bayes' rule."""
    K = len(posterior)
    total = 0.0
    for vote in range(K):
        likelihood = np.array([accuracy if k == vote else (1 - accuracy) / (K - 1) for k in range(K)])
        chance = float(likelihood @ posterior)
        total += chance * float((likelihood * posterior / chance).max())
    return total - posterior.max()


@pytest.mark.parametrize("K", [2, 3, 7])
def test_the_gain_is_the_expected_rise_of_the_largest_posterior(K):
    rng = np.random.default_rng(K)
    posteriors = rng.dirichlet(np.ones(K), 50)
    for accuracy in (0.5, 0.7, 0.95):
        expected = [max(enumerated(row, accuracy), 0) for row in posteriors]
        np.testing.assert_allclose(expected_gain(posteriors, accuracy), expected, atol=1e-12)


def test_uncertain_rows_go_to_able_learners_who_have_not_voted():
    votes = simulate("crowd", 300, seed=1).votes.without_truth()
    answer = fuse(votes, random_state=0)
    orders = next_order(answer, 40)
    assert len(orders) == 40
    assert (votes.codes[orders.rows, orders.learners] == -1).all()
    assert len(set(orders.rows.tolist())) == 40  # one answer for a row
    assert answer.confidence[orders.rows].mean() < answer.confidence.mean()
    assert orders.accuracy[orders.learners].mean() > orders.accuracy.mean()
    assert (np.diff(orders.gains) <= 1e-12).all()
    assert max(np.bincount(orders.learners)) <= 4
    assert list(orders.to_frame().columns)[-2:] == ["learner", "expected_gain"]


def test_a_row_gets_as_many_answers_as_allowed():
    answer = fuse(simulate("crowd", 300, seed=1).votes, random_state=0)
    orders = next_order(answer, 40, per_row=3, per_learner=40)
    assert np.unique(orders.rows, return_counts=True)[1].max() == 3


def test_complete_votes_leave_nothing_to_order():
    votes = Votes(np.zeros((20, 3), np.int32), np.arange(2), ("a", "b", "c"))
    with pytest.raises(InputError, match="nothing to order"):
        next_order(Answer(votes, np.full((20, 2), 0.5)), 5)
    with pytest.raises(InputError, match="at least 1"):
        next_order(Answer(votes, np.full((20, 2), 0.5)), 0)
