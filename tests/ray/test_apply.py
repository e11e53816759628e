"""Labels of a model for many rows: the same on a cluster as on this machine."""

import numpy as np
import pytest

pytest.importorskip("ray")

from deem_core import simulation  # only with Ray
from deem_core.answers import StoredAnswer
from deem_core.runs import Workspace, kinds, sharing
from tests.in_process import QUICK, add_votes, done


@pytest.mark.parametrize("config", [{}, {"n_layers": 1, "draws": 2}])
def test_rows_labelled_on_the_cluster_are_those_labelled_here(cluster, tmp_path, monkeypatch, config):
    workspace, votes = Workspace(tmp_path / "home"), simulation.simulate("ampdata", 600, 3).votes
    dataset = add_votes(workspace, votes)
    model = workspace.store(done(workspace, "train", dataset, {**QUICK, **config}).result("model.safetensors"))
    monkeypatch.setattr(kinds, "SHARED_ROWS", 1)
    monkeypatch.setattr(sharing, "PIECE_ROWS", 100)
    here, there = (
        StoredAnswer(done(workspace, "apply", dataset, {"model": model, "on": on}).result("result.parquet"), 5)
        for on in ("local", "ray")
    )
    np.testing.assert_array_equal(there.posterior, here.posterior)
    np.testing.assert_array_equal(there.support, here.support)
