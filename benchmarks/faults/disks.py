"""Disks and clocks on purpose: full, read-only, oddly named, deleted, turned back.

Small disks are mounted in a namespace of their own, where ``python -m benchmarks.faults.disks CASE FOLDER`` does one.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from streamlit.testing.v1 import AppTest

from benchmarks.faults.damage import ADDRESS, APP
from benchmarks.faults.kills import outcome, same, until
from benchmarks.faults.workspaces import QUICK, done, full_workspace, votes_csv
from deem_core import cli
from deem_core.errors import InputError
from deem_core.runs import Run, Workspace
from deem_core.runs.private import write_private_json
from deem_core.runs.process import Worker
from deem_core.runs.run import WORKER, State, worker_of, write_state

ROOT = Path(__file__).parents[2]
LONG = dict(QUICK) | {"updates": 1_000_000}
SHORT = dict(QUICK) | {"updates": 150}
_SEPARATOR = " | "


@dataclass(frozen=True)
class Case:
    """A case and what came of it.

    Attributes
    ----------
    name, came : str
    right : bool
    """

    name: str
    came: str
    right: bool


def all_cases(root: Path, seed: int) -> list[Case]:
    """Do all cases."""
    cases = [mounted(name, root / name, size) for name, size in MOUNTED.items()]
    return [*cases, *(case(root / case.__name__, seed) for case in (odd_path, deleted_folder, two_workers, clock_back))]


# ---------------------------------------------------------------------- small disks

MOUNTED = {"full": "2m", "stays_full": "2m", "read_only": "60m"}
"""Cases on a disk of their own → its size."""


def can_mount(folder: Path) -> bool:
    """Tell whether a small disk can be mounted here."""
    folder.mkdir(parents=True, exist_ok=True)
    return shutil.which("unshare") is not None and not _apart(f"mount -t tmpfs none '{folder}'").returncode


def mounted(name: str, folder: Path, size: str) -> Case:
    """Do a case on a small disk."""
    if not can_mount(folder):
        return Case(name, "a small disk cannot be mounted here: not tried", True)
    script = (
        f"mount -t tmpfs -o size={size} none '{folder}' && exec '{sys.executable}' -m {__spec__.name} {name} '{folder}'"
    )
    told = _apart(script)
    lines = told.stdout.splitlines()
    if told.returncode or not lines:
        return Case(name, f"broke: {told.stderr[-500:]}", False)
    right, came = lines[-1].split(_SEPARATOR, 1)
    return Case(name.replace("_", " "), came, right == "True")


def _apart(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", script],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


def full(folder: Path) -> tuple[bool, str]:
    """Fill the disk while a training works; make room; resume."""
    return _filled(folder, "The disk is full")


def stays_full(folder: Path) -> tuple[bool, str]:
    """Resume while the disk is still full, too."""
    return _filled(folder, "The disk is full", tries=3)


def _filled(folder: Path, reason: str, tries: int = 0) -> tuple[bool, str]:
    os.environ["DEEM_CHECKPOINT_SECONDS"] = "0.1"
    workspace = Workspace(folder / "home")
    dataset = workspace.add_dataset("tree.csv", votes_csv(100))
    run = workspace.start_run("train", dataset, SHORT | {"updates": 1500})
    until(run.has_checkpoint)
    with contextlib.suppress(OSError), (folder / "filler").open("wb", buffering=0) as stream:
        while True:
            stream.write(bytes(4096))
    until(lambda: not run.is_active())
    state = run.state()
    right = state.state == "failed" and state.reason.startswith(reason) and run.results() == []
    refused = 0
    for _ in range(tries):
        try:
            workspace.resume(run)
            until(lambda: not run.is_active())
            refused += run.state().state == "failed"
        except InputError:
            refused += 1
    (folder / "filler").unlink()
    workspace.resume(run)
    until(lambda: not run.is_active())
    reference = done(Workspace(folder.parent / "reference"), "train", *_same(folder.parent / "reference", run))
    equal = run.state().state == "done" and same(outcome(run), outcome(reference))
    said = f"failed with “{state.reason}”"
    said += f"; {refused} of {tries} attempts on the full disk ended in a sentence" if tries else ""
    return right and equal and refused == tries, f"{said}; with room again it was resumed to {_labels(equal)}"


def _same(root: Path, run: Run) -> tuple[Any, dict[str, Any]]:
    return Workspace(root).add_dataset("tree.csv", votes_csv(100)), run.config


def _labels(equal: bool) -> str:
    return "the same labels" if equal else "OTHER labels"


def read_only(folder: Path) -> tuple[bool, str]:
    """Run every command and press every button of every page on a disk that takes no more writing."""
    prepare = [sys.executable, "-m", __spec__.name, "prepare", str(folder)]  # whose open files end with it
    subprocess.run(prepare, check=True, stdout=subprocess.DEVNULL)
    os.environ["DEEM_HOME"] = str(folder / "home")
    workspace = Workspace()
    runs = {run.title: run for run in workspace.runs()}
    waiting, working = runs["waiting"], runs["working"]
    write_private_json(Worker.me().to_dict(), working.path / WORKER)  # as if it worked
    write_state(working.path, State("running", created=working.created, started=time.time()))
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)  # noqa: S607
    wrong: list[str] = []
    refused = worked = 0
    for words in _verbs(runs["failed"], waiting, working, runs["A train"]):
        out, err = io.StringIO(), io.StringIO()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = cli.main(words)
        except BaseException as error:
            wrong.append(f"{' '.join(words)}: {type(error).__name__} {error}")
            continue
        worked, refused = worked + (code == 0), refused + (code == 2)
        if code == 2 and err.getvalue().count("\n") != 1:
            wrong.append(f"{' '.join(words)}: {err.getvalue()!r}")
    for attempt in (
        lambda: workspace.start_run("train", workspace.datasets()[0], QUICK),
        lambda: workspace.store(b"a"),
    ):
        with contextlib.suppress(InputError):
            attempt()
            wrong.append("a run or an input was written")
    pressed = _press_all(workspace, wrong)
    came = f"{worked} commands worked, {refused} were refused with a sentence; "
    came += f"{pressed} buttons pressed"
    return not wrong, f"{came}; {len(wrong)} problems {' '.join(wrong)[:1500]}".replace("\n", " ")


def prepare(folder: Path) -> tuple[bool, str]:
    """Make what `read_only` needs."""
    workspace = full_workspace(folder / "home")
    for title in ("waiting", "working"):
        workspace.new_run("train", workspace.datasets()[0], QUICK, title=title)
    return True, ""


def _verbs(failed: Run, waiting: Run, working: Run, whole: Run) -> list[list[str]]:
    verbs = [["runs"], ["runs", "show", whole.id], ["runs", "resume", failed.id], ["runs", "cancel", waiting.id]]
    verbs += [["runs", "cancel", working.id], ["runs", "delete", whole.id, "--yes"]]
    verbs += [["runs", "delete", whole.id, "--dry-run"], ["runs", "prune", "--older-than", "0s", "--yes"]]
    verbs += [["runs", verb, whole.id] for verb in ("pin", "unpin")]
    return [*verbs, *(["runs", verb, whole.id, "words"] for verb in ("name", "tag", "note"))]


def _press_all(workspace: Workspace, wrong: list[str]) -> int:
    pressed = 0
    for run in workspace.runs():
        if run.kind not in ADDRESS:
            continue
        page = {"fuse": "data", "sweep": "learning_rate", "compare": "compare", "ask": "review"}.get(run.kind, "train")
        at = 0
        while True:
            app = AppTest.from_file(APP, default_timeout=120)
            app.query_params["data"], app.query_params[ADDRESS[run.kind]] = run.dataset_id, run.id
            app.run().switch_page(f"pages/{page}.py").run()
            chosen = [
                button for button in app.button if not button.disabled and not (button.key or "").startswith("open")
            ]
            if at < len(chosen):
                key = chosen[at].key or chosen[at].label
                chosen[at].click().run()
                pressed += 1
                broken = [box.value for box in app.error if "Something broke" in box.value]
                if broken or app.exception or any("Something broke" in toast.value for toast in app.toast):
                    wrong.append(f"page {page}: button {key}")
            at += 3
            if at >= len(chosen):
                break
    return pressed


# ---------------------------------------------------------------------- names, folders, clocks


def odd_path(root: Path, seed: int) -> Case:
    """Train in a folder whose name has spaces and letters of several alphabets."""
    workspace = Workspace(root / "Ünser Ørdner – 数据 (1) 'x' 🗳️")
    dataset = workspace.add_dataset("Stimmen – 投票.csv", votes_csv(100))
    run = workspace.start_run("train", dataset, SHORT)
    until(lambda: not run.is_active())
    os.environ["DEEM_HOME"] = str(workspace.root)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = cli.main(["runs", "show", run.id])
    right = run.state().state == "done" and code == 0 and "投票" in out.getvalue()
    return Case("path with spaces and letters of several alphabets", f"{run.state().state}; shown", right)


def deleted_folder(root: Path, seed: int) -> Case:
    """Delete the folder of a run, and a whole workspace, under a worker."""
    workspace, rng, gone = Workspace(root), np.random.default_rng(seed), 0
    for whole in (False, False, True):
        dataset = workspace.add_dataset("tree.csv", votes_csv(100))
        run = workspace.start_run("train", dataset, LONG)
        until(lambda run=run: run.state().state == "running")
        worker = worker_of(run.path)
        time.sleep(float(rng.uniform(0, 2)))
        shutil.rmtree(root if whole else run.path, ignore_errors=True)
        until(lambda worker=worker: worker is None or not worker.alive, 60)
        gone += not run.path.exists()
    return Case("folder deleted under a worker", f"{gone} of 3 workers ended by themselves and left nothing", gone == 3)


def two_workers(root: Path, seed: int) -> Case:
    """Start two workers by hand for each of three runs, at the same moment."""
    workspace = Workspace(root)
    dataset = workspace.add_dataset("tree.csv", votes_csv(100))
    reference, equal, refused = done(workspace, "train", dataset, SHORT), 0, 0
    for _ in range(3):
        run = workspace.new_run("train", dataset, SHORT)
        command = [sys.executable, "-m", "deem_core.runs", str(run.path)]
        pair = [
            subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
            for _ in range(2)
        ]
        said = [process.communicate(timeout=600)[1] for process in pair]
        refused += sum("already being worked on" in words or "only queued runs" in words for words in said)
        equal += run.state().state == "done" and same(outcome(run), outcome(reference))
    came = f"{refused} of 3 second workers refused with a sentence; {equal} of 3 runs done with {_labels(equal == 3)}"
    return Case("two workers started for one run", came, refused == equal == 3)


_BACKWARDS = """
import random, sys, time
from deem_core.runs import worker
true, begun, steps = time.time, time.monotonic(), random.Random(int(sys.argv[2]))
offsets = [steps.uniform(-7200, 60) for _ in range(200)]
time.time = lambda: true() + offsets[int((time.monotonic() - begun) * 10) % 200]
worker.work(sys.argv[1])
"""


def clock_back(root: Path, seed: int) -> Case:
    """Let the clock of a worker jump ten times a second, mostly backwards by up to two hours."""
    workspace = Workspace(root)
    dataset = workspace.add_dataset("tree.csv", votes_csv(100))
    reference, right = done(workspace, "train", dataset, SHORT), 0
    for n in range(3):
        run = workspace.new_run("train", dataset, SHORT)
        subprocess.run(
            [sys.executable, "-c", _BACKWARDS, str(run.path), str(seed + n)],
            cwd=ROOT, check=False, capture_output=True, timeout=600,
        )  # fmt: skip
        with (
            mock.patch("time.time", return_value=1.0e9),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            os.environ["DEEM_HOME"] = str(workspace.root)
            shown = cli.main(["runs"]) == 0 and cli.main(["runs", "show", run.id]) == 0
        state = run.state()
        right += shown and state.state == "done" and state.seconds >= 0 and same(outcome(run), outcome(reference))
    return Case("clock going backwards", f"{right} of 3 runs done, shown, with {_labels(right == 3)}", right == 3)


INSIDE: dict[str, Callable[[Path], tuple[bool, str]]] = {
    "full": full,
    "stays_full": stays_full,
    "read_only": read_only,
    "prepare": prepare,
}

if __name__ == "__main__":
    print(*INSIDE[sys.argv[1]](Path(sys.argv[2])), sep=_SEPARATOR)
