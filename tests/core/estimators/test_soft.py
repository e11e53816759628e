"""Soft DEEM as an estimator: fitted, saved, applied and refused."""

import numpy as np
import pytest

from deem_core import InputError, SoftDEEM, Votes, apply, fuse, load, train
from deem_core.control import Stopped, StopWhen
from deem_core.diagnostics.inspection import Inspection, inspect
from deem_core.diagnostics.reasons import why
from deem_core.votes.arrays import one_hot
from deem_core.votes.describe import accuracy
from tests.core.methods.soft_deem.helpers import soft_ensemble

QUICK = {"random_state": 0, "restarts": 2, "updates": 25, "n_layers": 1, "device": "cpu", "backend": "torch"}


@pytest.fixture(scope="module")
def made():
    soft, truth = soft_ensemble(n=500, coverage=0.9)
    names = ["ann", "bob", "cid", "dot", "eve", "fay"]
    classes = ["cat", "dog", "eel"]
    return Votes.from_soft(soft.soft, classes=classes, learners=names, truth=np.array(classes)[truth])


@pytest.fixture(scope="module")
def model(made):
    return SoftDEEM(**QUICK).fit(made)


def test_it_labels_better_than_chance_and_says_what_it_did(made, model):
    answer = model.fuse(made)
    assert answer.method == "deem_soft"
    assert accuracy(answer.codes, made.truth) > 0.8
    assert len(model.summary_.kept_restarts) == 2
    assert model.history_
    assert "start" not in model.settings_
    assert "near_copies" not in model.settings_
    assert model.weights_.mean() == pytest.approx(1)


def test_a_saved_model_gives_the_same_answer_to_the_last_bit(made, model, tmp_path):
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert isinstance(again, SoftDEEM)
    np.testing.assert_array_equal(again.fuse(made).posterior, model.fuse(made).posterior)
    assert again.summary_ == model.summary_


@pytest.mark.parametrize("size", [1, 7])
def test_rows_get_the_same_answer_alone_and_together(made, model, size):
    whole = model.fuse(made).posterior[:70]
    parts = [model.fuse(made.select_rows(slice(at, at + size))).posterior for at in range(0, 70, size)]
    np.testing.assert_allclose(np.concatenate(parts), whole, atol=1e-5)


def test_votes_are_matched_by_the_names_of_learners_and_classes(made, model):
    order, classes = [3, 0, 5, 1, 2, 4], [2, 0, 1]
    other = Votes.from_soft(
        made.soft[:, order][..., classes],
        classes=[made.classes[k] for k in classes],
        learners=[made.learners[j] for j in order],
    )
    answer = apply(model, other)
    np.testing.assert_allclose(answer.posterior, model.fuse(made).posterior, atol=1e-5)
    assert answer.votes.learners == made.learners


def test_what_the_model_does_not_know_is_left_out_and_said(made, model):
    cast = made.soft[:4].any(axis=2, keepdims=True)
    wider = np.concatenate([made.soft[:4] * 0.6, 0.4 * cast], axis=2)
    wider[0, 0] = [0.1, 0.1, 0.1, 0.7]
    other = Votes.from_soft(wider[:, :5], classes=["cat", "dog", "eel", "fox"], learners=made.learners[:5])
    recoded = model.recoded(other)
    assert recoded.absent == ("fay",)
    assert recoded.unknown["fox"] >= 1
    assert not recoded.votes.soft[0, 0].any()
    assert not recoded.votes.soft[:, 5].any()
    kept = recoded.codes != -1
    np.testing.assert_allclose(recoded.votes.soft[kept], made.soft[:4][kept], atol=1e-6)


def test_labels_are_certain_votes(made, model):
    labels = Votes(made.codes, made.classes, made.learners)
    hot = Votes.from_soft(one_hot(made.codes, 3), classes=made.classes.tolist(), learners=made.learners)
    np.testing.assert_allclose(model.fuse(labels).posterior, model.fuse(hot).posterior, atol=1e-6)
    assert np.abs(model.fuse(labels).posterior - model.fuse(made).posterior).max() > 0.1


def test_rows_without_votes_hold_the_prior(made, model):
    soft = made.soft[:3].copy()
    soft[1] = 0
    answer = model.fuse(Votes.from_soft(soft, classes=made.classes.tolist(), learners=made.learners))
    np.testing.assert_allclose(answer.posterior[1], model.prior_)
    assert answer.codes[1] == -1


def test_arrays_of_probabilities_are_taken_and_draws_refused(made, model):
    exact = model.predict_proba(made.soft[:50])
    np.testing.assert_allclose(exact, model.fuse(made).posterior[:50], atol=1e-5)
    with pytest.raises(InputError, match="hidden votes in any case"):
        model.set_draws(20)
    assert 0.8 < model.score(made) <= 1


def test_the_verbs_know_it(made):
    settings = {name: value for name, value in QUICK.items() if name != "random_state"}
    answer = fuse(made, "deem_soft", random_state=0, **settings)
    trained = train(made, "deem_soft", **QUICK)
    np.testing.assert_array_equal(answer.posterior, trained.fuse(made).posterior)


def test_what_it_cannot_do_is_refused_with_a_sentence(made):
    with pytest.raises(InputError, match="labels only"):
        SoftDEEM(**QUICK).fit(Votes(made.codes, made.classes, made.learners))
    with pytest.raises(InputError, match="Sweeps of the learning rate read labels"):
        SoftDEEM(**{**QUICK, "learning_rate": "auto"}).fit(made)
    with pytest.raises(InputError, match="has no setting 'near_copies'"):
        train(made, "deem_soft", near_copies="keep")
    with pytest.raises(Stopped):
        SoftDEEM(**QUICK).fit(made, control=StopWhen(lambda: True))


def test_every_diagnostic_is_there_and_survives_its_file(made, model, tmp_path):
    found = inspect(model, made)
    assert found.exact_confusion is None  # parameters are of hidden votes
    assert [layer.name for layer in found.dependence.layers] == ["input", "after layer 1"]
    skilled, poor = found.influence.overall[-1], found.influence.overall[0]
    assert skilled > poor > 0  # learners are made more skilled from first to last
    assert found.withheld.overall[-1] > found.withheld.overall[0]
    assert found.evaluation.accuracy == pytest.approx(accuracy(model.fuse(made).codes, made.truth))
    review = found.review
    assert np.isnan(review.contributions[review.votes == -1]).all()
    assert np.isfinite(review.contributions[review.votes != -1]).all()
    found.save(tmp_path)
    again = Inspection.load(tmp_path)
    np.testing.assert_array_equal(again.influence.overall, found.influence.overall)


def test_who_believes_in_the_label_contributes_to_it(made, model):
    found = why(model, made, slice(40))
    own = np.take_along_axis(made.soft[:40], found.fused[:, None, None].astype(int), axis=2)[..., 0]
    other = np.take_along_axis(made.soft[:40], found.runner_up[:, None, None].astype(int), axis=2)[..., 0]
    cast = found.votes != -1
    assert np.corrcoef((own - other)[cast], found.contributions[cast])[0, 1] > 0.7
