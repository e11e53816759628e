"""Where to run: only the environment names a cluster, and what it said is told in words."""

import io
import os

import pytest

from deem_core import InputError
from deem_core.engine import CLUSTER, LOCAL, Node, Survey
from deem_core.runs import Workspace
from deem_core.runs.process import Worker
from studio import background, cluster, machines
from studio.export import new_data

NODES = [
    {"name": "10.0.0.1", "cores": 8.0, "gpus": 1.0, "free_cores": 3.0, "free_gpus": 0.0, "memory": 1 << 34},
    {"name": "10.0.0.2", "cores": 8.0, "gpus": 0.0, "free_cores": 8.0, "free_gpus": 0.0, "memory": None},
]
ANSWER = {"nodes": [{**node, "here": False} for node in NODES], "running": True, "waiting": 4, "problem": None}


@pytest.mark.parametrize("wish", ["", " ", "local", None])
def test_nothing_is_configured_without_an_engine(monkeypatch, wish):
    if wish is None:
        monkeypatch.delenv("DEEM_ENGINE", raising=False)
    else:
        monkeypatch.setenv("DEEM_ENGINE", wish)
    assert cluster.configured() is None
    assert cluster.placed({"updates": 3, "on": "ray://elsewhere:1"}) == {"updates": 3}


def test_an_engine_that_is_none_is_named_and_runs_stay_here(monkeypatch):
    monkeypatch.setenv("DEEM_ENGINE", "ray:/10.0.0.1")
    with pytest.raises(InputError, match=r"DEEM_ENGINE names no engine, so all runs stay on this machine\. .*10\.0\.0"):
        cluster.configured()
    assert cluster.chosen() == cluster.placed({"on": "ray"}) == {"on": LOCAL}


def test_runs_go_to_the_configured_cluster_or_stay_here_and_never_elsewhere(monkeypatch):
    monkeypatch.setenv("DEEM_ENGINE", "ray://10.0.0.1:10001")
    assert cluster.placed({"on": "ray://10.0.0.1:10001"}) == {"on": "ray://10.0.0.1:10001"}
    for other in ("ray", "ray://elsewhere:1", "local", None):
        assert cluster.placed({"n": 1, "on": other}) == {"n": 1, "on": LOCAL}
    assert cluster.placed({}) == {"on": LOCAL}


def test_an_answer_is_told_in_a_line_and_machine_by_machine(monkeypatch):
    asked = []

    def command(words, **more):
        asked.append((words, more["failed"]))
        return ANSWER

    monkeypatch.setattr(background, "command", command)
    found = machines.ask("ray://10.0.0.1:10001")
    assert asked == [(["devices", "--on", "ray://10.0.0.1:10001"], True)]
    assert found.words == "2 machines · 11 of 16 cores free · 0 of 1 GPU free · 4 pieces of work waiting"
    table = machines.machines(found.survey)
    assert table["cores"].tolist() == ["3 of 8 free", "8 of 8 free"]
    assert table["GPUs"].tolist() == ["0 of 1 free", "0"]
    assert table["memory"].tolist()[1] == "–"


def test_a_cluster_that_does_not_run_yet_is_no_problem():
    found = machines.Standing(Survey("ray", (Node("this machine", 4, 0, here=True),), running=False, waiting=0))
    assert found.words.startswith("No cluster runs now: a run starts one on this machine for itself · 1 machine")
    assert "GPU" not in found.words


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "The cluster ray://a:1 does not answer. Check that it runs"),
        ({"problem": "Ray is not installed, and …"}, "Ray is not installed, and …"),
        ({"problem": None, "nodes": [{"name": "a"}]}, "does not understand"),
    ],
)
def test_what_went_wrong_is_one_sentence(monkeypatch, answer, said):
    monkeypatch.setattr(background, "command", lambda words, **more: answer)
    found = machines.ask("ray://a:1")
    assert found.survey is None
    assert said in found.words


def test_a_command_that_fails_may_have_written_why(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.getcwd())
    words = ["devices", "--on", "ray://127.0.0.1:99999"]
    assert background.command(words) is None
    assert background.command(words, failed=True)["problem"]


def test_the_queue_names_own_runs_only(tmp_path, monkeypatch):
    monkeypatch.setenv("DEEM_HOME", str(tmp_path / "home"))
    space = Workspace()
    monkeypatch.setattr(machines, "workspace", lambda: space)
    dataset = space.add_dataset("votes.csv", b"id,a,b\n1,x,y\n2,y,y\n3,x,x\n")
    run = space.new_run("train", dataset, {"method": "deem", "on": "ray"}, title="Mine")
    assert machines.queue() == []
    with space.queue.lock():
        for each in ("f" * 32, run.id):
            space.queue.take(CLUSTER, each, Worker.me())
    assert machines.queue() == ["Running: a run of somebody else", "Waiting: Mine (votes.csv)"]


@pytest.mark.parametrize(
    ("engine", "chosen", "written"),
    [(None, None, {}), ("ray", None, {"on": LOCAL}), ("ray", "ray", {"on": "ray"}), ("spark", "ray", {"on": LOCAL})],
)
def test_new_data_are_labelled_here_unless_somebody_chooses_the_cluster(tmp_path, monkeypatch, engine, chosen, written):
    monkeypatch.delenv("DEEM_ENGINE", raising=False)
    if engine is not None:
        monkeypatch.setenv("DEEM_ENGINE", engine)
    held = {"deem_on_where_to_label": chosen, "deem_on_where_to_run": "ray"}
    monkeypatch.setattr(cluster.state, "value", held.get)
    monkeypatch.setenv("DEEM_HOME", str(tmp_path / "home"))
    space = Workspace()
    monkeypatch.setattr(new_data, "workspace", lambda: space)
    monkeypatch.setattr(Workspace, "start", lambda self, run: None)
    dataset = space.add_dataset("votes.csv", b"id,a,b\n1,x,y\n2,y,y\n3,x,x\n")
    model = space.store(io.BytesIO(b"no model, and nobody reads it"))
    assert new_data._labelling(dataset, model).config == {"model": model, **written}
