"""One run at a time on each device, the others in the order they came; the dead hold no place."""

from __future__ import annotations

import sys

import pytest

from deem_core.model import devices
from deem_core.runs.process import Worker
from deem_core.runs.queue import SHORT, device_of, queue_of
from tests.core.runs.helpers import LIGHT_WORKER, PATIENCE, QUICK, script, small, until

DEAD = Worker(2**22 + 1, 1.0, "")
SLEEPER = "import sys; print('up', flush=True); sys.stdin.read()"


@pytest.fixture
def others():
    """Start processes that live until the test ends, and return them as holders of tickets."""
    started = []

    def start(n: int) -> list[Worker]:
        import subprocess

        new = [script(SLEEPER, stdin=subprocess.PIPE) for _ in range(n)]
        started.extend(new)
        for process in new:
            assert process.stdout.readline() == "up\n"
        return [Worker.of(process.pid) for process in new]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_a_process_is_told_from_another_with_the_same_number():
    me = Worker.me()
    assert me.alive
    assert not Worker(me.pid, me.age - 100, me.boot).alive
    assert not Worker(me.pid, me.age, "another start of the system").alive
    assert not DEAD.alive
    assert Worker.from_dict(me.to_dict()) == me
    assert Worker.from_dict({"pid": "x"}) is None


@pytest.mark.skipif(sys.platform == "win32", reason="there are no zombies there")
def test_a_process_that_ended_but_was_not_looked_after_is_dead():
    process = script("")
    until(lambda: Worker.of(process.pid) is None)
    assert process.returncode is None
    process.communicate()


def test_turns_go_by_number_and_the_dead_are_skipped(workspace, others):
    first, second = others(2)
    me, run = Worker.me(), "a" * 32
    with workspace.queue.lock():
        tickets = [workspace.queue.take("cpu", run, who) for who in (DEAD, first, second, me)]
        elsewhere = workspace.queue.take("cuda:1", run, me)
        assert workspace.queue.take("cpu", run, me) == tickets[3]
    assert [ticket.number for ticket in tickets] == [1, 2, 3, 4]
    assert workspace.queue.before(tickets[3]) == 2
    assert workspace.queue.before(elsewhere) == 0
    assert workspace.queue.tickets("cpu") == tickets[1:]
    tickets[2].give_back()
    tickets[2].give_back()
    assert workspace.queue.before(tickets[3]) == 1
    tickets[1].path.write_text("torn")
    assert workspace.queue.before(tickets[3]) == 0


def test_twenty_runs_and_two_workers_all_end_once_and_never_two_at_a_time(workspace, tmp_path):
    dataset = small(workspace)
    runs = [workspace.new_run("train", dataset, QUICK) for _ in range(20)]
    record, folders = tmp_path / "record.txt", [str(run.path) for run in runs]
    workers = [script(LIGHT_WORKER, str(record), "0.01", *order) for order in (folders, folders[::-1])]
    for worker in workers:
        said = worker.communicate(timeout=PATIENCE)
        assert worker.returncode == 0, said
    assert {run.state().state for run in runs} == {"done"}
    lines = [line.split() for line in record.read_text().splitlines()]
    assert [word for word, _ in lines] == ["begin", "end"] * 20
    assert all(one[1] == other[1] for one, other in zip(lines[::2], lines[1::2], strict=True))
    assert len({run for _, run in lines}) == 20
    assert workspace.queue.tickets("cpu") == []


def test_runs_are_worked_on_in_the_order_they_came(workspace, tmp_path, others):
    """They wait behind a stranger, whose death lets them go on."""
    dataset, record = small(workspace), tmp_path / "record.txt"
    (stranger,) = others(1)
    with workspace.queue.lock():
        workspace.queue.take("cpu", "f" * 32, stranger)
    runs, workers = [], []
    for n in range(1, 4):
        run = workspace.new_run("train", dataset, QUICK)
        workers.append(script(LIGHT_WORKER, str(record), "0", str(run.path)))
        until(lambda n=n: len(workspace.queue.tickets("cpu")) == n + 1)
        runs.append(run)
    until(lambda: runs[2].state().step == "Queued: 3 runs ahead")
    assert runs[0].state().step == "Queued: 1 run ahead"
    assert {run.state().state for run in runs} == {"queued"}
    workspace.cancel(runs[1])
    assert until(lambda: runs[1].state().state == "cancelled") < 2
    import psutil

    psutil.Process(stranger.pid).kill()
    for worker in workers:
        said = worker.communicate(timeout=PATIENCE)
        assert worker.returncode == 0, said  # none has imported torch
    begun = [line.split()[1] for line in record.read_text().splitlines() if line.startswith("begin")]
    assert begun == [runs[0].id, runs[2].id]


