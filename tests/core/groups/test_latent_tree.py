"""The latent tree against enumeration of all states of its latents."""

from dataclasses import replace

import numpy as np
import pytest

from deem_core.groups.latent_tree import ROOT, Branches, Logs
from deem_core.votes import NO_VOTE
from deem_core.votes.patterns import Table
from tests.core.groups.trees import enumerated_likelihood, enumerated_posterior, joint, random_codes, random_tree

SHAPES = [
    (4, 2, ()),
    (5, 3, ((0, 1, 2),)),
    (6, 3, ((0, 3), (1, 4, 5))),
    (5, 2, ((0, 1), (2, 3, 4))),
    (6, 2, ((0, 1), (2, 3), (4, 5))),
]


def log_likelihood(model, codes):
    table = Table(codes, np.ones(len(codes)), model.n_classes)
    return Branches(table, model.groups).upward(slice(0, len(codes)), model, Logs.of(model)).likelihood


@pytest.fixture(params=range(len(SHAPES)), ids=lambda at: f"groups {SHAPES[at][2]}")
def case(request):
    rng = np.random.default_rng(request.param)
    d, K, groups = SHAPES[request.param]
    codes = random_codes(rng, 40, d, K)
    codes[0] = NO_VOTE
    return random_tree(rng, d, K, groups), codes


def test_the_likelihood_is_that_of_enumeration(case):
    model, codes = case
    assert np.allclose(log_likelihood(model, codes), enumerated_likelihood(model, codes), atol=1e-12)


def test_every_latent_has_the_posterior_of_enumeration(case):
    model, codes = case
    for latent in range(ROOT, len(model.groups)):
        found = model.latent_posterior(codes, latent)
        assert np.allclose(found, enumerated_posterior(model, codes, latent), atol=1e-12), latent


def test_the_answer_is_the_label_latents_in_the_order_of_classes(case):
    model, codes = case
    turn = np.roll(np.arange(model.n_classes), 1)  # state k is class k − 1
    for latent in range(ROOT, len(model.groups)):
        answer = model.with_label(latent, turn).posterior(codes)
        assert np.allclose(answer[:, turn], enumerated_posterior(model, codes, latent), atol=1e-12)


def test_a_row_without_votes_gets_the_prior_of_the_label(case):
    model, codes = case
    turn = np.roll(np.arange(model.n_classes), 1)
    for latent in range(ROOT, len(model.groups)):
        labelled = model.with_label(latent, turn)
        assert np.allclose(labelled.posterior(codes[:1]), labelled.prior)


def test_log_scores_give_the_posterior_and_stay_finite(case):
    model, codes = case
    for latent in range(ROOT, len(model.groups)):
        labelled = model.with_label(latent, np.roll(np.arange(model.n_classes), 1))
        scores = labelled.log_scores(codes)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        assert np.allclose(weights / weights.sum(axis=1, keepdims=True), labelled.posterior(codes), atol=1e-12)


def test_log_scores_tell_classes_apart_that_the_posterior_rounds_to_nothing():
    """Four hundred sure learners: the posterior of the others is 0 in float64, their log-odds are not infinite."""
    rng = np.random.default_rng(0)
    groups = ((0, 1, 2), (3, 4))
    model = random_tree(rng, 400, 3, groups)
    codes = np.zeros((1, 400), np.int32)
    for latent in range(ROOT, 2):
        scores = model.with_label(latent).log_scores(codes)
        assert np.isfinite(scores).all()
    root = model.log_scores(codes)[0]
    singles = np.log(model.B[5:, 0]).sum(axis=0) + np.log(model.pi)
    messages = sum(np.log(np.prod(model.B[list(g), 0], axis=0) @ model.A[at]) for at, g in enumerate(groups))
    assert np.allclose(np.diff(root), np.diff(singles + messages))


def test_a_class_that_nobody_holds_scores_low_but_finite():
    model = random_tree(np.random.default_rng(1), 4, 3, ((0, 1),))
    emptied = replace(model, pi=np.array([0.6, 0.4, 0.0]))
    codes = random_codes(np.random.default_rng(2), 10, 4, 3)
    scores = emptied.log_scores(codes)
    assert np.isfinite(scores).all()
    assert (emptied.posterior(codes)[:, 2] == 0).all()


def test_confusion_given_the_label_is_that_of_enumeration(case):
    model, _ = case
    K, d = model.n_classes, model.n_learners
    turn = np.roll(np.arange(K), 1)
    for latent in range(ROOT, len(model.groups)):
        confusion = model.with_label(latent, turn).confusion_given_label()
        prior = model.with_label(latent, turn).prior
        for i in range(d):
            row = np.full(d, NO_VOTE)
            for vote in range(K):
                row[i] = vote
                table = joint(model, row)
                axis = 1 + latent
                of_state = table.sum(axis=tuple(a for a in range(table.ndim) if a != axis))
                assert np.allclose(confusion[i, vote, turn] * prior[turn], of_state, atol=1e-12)


def test_learners_of_the_labels_own_group_keep_their_own_matrices():
    model = random_tree(np.random.default_rng(3), 5, 3, ((0, 1), (2, 3))).with_label(1)
    assert np.allclose(model.confusion_given_label()[[2, 3]], model.B[[2, 3]])


def test_parameters_are_counted():
    model = random_tree(np.random.default_rng(0), 6, 3, ((0, 1), (2, 3, 4)))
    assert model.n_parameters == 2 + (6 + 2) * 3 * 2
    assert model.singles == (5,)


def test_the_answer_does_not_depend_on_which_rows_come_together():
    rng = np.random.default_rng(5)
    model = random_tree(rng, 5, 2, ((0, 1, 2),))
    codes = np.repeat(random_codes(rng, 20, 5, 2), 3, axis=0)
    whole = model.posterior(codes)
    assert np.allclose(whole, np.concatenate([model.posterior(row[None]) for row in codes]))
    scores = model.log_scores(codes)
    assert np.allclose(scores, np.concatenate([model.log_scores(row[None]) for row in codes]))
