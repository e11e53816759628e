"""A comparison on a cluster: the results of one machine, whatever happens to the other machines."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deem_core import simulation
from deem_core.comparison import compare
from deem_core.control import Control, Stopped, StopWhen
from deem_core.runs import Workspace

ROOT = Path(__file__).parents[2]
METHODS = ["mv", "ds", "la1", "la2", "gds", "ebcc", "safe", "mean_prob"]
ASKED = {"seeds": 3, "random_state": 2, "budget": None}
LONG = {"methods": ["mv", "la1", "dnn_sto", "dnn_det", "ebcc"], "seeds": 3, "random_state": 0, "budget": None}
"""Of half a minute on two cores."""


@pytest.fixture(scope="module")
def votes():
    return simulation.tree(400, rng=np.random.default_rng(0)).votes


@pytest.fixture(scope="module")
def alone(votes):
    return compare(votes, METHODS, **ASKED, on="local")


def same(one, other):
    costless = [
        replace(found, methods=tuple(replace(own, seconds=0.0, memory_bytes=0) for own in found.methods))
        for found in (one, other)
    ]
    assert costless[0].to_dict(labels=True) == replace(costless[1], on_cluster=False).to_dict(labels=True)
    assert list(one.labels) == list(other.labels)


def test_a_comparison_on_two_nodes_is_that_of_one_machine(cluster, votes, alone):
    handed, records = [], []

    class Watching(Control):
        def tell(self, step, share, record=None):
            records.append((step, share, record))

    found = compare(votes, METHODS, **ASKED, keep=lambda name, _: handed.append(name), control=Watching(), on="ray")
    assert found.on_cluster
    same(alone, found)
    assert handed == list(found.labels)
    assert all(0 <= share <= 1.0001 for _, share, _ in records)
    assert records[-1][1] == pytest.approx(1)


@pytest.mark.slow
def test_a_node_killed_in_the_middle_loses_nothing(cluster, votes):
    alone = compare(votes, **LONG, on="local")
    killed = []

    def watch(progress):
        if len(progress.running) > 1 and not killed:
            killed.append(threading.Timer(1.0, cluster.kill_second))
            killed[0].start()

    class Heard(Control):
        notes = []  # noqa: RUF012

        def note(self, sentence):
            self.notes.append(sentence)

    found = compare(votes, **LONG, watch=watch, control=Heard(), on="ray")
    killed[0].join()
    assert any("was done again" in note for note in Heard.notes)
    same(alone, found)


def test_a_comparison_on_a_cluster_ends_within_seconds_of_the_wish(cluster, votes):
    begun = []

    def watch(progress):
        begun.append(time.monotonic())

    control = StopWhen(lambda: bool(begun) and time.monotonic() - begun[0] > 1)
    with pytest.raises(Stopped):
        compare(votes, ["ebcc", "dnn_sto"], seeds=8, budget=None, watch=watch, control=control, on="ray")
    assert time.monotonic() - begun[0] < 60


@pytest.mark.slow
def test_a_run_whose_driver_was_killed_goes_on_from_what_was_done(cluster, votes, tmp_path, monkeypatch):
    alone = compare(votes, **LONG, on="local")
    monkeypatch.setattr(Workspace, "_start", lambda self, run: None)
    space = Workspace(tmp_path / "home")
    rows = "\n".join(",".join(map(str, row)) for row in np.column_stack([votes.codes, votes.truth]))
    names = [*(f"l{at:02}" for at in range(votes.n_learners)), "label"]
    data = space.add_dataset("tree.csv", f"{','.join(names)}\n{rows}\n".encode())
    run = space.new_run("compare", data, {**LONG, "on": "ray", "device": "cpu"})
    driver = subprocess.Popen([sys.executable, "-m", "deem_core.runs", str(run.path)], cwd=ROOT, env=dict(os.environ))
    checkpoint = run.path / "checkpoint"
    until = time.monotonic() + 120
    while time.monotonic() < until and len(list(checkpoint.glob("*.safetensors"))) < 5:
        time.sleep(0.05)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    before = {path.name: path.read_bytes() for path in checkpoint.glob("*.safetensors")}
    assert 5 <= len(before) < 11
    assert run.state().state == "failed"
    space.resume(run)
    subprocess.run([sys.executable, "-m", "deem_core.runs", str(run.path)], cwd=ROOT, check=True, timeout=240)
    assert run.state().state == "done", run.state().reason
    begun = [line for line in run.progress()[0] if line["type"] == "method" and not line["result"]]
    assert len(begun) <= 11 + 3  # two pieces that were under way, and one that was not kept yet
    summary = run.summary()
    assert [one["accuracy"] for one in summary["methods"]] == [one.accuracy for one in alone.methods]
    assert [one["note"] for one in summary["methods"]] == [one.note for one in alone.methods]
    assert summary["on_cluster"]
