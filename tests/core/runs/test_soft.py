"""Runs of soft DEEM: trained, applied, inspected and reported in a folder, like the others."""

import numpy as np
import pytest

from deem_core import Votes, load, report
from deem_core.answers import StoredAnswer
from deem_core.diagnostics.inspection import Inspection
from deem_core.files import tables
from deem_core.runs import FusionSummary, Workspace
from tests.core.methods.soft_deem.helpers import soft_ensemble
from tests.in_process import done, inspected

SOFT, TRUTH = soft_ensemble(n=300, d=4)
CONFIG = {"method": "deem_soft", "restarts": 2, "updates": 20, "backend": "torch", "device": "cpu", "random_state": 3}


def add_soft(workspace, votes, name="soft.csv", folder=None):
    path = folder / name
    tables.write(tables.soft_table(votes), path)
    return workspace.add_dataset(name, path.read_bytes())


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("soft")
    workspace = Workspace(folder / "home")
    votes = Votes.from_soft(SOFT.soft, truth=TRUTH)
    return workspace, done(workspace, "train", add_soft(workspace, votes, folder=folder), CONFIG), folder


def test_a_training_leaves_curves_a_model_and_labels_that_it_gives_again(trained):
    workspace, run, _ = trained
    assert len({record.restart for record in run.records()[0]}) == 2
    summary = FusionSummary.of(run)
    assert summary.training.method == "deem_soft"
    assert len(summary.training.kept_restarts) == 2
    votes = workspace.read(workspace.dataset(run.dataset_id)).votes
    labels = StoredAnswer(run.result("result.parquet"), votes.n_classes)
    again = load(run.result("model.safetensors")).fuse(votes)
    assert (labels.codes == again.codes).all()
    assert summary.evaluation.accuracy == pytest.approx((again.codes == votes.truth).mean())


def test_its_model_labels_new_probabilities_as_it_labelled_them_before(trained):
    workspace, run, folder = trained
    digest = workspace.store(run.path / "model.safetensors")
    votes = workspace.read(workspace.dataset(run.dataset_id)).votes
    some = votes.select_rows(np.arange(40)).select_learners(votes.learners[::-1]).without_truth()
    applied = done(workspace, "apply", add_soft(workspace, some, "new.csv", folder), {"model": digest})
    labels = StoredAnswer(applied.result("result.parquet"), votes.n_classes)
    before = StoredAnswer(run.result("result.parquet"), votes.n_classes)
    assert (labels.codes == before.codes[:40]).all()
    np.testing.assert_allclose(labels.confidence, before.confidence[:40], atol=1e-4)


def test_it_is_inspected_and_reported(trained):
    workspace, run, _ = trained
    found = Inspection.load(inspected(workspace, run).path)
    assert found.evaluation is not None
    assert np.isfinite(found.influence.overall).all()
    page = report(run, workspace).html()
    assert "deem_soft" in page
    assert "This method does not look for them" in page
    assert "The guard looks for them" not in page
    assert "So these are shown but not judged" in page
    assert "a curve that leaves the others, or rises" not in page
