"""What the tests of reports share: runs that are worked on in this process."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pyarrow.csv

from deem_core import simulate, tables
from deem_core.control import Control
from deem_core.runs import Dataset, Run, Workspace
from deem_core.runs.desk import Desk
from deem_core.runs.job import Job
from deem_core.runs.kinds import KINDS

EVIL = "<script>alert(1)</script>"
TINY = {"device": "cpu", "restarts": 2, "updates": 20, "batch_size": 64}


def done(workspace: Workspace, kind: str, dataset: Dataset, config: dict[str, Any]) -> Run:
    """Make a run and do its work here and now."""
    run = workspace.new_run(kind, dataset, config, title=f"{kind} {EVIL}")
    desk = Desk(run)
    desk.begin("cpu")
    KINDS[kind](Job(workspace, run, desk, Control()))
    desk.end("done")
    return run


def inspected(workspace: Workspace, run: Run, dataset: Dataset) -> Run:
    model = workspace.store(run.path / "model.safetensors")
    return done(workspace, "inspect", dataset, {"model": model, "training": run.id, "random_state": 0})


def table(rows: int = 240, seed: int = 0) -> bytes:
    """Return votes of a simulated tree with truth, as a CSV file whose classes are HTML."""
    sink = io.BytesIO()
    pyarrow.csv.write_csv(tables.wide_table(simulate.tree(rows, rng=np.random.default_rng(seed)).votes), sink)
    head, *lines = sink.getvalue().decode().splitlines()
    names = {"0": "<b>zero", "1": EVIL, "2": "two & '%{x}'"}
    made = [head]
    for line in lines:
        first, *cells = line.split(",")
        made.append(",".join([first, *(names.get(cell.strip('"'), cell) for cell in cells)]))
    return "\n".join(made).encode()
