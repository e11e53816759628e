"""Real runs that browser tests wait for."""

import time

from deem_core.runs import Run

WORKER = 90_000
"""Milliseconds that a worker may need for a small file on a busy machine; a few seconds on an idle one."""


def finished(run: Run) -> Run:
    """Wait until a run is done."""
    deadline = time.monotonic() + WORKER / 1000
    while run.is_active() and time.monotonic() < deadline:
        time.sleep(0.2)
    assert run.state().state == "done"
    return run
