"""Workspace with a small run of every kind, made without workers."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv

from deem_core import simulation
from deem_core.files import tables
from deem_core.runs import AnswerBook, Dataset, Reply, Run, Workspace
from deem_core.runs.control import RunControl
from deem_core.runs.job import Job
from deem_core.runs.kinds import KINDS
from deem_core.runs.private import write_private_json
from deem_core.runs.process import Worker
from deem_core.runs.queue import Queue
from deem_core.runs.run import WORKER, State, write_state
from deem_core.runs.status import Status

QUICK: Mapping[str, Any] = {
    "method": "deem",
    "updates": 30,
    "restarts": 2,
    "batch_size": 64,
    "device": "cpu",
    "random_state": 0,
    "start": "majority",
    "near_copies": "keep",
}
CONFIGS: Mapping[str, Mapping[str, Any]] = {
    "fuse": {"method": "auto", "random_state": 0},
    "train": QUICK,
    "sweep": {"rates": [0.01, 0.1], "updates": 6, "device": "cpu", "random_state": 0},
    "compare": {"methods": ["mv", "ds", "deem"], "seeds": 1, "device": "cpu", "random_state": 0},
    "ask": {"n": 5, "random_state": 0},
}
"""Settings of runs that take a second or two; apply and inspect need a model too."""


def votes_csv(rows: int = 120) -> bytes:
    """Return the votes of a simulated tree, with truth, as a file."""
    sink = io.BytesIO()
    pyarrow.csv.write_csv(tables.wide_table(simulation.tree(rows, rng=np.random.default_rng(0)).votes), sink)
    return sink.getvalue()


def model_config(workspace: Workspace, kind: str, training: Run) -> dict[str, Any]:
    """Return the settings of a run of a kind that needs the model of a training."""
    path = training.result("model.safetensors")
    assert path is not None  # noqa: S101
    model = {"model": workspace.store(path), "random_state": 0}
    return model | {"training": training.id} if kind == "inspect" else model


def done(workspace: Workspace, kind: str, dataset: Dataset, config: Mapping[str, Any]) -> Run:
    """Do the work of a run in this process."""
    run = workspace.new_run(kind, dataset, config, title=f"A {kind}")
    status = Status(run)
    status.begin("cpu")
    KINDS[kind](Job(workspace, run, RunControl(status)))
    status.end("done")
    return run


def full_workspace(root: Path) -> Workspace:
    """Return a workspace with a run of every kind and in every state, annotations, answers and a queue."""
    workspace = Workspace(root)
    dataset = workspace.add_dataset("tree.csv", votes_csv())
    runs = {kind: done(workspace, kind, dataset, config) for kind, config in CONFIGS.items()}
    for kind in ("apply", "inspect"):
        runs[kind] = done(workspace, kind, dataset, model_config(workspace, kind, runs["train"]))
    workspace.annotate(runs["train"], name="The first", tags=["paper"], note="A note.")
    workspace.pin(runs["train"])
    for state in ("failed", "cancelled"):
        run = workspace.new_run("train", dataset, QUICK, title=state)
        write_state(run.path, State(state, "The disk is full." if state == "failed" else "", created=run.created))
    book: AnswerBook = workspace.answer_book(dataset)
    classes = workspace.read(dataset).votes.classes.tolist()
    book.add(*(Reply(row, None, str(classes[0]), "ann", 1.7e9 + row) for row in range(3)))
    dead = Worker(2**22 + 1, 1.0, "")
    write_private_json(dead.to_dict(), runs["train"].path / WORKER)
    Queue.of(workspace.root).take("cpu", runs["train"].id, dead)
    return workspace
