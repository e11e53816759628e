"""LA in one pass and in two."""

import numpy as np
from scipy.special import softmax

from deem_core.methods import la
from tests.core.methods.helpers import make_votes, random_votes


class InOrder:
    """A generator that leaves rows in their order."""

    def permutation(self, rows):
        return rows


def test_one_pass_by_hand():
    votes = make_votes([[0, 1, 1], [0, 0, 1], [1, -1, 0]], 2)
    made = la.one_pass(votes, InOrder())
    # Row 1: all abilities ½, so 1 wins 1 : ½. Then a = 1/3, 2/3, 2/3; row 2: 0 has 1, 1 has 2/3.
    # Then a = 2/4, 3/4, 2/4; row 3: a tie of ½ and ½, which the lower class wins.
    np.testing.assert_allclose(made.posterior, [[1 / 3, 2 / 3], [3 / 5, 2 / 5], [1 / 2, 1 / 2]])
    assert made.codes.tolist() == [1, 0, 0]
    np.testing.assert_allclose(made.skills, [2 / 5, 3 / 4, 3 / 5])


def test_the_second_pass_uses_the_abilities_of_the_first():
    votes = random_votes(np.random.default_rng(1), 300, 5, 4, 0.8)
    first = la.one_pass(votes, np.random.default_rng(2))
    second = la.two_passes(votes, np.random.default_rng(2))
    np.testing.assert_array_equal(first.skills, second.skills)
    for row in np.flatnonzero(votes.votes_per_row > 0):
        scores = np.zeros(4)
        for i, vote in enumerate(votes.codes[row]):
            if vote >= 0:
                scores[vote] += 4 * first.skills[i] - 1
        assert second.codes[row] == scores.argmax()
        np.testing.assert_allclose(second.posterior[row], softmax(4 / 3 * scores), atol=1e-12)


def test_the_order_is_drawn_from_the_generator():
    votes = random_votes(np.random.default_rng(3), 500, 4, 3)
    runs = [la.one_pass(votes, np.random.default_rng(seed)).posterior for seed in (4, 4, 5)]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert (runs[0] != runs[2]).any()
