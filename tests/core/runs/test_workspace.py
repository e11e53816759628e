"""The workspace keeps inputs once, datasets and runs under checked ids, and says what a deletion takes."""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import sys
import time
from dataclasses import fields
from datetime import timedelta
from pathlib import Path

import numpy as np
import platformdirs
import pytest

from deem_core.errors import InputError
from deem_core.model.records import Record
from deem_core.runs import Workspace
from deem_core.runs.dataset import dataset_id
from deem_core.runs.private import private_file
from deem_core.runs.run import State, write_state
from tests.core.runs.helpers import CSV, QUICK, small

BAD_IDS = [
    "",
    "..",
    "../..",
    "a" * 31,
    "A" * 32,
    "g" * 32,
    "a" * 33,
    "a" * 31 + "\n",
    "../runs/" + "a" * 24,
    "/etc/passwd",
]


def end(run, state="done", **changes):
    write_state(run.path, State(state, created=run.created, **changes))


def test_the_workspace_is_the_named_folder_else_the_one_for_data(monkeypatch, tmp_path):
    monkeypatch.setattr(platformdirs, "user_data_path", lambda name: tmp_path / "data" / name)
    monkeypatch.delenv("DEEM_HOME", raising=False)
    assert Workspace().root == tmp_path / "data" / "deem-studio"
    monkeypatch.setenv("DEEM_HOME", str(tmp_path / "mine"))
    assert Workspace().root == tmp_path / "mine"
    assert Workspace(tmp_path / "other").root == tmp_path / "other"


@pytest.mark.parametrize("form", [bytes, io.BytesIO, "path"])
def test_an_input_is_stored_once_under_the_hash_of_its_content(workspace, tmp_path, form):
    path = tmp_path / "a.csv"
    path.write_bytes(CSV)
    digests = {workspace.store(path if form == "path" else form(CSV)) for _ in range(2)}
    assert digests == {hashlib.sha256(CSV).hexdigest()}
    stored = workspace.input(digests.pop())
    assert stored.read_bytes() == CSV
    assert os.listdir(stored.parent) == [stored.name]


def test_what_cannot_be_read_is_not_stored(workspace, tmp_path):
    with pytest.raises(InputError, match="No such file"):
        workspace.store(tmp_path / "none.csv")
    with pytest.raises(InputError, match="open it as bytes"):
        workspace.store(io.StringIO("a,b"))
    assert os.listdir(workspace.root / "inputs") == []


@pytest.mark.parametrize("digest", ["", "..", "a" * 63, "a" * 64, "../" + "a" * 61])
def test_unknown_and_invalid_hashes_are_refused(workspace, digest):
    with pytest.raises(InputError):
        workspace.input(digest)


def test_a_dataset_reads_by_its_options_and_under_its_own_name(workspace):
    dataset = workspace.add_dataset("votes.csv", CSV, reading={"ignore": ["cy"], "truth": None})
    assert dataset.reading == {"ignore": ["cy"]}
    reading = workspace.read(dataset)
    assert reading.votes.learners == ("ann", "bob")
    assert reading.report.sentences()[0].startswith("votes.csv: ")
    assert workspace.add_dataset("votes.csv", CSV, reading={"ignore": ["cy"]}) == dataset
    varied = workspace.vary_dataset(dataset, reading={})
    assert varied.id != dataset.id
    assert varied.data == dataset.data
    assert [item.id for item in workspace.datasets()] == [varied.id, dataset.id]
    assert workspace.dataset(dataset.id) == dataset


def test_a_second_file_brings_the_truth(workspace):
    votes = b"id,ann,bob,cy\n1,x,x,y\n2,y,y,y\n"
    dataset = workspace.add_dataset("v.csv", votes, truth=("gold.csv", b"id,truth\n1,x\n2,y\n"))
    assert workspace.read(dataset).votes.truth.tolist() == [0, 1]
    other = workspace.vary_dataset(dataset, truth=("better.csv", b"id,truth\n1,y\n2,y\n"))
    assert workspace.read(other).votes.truth.tolist() == [1, 1]


def test_the_id_of_a_dataset_follows_from_all_that_it_is():
    given = ("a.csv", "0" * 64, "1" * 64, {"id": "row"})
    others = [("b.csv", *given[1:]), ("a.csv", "2" * 64, *given[2:]), (*given[:2], None, given[3]), (*given[:3], {})]
    assert len({dataset_id(*one) for one in (given, *others)}) == 5
    assert dataset_id(*given) == dataset_id(*given[:3], dict(given[3]))


def test_reading_options_are_checked(workspace):
    with pytest.raises(InputError, match="no reading option 'page'"):
        workspace.add_dataset("v.csv", CSV, reading={"page": "a"})
    for flag in ("swap_ba", "one_voice"):
        with pytest.raises(InputError, match=f"'{flag}' must be true or false"):
            workspace.add_dataset("v.csv", CSV, reading={flag: "yes"})
    with pytest.raises(InputError, match="'ignore' must be a list of texts"):
        workspace.add_dataset("v.csv", CSV, reading={"ignore": [1]})


