"""Pages of the app on a large file: seconds of each page, at first and again.

A million rows are kept in a workspace of their own and fused once; then every page is run without a browser. The first
Data page reads the file, under a spinner. Limit: no page takes more than two seconds of the processor after that.

Usage: python -m benchmarks.bench_pages [--rows 1000000] [--learners 15] [--classes 10]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from streamlit.testing.v1 import AppTest

from benchmarks.bench_large import make_file
from deem_core.runs import Run, Workspace
from tests.in_process import done

APP = Path(__file__).resolve().parents[1] / "app.py"
PAGES = ("data", "train", "learning_rate", "learners", "dependence", "compare", "export", "home")
LIMIT = 2.0
"""Seconds of the processor that a page may take once the file is read."""


def main() -> None:
    """Print a line per page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--learners", type=int, default=15)
    parser.add_argument("--classes", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DEEM_HOME"] = str(Path(folder) / "home")
        file = Path(folder) / "votes.csv"
        make_file(file, options.rows, options.learners, options.classes)
        workspace = Workspace()
        dataset = workspace.add_dataset(file.name, file)
        run = done(workspace, "fuse", dataset, {"method": "auto", "random_state": 0})
        print(f"{options.rows:,} rows × {options.learners} learners × {options.classes} classes, fused by auto")
        _measure(run)


def _measure(run: Run) -> None:
    app = AppTest.from_file(str(APP), default_timeout=300)
    app.query_params["data"], app.query_params["run"] = run.dataset_id, run.id
    start = time.process_time()
    app.run()
    print(f"first page, with imports and the reading: {time.process_time() - start:.1f} s of the processor")
    print(f"{'page':<16}{'first':>8}{'again':>8}   seconds of the processor")
    for page in PAGES:
        seconds = []
        for _ in range(2):
            start = time.process_time()
            app.switch_page(f"pages/{page}.py")
            app.run()
            seconds.append(time.process_time() - start)
            if app.exception:
                raise SystemExit(f"{page} failed: {app.exception[0].value}")
        verdict = "" if max(seconds) <= LIMIT else "  over the limit"
        print(f"{page:<16}{seconds[0]:>8.2f}{seconds[1]:>8.2f}{verdict}", flush=True)


if __name__ == "__main__":
    main()
