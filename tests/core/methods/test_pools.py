"""The pools of soft votes."""

from pathlib import Path

import numpy as np
import pytest

from deem_core import InputError, Votes, read_votes
from deem_core.methods import pools
from deem_core.votes.describe import accuracy
from tests.core.methods.helpers import DEGENERATE, check_sound, make_votes, random_votes, soften

SAMPLES = Path(__file__).resolve().parents[3] / "sample_data"
RNG = np.random.default_rng(0)
POOLS = [pools.mean_prob, pools.geo_pool, pools.log_pool, pools.cal_pool]
each_pool = pytest.mark.parametrize("pool", POOLS, ids=lambda pool: pool.__name__)


def soft_votes(seed=1, n=80, d=4, K=3, coverage=0.7):
    rng = np.random.default_rng(seed)
    return soften(rng, random_votes(rng, n, d, K, coverage))


def plain_softmax(scores):
    return np.exp(scores) / np.exp(scores).sum()


def plain_log_pool(votes, sharpness, weights):
    """Row by row and learner by learner; equal shares where nobody voted."""
    pooled = np.full((votes.n_rows, votes.n_classes), 1 / votes.n_classes)
    for row in range(votes.n_rows):
        here = [i for i in range(votes.n_learners) if votes.codes[row, i] >= 0]
        if here:
            logs = [weights[i] * np.log(np.maximum(votes.soft[row, i].astype(float), 1e-3)) for i in here]
            pooled[row] = plain_softmax(sharpness * np.mean(logs, axis=0))
    return pooled


def test_the_mean_is_over_the_learners_that_voted():
    soft = [[[0.2, 0.8], [0.6, 0.4], [0, 0]], [[0, 0], [1, 0], [0, 0]], [[0, 0], [0, 0], [0, 0]]]
    made = pools.mean_prob(Votes.from_soft(soft), RNG)
    np.testing.assert_allclose(made.posterior, [[0.4, 0.6], [1, 0], [0.5, 0.5]], atol=1e-7)
    assert made.codes.tolist() == [1, 0, -1]


def test_the_geometric_pool_is_the_normalised_product():
    soft = np.array([[[0.2, 0.8], [0.6, 0.4]]])
    product = np.sqrt(soft[0, 0] * soft[0, 1])
    made = pools.geo_pool(Votes.from_soft(soft), RNG)
    np.testing.assert_allclose(made.posterior[0], product / product.sum(), atol=1e-7)


def test_one_zero_is_no_veto():
    made = pools.geo_pool(Votes.from_soft([[[0.0, 1.0], [0.9, 0.1], [0.9, 0.1], [0.99, 0.01]]]), RNG)
    assert made.posterior[0, 0] > 0.5


def test_the_weighted_pool_is_the_formula_written_out():
    votes = soft_votes()
    target = plain_log_pool(votes, 1, np.ones(4))
    np.testing.assert_allclose(pools.geo_pool(votes, RNG).posterior, target, atol=1e-6)
    for _ in range(10):
        weights = np.zeros(4)
        for i in range(4):
            rows = np.flatnonzero(votes.codes[:, i] >= 0)
            fits = [target[row] @ np.log(np.maximum(votes.soft[row, i].astype(float), 1e-3)) for row in rows]
            weights[i] = np.exp(np.mean(fits))
        weights /= weights.mean()
        target = plain_log_pool(votes, 3, weights)
    made = pools.log_pool(votes, RNG)
    np.testing.assert_allclose(made.posterior, target, atol=1e-6)
    np.testing.assert_allclose(made.skills, weights, atol=1e-6)
    assert made.iterations == 10
    assert made.converged


def test_the_weighted_pool_trusts_learners_that_agree_with_it():
    rng = np.random.default_rng(2)
    truth = rng.integers(3, size=1000)
    sure = 0.1 + 0.7 * (np.arange(3) == truth[:, None])
    soft = np.stack([sure, sure, sure, rng.dirichlet(np.ones(3), 1000)], axis=1)
    skills = pools.log_pool(Votes.from_soft(soft), RNG).skills
    assert skills.mean() == pytest.approx(1)
    assert skills[3] < 0.7 * skills[0]


@each_pool
@pytest.mark.parametrize("votes", DEGENERATE.values(), ids=DEGENERATE)
def test_degenerate_votes_give_sound_posteriors(pool, votes):
    soft = soften(np.random.default_rng(3), votes)
    check_sound(pool(soft, RNG), soft)


