"""Ordinal Dawid-Skene, held to enumeration, to numeric derivatives, and to what scales need."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

from deem_core import InputError, Votes, fuse
from deem_core.methods import ordinal
from deem_core.votes.patterns import Table
from tests.core.methods.helpers import make_votes

RNG = np.random.default_rng(0)
TINY = [[0, 0, 1], [2, 2, 2], [1, 1, 2], [0, 1, -1], [2, 1, 2], [0, 0, 0], [1, -1, 1]]


def panel(seed=0, *, n=400, bias=(0.0, 0.9, -0.7, 0.0, 0.2), noise=0.5, gain=1.0, coverage=1.0):
    """Raters with biases on a scale of five steps, and the truth."""
    K, rng = 5, np.random.default_rng(seed)
    truth = rng.integers(K, size=n)
    middle = (K - 1) / 2
    seen = middle + gain * (truth[:, None] - middle) + np.array(bias) + noise * rng.normal(size=(n, len(bias)))
    codes = np.clip(np.rint(seen), 0, K - 1).astype(int)
    return make_votes(np.where(rng.random(codes.shape) < coverage, codes, -1), K).as_ordered(), truth


def phi_by_hand(bias, gain, log_noise, lapse, K):
    """Confusions of one rater from the formula, written out once more, (K, K)."""
    e, s, c = 1 / (1 + np.exp(-lapse)), np.exp(log_noise), (K - 1) / 2
    table = np.empty((K, K))
    for m in range(K):
        mu = c + gain * (m - c) + bias
        for l in range(K):  # noqa: E741  # as in the formula
            low = -np.inf if l == 0 else (l - 0.5 - mu) / s
            high = np.inf if l == K - 1 else (l + 0.5 - mu) / s
            table[l, m] = (1 - e) * (norm.cdf(high) - norm.cdf(low)) + e / K
    return table


def enumerated(codes, psi, pi):
    """Posterior and mean log-likelihood by enumerating every labelling of all rows."""
    n, K = len(codes), len(pi)
    weights = {}
    for labels in itertools.product(range(K), repeat=n):
        p = 1.0
        for row, m in zip(codes, labels, strict=True):
            p *= pi[m] * np.prod([psi[i, x, m] for i, x in enumerate(row) if x >= 0])
        weights[labels] = p
    total = sum(weights.values())
    posterior = np.zeros((n, K))
    for labels, p in weights.items():
        posterior[np.arange(n), list(labels)] += p / total
    return posterior, np.log(total) / n


def test_the_raters_confusions_are_those_of_the_formula():
    numbers = np.array([[0.3, 0.8, -0.5, -2.0], [-1.1, 0.0, 0.7, 1.0]])
    made = ordinal.confusions(numbers, 4)
    for own, table in zip(numbers, made, strict=True):
        np.testing.assert_allclose(table, phi_by_hand(*own, 4), atol=1e-9)
    np.testing.assert_allclose(made.sum(axis=1), 1, atol=1e-9)


def test_both_stages_agree_with_the_enumeration_of_all_labellings():
    codes = np.array(TINY)
    table = Table(codes.astype(np.int32), np.ones(len(codes)), 3)
    raters = ordinal.fit_raters(table)
    posterior, likelihood = enumerated(codes, raters.psi, raters.pi)
    np.testing.assert_allclose(raters.posterior, posterior, atol=1e-9)
    assert raters.log_likelihood == pytest.approx(likelihood)
    made = ordinal.aggregate(make_votes(codes, 3).as_ordered(), RNG)
    posterior, likelihood = enumerated(codes, made.psi, made.pi)
    np.testing.assert_allclose(made.posterior, posterior, atol=1e-9)
    assert made.log_likelihood == pytest.approx(likelihood)


def test_derivatives_are_those_of_the_density():
    votes = np.random.default_rng(1).gamma(2.0, 2.0, (3, 4, 4))
    mean, precision = ordinal.SCALES.of(4)
    numbers = mean + np.random.default_rng(2).normal(0, 0.4, (3, 4))

    def density(flat):
        own = flat.reshape(3, 4)
        return (votes * np.log(ordinal.confusions(own, 4))).sum() - 0.5 * ((own - mean) ** 2 @ precision).sum()

    step = 1e-5 * np.eye(12)
    numeric = [(density(numbers.ravel() + e) - density(numbers.ravel() - e)) / 2e-5 for e in step]
    np.testing.assert_allclose(ordinal.gradient(numbers, votes, mean, precision).ravel(), numeric, rtol=1e-5, atol=1e-6)
    found = numbers
    for _ in range(60):
        found = ordinal.improved(found, votes, mean, precision)
    best = minimize(lambda flat: -density(flat), numbers.ravel(), method="BFGS")
    assert density(found.ravel()) == pytest.approx(-best.fun, abs=1e-6)


def test_no_iteration_lowers_the_density_of_either_stage(monkeypatch):
    table = Table.of_votes(panel(3, n=150, coverage=0.6)[0])
    mean, precision = ordinal.SCALES.of(5)
    monkeypatch.setattr(ordinal, "TOLERANCE", 0.0)
    first, second = [], []
    for steps in range(1, 9):
        monkeypatch.setattr(ordinal, "MAX_ITERATIONS", steps)
        found = ordinal.fit_raters(table)
        prior = -0.5 * ((found.numbers - mean) ** 2 @ precision).sum()
        first.append(found.log_likelihood * table.n_rows + prior + ordinal.CLASS_PRIOR * np.log(found.pi).sum())
    centre = ordinal.expected_confusions(found, ordinal.expected_votes(ordinal.Steps(table), found.posterior))
    for steps in range(1, 9):
        monkeypatch.setattr(ordinal, "MAX_ITERATIONS", steps)
        made = ordinal.fit(table, found)
        prior = ordinal.PSEUDO_VOTES * (centre * np.log(made.psi)).sum() + ordinal.CLASS_PRIOR * np.log(made.pi).sum()
        second.append(made.log_likelihood * table.n_rows + prior)
    assert (np.diff(first) >= -1e-7).all()
    assert (np.diff(second) >= -1e-7).all()


def test_bias_gain_and_noise_are_found():
    votes, _ = panel(4, n=3000, bias=(0.0, 0.8, -0.6, 0.0, 0.0, 0.0), noise=0.6)
    found = ordinal.fit_raters(Table.of_votes(votes))
    np.testing.assert_allclose(found.bias - found.bias[0], [0, 0.8, -0.6, 0, 0, 0], atol=0.12)
    np.testing.assert_allclose(found.noise, 0.6, atol=0.12)
    assert (found.lapses < 0.05).all()
    narrow, _ = panel(5, n=3000, bias=(0.0,) * 6, gain=np.array([1, 1, 1, 1, 0.4, 0.4]), noise=0.5)
    gain = ordinal.fit_raters(Table.of_votes(narrow)).gain
    assert (gain[:4] > 1.7 * gain[4]).all()


@pytest.mark.parametrize("seed", range(3))
def test_biased_and_cautious_raters_are_fused_better_than_by_votes_medians_and_dawid_skene(seed):
    bias = np.random.default_rng(seed).normal(0, 0.8, 30)
    votes, truth = panel(seed, n=200, bias=bias, noise=0.8, coverage=0.17)
    cast = np.where(votes.codes >= 0, votes.codes, np.nan)
    voted = votes.votes_per_row > 0

    def error(codes):
        return np.abs(codes - truth)[voted].mean()

    own = error(ordinal.aggregate(votes, RNG).codes)
    assert own < error(np.nanmedian(np.where(voted[:, None], cast, 0), axis=1))
    for name in ("mv", "ds", "onecoin"):
        assert own < error(fuse(votes, name).codes) - 0.02


def test_a_scale_read_from_the_other_end_gives_the_same_labels():
    votes, _ = panel(6, coverage=0.7)
    turned = make_votes(np.where(votes.codes >= 0, 4 - votes.codes, -1), 5).as_ordered()
    one, other = ordinal.aggregate(votes, RNG), ordinal.aggregate(turned, RNG)
    np.testing.assert_allclose(other.posterior[:, ::-1], one.posterior, atol=1e-6)


def test_labels_without_an_order_and_scales_too_long_are_refused(monkeypatch):
    with pytest.raises(InputError, match="needs labels that have an order"):
        fuse(Votes.from_labels([["a", "b", "c"]] * 3), "ordinal")
    monkeypatch.setattr(ordinal, "MOST_CELLS", 10)
    with pytest.raises(InputError, match="more than 10"):
        fuse(panel()[0], "ordinal")
