"""Trainings and sweeps on a cluster: equal to those of one machine, whatever dies on the way."""

import os
import signal
import time
from threading import Thread

import numpy as np
import pytest

from deem_core import DEEM, simulate, sweep
from deem_core.control import Control, Stopped, StopWhen
from deem_core.engine import engine_of
from deem_core.runs import Workspace
from deem_core.runs.run import worker_of
from tests.core.runs.helpers import ended, ensemble, until
from tests.core.training.test_pieces import Keeper, numbers_of, same_training

LOST = "was lost, and its piece of the work was done again"
SETTINGS = {"random_state": 0, "device": "cpu", "batch_size": 64, "start": "majority", "near_copies": "keep"}
RATES = [0.05, 0.2, 0.5, 1.0]


@pytest.fixture(scope="module")
def votes():
    return simulate("tree", 400, seed=0).votes


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("DEEM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DEEM_CHECKPOINT_SECONDS", "0.5")
    return Workspace()


class Hearing(Control):
    """Remembers notes, and kills a node once some progress was told."""

    def __init__(self, at, kill):
        self.at, self.kill, self.notes = at, kill, []

    def note(self, sentence):
        self.notes.append(sentence)

    def tell(self, step, share, record=None):
        if self.kill is not None and share > self.at:
            kill, self.kill = self.kill, None
            Thread(target=kill).start()


@pytest.mark.parametrize("backend", ["torch", "numba"])
def test_a_training_on_two_nodes_gives_the_labels_of_one_machine(cluster, votes, backend):
    model = DEEM(**SETTINGS, restarts=4, updates=80, backend=backend)
    seen, here = [], DEEM(**model.get_params()).fit(votes)
    there = model.fit(votes, on="ray", watch=seen.append)
    same_training(there, here)
    assert np.array_equal(there.predict_proba(votes), here.predict_proba(votes))
    assert {(one.restart, one.record.update) for one in seen} == {(r.restart, r.update) for r in here.history_}


def test_a_sweep_on_two_nodes_has_the_curves_of_one_machine(cluster, votes):
    there = sweep(votes, RATES, updates=80, on="ray", **SETTINGS)
    assert numbers_of(there) == numbers_of(sweep(votes, RATES, updates=80, **SETTINGS))
    assert there.how.endswith("2 at a time on the CPUs of a Ray cluster")


@pytest.mark.slow
def test_a_node_that_is_killed_costs_a_training_nothing(cluster, votes):
    settings = {**SETTINGS, "restarts": 4, "updates": 1500, "backend": "torch"}
    control = Hearing(0.15, cluster.kill_second)
    there = DEEM(**settings).fit(votes, on="ray", control=control)
    assert any(LOST in sentence for sentence in control.notes)
    same_training(there, DEEM(**settings).fit(votes))


@pytest.mark.slow
def test_a_node_that_is_killed_costs_a_sweep_nothing(cluster, votes):
    control = Hearing(0.15, cluster.kill_second)
    there = sweep(votes, RATES, updates=1500, on="ray", control=control, **SETTINGS)
    assert any(LOST in sentence for sentence in control.notes)
    assert numbers_of(there) == numbers_of(sweep(votes, RATES, updates=1500, **SETTINGS))


def test_both_end_within_seconds_when_told_to(cluster, votes):
    engine = engine_of("ray")

    def stopping():
        asked = time.monotonic() + 4
        return StopWhen(lambda: time.monotonic() > asked), asked

    control, asked = stopping()
    with pytest.raises(Stopped):
        DEEM(**SETTINGS, restarts=4, updates=10**6).fit(votes, on=engine, control=control)
    assert time.monotonic() - asked < 60
    control, asked = stopping()
    result = sweep(votes, RATES, updates=10**6, on=engine, control=control, **SETTINGS)
    assert time.monotonic() - asked < 60
    assert not result.complete


@pytest.mark.slow
def test_a_stopped_training_goes_on_from_the_checkpoints_of_the_cluster(cluster, votes, monkeypatch):
    monkeypatch.setenv("DEEM_CHECKPOINT_SECONDS", "0.2")
    settings = {**SETTINGS, "restarts": 4, "updates": 1500, "backend": "torch"}

    class Halfway(Keeper):
        def stopped(self):
            return bool(self.told) and self.told[-1][1] > 0.3

    keeper = Halfway()
    with pytest.raises(Stopped):
        DEEM(**settings).fit(votes, on="ray", control=keeper)
    assert {"training-0-0", "training-0-3"} & set(keeper.kept)
    keeper.told.clear()
    again = Keeper()
    again.kept = keeper.kept
    same_training(DEEM(**settings).fit(votes, on="ray", control=again), DEEM(**settings).fit(votes))
    assert again.told[0][1] > 0.1


def killed_midway(workspace, kind, config, ready):
    """A run whose worker is killed without a word once it is ready, and resumed."""
    run = workspace.start_run(kind, ensemble(workspace), {**config, "on": "ray"})
    until(lambda: ready(run) or not run.state().active)
    assert run.state().active, run.state().reason
    os.kill(worker_of(run.path).pid, signal.SIGKILL)
    until(lambda: not run.is_active())
    assert run.state().state == "failed"
    workspace.resume(run)
    state = ended(run)
    assert state.state == "done", (state.reason, run.log())
    return run


def plain(workspace, kind, config):
    run = workspace.start_run(kind, ensemble(workspace), config)
    assert ended(run).state == "done", run.log()
    return run


@pytest.mark.slow
def test_a_training_whose_driver_is_killed_goes_on(cluster, workspace):
    config = {**SETTINGS, "restarts": 4, "updates": 2500, "backend": "torch"}

    def ready(run):
        return run.has_checkpoint() and run.state().share > 0.15

    run = killed_midway(workspace, "train", config, ready)
    other = plain(workspace, "train", config)
    assert run.state().worked > 0
    assert run.result("result.parquet").read_bytes() == other.result("result.parquet").read_bytes()
    assert run.summary()["restarts"] == other.summary()["restarts"]


def test_a_sweep_whose_driver_is_killed_goes_on_from_finished_candidates(cluster, workspace):
    config = {**SETTINGS, "rates": [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0], "updates": 600}

    def ready(run):
        return any((run.path / "checkpoint").glob("sweep-*.safetensors"))

    run = killed_midway(workspace, "sweep", config, ready)
    other = plain(workspace, "sweep", config)

    def numbers(one):
        content = one.summary()
        for item in content["rates"]:
            del item["seconds"]
        return {name: value for name, value in content.items() if name not in ("seconds", "how")}

    assert numbers(run) == numbers(other)
    ends = [line["candidate"] for line in run.progress()[0] if line["type"] == "record" and line["update"] == 600]
    assert sorted(ends) == list(range(7))  # nobody was trained to the end twice