def test_a_learner_without_votes_has_no_skill():
    votes = soften(np.random.default_rng(4), DEGENERATE["a learner with no votes"])
    made, rest = pools.log_pool(votes, RNG), pools.log_pool(votes.select_learners([0, 2]), RNG)
    np.testing.assert_allclose(made.posterior, rest.posterior)
    np.testing.assert_allclose(made.skills, [rest.skills[0], np.nan, rest.skills[1]])


@each_pool
def test_order_of_learners_and_classes_does_not_matter(pool):
    votes = soft_votes()
    learners, classes = [2, 0, 3, 1], [1, 2, 0]
    made, one = pool(Votes.from_soft(votes.soft[:, learners][:, :, classes]), RNG), pool(votes, RNG)
    np.testing.assert_allclose(made.posterior, one.posterior[:, classes], atol=1e-6)


@each_pool
def test_blocks_do_not_change_the_result(pool, monkeypatch):
    votes = soft_votes()
    whole = pool(votes, RNG).posterior
    monkeypatch.setattr(pools, "_BLOCK", 30)
    np.testing.assert_allclose(pool(votes, RNG).posterior, whole, atol=1e-12)


@each_pool
def test_hard_votes_are_refused(pool):
    with pytest.raises(InputError, match=f"^{pool.__name__} pools probabilities, and these votes are labels only"):
        pool(make_votes([[0, 1]], 2), RNG)


@pytest.mark.parametrize(("pool", "expected"), [(pools.mean_prob, 0.879), (pools.log_pool, 0.911)])
def test_accuracy_on_real_soft_votes(large_data, pool, expected):
    with np.load(large_data / "uci_artchars_soft.npz") as file:
        votes, truth = Votes.from_soft(file["P"]), file["y"]
    assert accuracy(pool(votes, RNG).codes, truth) == pytest.approx(expected, abs=0.005)


def test_weights_that_do_not_settle_are_told_with_who_counts_most():
    """Naive Bayes gives the digits 99% on average and is right on 78%: the pool ends up following it."""
    digits = read_votes(SAMPLES / "digits_soft.csv", truth="label")
    made = pools.log_pool(digits, RNG)
    assert not made.converged
    assert digits.learners[int(made.skills.argmax())] == "naive_bayes"
    told = f"Weights were still moving after 10 rounds: naive_bayes counts {made.skills.max():.1f} times as much as"
    assert made.notes[0].startswith(told)
    assert pools.log_pool(soft_votes(), RNG).notes[:1] != made.notes[:1]


def confidence_at(votes, i, temper):
    """Mean confidence of a learner's probabilities to a power, row by row."""
    rows = [votes.soft[n, i].astype(float) for n in range(votes.n_rows) if votes.codes[n, i] >= 0]
    return np.mean([max(row**temper) / sum(row**temper) for row in np.maximum(rows, 1e-6)])


def test_the_calibrated_pool_makes_learners_as_sure_as_they_agree_with_the_others():
    votes = soft_votes(n=400, coverage=1.0)
    made = pools.cal_pool(votes, RNG)
    pooled = np.zeros((votes.n_rows, votes.n_classes))
    for i in range(votes.n_learners):
        others = np.delete(votes.soft, i, axis=1).sum(axis=1).argmax(axis=1)
        agreement = (votes.codes[:, i] == others).mean()
        assert made.skills[i] == pytest.approx(agreement)
        low, high = 0.02, 20.0
        while high / low > 1 + 1e-6:
            middle = (low * high) ** 0.5
            low, high = (low, middle) if confidence_at(votes, i, middle) > agreement else (middle, high)
        own = np.maximum(votes.soft[:, i].astype(float), 1e-6) ** low
        pooled += own / own.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(made.posterior, pooled / pooled.sum(axis=1, keepdims=True), atol=1e-4)


def test_who_is_too_sure_does_not_take_over_the_calibrated_pool():
    digits = read_votes(SAMPLES / "digits_soft.csv", truth="label")
    right = {pool: accuracy(pool(digits, RNG).codes, digits.truth) for pool in POOLS}
    best = max(right[pool] for pool in POOLS if pool is not pools.cal_pool)
    assert right[pools.cal_pool] > best + 0.02


def test_a_learner_that_is_nowhere_beside_another_stays_as_it_is():
    soft = np.zeros((6, 3, 2))
    soft[:5, :2] = [0.7, 0.3]
    soft[5, 2] = [0.1, 0.9]
    made = pools.cal_pool(Votes.from_soft(soft), RNG)
    assert np.isnan(made.skills).tolist() == [False, False, True]
    np.testing.assert_allclose(made.posterior[5], [0.1, 0.9], atol=1e-6)
