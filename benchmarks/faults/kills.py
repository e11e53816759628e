"""Kills of workers at random moments, over all kinds of runs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow.parquet as pq

from benchmarks.faults.workspaces import CONFIGS, model_config, votes_csv
from deem_core.runs import Run, Workspace, read_json
from deem_core.runs.process import Worker
from deem_core.runs.run import DIED, worker_of

KINDS = ("train", "fuse", "sweep", "compare", "ask", "apply", "inspect")
LONGER: dict[str, dict[str, Any]] = {"train": {"updates": 600}, "sweep": {"updates": 60}}
"""What makes runs last a few seconds, so that a kill finds them at work."""
PATIENCE = 600.0


@dataclass(frozen=True)
class Kill:
    """What became of a run whose worker was killed.

    Attributes
    ----------
    kind : str
    at : tuple of float
        Share of the work that was done at each kill.
    found : tuple of str
        State of the run after each kill.
    truthful : bool
        Whether each state was what had happened, and no result was there before the end.
    equal : bool
        Whether the resumed run gave the very results of an uninterrupted one.
    """

    kind: str
    at: tuple[float, ...]
    found: tuple[str, ...]
    truthful: bool
    equal: bool


def until(true: Callable[[], Any], seconds: float = PATIENCE) -> None:
    """Wait for something to be true."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise TimeoutError("It did not happen in time.")
        time.sleep(0.02)


@contextmanager
def frequent_checkpoints() -> Iterator[None]:
    """Let workers keep a checkpoint ten times a second."""
    os.environ["DEEM_CHECKPOINT_SECONDS"] = "0.1"
    try:
        yield
    finally:
        del os.environ["DEEM_CHECKPOINT_SECONDS"]


def worker_kills(root: Path, n: int, seed: int, tell: Callable[[str], None]) -> list[Kill]:
    """Kill workers ``n`` times, of each kind in turn, and resume what they left."""
    workspace = Workspace(root)
    dataset = workspace.add_dataset("tree.csv", votes_csv(300))
    rng, kills, references = np.random.default_rng(seed), [], {}
    configs: dict[str, dict[str, Any]] = {}
    with frequent_checkpoints():
        for kind in KINDS:
            known = CONFIGS.get(kind)
            config = dict(known) | LONGER.get(kind, {}) if known is not None else None
            configs[kind] = config or model_config(workspace, kind, references["train"])
            run = workspace.start_run(kind, dataset, configs[kind])
            until(lambda run=run: not run.is_active())
            references[kind] = run
        while sum(len(kill.at) for kill in kills) < n:
            kind = KINDS[len(kills) % len(KINDS)]
            run = workspace.new_run(kind, dataset, configs[kind])
            workspace.start(run)
            kill = _killed(workspace, run, references[kind], rng)
            tell(f"{kind}: {kill}")
            kills.append(kill)
    return kills


def _killed(workspace: Workspace, run: Run, reference: Run, rng: np.random.Generator) -> Kill:
    at, found, truthful = [], [], True
    for _ in range(int(rng.integers(1, 3))):
        await_moment(run, reference, rng)
        worker, share = worker_of(run.path), run.state().share
        if worker is not None and worker.alive:
            psutil.Process(worker.pid).kill()
            until(lambda worker=worker: not worker.alive)
        state = run.state()
        if state.state == "done":  # it was quicker
            break
        at.append(round(share, 2))
        found.append(state.state)
        truthful &= state.state == "failed" and state.reason == DIED and run.results() == []
        workspace.resume(run)
    until(lambda: not run.is_active())
    truthful &= run.state().state == "done" and run.damage() == []
    equal = truthful and same(outcome(run), outcome(reference))
    _await_leaving(worker_of(run.path))
    return Kill(run.kind, tuple(at), tuple(found), truthful, equal)


def await_moment(run: Run, reference: Run, rng: np.random.Generator) -> None:
    """Wait for a random moment: of the start of the worker, or of its work.

    Work is timed by the share that is done, and where a kind tells none, by the time that the reference took.
    """
    if rng.random() < 0.2:
        time.sleep(float(rng.uniform(0, 1.5)))
        return
    share = float(rng.uniform(0, 0.9))
    until(lambda: run.state().state != "queued")
    end = time.monotonic() + share * max(reference.state().seconds, 0.1)
    until(lambda: not run.is_active() or time.monotonic() > end or run.state().share >= max(share, 0.05))


def _await_leaving(worker: Worker | None) -> None:
    if worker is not None:
        until(lambda: not worker.alive)


def outcome(run: Run) -> dict[str, Any]:
    """Return all that a run computed, as arrays and plain values, without times."""
    content: dict[str, Any] = {}
    for path in run.results():
        if path.suffix == ".parquet":
            table = pq.read_table(path)
            content |= {f"{path.name}:{name}": table[name].to_numpy() for name in table.column_names}
        elif path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as archive:
                content |= {f"{path.name}:{name}": archive[name] for name in archive.files}
        elif path.name == "queue.json":
            content[path.name] = read_json(path)
    return {name: value for name, value in content.items() if "seconds" not in name}


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Tell whether two outcomes are equal to the last digit."""
    return bool(one) and one.keys() == other.keys() and all(_equal(one[name], other[name]) for name in one)


def _equal(one: Any, other: Any) -> bool:
    if not isinstance(one, np.ndarray):
        return bool(one == other)
    if one.dtype.kind == "O":
        return one.shape == other.shape and all(
            np.array_equal(a, b, equal_nan=True)
            if isinstance(a, np.ndarray) and a.dtype.kind == "f"
            else np.all(a == b)
            for a, b in zip(one.ravel(), other.ravel(), strict=True)
        )
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
