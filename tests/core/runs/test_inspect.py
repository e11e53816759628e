"""Runs of the kind "inspect"."""

import numpy as np
import pytest

from deem_core.control import Stopped
from deem_core.diagnostics.inspection import Inspection
from deem_core.errors import InputError
from deem_core.runs import Workspace
from deem_core.runs.control import RunControl
from tests.in_process import QUICK, add_votes, done, experts, inspected


@pytest.fixture(scope="module")
def training(tmp_path_factory):
    workspace = Workspace(tmp_path_factory.mktemp("home"))
    return workspace, done(workspace, "train", add_votes(workspace, experts(200)), QUICK)


def test_what_is_found_is_kept_whole_beside_the_run(training):
    workspace, run = training
    inspection = inspected(workspace, run)
    found = Inspection.load(inspection.path)
    assert found.learners == experts(200).learners
    assert (found.n_rows, found.evaluation.n_truth) == (200, 200)
    assert inspection.summary() == {"rows_used": 200, "n_rows": 200, "training": run.id}
    assert {path.name for path in inspection.results()} >= {"inspection.json", "inspection.npz", "summary.json"}


def test_the_same_seed_finds_the_same(training):
    workspace, run = training
    first, second = (Inspection.load(inspected(workspace, run).path) for _ in range(2))
    np.testing.assert_array_equal(first.influence.by_class, second.influence.by_class)
    np.testing.assert_array_equal(first.dependence.layers[-1].information, second.dependence.layers[-1].information)


def test_truth_changes_nothing_but_the_evaluation(training):
    workspace, run = training
    with_truth = Inspection.load(inspected(workspace, run).path)
    blind = add_votes(workspace, experts(200).without_truth(), "blind.csv")
    config = {"model": workspace.store(run.path / "model.safetensors"), "training": run.id, "random_state": 0}
    without = Inspection.load(done(workspace, "inspect", blind, config).path)
    assert without.evaluation is None
    np.testing.assert_array_equal(with_truth.influence.overall, without.influence.overall)
    np.testing.assert_array_equal(with_truth.review.rows, without.review.rows)


def test_without_a_model_there_is_nothing_to_inspect(training):
    workspace, run = training
    with pytest.raises(InputError, match="needs a model"):
        done(workspace, "inspect", workspace.dataset(run.dataset_id), {"training": run.id})


def test_a_model_of_other_learners_is_refused(training):
    workspace, run = training
    other = workspace.add_dataset("other.csv", b"id,u,v,q\n1,w,w,x\n2,x,x,x\n3,w,x,w\n4,x,w,w\n")
    with pytest.raises(InputError):
        done(workspace, "inspect", other, {"model": workspace.store(run.path / "model.safetensors")})


def test_it_stops_when_asked_to(training, monkeypatch):
    workspace, run = training
    monkeypatch.setattr(RunControl, "stopped", lambda self: True)
    with pytest.raises(Stopped):
        inspected(workspace, run)
