"""What a real cluster says of itself: machines, what is free there, what waits."""

import json
import os
import subprocess
import sys
import time

import pytest

ray = pytest.importorskip("ray")

from deem_core.engine import engine_of, survey  # noqa: E402  # only with Ray


@ray.remote(num_cpus=1)
def _busy(seconds):
    time.sleep(seconds)


def test_every_machine_tells_its_cores_and_what_is_free(cluster):
    found = survey("ray")
    assert (found.engine, found.running) == ("ray", True)
    assert [(node.cores, node.gpus) for node in found.nodes] == [(1, 0), (1, 0)]
    assert [node.here for node in found.nodes].count(True) == 1
    assert all(node.memory > 1 << 20 for node in found.nodes)
    assert engine_of("ray").nodes()[0].free_gpus == 0


def test_busy_cores_are_not_free_and_work_that_waits_is_counted(cluster):
    engine_of("ray")
    refs = [_busy.remote(60) for _ in range(5)]
    try:
        until = time.monotonic() + 60
        while (found := survey("ray")).waiting != 3 and time.monotonic() < until:
            time.sleep(0.3)
        assert found.waiting == 3
        assert [node.free_cores for node in found.nodes] == [0, 0]
    finally:
        for ref in refs:
            ray.cancel(ref, force=True)


def test_the_command_writes_the_machines_as_json(cluster, tmp_path):
    out = tmp_path / "devices.json"
    line = [sys.executable, "-m", "deem_core", "devices", "--on", "ray", "--json", str(out)]
    told = subprocess.run(line, env=os.environ, capture_output=True, text=True, timeout=120, check=True)
    assert told.stdout.count(" of 1") == 2
    found = json.loads(out.read_text(encoding="utf-8"))
    assert [node["cores"] for node in found["nodes"]] == [1, 1]
    assert (found["problem"], found["devices"]) == (None, [])