HEAVY = ("numpy", "pandas", "pyarrow", "scipy", "sklearn", "numba", "torch", "streamlit")
WAITER = """
import os, runpy, sys, threading, time
from pathlib import Path

def look(state=Path(sys.argv[1]) / "state.json"):
    while "ahead" not in state.read_text():
        time.sleep(0.02)
    print(*sorted({name.partition(".")[0] for name in sys.modules}), flush=True)
    os._exit(0)

sys.stdin.readline()
threading.Thread(target=look).start()
runpy.run_module("deem_core.runs", run_name="__main__")
"""


def test_a_worker_that_waits_holds_no_library(workspace, others):
    import subprocess

    run, (stranger,) = workspace.new_run("train", small(workspace), QUICK), others(1)
    waiter = script(WAITER, str(run.path), stdin=subprocess.PIPE)
    with workspace.queue.lock():
        for each, holder in (("f" * 32, stranger), (run.id, Worker.of(waiter.pid))):  # as `Workspace.start` does
            workspace.queue.take("cpu", each, holder)
    printed, errors = waiter.communicate("go\n", timeout=PATIENCE)
    loaded = printed.split()
    assert {"deem_core", "psutil"} <= set(loaded), errors
    assert not set(HEAVY) & set(loaded)


def test_the_queue_of_a_device_is_found_without_torch(monkeypatch):
    monkeypatch.setattr(devices, "likely_device", lambda: "cuda")
    assert device_of("train", {}) == device_of("sweep", {"device": "auto"}) == device_of("train", {"device": None})
    assert device_of("train", {"device": "cuda:0"}) == "cuda"
    assert device_of("train", {"device": "cuda:1"}) == "cuda:1"
    assert device_of("train", {"method": "irbm", "device": "cuda"}) == device_of("apply", {}) == "cpu"
    assert device_of("train", {"method": "gds"}) == "cpu"


def test_a_short_run_goes_beside_a_long_one_and_behind_other_short_ones(workspace, tmp_path, others):
    """New rows are labelled while a comparison works, but one answer at a time."""
    dataset, record = small(workspace), tmp_path / "record.txt"
    long_one, answering = others(2)
    with workspace.queue.lock():
        workspace.queue.take("cpu", "f" * 32, long_one)
        place = workspace.queue.take(SHORT, "e" * 32, answering)
    run = workspace.new_run("fuse", dataset, {"random_state": 0})
    worker = script(LIGHT_WORKER.replace('"train"', '"fuse"'), str(record), "0", str(run.path))
    until(lambda: run.state().step == "Queued: 1 run ahead")
    place.give_back()
    said = worker.communicate(timeout=PATIENCE)
    assert worker.returncode == 0, said
    assert (run.state().state, run.state().device) == ("done", "cpu")
    assert workspace.queue.before(workspace.queue.tickets("cpu")[0]) == 0


def test_runs_of_seconds_have_a_lane_of_their_own(monkeypatch):
    monkeypatch.setattr(devices, "likely_device", lambda: "cuda")
    assert {queue_of(kind, {}) for kind in ("apply", "inspect", "fuse", "ask")} == {SHORT}
    assert {queue_of(kind, {}) for kind in ("train", "sweep", "compare")} == {"cuda"}
    assert queue_of("train", {"method": "gds"}) == "cpu"


def test_the_lock_keeps_others_out(workspace, tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from deem_core.runs.queue import Queue\n"
        "with Queue(Path(sys.argv[1])).lock():\n"
        "    print('in', flush=True); time.sleep(0.4); Path(sys.argv[2]).touch()"
    )
    process = script(code, str(workspace.root / "queue"), str(tmp_path / "leaving"))
    assert process.stdout.readline() == "in\n"
    with workspace.queue.lock():
        assert (tmp_path / "leaving").exists()
    process.communicate()


def test_the_lock_of_a_dead_process_is_free(workspace):
    code = "import sys; from pathlib import Path; from deem_core.runs.queue import Queue\n"
    code += "with Queue(Path(sys.argv[1])).lock():\n    print('in', flush=True); sys.stdin.read()"
    import subprocess

    holder = script(code, str(workspace.queue.folder), stdin=subprocess.PIPE)
    assert holder.stdout.readline() == "in\n"
    holder.kill()
    holder.communicate()
    with workspace.queue.lock():
        assert workspace.queue.tickets("cpu") == []