@pytest.mark.parametrize("bad", BAD_IDS)
def test_ids_are_checked_before_they_touch_the_disk(workspace, bad):
    for asked in (workspace.run, workspace.dataset, workspace.delete_dataset):
        with pytest.raises(InputError, match="is not the id of a"):
            asked(bad)


def test_a_run_says_what_was_asked(workspace):
    dataset = small(workspace)
    run = workspace.new_run("train", dataset, QUICK, title="a try")
    assert (run.kind, run.title, run.dataset_id, run.config) == ("train", "a try", dataset.id, QUICK)
    assert run.spec["inputs"]["data"] == dataset.data
    assert run.spec["seed"] == 0
    assert {"deem_core", "python", "torch", "numpy"} <= run.spec["versions"].keys()
    assert (run.state().state, run.is_active()) == ("queued", True)
    assert workspace.run(run.id) == run
    assert (run.summary(), run.result("model.safetensors"), run.log(), run.progress()) == (None, None, "", ([], 0))
    with pytest.raises(InputError, match="no runs of the kind 'dance'"):
        workspace.new_run("dance", dataset, {})
    with pytest.raises(InputError, match="plain, finite"):
        workspace.new_run("train", dataset, {"learning_rate": float("nan")})
    with pytest.raises(InputError, match="no device 'toaster'"):
        workspace.new_run("train", dataset, {"device": "toaster"})


def test_runs_come_newest_first_and_damaged_ones_are_skipped(workspace):
    dataset = small(workspace)
    runs = [workspace.new_run("train", dataset, QUICK) for _ in range(3)]
    folder = workspace.root / "runs"
    (folder / ("e" * 32)).mkdir()
    (folder / "notes.txt").write_text("hello")
    (folder / ("d" * 32)).mkdir()
    (folder / ("d" * 32) / "spec.json").write_text('{"id": "' + "d" * 32 + '", "inputs": 3')
    assert [run.id for run in workspace.runs()] == [run.id for run in reversed(runs)]
    (runs[1].path / "state.json").write_text("{")
    assert len(workspace.runs(dataset=dataset.id, kind="train")) == 3
    assert workspace.runs(kind="sweep") == workspace.runs(dataset="f" * 32) == []
    assert runs[1].state().state == "failed"
    assert "cannot be read" in runs[1].state().reason


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_nothing_behind_a_link_is_read_or_written(workspace, tmp_path):
    dataset = small(workspace)
    outside = workspace.new_run("train", dataset, QUICK)
    elsewhere = tmp_path / "elsewhere"
    outside.path.rename(elsewhere)
    outside.path.symlink_to(elsewhere)
    with pytest.raises(InputError, match="is damaged"):
        workspace.run(outside.id)
    assert workspace.runs() == []
    (wreck,) = workspace.wrecks()
    workspace.delete_wreck(wreck)
    assert (os.listdir(workspace.root / "runs"), (elsewhere / "spec.json").exists()) == ([], True)

    run = workspace.new_run("train", dataset, QUICK)
    secret = tmp_path / "secret.txt"
    secret.write_text('{"state": "done", "shares": 1}')
    for name in ("state.json", "progress.jsonl", "log.txt", "cancel"):
        (run.path / name).unlink(missing_ok=True)
        (run.path / name).symlink_to(secret)
    assert run.log() == ""
    assert run.progress() == ([], 0)
    assert run.state().state == "failed"
    with pytest.raises(InputError, match="leads elsewhere"):
        write_state(run.path, State("done"))
    assert len(secret.read_text()) == 30

    inputs = workspace.root / "inputs"
    (inputs / ("a" * 64)).symlink_to(secret)
    with pytest.raises(InputError, match="no input"):
        workspace.input("a" * 64)


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", ".hidden", "", "..", "spec.json", "worker.json"])
def test_only_results_are_given_out_as_results(workspace, name):
    run = workspace.new_run("train", small(workspace), QUICK)
    end(run)
    (run.path / ".hidden").write_text("x")
    assert run.result(name) is None
    (run.path / "result.parquet").write_bytes(b"x")
    assert run.result("result.parquet") == run.path / "result.parquet"
    end(run, "failed")
    assert run.result("result.parquet") is None


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are other things there")
def test_files_are_the_owners_alone(workspace):
    before = os.umask(0)
    try:
        other = Workspace(workspace.root.with_name("open"))
        run = other.new_run("train", small(other), QUICK)
        with other.queue.lock():
            pass
        other.cancel(run)
    finally:
        os.umask(before)
    for place, _, names in os.walk(other.root):
        assert stat.S_IMODE(os.stat(place).st_mode) == 0o700
        for name in names:
            assert stat.S_IMODE(os.stat(Path(place, name)).st_mode) == 0o600, name


def test_what_must_survive_a_power_cut_is_on_the_disk_before_it_has_its_name(workspace, monkeypatch):
    """All of it is there when the disk is told to keep it, and the name comes only then."""
    synced = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append((os.fstat(file).st_size, target.exists())))
    target = workspace.root / "checkpoint"
    with private_file(target, durable=True) as stream:
        stream.write(b"tensors")
    with private_file(workspace.root / "other") as stream:
        stream.write(b"may be lost")
    assert synced == [(7, False)]
    target = workspace.root / "inputs" / hashlib.sha256(CSV).hexdigest()
    small(workspace)
    assert (len(CSV), False) in synced[1:]
    assert target.exists()


