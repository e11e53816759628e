"""Runs of a grouped model: trained, applied to new rows and inspected in a folder, like the others."""

import numpy as np
import pytest

from deem_core import load, simulate
from deem_core.answers import StoredAnswer
from deem_core.diagnostics.inspection import Inspection
from deem_core.runs import FusionSummary, Workspace
from tests.in_process import add_votes, done, inspected

VOTES = simulate("tree", 600, seed=3).votes


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    workspace = Workspace(tmp_path_factory.mktemp("home"))
    config = {"method": "gds", "random_state": 0}
    return workspace, done(workspace, "train", add_votes(workspace, VOTES), config)


def test_a_training_leaves_its_model_its_labels_and_its_groups(trained):
    _, run = trained
    summary = FusionSummary.of(run)
    assert summary.training.method == "gds"
    assert summary.training.restarts == ()
    assert len(summary.training.groups.groups) == 3
    assert run.records()[0] == []
    model = load(run.result("model.safetensors"))
    labels = StoredAnswer(run.result("result.parquet"), VOTES.n_classes)
    assert (labels.codes == model.fuse_codes(VOTES.codes).argmax(axis=1)).all()


def test_its_model_labels_new_rows(trained):
    workspace, run = trained
    some = VOTES.select_rows(np.arange(40)).select_learners(VOTES.learners[2:]).without_truth()
    digest = workspace.store(run.path / "model.safetensors")
    applied = done(workspace, "apply", add_votes(workspace, some, "new.csv"), {"model": digest})
    summary = FusionSummary.of(applied)
    assert summary.training.method == "apply"
    assert summary.training.trained_rows == 600
    assert any("No votes from" in sentence for sentence in summary.training.warnings)
    assert summary.training.groups.groups == FusionSummary.of(run).training.groups.groups
    assert len(StoredAnswer(applied.result("result.parquet"), VOTES.n_classes).codes) == 40


def test_its_inspection_has_the_groups(trained):
    workspace, run = trained
    assert len(Inspection.load(inspected(workspace, run).path).groups.members) == 3
