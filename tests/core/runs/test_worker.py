"""A worker does the work of one run; killed, cancelled or out of room, it leaves a run that says so."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading

import numpy as np
import psutil
import pyarrow.parquet as pq
import pytest

from deem_core import DEEM, Answer, describe
from deem_core.answers import StoredAnswer
from deem_core.errors import InputError
from deem_core.files.plain import to_plain
from deem_core.methods import registry
from deem_core.runs import Run, State, Workspace, attendance, worker
from deem_core.runs.control import RunControl
from deem_core.runs.process import Worker
from deem_core.runs.run import DIED, WORKER, worker_of
from deem_core.runs.status import Status, rounded
from deem_core.training.sweep import trainer as sweep_trainer
from tests.core.runs.helpers import LONG, PATIENCE, QUICK, ROOT, ended, ensemble, script, small, until


def training(run) -> bool:
    return any(line["type"] == "record" for line in run.progress()[0])


def worked_on(workspace: Workspace, run: Run) -> State:
    """Let this process, which has imported torch already, do the work of a worker."""
    ticket = worker._claim(workspace.queue, run)
    worker._attend(workspace.root, workspace.queue, run, ticket)
    ticket.give_back()
    return run.state()


def kill(run) -> None:
    process = psutil.Process(worker_of(run.path).pid)
    process.kill()
    until(lambda: not run.is_attended())


def test_a_train_run_leaves_model_result_and_summary(workspace):
    dataset = ensemble(workspace)
    run = workspace.start_run("train", dataset, QUICK, title="quick")
    with pytest.raises(InputError, match="it is queued already"):
        workspace.start(run)
    state = ended(run)
    assert (state.state, state.reason, state.share, state.device) == ("done", "", 1.0, "cpu"), run.log()
    assert state.created <= state.started <= state.ended
    names = {path.name for path in run.results()}
    assert names == {"model.safetensors", "result.parquet", "summary.json"}
    votes = workspace.read(dataset).votes
    expected = DEEM(**QUICK).fit(votes).fuse_codes(votes.codes)
    table = pq.read_table(run.result("result.parquet"))
    assert table.column_names[:6] == ["fused", "confidence", "majority", "agreement", "entropy", "needs_review"]
    assert table.column_names[6:] == ["restarts_agreeing", "p_0", "p_1", "p_2"]
    assert table["fused"].to_pylist() == expected.argmax(axis=1).tolist()
    np.testing.assert_allclose(table["p_1"].to_numpy(), expected[:, 1], rtol=1e-6)
    majority = Answer(votes, expected).majority
    assert table["majority"].to_pylist() == majority.tolist()
    summary = run.summary()
    assert (summary["method"], summary["n_rows"], summary["n_classes"]) == ("deem", 400, 3)
    assert summary["evaluation"]["majority_vote_accuracy"] == describe(votes).majority_accuracy
    assert summary["changed"] == (expected.argmax(axis=1) != majority).sum()
    assert summary["alarms"] == to_plain(Answer(votes, expected).alarms)
    told = [line for line in run.progress()[0] if line["type"] == "record"]
    for training in range(2 if summary["hedged"] else 1):  # one restart each
        own = [line for line in told if line["training"] == training]
        assert [line["update"] for line in own] == list(range(1, 21))
        assert {line["restart"] for line in own} == {training}

    model = workspace.store(run.result("model.safetensors"))
    applied = workspace.new_run("apply", dataset, {"model": model})
    assert worked_on(workspace, applied).state == "done"
    assert pq.read_table(applied.result("result.parquet"))["fused"].equals(table["fused"])
    assert applied.summary()["evaluation"] == summary["evaluation"]
    for path in run.path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600 or sys.platform == "win32"


def test_a_sweep_leaves_curves_and_a_recommendation(workspace):
    config = {"device": "cpu", "rates": [0.01, 0.1], "updates": 6, "random_state": 1}
    run = workspace.new_run("sweep", ensemble(workspace), config)
    assert worked_on(workspace, run).state == "done", run.state().reason
    summary = run.summary()
    assert [item["learning_rate"] for item in summary["rates"]] == [0.01, 0.1]
    assert summary["why"]
    told = [line for line in run.progress()[0] if line["type"] == "record"]
    assert {(line["candidate"], line["learning_rate"]) for line in told} == {(0, 0.01), (1, 0.1)}
    table = pq.read_table(run.result("result.parquet"))
    assert set(table["learning_rate"].to_pylist()) == {0.01, 0.1}
    assert table.num_rows == len(told)


def test_a_resumed_sweep_goes_on_from_its_finished_candidates(workspace, monkeypatch):
    config = {"device": "cpu", "rates": [0.05, 0.1, 0.2, 0.5], "updates": 600, "random_state": 1}
    config |= {"start": "majority", "batch_size": 32, "backend": "torch"}

    def numbers(run):
        content = run.summary()
        for item in content["rates"]:
            del item["seconds"]
        return {name: value for name, value in content.items() if name not in ("seconds", "how")}

    whole = workspace.new_run("sweep", ensemble(workspace), config)
    assert worked_on(workspace, whole).state == "done", whole.state().reason

    class StopsAfterOne(RunControl):
        def save(self, key, saved):
            super().save(key, saved)
            if key.startswith("sweep-"):
                self.stop.set()

    run = workspace.new_run("sweep", ensemble(workspace), config)
    with monkeypatch.context() as patch:
        patch.setattr(worker, "RunControl", StopsAfterOne)
        assert worked_on(workspace, run).state == "cancelled"
    kept = sorted((run.path / "checkpoint").glob("sweep-*.safetensors"))
    assert kept
    for path in kept[1:]:  # both were at their last record
        path.unlink()
    assert json.loads((run.path / "partial.json").read_text())["rates"]
    trained = []
    begin = sweep_trainer.Stack.begin
    monkeypatch.setattr(
        sweep_trainer.Stack, "begin", lambda stack, *asked: (trained.append(stack.members), begin(stack, *asked))
    )
    (run.path / WORKER).unlink()  # this process lives on
    attendance.make_ready(run)
    assert run.state().share > 0.2
    assert worked_on(workspace, run).state == "done", run.state().reason
    assert len(trained) == 1
    assert numbers(run) == numbers(whole)
    notes = [line["text"] for line in run.progress()[0] if line["type"] == "note"]
    assert len(notes) == len(set(notes))


def test_a_comparison_leaves_the_labels_and_scores_of_every_method(workspace):
    run = workspace.new_run("compare", ensemble(workspace), {"device": "cpu", "methods": ["mv", "ds"], "seeds": 1})
    assert worked_on(workspace, run).state == "done", run.state().reason
    votes = workspace.read_inputs(run.spec["inputs"]).votes
    assert [method["name"] for method in run.summary()["methods"]] == ["mv", "ds"]
    table = pq.read_table(run.result("result.parquet"))
    assert table["mv"].to_pylist() == votes.majority_vote.codes.tolist()
    results = [line["result"] for line in run.progress()[0] if line["type"] == "method" and line["result"]]
    assert [result["name"] for result in results] == ["mv", "ds"]
    assert all(result["accuracy"] is None for result in results)  # scores come when all labels exist
    assert run.keeps_labels()
    assert run.labels("mean_prob") is run.labels("../ds") is None
    stored = StoredAnswer(run.labels("ds"), votes.n_classes)
    assert stored.codes.tolist() == table["ds"].to_pylist()
    expected = registry.aggregate("ds", votes, np.random.default_rng(0)).posterior
    np.testing.assert_array_equal(stored.answer(votes).posterior, expected)


@pytest.mark.parametrize("limit", ["deem_core.runs.kinds.MOST_CELLS", "deem_core.runs.kinds.MAX_PROBABILITIES"])
def test_beyond_a_size_a_comparison_keeps_labels_and_confidence_alone(workspace, monkeypatch, limit):
    monkeypatch.setattr(limit, 1)
    run = workspace.new_run("compare", ensemble(workspace), {"device": "cpu", "methods": ["mv", "ds"], "seeds": 1})
    assert worked_on(workspace, run).state == "done", run.state().reason
    votes = workspace.read_inputs(run.spec["inputs"]).votes
    answer = StoredAnswer(run.labels("ds"), votes.n_classes).answer(votes)
    expected = registry.aggregate("ds", votes, np.random.default_rng(0))
    assert not answer.probabilities_known
    assert answer.codes.tolist() == expected.codes.tolist()
    np.testing.assert_allclose(answer.confidence, expected.posterior.max(axis=1), atol=1e-6)


def test_a_killed_training_goes_on_from_its_checkpoint_to_the_same_result(workspace, monkeypatch):
    monkeypatch.setenv("DEEM_CHECKPOINT_SECONDS", "0.05")
    dataset = ensemble(workspace)
    config = {**QUICK, "updates": 150, "near_copies": "keep"}
    run = workspace.start_run("train", dataset, config)
    until(lambda: any((run.path / "checkpoint").glob("*.safetensors")) and len(run.progress()[0]) > 10)
    kill(run)
    state = run.state()
    assert (state.state, state.reason, state.resumable) == ("failed", DIED, True)
    assert run.results() == []
    before = len(run.progress()[0])
    assert before > 10
    monkeypatch.delenv("DEEM_CHECKPOINT_SECONDS")
    monkeypatch.setattr(Workspace, "_start", lambda self, run: None)  # this process goes on with it
    workspace.resume(run)
    earlier = state.ended - state.started
    assert run.state().worked == pytest.approx(earlier)
    assert worked_on(workspace, run).state == "done"
    last = run.state()
    assert last.seconds == pytest.approx(earlier + last.ended - last.started)
    assert earlier < run.summary()["seconds"] <= last.seconds
    told = run.progress()[0]
    updates = [line["update"] for line in told[before:] if line.get("restart") == 0]
    assert updates[0] > 1  # it did not start over
    assert not (run.path / "checkpoint").exists()
    votes = workspace.read(dataset).votes
    expected = DEEM(**config).fit(votes).fuse_codes(votes.codes)
    table = pq.read_table(run.result("result.parquet"))
    assert table["fused"].to_pylist() == expected.argmax(axis=1).tolist()
    assert np.array_equal(table["p_0"].to_numpy(), expected[:, 0].astype(np.float32))


def test_cancelling_takes_less_than_two_seconds_for_all_who_ask_and_look(workspace):
    run = workspace.start_run("train", ensemble(workspace), LONG)
    until(lambda: training(run))
    with pytest.raises(InputError, match="still running"):
        workspace.delete_run(run)
    seen, errors = [], []

    def ask_and_look() -> None:
        try:
            own = Workspace(workspace.root)
            own.cancel(own.run(run.id))
            while own.run(run.id).is_active():
                seen.append(own.run(run.id).state().state)
        except Exception as error:
            errors.append(error)

    code = (
        "import sys; from deem_core.runs import Workspace; ws = Workspace(sys.argv[1]); run = ws.run(sys.argv[2])\n"
        "ws.cancel(run)\nwhile run.is_active(): pass\nprint(run.state().state)"
    )
    other = script(code, str(workspace.root), run.id)
    threads = [threading.Thread(target=ask_and_look) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert until(lambda: not run.state().active) < 2
    for thread in threads:
        thread.join()
    assert (errors, set(seen) - {"running", "cancelled"}) == ([], set())
    assert other.communicate(timeout=PATIENCE) == ("cancelled\n", "")
    assert (run.state().state, run.state().resumable) == ("cancelled", True)
    assert list((run.path / "checkpoint").glob("*.safetensors"))
    until(lambda: not run.is_attended())
    workspace.delete_run(run)
    assert workspace.runs() == []


STUBBORN = """
import sys, time
from deem_core.runs import kinds, worker

