"""DEEM from groups of learners: no capture, and everything that a training offers."""

import contextlib
import json

import numpy as np
import pytest

from deem_core import DEEM, IRBM, diagnostics, simulation
from deem_core.control import Control, Saved, Stopped
from deem_core.model.config import TrainConfig
from deem_core.training.sweep import Sweeper
from deem_core.votes.describe import accuracy

SHORT = {"random_state": 0, "restarts": 2, "updates": 64, "batch_size": 256}


@pytest.fixture(scope="module")
def votes():
    return simulation.make("tree", 1500, seed=5).votes


@pytest.fixture(scope="module")
def fitted(votes):
    return DEEM(**SHORT).fit(votes)


def right(model, votes):
    return accuracy(model.fuse_codes(votes.codes).argmax(axis=1), votes.truth)


@pytest.mark.parametrize("seed", [pytest.param(2, marks=pytest.mark.slow), 5])
def test_deem_is_not_captured_on_trees(seed):
    """From the majority vote it ends at 86.5 and 77.9% here, where the majority vote has 91.7 and 89.9%."""
    votes = simulation.make("tree", 10_000, seed=seed).votes
    model = DEEM(random_state=0, restarts=1).fit(votes)
    assert model.settings_["start"]["value"] == "groups"
    assert right(model, votes) > accuracy(votes.majority_vote.codes, votes.truth) + 0.02
    grouped = accuracy(model.start_.tree.posterior(votes.codes).argmax(axis=1), votes.truth)
    assert right(model, votes) > grouped - 0.007


def test_what_training_did_says_where_it_started(fitted, tmp_path):
    assert fitted.settings_["start"]["value"] == "groups"
    assert "The model fits" in fitted.settings_["start"]["reason"]
    assert fitted.settings_["learning_rate"]["value"] == 0.05
    fitted.save(tmp_path / "model.safetensors")
    back = DEEM.load(tmp_path / "model.safetensors")
    assert back.settings_["start"] == fitted.settings_["start"]
    assert back.summary_.settings["start"].value == "groups"


def test_restarts_from_groups_differ_and_nothing_is_dropped(fitted):
    assert len(fitted.parts_[0].maps) == 2
    one, other = fitted.parts_[0].model.layer_weights[0]
    assert not np.allclose(one, other)
    assert len(fitted.history_) >= 2 * 60


def test_a_training_from_groups_goes_on_where_it_was_stopped(votes, fitted):
    class Kept(Control):
        def __init__(self):
            self.saved, self.trained = {}, 0

        def stopped(self):
            return "training-0-0" in self.saved and self.trained >= 20

        def due(self, key):
            self.trained += 1
            return True

        def save(self, key, saved):
            self.saved[key] = Saved(saved.tensors, json.loads(json.dumps(saved.notes)))

        def load(self, key):
            return self.saved.get(key)

    control = Kept()
    with pytest.raises(Stopped):
        DEEM(**SHORT).fit(votes, control=control)
    control.trained = -(10**9)
    with contextlib.suppress(Stopped):
        resumed = DEEM(**SHORT).fit(votes, control=control)
    assert resumed.settings_["start"] == fitted.settings_["start"]
    assert np.array_equal(resumed.fuse_codes(votes.codes), fitted.fuse_codes(votes.codes))


def test_a_rate_by_sweep_needs_no_sweep_from_groups(votes):
    model = DEEM(**{**SHORT, "restarts": 1}, learning_rate="auto").fit(votes)
    assert model.sweep_ is None
    assert model.settings_["learning_rate"]["value"] == 0.05
    assert "not swept" in model.settings_["learning_rate"]["reason"]


def test_a_sweep_says_that_it_starts_elsewhere_than_training(votes):
    sweeper = Sweeper(votes, [0.1, 0.5], config=TrainConfig(updates=20, batch_size=64, random_state=0))
    result = sweeper.result()
    assert result.training_start == "groups"
    assert result.settings["start"]["value"] == "majority"
    assert any("starts from the majority vote" in note for note in result.notes)
    assert type(result).from_dict(result.to_dict()).training_start == "groups"


def test_importance_reasons_and_dependence_work_from_groups(fitted, votes):
    told = diagnostics.inspect(fitted, votes, rng=np.random.default_rng(0))
    assert np.isfinite(told.influence.overall).all()
    assert len(told.dependence.layers) == 2
    assert all(np.isfinite(layer.information).all() for layer in told.dependence.layers)
    assert told.review.rows.size


def test_the_irbm_starts_from_independent_learners_where_they_fit():
    votes = simulation.make("condind", 2000, seed=0).votes
    model = IRBM(method="cd", random_state=0, restarts=1, updates=64).fit(votes)
    assert model.settings_["start"]["value"] == "groups"
    assert right(model, votes) > accuracy(votes.majority_vote.codes, votes.truth) + 0.1
