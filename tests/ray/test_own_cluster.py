"""Where no cluster runs, a command starts one of its own, which nobody else can reach and which goes with it."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.ray.conftest import ROOT


@pytest.fixture(scope="module")
def told():
    pytest.importorskip("ray")
    env = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    env["PYTHONPATH"] = str(ROOT)
    command = [sys.executable, "-m", "tests.ray.own_cluster"]
    done = subprocess.run(command, check=False, cwd=ROOT, env=env, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_it_works_and_listens_on_the_loopback_address_alone(told):
    assert told["started"]
    assert told["values"] == [3]
    assert set(told["listening"]) <= {"127.0.0.1", "::1", "::ffff:127.0.0.1"}
    assert told["listening"]


def test_nothing_of_it_is_left(told):
    assert told["folders"]
    assert not [folder for folder in told["folders"] if Path(folder).exists()]
    until = time.monotonic() + 10
    while (left := [pid for pid in told["processes"] if psutil.pid_exists(pid)]) and time.monotonic() < until:
        time.sleep(0.1)
    assert not left