def execute(job):
    (job.folder / "summary.json").write_text("{")
    time.sleep(60)

kinds.KINDS["train"] = execute
worker.work(sys.argv[1])
"""


def test_work_that_does_not_listen_is_ended_and_leaves_no_results(workspace):
    run = workspace.new_run("train", small(workspace), QUICK)
    process = script(STUBBORN, str(run.path))
    until((run.path / "summary.json").exists)
    workspace.cancel(run)
    assert until(lambda: run.state().state == "cancelled") < 2
    process.communicate(timeout=PATIENCE)
    assert process.returncode in (0, -signal.SIGKILL)  # by itself, or by the one who asked, whoever came first
    until(lambda: not (run.path / "summary.json").exists())
    place = workspace.queue.take("cpu", "f" * 32, Worker.me())
    assert workspace.queue.before(place) == 0  # whoever ended it left no place that others wait behind


@pytest.mark.skipif(sys.platform == "win32", reason="nobody can be stopped there")
def test_a_worker_that_gets_no_time_is_ended_by_whoever_asked(workspace):
    run = workspace.new_run("train", small(workspace), QUICK)
    process = script(STUBBORN, str(run.path))
    until((run.path / "summary.json").exists)
    os.kill(process.pid, signal.SIGSTOP)
    workspace.cancel(run)
    assert run.state().cancelling
    assert until(lambda: run.state().state == "cancelled") < 2
    assert not run.state().cancelling
    assert not worker_of(run.path).alive
    process.communicate()
    until(lambda: not (run.path / "summary.json").exists())
    workspace.resume(run)
    workspace.cancel(run)
    until(lambda: not run.is_active())


def test_a_worker_runs_apart_and_steps_back(workspace):
    run = workspace.start_run("train", small(workspace), LONG)
    until(lambda: run.state().state == "running")
    process = psutil.Process(worker_of(run.path).pid)
    assert process.nice() == 15
    if hasattr(os, "getsid"):
        assert os.getsid(process.pid) == process.pid
        assert process.cwd() == str(workspace.root)
    kill(run)
    assert run.state().reason == DIED
    workspace.cancel(run)  # too late, and no harm
    assert run.state().state == "failed"
    with pytest.raises(InputError, match="is failed; only queued runs"):
        worker.work(run.path)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({**QUICK, "learning_rate": -1}, "learning_rate"),
        ({**QUICK, "colour": "red"}, "has no setting 'colour'"),
        ({**QUICK, "method": "magic"}, "no method 'magic'"),
    ],
)
def test_what_the_settings_get_wrong_is_the_reason_of_the_failure(workspace, config, words):
    run = workspace.new_run("train", small(workspace), config)
    state = worked_on(workspace, run)
    assert state.state == "failed"
    assert words in state.reason
    assert {path.name for path in run.path.iterdir()} == {"spec.json", "state.json", "worker.json"}


FULL_DISK = """
import sys
from deem_core.runs import Workspace, kinds, worker
from deem_core.runs.private import private_file

