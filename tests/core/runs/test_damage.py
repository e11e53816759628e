"""Damage is found, said, and mended from what is whole; it disturbs nothing else."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from benchmarks.faults import damage
from benchmarks.faults.corruption import flip_bit
from benchmarks.faults.workspaces import full_workspace
from deem_core import cli
from deem_core.answers import StoredAnswer
from deem_core.control import Saved
from deem_core.errors import InputError
from deem_core.estimators.verbs import load
from deem_core.files.atomic import write_json
from deem_core.files.seals import SEAL, parse_object, sealed
from deem_core.runs import Workspace, checksums
from deem_core.runs.answer_file import written
from deem_core.runs.control import RunControl
from deem_core.runs.process import Worker
from deem_core.runs.run import State, worker_of, write_state
from deem_core.runs.status import Status
from deem_core.training.sweep.result import Sweep
from tests.core.runs.helpers import CSV, LONG, QUICK, ensemble, small, until
from tests.core.runs.test_worker import worked_on
from tests.in_process import done


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """Return a workspace with a run of every kind; to be copied."""
    folder = tmp_path_factory.mktemp("whole") / "home"
    full_workspace(folder)
    return folder


@pytest.fixture
def full(whole, tmp_path, monkeypatch) -> Workspace:
    shutil.copytree(whole, tmp_path / "full")
    monkeypatch.setenv("DEEM_HOME", str(tmp_path / "full"))
    monkeypatch.setattr(Workspace, "_start", lambda self, run: None)
    return Workspace()


# ---------------------------------------------------------------------- seals


def test_a_sealed_object_is_read_back_and_any_change_of_a_value_is_noticed():
    content = {"b": [1, 2.5, None], "a": {"10": "é\udc80", "9": True}}
    text = json.dumps(sealed(content)).encode()
    assert parse_object(text) == content
    assert parse_object(json.dumps(sealed(content), indent=3, sort_keys=True).encode()) == content
    assert parse_object(json.dumps(content).encode()) == content  # an earlier version wrote no seal
    assert parse_object(text.replace(b"2.5", b"2.6")) is None
    assert parse_object(text.replace(b"true", b"false")) is None


def test_no_turned_bit_changes_what_a_sealed_object_says():
    content = {"state": "running", "share": 0.25, "created": 1700000000.5, "reason": ""}
    text = json.dumps(sealed(content)).encode()
    for at in range(8 * len(text)):
        turned = bytearray(text)
        turned[at // 8] ^= 1 << (at % 8)
        read = parse_object(bytes(turned))
        assert read is None or {name: read[name] for name in read if name in content} == content, bytes(turned)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 30, "9" * 5000])
def test_numbers_that_nobody_writes_are_damage(number):
    assert parse_object(f'{{"a": {number}}}'.encode()) is None


# ---------------------------------------------------------------------- checkpoints and models


def halfway(workspace, config):
    """Return a training that was cancelled with checkpoints."""
    run = workspace.new_run("train", ensemble(workspace, 150), config)

    class Impatient(RunControl):
        def stopped(self) -> bool:
            return len(self.status_lines()) > 20

        def status_lines(self):
            return run.progress()[0]

        def due(self, key: str) -> bool:
            return True

    from deem_core.control import Stopped
    from deem_core.runs.job import Job
    from deem_core.runs.kinds import KINDS

    status = Status(run)
    status.begin("cpu")
    with pytest.raises(Stopped):
        KINDS["train"](Job(workspace, run, Impatient(status)))
    status.end("cancelled")
    assert run.has_checkpoint()
    return run


def labels(run):
    return pq.read_table(run.result("result.parquet"))["fused"].to_pylist()


@pytest.mark.parametrize("seed", range(2))
def test_a_turned_bit_in_a_checkpoint_changes_no_label_and_is_said(workspace, monkeypatch, seed):
    config = QUICK | {"updates": 60, "start": "majority", "near_copies": "keep"}
    run = halfway(workspace, config)
    rng = np.random.default_rng(seed)
    for path in sorted((run.path / "checkpoint").glob("*.safetensors")):
        content = bytearray(path.read_bytes())
        at = int(rng.integers(len(content) // 2, len(content)))  # among the numbers, not the names
        content[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(content))
    monkeypatch.setattr(Workspace, "_start", lambda self, run: None)
    workspace.resume(run)
    assert worked_on(workspace, run).state == "done", run.state().reason
    assert any("is damaged, so what it held is computed again" in told for told in run.mishaps()[0])
    assert labels(run) == labels(done(workspace, "train", workspace.dataset(run.dataset_id), config))


def test_no_turned_bit_of_a_checkpoint_comes_back_as_numbers(workspace):
    import torch

    run = workspace.new_run("train", small(workspace), QUICK)
    control = RunControl(Status(run))
    saved = Saved({"w": torch.arange(3.0), "n": torch.tensor(7)}, {"update": 3})
    control.save("a", saved)
    path = run.path / "checkpoint" / "a.safetensors"
    content = path.read_bytes()
    for at in range(8 * len(content)):
        turned = bytearray(content)
        turned[at // 8] ^= 1 << (at % 8)
        path.write_bytes(bytes(turned))
        read = control.load("a")
        if read is not None:
            assert read.notes == {"update": 3}
            assert read.tensors["w"].tolist() == [0, 1, 2]
            assert read.tensors["n"].item() == 7
        else:
            assert not path.exists()


def test_a_checkpoint_without_a_checksum_is_gone_on_from(workspace):
    import torch
    from safetensors.torch import save

    from deem_core import __version__

    run = workspace.new_run("train", small(workspace), QUICK)
    folder = run.path / "checkpoint"
    folder.mkdir()
    content = save({"w": torch.ones(2)}, {"version": __version__, "notes": "{}"})
    (folder / "a.safetensors").write_bytes(content)
    assert RunControl(Status(run)).load("a").tensors["w"].tolist() == [1, 1]


def test_a_turned_bit_in_the_numbers_of_a_model_is_refused(full, tmp_path):
    training = next(run for run in full.runs(kind="train") if run.state().state == "done")
    content = bytearray(training.result("model.safetensors").read_bytes())
    assert load(training.result("model.safetensors"))
    content[-3] ^= 1
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(InputError, match="is damaged"):
        load(tmp_path / "model.safetensors")


# ---------------------------------------------------------------------- inputs


def test_an_input_whose_content_changed_is_refused_until_it_is_stored_again(workspace, monkeypatch):
    dataset = small(workspace)
    run = workspace.new_run("train", dataset, QUICK)
    write_state(run.path, State("failed", "x", created=run.created))
    flip_bit(workspace.inputs.place(dataset.data), np.random.default_rng(0))
    for use in (
        lambda: workspace.read(dataset),
        lambda: workspace.new_run("train", dataset, QUICK),
        lambda: workspace.resume(run),
    ):
        with pytest.raises(InputError, match=r"its content is not what was uploaded. Upload the file again"):
            use()
    assert workspace.add_dataset("small.csv", CSV) == dataset
    assert workspace.read(dataset).votes.n_rows == 4
    monkeypatch.setattr(Workspace, "_start", lambda self, run: None)
    workspace.resume(run)


def test_a_damaged_input_is_deleted_with_its_dataset(workspace):
    dataset = small(workspace)
    path = workspace.inputs.place(dataset.data)
    path.write_bytes(b"")
    workspace.delete_dataset(dataset.id)
    assert not path.exists()


def test_what_was_checked_is_read_again_only_when_it_looks_otherwise(tmp_path, monkeypatch):
    path = (tmp_path / "a").resolve()
    path.write_bytes(b"abc")
    digest = checksums.digest_of(path)
    monkeypatch.setattr(checksums, "open_to_read", lambda path: pytest.fail("read again"))
    assert checksums.digest_of(path) == digest
    path.write_bytes(b"abcd")
    with pytest.raises(pytest.fail.Exception):
        checksums.digest_of(path)


# ---------------------------------------------------------------------- results


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("result.parquet", "flip"),
        ("model.safetensors", "cut"),
        ("summary.json", "gone"),
        ("result.parquet", "folder"),
        ("checksums.json", "flip"),
        ("checksums.json", "folder"),
    ],
)
def test_a_damaged_result_is_said_never_shown_and_made_again(full, name, how):
    run = next(run for run in full.runs(kind="train") if run.state().state == "done")
    before, path = labels(run), run.path / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(bytes(content if how == "flip" else content[:-1]))
    if how in ("gone", "folder"):
        path.unlink()
    if how == "folder":
        path.mkdir()
    assert run.damage()
    state = run.state()
    assert (state.state, state.word, state.resumable) == ("failed", "damaged", True)
    assert "damaged: no longer there, or not what this run wrote. Start the run over" in state.reason
    assert run.result(name) is run.result("result.parquet") is run.summary() is None
    assert run.results() == []
    full.resume(run)
    assert worked_on(full, run).state == "done"
    assert labels(run) == before


def test_a_damaged_result_is_seen_by_whoever_opens_it(full):
    run = next(run for run in full.runs(kind="train") if run.state().state == "done")
    path = run.path / "result.parquet"
    content = bytearray(path.read_bytes())
    content[9] ^= 1
    path.write_bytes(bytes(content))
    assert run.result("model.safetensors") is not None
    assert run.result("result.parquet") is None
    assert run.state().word == "damaged"  # known from now on


def test_runs_of_an_earlier_version_open_without_checksums(full):
    damage.old(full.root)
    for run in full.runs():
        assert run.damage() == []
        if run.title not in ("failed", "cancelled"):
            assert run.state().state == "done"
            assert run.results()
    assert not any(SEAL in path.read_text() for path in full.root.rglob("*.json"))


# ---------------------------------------------------------------------- descriptions


def test_a_run_that_cannot_be_read_is_listed_as_damaged_and_can_be_deleted(full, capsys, tmp_path):
    run = next(run for run in full.runs(kind="compare"))
    others = {other.id for other in full.runs()} - {run.id}
    (run.path / "spec.json").write_text('{"id": 3')
    assert {other.id for other in full.runs()} == others
    with pytest.raises(InputError, match=r"is damaged: what was asked of it .* cannot be read. Delete it."):
        full.run(run.id)
    assert cli.main(["runs", "--json", str(tmp_path / "runs.json")]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if run.id[:12] in line]
    assert line.split()[2] == "damaged"
    (told,) = [item for item in json.loads((tmp_path / "runs.json").read_text()) if item["id"] == run.id]
    assert told["state"]["damaged"]
    assert cli.main(["runs", "show", run.id[:8]]) == 0
    assert "cannot be read. Delete it." in capsys.readouterr().out
    for verb in ("cancel", "resume", "pin"):
        assert cli.main(["runs", verb, run.id]) == 2
        assert "is damaged" in capsys.readouterr().err
    assert cli.main(["runs", "delete", run.id, "--yes"]) == 0
    assert {path.name for path in (full.root / "runs").iterdir()} == others
    assert full.wrecks() == []


def test_inputs_that_a_wreck_names_stay_until_it_is_deleted(workspace):
    dataset = small(workspace)
    run = workspace.new_run("train", dataset, QUICK)
    spec = run.path / "spec.json"
    spec.write_text(spec.read_text().replace("train", "brain"))
    workspace.delete_dataset(dataset.id)
    assert workspace.input(dataset.data)
    (wreck,) = workspace.wrecks()
    assert wreck.bytes > 60_000
    workspace.delete_wreck(wreck)
    assert list((workspace.root / "inputs").iterdir()) == []


def test_a_damaged_dataset_is_a_wreck_until_its_file_comes_again(workspace):
    dataset = small(workspace)
    record = workspace.root / "datasets" / f"{dataset.id}.json"
    record.write_text("[]")
    (wreck,) = workspace.wrecks()
    assert (wreck.what, wreck.id) == ("dataset", dataset.id)
    assert workspace.datasets() == []
    assert small(workspace).id == dataset.id
    assert workspace.wrecks() == []
    record.unlink()
    record.mkdir()
    workspace.delete_wreck(workspace.wrecks()[0])
    assert not record.exists()


def test_the_worker_of_a_wreck_is_ended_when_it_is_deleted(workspace):
    import subprocess
    import sys

    run = workspace.new_run("train", small(workspace), QUICK)
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    (run.path / "worker.json").write_text(json.dumps(Worker.of(process.pid).to_dict()))
    (run.path / "spec.json").write_text("")
    workspace.delete_wreck(workspace.wrecks()[0])
    process.wait(10)
    assert workspace.wrecks() == []


@pytest.mark.parametrize(
    "change",
    [{"state": ["done"]}, {"share": "much"}, {"share": 7}, {"ended": 1e300}, {"reason": None}, {"started": True}],
)
def test_a_state_with_values_of_another_kind_is_damaged(workspace, change):
    run = workspace.new_run("train", small(workspace), QUICK)
    content = parse_object((run.path / "state.json").read_bytes())
    (run.path / "state.json").write_text(json.dumps(sealed(content | change)))
    assert (run.state().state, run.state().word) == ("failed", "damaged")
    assert "cannot be read. Start the run over, or delete it" in run.state().reason


def test_seeded_corruptions_of_every_file_end_in_a_sentence(whole, tmp_path):
    """A sample; `benchmarks.bench_faults` has thousands."""
    tally = damage.commands(whole, (tmp_path / "place").resolve(), 10, seed=11)
    assert tally.problems == []
    assert tally.outcomes["done"] > tally.outcomes["one sentence"] > 0


def test_a_worker_writes_its_own_identity_again_when_that_is_damaged(workspace):
    run = workspace.start_run("train", small(workspace), LONG)
    until(lambda: run.state().state == "running")
    worker = worker_of(run.path)
    (ticket,) = workspace.queue.tickets("cpu")
    for path in (run.path / "worker.json", ticket.path):
        path.write_text("{")
    until(lambda: worker.is_same(worker_of(run.path)) and worker.is_same(ticket.holder))
    assert run.state().state == "running"
    workspace.cancel(run)
    assert until(lambda: run.state().state == "cancelled") < 2
    until(lambda: not worker.alive)


def test_of_two_workers_at_one_run_the_one_that_is_not_written_down_steps_aside(workspace):
    import subprocess
    import sys

    run = workspace.start_run("train", small(workspace), LONG)
    until(lambda: run.state().state == "running")
    first = worker_of(run.path)
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        write_json(Worker.of(other.pid).to_dict(), run.path / "worker.json")  # at once: a part of it would be mended
        until(lambda: not first.alive)
        assert worker_of(run.path).pid == other.pid
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(first.pid, signal.SIGKILL)  # else it would train for ever
        other.kill()
        other.wait()


def test_a_worker_whose_folder_is_gone_ends(workspace):
    run = workspace.start_run("train", small(workspace), LONG)
    until(lambda: run.state().state == "running")
    worker = worker_of(run.path)
    shutil.rmtree(run.path)
    assert until(lambda: not worker.alive) < 5
    assert workspace.runs() == workspace.wrecks() == []
    assert not run.path.exists()


def test_values_of_another_kind_in_runs_of_an_earlier_version_are_damage(full):
    damage.old(full.root)
    dataset = full.datasets()[0]
    inspection, sweep = (full.runs(kind=kind)[0] for kind in ("inspect", "sweep"))
    spec = json.loads((inspection.path / "spec.json").read_text())
    spec["config"]["training"] = ["a"]
    (inspection.path / "spec.json").write_text(json.dumps(spec))
    assert len(full.removal([sweep]).what) == 1
    summary = sweep.summary() | {"updates": [10**17, 10**400]}
    with pytest.raises(InputError):
        Sweep.from_dict(summary)
    book = full.answer_book(dataset)
    before = len(book.replies())
    for change in ({"label": "\udc80"}, {"time": 1e300}, {"time": True}):
        line = json.loads(book.path.read_text().splitlines()[-1]) | change
        with book.path.open("a") as stream:
            stream.write(f"\n{json.dumps(line)}\n")
    assert len(book.replies()) == before
    assert b"gold_label" in written(book.labels(full.read(dataset).votes))


def test_probabilities_of_another_length_are_damage(full):
    run = next(run for run in full.runs(kind="train") if run.state().state == "done")
    path = run.path / "result.parquet"
    table = pq.read_table(path)
    stored = StoredAnswer(path, 3)
    assert len(stored.codes) == table.num_rows
    pq.write_table(table.slice(0, 5), path)  # what is read afterwards has fewer rows than the labels
    with pytest.raises(InputError, match="labels of this run are damaged"):
        _ = stored.posterior
