"""Disks that refuse, odd names and clocks: a sentence, and nothing lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.faults import disks
from deem_core.errors import InputError
from deem_core.runs import Workspace
from deem_core.runs.run import State, write_state
from tests.core.runs.helpers import QUICK, small


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """Undo what the cases set in the environment."""
    monkeypatch.setenv("DEEM_HOME", os.devnull)
    monkeypatch.setenv("DEEM_CHECKPOINT_SECONDS", "5")


@pytest.mark.slow
@pytest.mark.parametrize("name", disks.MOUNTED)
def test_a_small_disk_that_is_full_or_read_only_loses_nothing(tmp_path, name):
    if not disks.can_mount(tmp_path / "disk"):
        pytest.skip("a small disk cannot be made here")
    case = disks.mounted(name, tmp_path / "disk", disks.MOUNTED[name])
    assert case.right, case.came


@pytest.mark.slow
@pytest.mark.parametrize("case", [disks.two_workers, disks.clock_back, disks.deleted_folder])
def test_workers_stand_a_second_one_a_clock_and_a_deleted_folder(tmp_path, case):
    came = case(tmp_path.resolve() / "home", 0)
    assert came.right, came.came


def test_a_path_with_spaces_and_letters_of_several_alphabets_works(tmp_path):
    came = disks.odd_path(tmp_path.resolve(), 0)
    assert came.right, came.came


def test_whatever_a_read_only_disk_refuses_is_a_sentence(workspace, monkeypatch):
    dataset = small(workspace)
    failed, waiting = (workspace.new_run("train", dataset, QUICK) for _ in range(2))
    write_state(failed.path, State("failed", "x", created=failed.created))
    book = workspace.answer_book(dataset)
    true_open, true_path_open = os.open, Path.open

    def refuse(path, *rest, **more):
        raise OSError(30, "Read-only file system", str(path))

    def no_writing(path, flags, *rest, **more):
        return refuse(path) if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) else true_open(path, flags, *rest, **more)

    def no_writing_either(path, mode="r", *rest, **more):
        return refuse(path) if set(mode) & set("wax+") else true_path_open(path, mode, *rest, **more)

    monkeypatch.setattr(os, "open", no_writing)
    monkeypatch.setattr(Path, "open", no_writing_either)
    true_mkdir = Path.mkdir
    monkeypatch.setattr(Path, "mkdir", lambda path, **how: true_mkdir(path, **how) if path.is_dir() else refuse(path))
    for name in ("rename", "unlink", "touch", "replace"):
        monkeypatch.setattr(Path, name, refuse)
    for attempt in (
        lambda: workspace.new_run("train", dataset, QUICK),
        lambda: workspace.start(waiting),
        lambda: workspace.resume(failed),
        lambda: workspace.cancel(waiting),
        lambda: workspace.delete_run(failed),
        lambda: workspace.annotate(failed, name="Other"),
        lambda: workspace.pin(failed),
        lambda: workspace.store(b"a"),
        lambda: workspace.add_dataset("other.csv", b"id,a,b\n1,x,x\n"),
        lambda: workspace.delete_dataset(dataset.id),
        book.add,
    ):
        with pytest.raises(InputError, match=r"Read-only file system|cannot be written|still running"):
            attempt()
    assert Workspace(workspace.root).runs() == workspace.runs()  # looking goes on
    assert (failed.state().state, waiting.state().state) == ("failed", "queued")