def big_result(job):
    job.note("about to write")
    with private_file(job.folder / "result.parquet") as stream:
        for _ in range(1000):
            stream.write(bytes(10_000))

def long_talk(job):
    while True:
        job.note("x" * 5000)

ws = Workspace(sys.argv[1])
data = ws.add_dataset("small.csv", b"id,a,b,c\\n1,x,x,y\\n2,y,y,y\\n")
for execute in (big_result, long_talk):
    run = ws.new_run("train", data, {"device": "cpu"})
    kinds.KINDS["train"] = execute
    worker.work(run.path)
    state = run.state()
    files = sorted(path.name for path in run.path.iterdir())
    print(state.state, state.reason, files, len(run.progress()[0]) > 0, sep=" | ")
"""


def test_a_full_disk_fails_the_run_and_leaves_no_broken_files(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    apart = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    mount = f"mount -t tmpfs -o size=600k none {disk}"
    if not shutil.which("unshare") or subprocess.run([*apart, mount], check=False, capture_output=True).returncode:
        pytest.skip("a small disk cannot be made here")
    done = subprocess.run(
        [*apart, f'{mount} && exec "$0" -c "$1" {disk}/home', sys.executable, FULL_DISK],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        state, reason, files, told = line.split(" | ")
        assert (state, told) == ("failed", "True")
        assert reason.startswith("The disk is full")
        assert files == str(["progress.jsonl", "spec.json", "state.json", "worker.json"])
    assert len(done.stdout.splitlines()) == 2


def test_a_dead_worker_has_failed_even_if_nobody_could_write_it(workspace):
    run = workspace.new_run("train", small(workspace), QUICK)
    status = Status(run)
    (run.path / "worker.json").write_text(json.dumps(Worker(2**22 + 1, 1.0, "").to_dict()))
    assert run.state().reason == DIED  # died while it waited
    status.begin("cpu")
    assert (run.state().state, run.state().reason) == ("failed", DIED)
    (run.path / "cancel").touch()
    assert run.state().state == "cancelled"
    status.end("done")
    assert run.state().state == "done"
    assert not status.end("failed", "too late")
    assert run.state().state == "done"


def test_a_torn_line_does_not_spoil_the_next(workspace):
    run = workspace.new_run("train", small(workspace), QUICK)
    (run.path / "progress.jsonl").write_bytes(b'{"type": "note", "te')
    Status(run).append("note", {"text": "again", "loss": float("nan"), "rate": 1 / 3, "many": np.array([np.inf, 2.0])})
    (told,), _ = run.progress()
    assert {name: told[name] for name in told if name != "time"} == {
        "type": "note",
        "text": "again",
        "loss": None,
        "rate": 0.3333333,
        "many": [None, 2.0],
    }
    assert rounded({"a": (1.23456789, True, 12345678)}) == {"a": [1.234568, True, 12345678]}


def test_only_runs_of_a_workspace_are_worked_on(workspace, tmp_path):
    run = workspace.new_run("train", small(workspace), QUICK)
    assert worker.find(run.path)[1] == run
    loose = tmp_path / "runs" / run.id
    shutil.copytree(run.path, loose)
    linked = workspace.root / "runs" / ("b" * 32)
    linked.symlink_to(loose)
    for folder in (loose, linked, workspace.root, tmp_path / "none", workspace.root / "runs" / ".." / "runs"):
        with pytest.raises(InputError, match="is not a run of a workspace"):
            worker.find(folder)
