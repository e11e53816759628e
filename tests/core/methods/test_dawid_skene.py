import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from deem_core import InputError, simulation
from deem_core.control import StopWhen
from deem_core.methods import dawid_skene
from deem_core.votes.describe import accuracy
from tests.core.methods.helpers import DEGENERATE, check_sound, load, make_votes, random_votes

RNG = np.random.default_rng(0)


def fit(votes, iterations=100, tolerance=0.0):
    return dawid_skene.aggregate(votes, RNG, tolerance=tolerance, max_iterations=iterations)


def plain_em(codes, K, iterations):
    """Dawid-Skene as in a textbook: loops, products, no smoothing. Yield posterior, psi, pi, mean log-likelihood."""
    n, d = codes.shape
    q = np.zeros((n, K))
    for row in range(n):
        for vote in codes[row]:
            if vote >= 0:
                q[row, vote] += 1 / (codes[row] >= 0).sum()
    for _ in range(iterations):
        pi = q.sum(axis=0) / n
        psi = np.zeros((d, K, K))
        for i in range(d):
            for m in range(K):
                voted_mass = sum(q[row, m] for row in range(n) if codes[row, i] >= 0)
                for vote in range(K):
                    psi[i, vote, m] = sum(q[row, m] for row in range(n) if codes[row, i] == vote) / voted_mass
        likelihood = 0.0
        for row in range(n):
            for m in range(K):
                q[row, m] = pi[m]
                for i in range(d):
                    if codes[row, i] >= 0:
                        q[row, m] *= psi[i, codes[row, i], m]
            likelihood += np.log(q[row].sum()) / n
            q[row] /= q[row].sum()
        yield q.copy(), psi, pi, likelihood


@pytest.mark.parametrize("coverage", [1, 0.7], ids=["dense", "missing votes"])
def test_every_step_is_that_of_plain_em(coverage):
    votes = random_votes(np.random.default_rng(3), 60, 5, 3, coverage)
    votes = votes.select_rows(votes.votes_per_row > 0)
    for step, (posterior, psi, pi, likelihood) in enumerate(plain_em(votes.codes, 3, 12), start=1):
        made = fit(votes, step)
        assert made.iterations == step
        np.testing.assert_allclose(made.posterior, posterior, atol=1e-7)
        np.testing.assert_allclose(made.psi, psi, atol=1e-7)
        np.testing.assert_allclose(made.pi, pi, atol=1e-7)
        assert made.log_likelihood == pytest.approx(likelihood, rel=1e-7)


def test_the_smoothing_leaves_the_likelihood_alone_where_cells_are_empty():
    votes = simulation.ampdata(80, rng=np.random.default_rng(4)).votes
    assert (fit(votes, 1).psi < 1e-9).any()
    for step, (*_, likelihood) in enumerate(plain_em(votes.codes, 5, 10), start=1):
        assert fit(votes, step).log_likelihood == pytest.approx(likelihood, rel=1e-7)


@pytest.mark.parametrize("coverage", [1, 0.4])
@pytest.mark.parametrize("maker", [simulation.condind, simulation.tree, simulation.ampdata])
def test_the_likelihood_never_falls(maker, coverage):
    made = maker(400, rng=np.random.default_rng(5))
    votes = (
        simulation.drop_votes(made, 1 - coverage, rng=np.random.default_rng(6)).votes if coverage < 1 else made.votes
    )
    likelihoods = [fit(votes, step).log_likelihood for step in range(1, 40)]
    assert (np.diff(likelihoods) >= -1e-10).all()
    assert likelihoods[-1] > likelihoods[0]


@pytest.mark.parametrize("seed", range(3))
def test_confusion_matrices_of_independent_learners_are_recovered(seed):
    made = simulation.condind(10_000, rng=np.random.default_rng(seed))
    found = dawid_skene.aggregate(made.votes, RNG)
    good = [name.startswith("good") for name in made.votes.learners]
    assert np.abs(found.psi - made.psi)[good].max() <= 0.05
    assert np.abs(found.pi - made.pi).max() <= 0.05
    assert accuracy(found.codes, made.truth) > accuracy(made.votes.majority_vote.codes, made.truth)
    hits = [(made.votes.codes[:, i] == made.truth).mean() for i in range(made.votes.n_learners)]
    np.testing.assert_allclose(found.skills, hits, atol=0.03)


def test_the_order_of_learners_does_not_matter():
    votes = random_votes(np.random.default_rng(7), 300, 6, 4, 0.8)
    order = np.random.default_rng(8).permutation(6)
    one, other = fit(votes, 20), fit(votes.select_learners(order.tolist()), 20)
    np.testing.assert_allclose(other.posterior, one.posterior, atol=1e-9)
    np.testing.assert_allclose(other.psi, one.psi[order], atol=1e-9)


