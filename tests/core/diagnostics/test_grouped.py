"""Diagnostics of grouped Dawid-Skene: the same definitions as for other models, in closed form where there is one."""

from dataclasses import replace

import numpy as np
import pytest

from deem_core import GroupedDawidSkene, simulate
from deem_core.diagnostics import exact_confusion, group_tree, importance, restart_support, why
from deem_core.diagnostics.inspection import Inspection, inspect
from deem_core.diagnostics.model_view import logits
from deem_core.estimators.irbm import IRBM
from deem_core.groups.latent_tree import ROOT
from deem_core.votes import NO_VOTE

RNG = np.random.default_rng


@pytest.fixture(scope="module")
def votes():
    return simulate("tree", 1_500, seed=3).votes


@pytest.fixture(scope="module")
def model(votes):
    return GroupedDawidSkene(random_state=0).fit(votes)


@pytest.fixture(scope="module")
def inspection(model, votes):
    return inspect(model, votes, rng=RNG(0))


def with_label(model, label, class_map=None):
    other = GroupedDawidSkene(random_state=0)
    vars(other).update(vars(model))
    other._attach(replace(model.grouping_, model=model.model_.with_label(label, class_map)))
    return other


def test_logits_are_those_of_the_posterior(model, votes):
    scores = logits(model, votes.codes)
    assert scores.shape == (1, votes.n_rows, votes.n_classes)
    shares = np.exp(scores[0] - scores[0].max(axis=1, keepdims=True))
    assert np.allclose(shares / shares.sum(axis=1, keepdims=True), model.fuse_codes(votes.codes))


def test_a_contribution_is_the_change_of_the_log_odds(model, votes):
    rows = [0, 7, 40]
    found = why(model, votes, rows)
    for m, row in enumerate(rows):
        codes = votes.codes[[row]]
        first, second = found.fused[m], found.runner_up[m]

        def log_odds(changed, first=first, second=second):
            p = model.model_.posterior(changed)[0]
            return np.log(p[first]) - np.log(p[second])

        for i in range(votes.n_learners):
            without = codes.copy()
            without[0, i] = NO_VOTE
            assert found.contributions[m, i] == pytest.approx(log_odds(codes) - log_odds(without), abs=1e-8)
        for g, group in enumerate(model.model_.groups):
            without = codes.copy()
            without[0, list(group)] = NO_VOTE
            assert found.voice_contributions[m, g] == pytest.approx(log_odds(codes) - log_odds(without), abs=1e-8)


def test_learners_of_a_group_are_named_together(model, votes):
    found = why(model, votes, [0])
    assert found.voice_members == model.model_.groups
    for name, group in zip(found.voices, model.groups_, strict=True):
        assert name.startswith("group of ")
        assert all(learner in name for learner in group)


def test_groups_add_up_where_learners_do_not(model, votes):
    """Given the label groups are independent, so their contributions and the prior make the log-odds; learners repeat
    each other, so theirs do not."""
    found = why(model, votes, np.arange(50))
    own = np.arange(50)
    prior = np.log(model.model_.prior)
    whole = found.log_odds - (prior[found.fused] - prior[found.runner_up])
    assert not model.model_.singles
    assert np.allclose(found.voice_contributions.sum(axis=1), whole[own])
    assert not np.allclose(np.nansum(found.contributions, axis=1), whole[own], atol=0.1)


def test_withheld_importance_is_the_mean_drop_of_the_centred_score(model, votes):
    found = importance(model, votes, rng=RNG(0), how="withheld", rows=10_000)
    codes, fused = votes.codes, model.fuse_codes(votes.codes).argmax(axis=1)

    def centred(changed):
        scores = model.model_.log_scores(changed)
        return scores[np.arange(len(changed)), fused] - scores.mean(axis=1)

    without = codes.copy()
    without[:, 2] = NO_VOTE
    assert found.overall[2] == pytest.approx((centred(codes) - centred(without)).mean())


def test_exact_confusion_is_the_trees(model):
    found = exact_confusion(model.parts_[0], model.classes_)
    assert np.array_equal(found.psi, model.model_.confusion_given_label())
    assert np.allclose(found.pi, model.model_.prior)
    assert found.learners == model.learners_


def test_a_single_fit_supports_its_own_labels(model, votes):
    fused = model.fuse_codes(votes.codes).argmax(axis=1)
    assert (restart_support(model, votes, fused) == 1).all()


# ---------------------------------------------------------------------- the tree


@pytest.mark.parametrize("label", [ROOT, 1])
def test_the_tree_tells_how_often_each_follows(model, votes, label):
    other = with_label(model, label)
    tree, parameters = group_tree(other), other.model_
    assert tree.members == parameters.groups
    given = parameters.A if label == ROOT else parameters.A @ parameters._root_given_label()
    for g in range(len(tree.members)):
        agreement = 1.0 if g == label else np.diag(given[g]) @ parameters.prior
        assert tree.group_agreement[g] == pytest.approx(agreement)
    for i, g in enumerate(tree.group_of):
        states = parameters.A[g] @ parameters.pi
        assert tree.follows[i] == pytest.approx(np.diag(parameters.B[i]) @ states)
    assert np.allclose(tree.agreement, np.einsum("imm,m->i", parameters.confusion_given_label(), parameters.prior))
    assert np.allclose(tree.opinions.sum(axis=1), 1)


def test_learners_outside_all_groups_follow_the_label():
    votes = simulate("condind", 800, seed=0).votes
    model = GroupedDawidSkene(random_state=0).fit(votes.select_learners(votes.learners[:5]))
    tree = group_tree(model)
    assert tree.members == ()
    assert tree.singles == tuple(range(5))
    assert np.allclose(tree.follows, tree.agreement)


def test_other_models_have_no_tree(votes):
    assert group_tree(IRBM(random_state=0).fit(votes)) is None


# ---------------------------------------------------------------------- the whole inspection


def test_an_inspection_has_everything_and_no_nan(inspection, model, votes):
    assert inspection.learners == votes.learners
    assert inspection.groups.members == model.model_.groups
    assert inspection.voices.subjects == model.voices_.names
    assert inspection.exact_confusion is not None
    assert np.isfinite(inspection.influence.overall).all()
    assert np.isfinite(inspection.withheld.overall).all()
    assert [layer.name for layer in inspection.dependence.layers] == ["input"]
    assert inspection.evaluation.accuracy == pytest.approx(model.score(votes))
    assert len(inspection.frames()["groups"]) == votes.n_learners


def test_an_inspection_is_kept(inspection, tmp_path):
    inspection.save(tmp_path)
    back = Inspection.load(tmp_path)
    assert back.groups.names == inspection.groups.names
    assert np.array_equal(back.groups.opinions, inspection.groups.opinions)
    assert back.groups.to_frame().equals(inspection.groups.to_frame())


def test_a_class_that_died_gives_no_nan(model, votes):
    """EM may empty a class; its score is then low, not minus infinity."""
    dead = replace(model.model_, pi=np.array([0.5, 0.5, 0.0]))
    other = with_label(model, ROOT)
    other._attach(replace(model.grouping_, model=dead))
    found = importance(other, votes, rng=RNG(0), how="withheld")
    assert np.isfinite(found.overall).all()
    assert np.isfinite(why(other, votes, [0, 1, 2]).contributions).all()
