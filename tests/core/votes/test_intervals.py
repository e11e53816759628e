"""Intervals hold what they promise, and none has zero width."""

import numpy as np
import pytest
from scipy.stats import binomtest

from deem_core.votes.intervals import exact, paired, spread_of_sum, tells_alike
from deem_core.votes.statistics import scores

NOMINAL, SLACK = 0.95, 0.02


def test_59_of_59_right_is_94_to_100_percent():
    low, high = exact(59, 59)
    assert (round(float(low), 3), float(high)) == (0.939, 1.0)


@pytest.mark.parametrize(("right", "n"), [(0, 7), (3, 7), (7, 7), (118, 120)])
def test_shares_have_the_interval_of_clopper_and_pearson(right, n):
    expected = binomtest(right, n).proportion_ci(method="exact")
    np.testing.assert_allclose(exact([right], [n])[:, 0], [expected.low, expected.high], atol=1e-12)
    assert np.isnan(exact([0], [0])).all()


@pytest.mark.parametrize("n", [20, 59, 200])
@pytest.mark.parametrize("p", [0.9, 0.99, 0.999])
def test_intervals_of_accuracies_and_f1_cover(n, p):
    """Fixed seed, 300 draws of three classes; what is covered is the value in the population."""
    rng = np.random.default_rng(0)
    shares, draws = np.array([0.5, 0.3, 0.2]), 300
    table = shares[:, None] * np.where(np.eye(3, dtype=bool), p, (1 - p) / 2)
    f1 = (2 * table.diagonal() / (table.sum(axis=0) + table.sum(axis=1))).mean()
    truths = {"accuracy": p, "balanced_accuracy": p, "macro_f1": f1}
    held = dict.fromkeys(truths, 0)
    for _ in range(draws):
        truth = rng.choice(3, n, p=shares)
        labels = np.where(rng.random(n) < p, truth, (truth + rng.integers(1, 3, n)) % 3)
        for name, (low, high) in scores(labels[None], truth, 3, rng).intervals.items():
            assert low < high
            held[name] += low <= truths[name] <= high
    assert min(held.values()) >= (NOMINAL - SLACK) * draws, held


@pytest.mark.parametrize("n", [20, 59, 200])
@pytest.mark.parametrize(
    ("won", "lost"), [(0.001, 0.0), (0.01, 0.01), (0.05, 0.0), (0.1, 0.02), (0.1, 0.1), (0.3, 0.3)]
)
def test_intervals_of_gains_cover(n, won, lost):
    """Fixed seed, 4,000 draws."""
    drawn = np.random.default_rng(0).multinomial(n, [won, lost, 1 - won - lost], 4000)
    held = 0
    pairs, counts = np.unique(drawn[:, :2], axis=0, return_counts=True)
    for (wins, losses), count in zip(pairs.tolist(), counts.tolist(), strict=True):
        low, high = paired(wins, losses, n)
        assert low < high
        held += count * (low <= won - lost <= high)
    assert held >= (NOMINAL - SLACK) * 4000


def test_a_gain_is_sure_only_where_the_exact_test_says_so():
    assert paired(5, 0, 59)[0] == 0  # five of five: 1 in 16 by luck
    assert paired(6, 0, 59)[0] > 0
    assert paired(0, 6, 59)[1] < 0
    assert paired(0, 0, 59) == pytest.approx((-0.0611, 0.0611), abs=1e-4)
    assert paired(2, 1, 59)[0] == pytest.approx(-paired(1, 2, 59)[1])


def test_few_rows_cannot_tell_and_many_can():
    assert not tells_alike(*paired(0, 0, 59))
    assert tells_alike(*paired(3, 2, 2000))


def test_distances_add_up_as_variances_do():
    low, high = spread_of_sum(0.5, np.array([[0.47, 0.46], [0.6, 0.5]]))
    assert (low, high) == (pytest.approx(0.45), pytest.approx(0.6))