def test_the_order_of_classes_does_not_matter():
    votes = random_votes(np.random.default_rng(9), 300, 6, 4, 0.8)
    new = np.array([2, 0, 3, 1])  # class k becomes new[k]
    one, other = fit(votes, 20), fit(make_votes(np.where(votes.codes < 0, -1, new[votes.codes]), 4), 20)
    np.testing.assert_allclose(other.posterior[:, new], one.posterior, atol=1e-9)
    np.testing.assert_allclose(other.psi[:, new][:, :, new], one.psi, atol=1e-9)
    np.testing.assert_allclose(other.pi[new], one.pi, atol=1e-9)


@pytest.mark.parametrize("votes", DEGENERATE.values(), ids=DEGENERATE)
@pytest.mark.parametrize("iterations", [1, 100])
def test_degenerate_votes_give_sound_posteriors(votes, iterations):
    check_sound(fit(votes, iterations), votes)


def test_rows_without_votes_change_nothing_and_get_the_prior():
    votes = random_votes(np.random.default_rng(10), 200, 5, 3)
    silent = make_votes(np.vstack([votes.codes, np.full((100, 5), -1)]), 3)
    one, other = fit(votes, 10), fit(silent, 10)
    np.testing.assert_allclose(other.posterior[:200], one.posterior, atol=1e-12)
    np.testing.assert_allclose(other.posterior[200:], np.tile(one.pi, (100, 1)), atol=1e-12)
    assert other.log_likelihood == pytest.approx(one.log_likelihood)
    assert "100 rows have no vote and get no label." in other.notes


def test_a_class_nobody_votes_for_stays_empty():
    made = fit(DEGENERATE["a class never voted for"])
    assert (made.posterior[:, 2:] == 0).all()
    np.testing.assert_allclose(made.psi[:, :, 2:], 1 / 4)


def test_a_learner_without_votes_is_unknown_and_harmless():
    votes = DEGENERATE["a learner with no votes"]
    made, rest = fit(votes, 5), fit(votes.select_learners([0, 2]), 5)
    np.testing.assert_allclose(made.posterior, rest.posterior)
    np.testing.assert_allclose(made.psi[1], 1 / 2)
    assert np.isnan(made.skills).tolist() == [False, True, False]


def test_hundreds_of_learners_do_not_underflow():
    votes = random_votes(np.random.default_rng(11), 50, 2000, 3)
    check_sound(fit(votes, 5), votes)


def test_the_stop_rule_is_met_noted_and_can_be_tightened():
    votes = simulation.ampdata(2000, rng=np.random.default_rng(12)).votes
    usual = dawid_skene.aggregate(votes, RNG)
    long = fit(votes, dawid_skene.CONVERGED_MAX_ITERATIONS, dawid_skene.CONVERGED_TOLERANCE)
    assert usual.converged
    assert usual.iterations < long.iterations
    last, before = usual.log_likelihood, fit(votes, usual.iterations - 1).log_likelihood
    assert abs(last - before) <= 1e-5 * abs(before)
    assert usual.notes[0].startswith(f"Stopped after {usual.iterations} iterations at ")
    short = fit(votes, 2)
    assert not short.converged
    assert "without reaching" in short.notes[0]


def test_a_stop_rule_without_meaning_is_refused():
    with pytest.raises(InputError, match="max_iterations is 0"):
        fit(DEGENERATE["K = 2"], 0)


def test_neither_truth_nor_generator_plays_a_part():
    votes = simulation.tree(300, rng=np.random.default_rng(13)).votes
    one = dawid_skene.aggregate(votes, np.random.default_rng(1))
    shuffled = replace(votes, truth=votes.truth[::-1])
    other = dawid_skene.aggregate(shuffled, np.random.default_rng(2))
    np.testing.assert_array_equal(one.posterior, other.posterior)


def test_memory_does_not_grow_with_learners_times_classes_per_row():
    n, d, K = 20_000, 8, 200
    votes = random_votes(np.random.default_rng(14), n, d, K)
    tracemalloc.start()
    fit(votes, 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.5 * (n * K * 8)  # the posterior itself is 1, an array of n·d·K would be 8


@pytest.mark.parametrize(
    ("name", "expected", "within"),
    [
        ("mniste", 0.9255, 0.003),
        ("mniste47", 0.9324, 0.003),
        ("condind", 0.9540, 0.003),
        ("tree3k", 0.9572, 0.003),
        ("ampdata", 0.9425, 0.015),
    ],
)
def test_accuracy_on_larger_ensembles(large_data, name, expected, within):
    votes, truth = load(large_data / f"{name}.npz")
    assert accuracy(dawid_skene.aggregate(votes, RNG).codes, truth) == pytest.approx(expected, abs=within)


def test_a_method_that_is_told_to_stop_stands_after_its_first_iteration():
    votes = random_votes(np.random.default_rng(16), 300, 6, 4)
    cut = dawid_skene.aggregate(votes, RNG, control=StopWhen(lambda: True))
    assert (cut.cut, cut.converged, cut.iterations) == (True, False, 1)
    np.testing.assert_array_equal(cut.posterior, fit(votes, 1).posterior)
