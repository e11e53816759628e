"""Runs whose work is done at once in this process, without a worker: quicker than waiting for one."""

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow.csv

from deem_core.files import tables
from deem_core.runs import Dataset, Run, Workspace, checksums
from deem_core.runs.control import RunControl
from deem_core.runs.job import Job
from deem_core.runs.kinds import KINDS
from deem_core.runs.run import result_names
from deem_core.runs.status import Status
from deem_core.votes import Votes

QUICK = {"method": "deem", "updates": 10, "restarts": 2, "batch_size": 64, "device": "cpu", "random_state": 0}
"""A training of about a second."""


def done(workspace: Workspace, kind: str, dataset: Dataset, config: Mapping[str, Any], title: str = "") -> Run:
    """Return a run of a kind with its real results."""
    run = workspace.new_run(kind, dataset, config, title=title)
    status = Status(run)
    status.begin("cpu")
    KINDS[kind](Job(workspace, run, RunControl(status)))
    status.end("done")
    return run


def rewrite(run: Run, name: str, text: str) -> None:
    """Change a result of a run as if the run had made it so."""
    (run.path / name).write_text(text, encoding="utf-8")
    checksums.write_checksums(run.path, result_names(run.path))


def inspected(workspace: Workspace, training: Run) -> Run:
    """Return the inspection of a training, as the pages start it."""
    config = {
        "model": workspace.store(training.path / "model.safetensors"),
        "training": training.id,
        "random_state": 0,
    }
    return done(workspace, "inspect", workspace.dataset(training.dataset_id), config, "Inspection")


def add_votes(workspace: Workspace, votes: Votes, name: str = "votes.csv") -> Dataset:
    """Keep votes as a wide file."""
    sink = io.BytesIO()
    pyarrow.csv.write_csv(tables.wide_table(votes), sink)
    return workspace.add_dataset(name, sink.getvalue())


def experts(rows: int = 300) -> Votes:
    """Return votes with truth: four common learners that know two of four classes, and an expert for the others.

    Two more learners nearly copy the first.
    """
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, rows)
    known = np.where(rng.random((rows, 4)) < 0.85, truth[:, None], rng.integers(0, 4, (rows, 4)))
    common = np.where(truth[:, None] < 2, rng.integers(0, 4, (rows, 4)), known)
    expert = np.where(truth < 2, truth, rng.integers(0, 4, rows))
    copies = np.where(rng.random((rows, 2)) < 0.98, common[:, :1], rng.integers(0, 4, (rows, 2)))
    codes = np.column_stack([common, expert, copies]).astype(np.int32)
    learners = ("ann", "bob", "cy", "dan", "expert", "ann_2", "ann_3")
    ids = np.array([f"r{row}" for row in range(rows)], object)
    return Votes(codes, np.array(["w", "x", "y", "z"], object), learners, ids, truth.astype(np.int32))
