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
LONG = {"device": "cpu", "restarts": 1, "updates": 1_000_000, "random_state": 0}


def small(workspace: Workspace) -> Dataset:
    return workspace.add_dataset("small.csv", CSV)


def ensemble(workspace: Workspace, rows: int = 400) -> Dataset:
    """Add votes of a simulated tree, with truth."""
    sink = io.BytesIO()
    pyarrow.csv.write_csv(tables.wide_table(simulation.tree(rows, rng=np.random.default_rng(0)).votes), sink)
    return workspace.add_dataset("tree.csv", sink.getvalue())


def until(true: Callable[[], Any], seconds: float = 120.0) -> float:
    """Wait for something to be true; return how long it took."""
    begun = time.monotonic()
    while not true():
        if time.monotonic() - begun > seconds:
            pytest.fail("it did not happen in time")
        time.sleep(0.02)
    return time.monotonic() - begun


def ended(run: Run, seconds: float = 120.0) -> State:
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
