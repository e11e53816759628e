import numpy as np

from deem_core.baselines import weighted_majority
from tests.core.baselines.helpers import make_votes, random_votes

RNG = np.random.default_rng(0)


def test_labels_are_a_fixed_point_of_the_formula():
    votes = random_votes(np.random.default_rng(1), 400, 6, 4, 0.7)
    made = weighted_majority.aggregate(votes, RNG)
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
    made = weighted_majority.aggregate(votes, RNG)
    np.testing.assert_allclose(made.skills, [1, 1, 1, 0])
    np.testing.assert_array_equal(made.codes, good)
    np.testing.assert_allclose(made.posterior.max(axis=1), 1 / (1 + np.exp(-8)))  # 2·(3 + 1)
