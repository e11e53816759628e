"""Memory of ten runs that wait in the queue.

``python -m benchmarks.bench_waiting`` starts one training and ten more behind it, waits until all ten have queued, and
prints what their processes hold: resident (shared libraries counted in each) and their own (what ending them frees).
The figures of the last run are in ``benchmarks/results/bench_waiting.txt``.
"""

from __future__ import annotations

import argparse
import tempfile
import time

import numpy as np
import psutil

from deem_core.runs import Run, Workspace
from deem_core.runs.run import worker_of

WAITING = 10
CSV = b"id,ann,bob,cy\n" + b"".join(b"%d,x,y,%s\n" % (n, b"xy"[n % 2 : n % 2 + 1]) for n in range(40))
LONG = {"device": "cpu", "updates": 1_000_000, "start": "majority", "near_copies": "keep", "random_state": 0}
PATIENCE = 300.0


def main() -> None:
    """Print the memory of every waiting worker and of all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--waiting", type=int, default=WAITING, help="how many runs wait")
    n = parser.parse_args().waiting
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(folder)
        dataset = workspace.add_dataset("votes.csv", CSV)
        runs = [workspace.start_run("train", dataset, LONG) for _ in range(n + 1)]
        try:
            _until(lambda: runs[0].state().state == "running" and all(_waits(run) for run in runs[1:]))
            memory = [_memory(run) for run in runs[1:]]
        finally:
            for run in reversed(runs):
                workspace.cancel(run)
            _until(lambda: not any(run.is_attended() for run in runs))
    resident, own = (np.array(each) / 1e6 for each in zip(*memory, strict=True))
    print(f"{n} waiting workers, MB        total    each (median)")
    for name, numbers in (("resident", resident), ("their own", own)):
        print(f"{name:<28}{numbers.sum():7.0f}    {np.median(numbers):.0f}")


def _waits(run: Run) -> bool:
    return run.state().step.startswith("Queued")


def _memory(run: Run) -> tuple[int, int]:
    worker = worker_of(run.path)
    told = psutil.Process(worker.pid if worker is not None else None).memory_full_info()
    return told.rss, told.uss


def _until(true) -> None:  # type: ignore[no-untyped-def]
    end = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > end:
            raise TimeoutError("The workers did not get as far in time.")
        time.sleep(0.1)


if __name__ == "__main__":
    main()
