"""EM of grouped Dawid-Skene: monotone, exact, the same as Dawid-Skene without groups, and finite always."""

import numpy as np
import pytest

from deem_core import simulation
from deem_core.control import Control
from deem_core.groups.em import SMOOTHING, Counts, Expectation, Starts, fit
from deem_core.groups.latent_tree import GroupedModel
from deem_core.methods import dawid_skene
from deem_core.votes import NO_VOTE
from deem_core.votes.majority import vote_shares
from deem_core.votes.patterns import Table
from tests.core.groups.trees import enumerated_likelihood, enumerated_posterior, random_codes


def groups_of(ensemble):
    return tuple(tuple(np.flatnonzero(ensemble.groups == g).tolist()) for g in np.unique(ensemble.groups))


def true_model(ensemble):
    return GroupedModel(ensemble.pi, groups_of(ensemble), ensemble.parent_psi, ensemble.leaf_psi)


def tree(seed, n=4_000, missing=0.0):
    rng = np.random.default_rng(seed)
    ensemble = simulation.tree(n, rng=rng)
    codes = np.where(rng.random(ensemble.votes.codes.shape) < missing, NO_VOTE, ensemble.votes.codes)
    return ensemble, codes.astype(np.int32)


# ---------------------------------------------------------------------- Dawid-Skene


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_without_groups_it_is_dawid_skene(missing):
    rng = np.random.default_rng(0)
    votes = simulation.condind(800, rng=rng, n_learners=6).votes
    codes = np.where(rng.random(votes.codes.shape) < missing, NO_VOTE, votes.codes)
    K = votes.n_classes
    every = Table(codes, (codes != NO_VOTE).any(axis=1).astype(float), K)
    steps, posterior = dawid_skene.Steps(every), vote_shares(codes, K)
    psi, pi = dawid_skene.maximised(*steps.count(posterior), SMOOTHING)
    for _ in range(12):
        likelihood = steps.expect(psi, pi, posterior) * every.n_rows
        psi, pi = dawid_skene.maximised(*steps.count(posterior), SMOOTHING)
    found = fit(Table.of(codes, K), (), rounds=12, tolerance=0.0)
    assert np.allclose(found.model.B, psi, atol=1e-10)
    assert np.allclose(found.model.pi, pi, atol=1e-10)
    assert found.log_likelihood == pytest.approx(likelihood)
    steps.expect(psi, pi, posterior)
    assert np.allclose(found.model.posterior(codes), posterior, atol=1e-9)


# ---------------------------------------------------------------------- EM


def objective(model, likelihood):
    return likelihood + SMOOTHING * (np.log(model.A).sum() + np.log(model.B).sum())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_round_never_lowers_the_penalised_likelihood(seed, missing):
    rng = np.random.default_rng(seed)
    K, d = int(rng.integers(2, 5)), 7
    codes = random_codes(rng, 300, d, K, missing)
    codes[:, 1] = np.where(rng.random(300) < 0.7, codes[:, 0], codes[:, 1])  # something to find
    groups = ((0, 1, 2), (4, 6)) if seed % 2 else ((0, 1), (2, 3), (4, 5))
    steps = Expectation(Table.of(codes, K), groups)
    model, values = Starts(steps.table).counts(groups).model(groups, SMOOTHING), []
    for _ in range(40):
        counts, likelihood = steps.soft(model)
        values.append(objective(model, likelihood))
        model = counts.model(groups, SMOOTHING)
    assert np.diff(values).min() > -1e-8
    assert values[-1] > values[0] + 1


def test_the_smoothing_of_the_m_step():
    """A hundredth of a vote in every cell: enough for what was never seen, too little to move what was."""
    counts = Counts(np.array([3.0, 1.0]), np.array([[[4.0, 0.0], [0.0, 2.0]]]), np.array([[[9.0, 0.0], [1.0, 0.0]]]))
    model = counts.model(((0, 1),), SMOOTHING)
    np.testing.assert_allclose(model.pi, [0.75, 0.25])
    np.testing.assert_allclose(model.A[0], [[4.01 / 4.02, 0.01 / 2.02], [0.01 / 4.02, 2.01 / 2.02]])
    np.testing.assert_allclose(model.B[0], [[9.01 / 10.02, 0.5], [1.01 / 10.02, 0.5]])


def test_fits_that_share_their_starts_are_those_that_do_not():
    table = Table.of(random_codes(np.random.default_rng(2), 200, 6, 3, 0.2), 3)
    starts = Starts(table)
    for groups in ((), ((0, 1), (2, 3)), ((0, 1), (2, 3, 4)), ((2, 3),)):
        one, other = fit(table, groups, rounds=5, starts=starts), fit(table, groups, rounds=5)
        assert one.log_likelihood == other.log_likelihood
        for name in ("pi", "A", "B"):
            np.testing.assert_array_equal(getattr(one.model, name), getattr(other.model, name))


