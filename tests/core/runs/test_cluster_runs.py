"""Runs that share out their work: their lane, their device in words, their patience, and rows in pieces."""

import os

import numpy as np
import pytest

from deem_core import simulation
from deem_core.answers import StoredAnswer
from deem_core.engine import CLUSTER, Local
from deem_core.errors import InputError
from deem_core.files.atomic import write_json
from deem_core.runs import FusionSummary, differing_settings, job, sharing
from deem_core.runs.attendance import INSIST_SECONDS, INSIST_SHARED_SECONDS
from deem_core.runs.control import RunControl
from deem_core.runs.job import Job
from deem_core.runs.queue import SHORT, device_of, queue_of
from deem_core.runs.status import Status
from deem_core.runs.worker import PATIENCE_SECONDS, PATIENCE_SHARED_SECONDS, patience_of
from tests.core.runs.helpers import script, small
from tests.engines import Carrying
from tests.in_process import QUICK, add_votes, done

ADDRESS = "ray://10.0.0.1:10001"


@pytest.mark.parametrize("kind", ["train", "sweep", "compare", "apply"])
def test_what_is_shared_out_waits_in_a_lane_of_its_own(kind):
    assert queue_of(kind, {"on": ADDRESS}) == device_of(kind, {"on": "ray"}) == CLUSTER
    assert queue_of(kind, {"on": "local", "device": "cpu"}) == (SHORT if kind == "apply" else "cpu")
    with pytest.raises(InputError, match="no engine"):
        queue_of(kind, {"on": "http://x"})


@pytest.mark.parametrize("kind", ["fuse", "ask", "inspect"])
def test_what_has_nothing_to_share_out_waits_here(kind):
    assert device_of(kind, {"on": ADDRESS}) == device_of(kind, {}) != CLUSTER
    assert queue_of(kind, {"on": ADDRESS}) == queue_of(kind, {})


def test_lanes_do_not_wait_for_each_other(workspace):
    from deem_core.runs.process import Worker

    with workspace.queue.lock():
        first = [workspace.queue.take(lane, "a" * 32, Worker.me()) for lane in ("cpu", CLUSTER, SHORT)]
        second = workspace.queue.take(CLUSTER, "b" * 32, Worker.me())
    assert [workspace.queue.before(ticket) for ticket in (*first, second)] == [0, 0, 0, 1]


def _job(workspace, **config):
    run = workspace.new_run("train", small(workspace), config)
    status = Status(run)
    status.begin(device_of("train", run.config))
    return Job(workspace, run, RunControl(status))


@pytest.mark.parametrize(("settings", "device"), [(QUICK, CLUSTER), ({"method": "gds"}, "cpu")])
def test_a_training_says_where_it_ran(workspace, monkeypatch, settings, device):
    """What has nothing to share out stays here, whatever was asked for."""
    from deem_core.runs import kinds

    monkeypatch.setattr(job, "engine_of", lambda on: Carrying())
    made = _job(workspace, on=ADDRESS, **settings)
    assert made.control.status.state.device == device
    kinds.train(made)
    made.control.status.end("done")
    assert FusionSummary.of(made.run).training.device == made.control.status.state.device == device


def test_work_on_a_cluster_has_time_to_ask_its_pieces_to_stop(workspace):
    dataset = small(workspace)
    local, shared = (workspace.new_run("train", dataset, config) for config in ({"on": "local"}, {"on": "ray"}))
    assert (patience_of(local), patience_of(shared)) == (PATIENCE_SECONDS, PATIENCE_SHARED_SECONDS)
    assert INSIST_SECONDS > PATIENCE_SECONDS
    assert INSIST_SHARED_SECONDS > PATIENCE_SHARED_SECONDS > 3.2  # the cluster's own patience, and a look


def test_a_worker_takes_its_engine_from_the_run_alone(workspace, monkeypatch):
    monkeypatch.setenv("DEEM_ENGINE", "http://nonsense")
    run = workspace.new_run("train", small(workspace), {"device": "cpu"})
    code = (
        "import os, sys; from deem_core.runs import kinds, worker\n"
        "kinds.KINDS['train'] = lambda job: print(os.environ['DEEM_ENGINE'], job.engine.wish)\n"
        "worker.work(sys.argv[1])"
    )
    told, problems = script(code, os.fspath(run.path)).communicate(timeout=300)
    assert told.split() == ["local", "local"], problems


@pytest.fixture(scope="module")
def applied(tmp_path_factory):
    """Return what labels new rows with a model, here or by an engine: the answer and its summary."""
    from deem_core.runs import Workspace

    workspace = Workspace(tmp_path_factory.mktemp("home"))
    votes = simulation.simulate("ampdata", 600, 3).votes
    dataset = add_votes(workspace, votes)

    def label(config, **more):
        model = done(workspace, "train", dataset, {**QUICK, **config}).result("model.safetensors")
        run = done(workspace, "apply", dataset, {"model": workspace.store(model), **more})
        return StoredAnswer(run.result("result.parquet"), votes.n_classes), FusionSummary.of(run)

    return label


@pytest.mark.parametrize("config", [{}, {"n_layers": 1, "draws": 2}, {"method": "irbm_cd"}])
def test_rows_in_pieces_get_the_labels_that_they_get_together(applied, monkeypatch, config):
    engine = Carrying()
    monkeypatch.setattr(job, "engine_of", lambda on: engine if on == ADDRESS else Local())
    monkeypatch.setattr(sharing, "PIECE_ROWS", 50)
    monkeypatch.setattr("deem_core.runs.kinds.SHARED_ROWS", 601)
    here, _ = applied(config, on=ADDRESS)
    assert not engine.ran  # too few rows
    monkeypatch.setattr("deem_core.runs.kinds.SHARED_ROWS", 600)
    shared, _ = applied(config, on=ADDRESS)
    assert len(engine.ran) > 10
    np.testing.assert_array_equal(shared.posterior, here.posterior)
    np.testing.assert_array_equal(shared.codes, here.codes)
    np.testing.assert_array_equal(shared.support, here.support)


def test_where_runs_worked_is_a_setting_that_may_differ(workspace):
    dataset = small(workspace)
    runs = [workspace.new_run("train", dataset, config) for config in ({}, {"on": "ray"}, {"on": "local"})]
    assert differing_settings(runs) == {"on": ["local", "ray", "local"]}
    assert differing_settings([runs[0], runs[2]]) == {}


def test_an_estimate_is_for_this_machine_wherever_the_run_is_to_be(workspace, tmp_path, monkeypatch):
    from deem_core import cli

    monkeypatch.setenv("DEEM_ENGINE", "ray://127.0.0.1:9")  # nobody is there

    dataset = small(workspace)
    write_json({}, tmp_path / "out.json")
    words = ["estimate", dataset.id, "--kind", "sweep", "--workspace", str(workspace.root)]
    config = '{"updates": 5, "rates": [0.1], "on": "ray"}'
    assert cli.main([*words, "--config", config]) == 0
