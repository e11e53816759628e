"""`devices`: this machine's, or the machines of a cluster, without one (`tests/ray` has the real thing)."""

import json

import pytest

from deem_core import cli
from deem_core.cli import system
from deem_core.engine import Node, Survey
from deem_core.errors import DeemError

NODES = (Node("10.0.0.1", 8, 1, 3, 0, 1 << 34, here=True), Node("10.0.0.2", 4, 0, None, None, None))


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out.json"


def _read(out):
    return json.loads(out.read_text(encoding="utf-8"))


def test_machines_of_a_cluster_are_listed_with_what_is_free(monkeypatch, out, capsys):
    monkeypatch.setattr(system, "survey", lambda on: Survey(on, NODES, waiting=1))
    assert cli.main(["devices", "--on", "ray://10.0.0.1:1", "--json", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("10.0.0.2 " in line and " free" not in line for line in lines)
    assert "10.0.0.1 (this machine)" in lines[1]
    assert "3 of 8 free" in lines[1]
    assert "0 of 1 free" in lines[1]
    assert lines[-1] == "1 piece of work waits for a free core."
    found = _read(out)
    assert (found["engine"], found["running"], found["waiting"]) == ("ray://10.0.0.1:1", True, 1)
    assert [Node(**node) for node in found["nodes"]] == list(NODES)


def test_a_cluster_that_is_not_there_is_not_started_for_the_list(monkeypatch, capsys):
    monkeypatch.setattr(system, "survey", lambda on: Survey(on, NODES[:1], running=False, waiting=0))
    assert cli.main(["devices", "--on", "ray"]) == 0
    assert "A run with --on ray starts one on this machine for itself." in capsys.readouterr().out


def test_what_is_wrong_with_a_cluster_is_said_and_written(monkeypatch, out, capsys):
    def fail(on):
        raise DeemError("It does not answer.")

    monkeypatch.setattr(system, "survey", fail)
    assert cli.main(["devices", "--on", "ray", "--json", str(out)]) == 2
    assert capsys.readouterr().err == "It does not answer.\n"
    assert _read(out) == {"devices": [], "engine": "ray", "nodes": [], "problem": "It does not answer."}


def test_this_machine_is_the_only_one_without_an_engine(monkeypatch, out, capsys):
    monkeypatch.delenv("DEEM_ENGINE", raising=False)
    assert cli.main(["devices", "--json", str(out)]) == 0
    found = _read(out)
    assert found["devices"][-1]["name"] == "cpu"
    assert [node["name"] for node in found["nodes"]] == ["this machine"]
    assert found["problem"] is None


def test_an_engine_in_the_environment_that_is_none_is_refused(monkeypatch, capsys):
    monkeypatch.setenv("DEEM_ENGINE", "spark")
    assert cli.main(["devices"]) == 2
    assert "There is no engine 'spark'" in capsys.readouterr().err
    assert cli.main(["devices", "--on", "local"]) == 0