def test_progress_is_read_while_it_is_written(workspace):
    run = workspace.new_run("train", small(workspace), QUICK)
    path = run.path / "progress.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": 2}\n{"a": ')
    told, at = run.progress()
    assert (told, at) == ([{"a": 1}, {"a": 2}], 18)
    assert run.progress(at) == ([], at)
    with path.open("ab") as stream:
        stream.write(b'3}\ntorn{"\n[1]\n{"a": 4}\n')
    told, at = run.progress(at)
    assert told == [{"a": 3}, {"a": 4}]
    assert at == path.stat().st_size
    path.write_bytes(b'{"a": 5}\n')  # started over
    assert run.progress(at) == ([{"a": 5}], 9)


def test_a_waiting_run_without_worker_is_cancelled_and_resumed_by_word(workspace, monkeypatch):
    run = workspace.new_run("train", small(workspace), QUICK)
    workspace.cancel(run)
    assert run.state().state == "cancelled"
    assert run.state().resumable
    workspace.cancel(run)
    with pytest.raises(InputError, match="cannot be started: it is cancelled"):
        workspace.start(run)
    started = []
    monkeypatch.setattr(Workspace, "_start", lambda self, run: started.append(run.id))
    workspace.resume(run)
    assert (started, run.state().state) == ([run.id], "queued")
    end(run)
    with pytest.raises(InputError, match="is done; only cancelled and failed ones resume"):
        workspace.resume(run)


def test_prune_keeps_the_last_and_the_young_and_those_at_work(workspace):
    dataset = small(workspace)
    runs = [workspace.new_run("train", dataset, QUICK) for _ in range(5)]
    for run in runs[:4]:
        end(run)
    assert [run.id for run in workspace.prune(None, 2)] == [run.id for run in reversed(runs[:3])]
    assert workspace.prune(timedelta(days=1), None) == []
    assert len(workspace.prune(timedelta(0), 0)) == 4
    with pytest.raises(InputError, match="Say which runs to keep"):
        workspace.prune(None, None)


def test_deleting_says_what_goes_and_takes_inputs_that_nothing_else_uses(workspace):
    one = workspace.add_dataset("one.csv", CSV)
    two = workspace.add_dataset("two.csv", CSV, truth=None)
    model = workspace.store(b"a model")
    run = workspace.new_run("apply", one, {"model": model})
    with pytest.raises(InputError, match="still running; cancel it"):
        workspace.delete_run(run)
    with pytest.raises(InputError, match="still running"):
        workspace.delete_dataset(one.id)
    end(run)
    said = workspace.removal([run])
    assert len(said.what) == 2
    assert said.bytes == sum(path.stat().st_size for path in run.path.iterdir()) + len(b"a model")
    workspace.delete_run(run)
    assert os.listdir(workspace.root / "runs") == []
    with pytest.raises(InputError):
        workspace.input(model)
    workspace.delete_dataset(one.id)
    assert workspace.input(one.data)  # two.csv has the same content
    workspace.delete_dataset(two.id)
    assert os.listdir(workspace.root / "inputs") == os.listdir(workspace.root / "datasets") == []


def test_a_run_outlives_the_record_of_its_dataset(workspace):
    dataset = small(workspace)
    run = workspace.new_run("train", dataset, QUICK)
    (workspace.root / "datasets" / f"{dataset.id}.json").unlink()
    assert workspace.read_inputs(run.spec["inputs"]).votes.n_rows == 4
    assert time.time() - run.created < 60


def test_records_of_a_resumed_training_count_once(workspace):
    run = workspace.new_run("train", small(workspace), QUICK)
    path = run.path / "progress.jsonl"

    def line(restart: int, update: int, difference: float | None, **others) -> bytes:
        numbers = dict.fromkeys((item.name for item in fields(Record)), 0.0)
        content = {**numbers, "restart": restart, "update": update, "difference": difference, "shares": [0.5, 0.5]}
        return json.dumps({"type": "record", "time": 1.0, **content, **others}).encode() + b"\n"

    path.write_bytes(line(1, 10, 1.0) + line(0, 10, None) + b'{"type": "note", "text": "a"}\n' + line(0, 20, 2.0))
    first, at = run.records()
    assert [(record.restart, record.update) for record in first] == [(0, 10), (0, 20), (1, 10)]
    assert np.isnan(first[0].difference)
    assert run.records(at) == ([], at)
    with path.open("ab") as stream:
        stream.write(line(0, 20, 3.0) + line(0, 30, 4.0) + line(0, 20, 5.0) + b'{"type": "record", "update": 1}\n')
    later, at = run.records(at)
    assert [(record.update, record.difference) for record in later] == [(20, 5.0), (30, 4.0)]
    assert at == path.stat().st_size
    assert len(run.records()[0]) == 4