def test_expected_counts_are_those_of_enumeration():
    """One E-step and one M-step on a table so small that every state can be summed."""
    rng = np.random.default_rng(1)
    codes, groups, K = random_codes(rng, 30, 5, 2), ((0, 1, 2),), 2
    codes = codes[(codes != NO_VOTE).any(axis=1)]
    steps = Expectation(Table.of(codes, K), groups)
    model = Starts(steps.table).counts(groups).model(groups, SMOOTHING)
    counts, likelihood = steps.soft(model)
    assert likelihood == pytest.approx(enumerated_likelihood(model, codes).sum())
    root, latent = (enumerated_posterior(model, codes, at) for at in (-1, 0))
    assert np.allclose(counts.label, root.sum(axis=0))
    assert np.allclose(counts.pairs[0].sum(axis=1), latent.sum(axis=0))
    assert np.allclose(counts.pairs[0].sum(axis=0), root.sum(axis=0))
    for i, own in enumerate((latent, latent, latent, root, root)):
        for vote in range(K):
            assert np.allclose(counts.votes[i, vote], own[codes[:, i] == vote].sum(axis=0))


def test_distinct_rows_with_counts_give_what_all_rows_give():
    ensemble, codes = tree(0, n=1_500, missing=0.1)
    codes, groups = codes[:, :6], ((0, 1, 2, 3),)
    voted = codes[(codes != NO_VOTE).any(axis=1)]
    K = ensemble.votes.n_classes
    by_pattern = fit(Table.of(codes, K), groups, rounds=15, hard_rounds=5)
    by_row = fit(Table(voted, np.ones(len(voted)), K), groups, rounds=15, hard_rounds=5)
    assert len(Table.of(codes, K).codes) < len(voted)
    assert by_pattern.log_likelihood == pytest.approx(by_row.log_likelihood)
    assert by_pattern.moved == pytest.approx(by_row.moved)
    for one, other in zip(vars(by_pattern.model).values(), vars(by_row.model).values(), strict=False):
        if isinstance(one, np.ndarray):
            assert np.allclose(one, other)


def test_the_end_is_told():
    ensemble, codes = tree(1)
    table, groups = Table.of(codes, ensemble.votes.n_classes), groups_of(ensemble)
    whole = fit(table, groups)
    assert whole.converged
    assert not whole.cut
    short = fit(table, groups, rounds=2)
    assert (short.iterations, short.converged) == (2, False)
    longer = fit(table, groups, hard_rounds=10)
    assert longer.iterations > whole.iterations
    assert longer.log_likelihood == whole.log_likelihood  # of the soft fit


def test_moved_is_the_share_of_labels_that_hard_rounds_change():
    ensemble, codes = tree(5, n=2_000)
    table, groups = Table.of(codes, ensemble.votes.n_classes), groups_of(ensemble)
    soft, hard = fit(table, groups), fit(table, groups, hard_rounds=20)
    before, after = (one.model.posterior(codes).argmax(axis=1) for one in (soft, hard))
    assert hard.moved == pytest.approx((before != after).mean())
    assert hard.moved > 0


def test_a_stop_ends_it_after_the_round():
    class Impatient(Control):
        def stopped(self):
            return True

    ensemble, codes = tree(1, n=500)
    ended = fit(Table.of(codes, ensemble.votes.n_classes), groups_of(ensemble), hard_rounds=9, control=Impatient())
    assert (ended.iterations, ended.cut) == (1, True)
    assert np.isfinite(ended.model.B).all()


# ---------------------------------------------------------------------- the Bayes rate


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_with_the_true_groups_it_reaches_the_bayes_rate(seed, missing):
    ensemble, codes = tree(seed, n=6_000, missing=missing)
    table = Table.of(codes, ensemble.votes.n_classes)
    best = true_model(ensemble).posterior(codes).argmax(axis=1)
    own = fit(table, groups_of(ensemble), hard_rounds=20).model.posterior(codes).argmax(axis=1)
    bayes, reached = ((labels == ensemble.truth).mean() for labels in (best, own))
    assert reached > bayes - 0.006
    alone = fit(table, (), hard_rounds=20).model.posterior(codes).argmax(axis=1)
    assert reached >= (alone == ensemble.truth).mean() - 0.002


# ---------------------------------------------------------------------- poor tables


@pytest.mark.parametrize("groups", [(), ((0, 1), (2, 3, 4))])
@pytest.mark.parametrize("what", ["no votes", "no rows", "a silent learner", "a silent group", "one class", "one row"])
def test_poor_tables_give_probabilities_and_never_nan(groups, what):
    codes = random_codes(np.random.default_rng(0), 60, 6, 3)
    codes = {
        "no votes": np.full((5, 6), NO_VOTE, np.int32),
        "no rows": np.empty((0, 6), np.int32),
        "a silent learner": np.where(np.arange(6) == 1, NO_VOTE, codes),
        "a silent group": np.where(np.arange(6) < 2, NO_VOTE, codes),
        "one class": np.where(codes == NO_VOTE, NO_VOTE, 0),
        "one row": codes[:1],
    }[what]
    found = fit(Table.of(codes, 3), groups, hard_rounds=5)
    model = found.model
    for array in (model.pi, model.A, model.B):
        assert np.isfinite(array).all()
        assert (array >= 0).all()
    asked = random_codes(np.random.default_rng(1), 20, 6, 3, missing=0.5)
    posterior = model.posterior(asked)
    assert np.isfinite(posterior).all()
    assert np.allclose(posterior.sum(axis=1), 1)
    assert np.isfinite(model.confusion_given_label()).all()
    assert np.isfinite(model.log_scores(asked)).all()
    for g in range(len(groups)):
        assert np.isfinite(model.with_label(g).confusion_given_label()).all()
    assert np.isfinite(found.log_likelihood)
    assert np.isfinite(found.moved)
