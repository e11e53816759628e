"""The cluster of others, by ray://HOST:PORT: all that works from inside works from outside."""

import json
import os
import subprocess
import sys

import pytest

from tests.ray.conftest import ROOT


@pytest.fixture(scope="module")
def found(_two_nodes, tmp_path_factory):
    env = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    address = f"ray://127.0.0.1:{_two_nodes.client_port}"
    command = [sys.executable, "-m", "tests.ray.through_client", address, str(tmp_path_factory.mktemp("client"))]
    done = subprocess.run(command, check=False, cwd=ROOT, env=env, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_news_and_results_come_from_outside(found):
    assert found["counting"] == [[0, 1, 2], [3]]
    assert {node["here"] for node in found["nodes"]} == {False}


def test_what_a_piece_raises_is_raised(found):
    assert found["failing"] == "The piece second is bad."


def test_a_lost_piece_is_done_again_from_its_last_checkpoint(found):
    assert found["dying"] == [1]
    assert found["keeping"] == [2]
    assert len(found["notes"]) == 2


def test_a_wish_to_stop_is_heard_within_seconds(found):
    assert found["stopped"] == ["stopped"]
    assert found["seconds"] < 60
