"""What the tests of runs share: a small ensemble, light workers, and waiting."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pytest

from deem_core import simulation
from deem_core.files import tables
from deem_core.runs import Dataset, Run, State, Workspace

ROOT = Path(__file__).resolve().parents[3]

CSV = b"id,ann,bob,cy,label\n1,x,x,y,x\n2,y,y,y,y\n3,x,y,x,x\n4,y,x,y,y\n"

QUICK = {"device": "cpu", "restarts": 1, "updates": 20, "random_state": 0}
LONG = QUICK | {"updates": 1_000_000, "start": "majority", "near_copies": "keep"}
"""A training that begins at once and ends when it is told to."""


def small(workspace: Workspace) -> Dataset:
    return workspace.add_dataset("small.csv", CSV)


def ensemble(workspace: Workspace, rows: int = 400) -> Dataset:
    """Add votes of a simulated tree, with truth."""
    sink = io.BytesIO()
    pyarrow.csv.write_csv(tables.wide_table(simulation.tree(rows, rng=np.random.default_rng(0)).votes), sink)
    return workspace.add_dataset("tree.csv", sink.getvalue())


PATIENCE = 300.0
"""Seconds after which something will not happen any more; workers give way to everybody else on a busy machine."""

_LOOK = 0.02  # seconds between two looks


def until(true: Callable[[], Any], seconds: float = PATIENCE) -> float:
    """Wait for something to be true; return how long it took on a machine that has nothing else to do.

    Looks that come late tell that the machine is busy; the time between two counts for so much at most.
    """
    begun = looked = time.monotonic()
    waited = 0.0
    while not true():
        if looked - begun > seconds:
            pytest.fail("it did not happen in time")
        time.sleep(_LOOK)
        before, looked = looked, time.monotonic()
        waited += min(looked - before, 3 * _LOOK)
    return waited


def ended(run: Run, seconds: float = PATIENCE) -> State:
    until(lambda: not run.state().active, seconds)
    return run.state()


def script(code: str, *arguments: str, **more: Any) -> subprocess.Popen[str]:
    """Start a Python process that imports the library of this checkout."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


LIGHT_WORKER = """
import os, sys, time
from pathlib import Path
from deem_core.errors import InputError
from deem_core.runs import kinds, worker

def execute(job):
    record = Path(sys.argv[1])
    with record.open("a") as stream:
        stream.write(f"begin {job.run.id}\\n")
    time.sleep(float(sys.argv[2]))
    (job.folder / "summary.json").write_text("{}")
    with record.open("a") as stream:
        stream.write(f"end {job.run.id}\\n")

kinds.KINDS["train"] = execute  # the queue and the worker are real, the work is not
for folder in sys.argv[3:]:
    try:
        worker.work(folder)
    except InputError as error:
        print(error)
assert "torch" not in sys.modules
"""
