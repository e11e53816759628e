"""Export speed and memory: the fused table of many rows, made and written by deem_core.answers.export alone.

Usage: python -m benchmarks.bench_export [--rows 1000000] [--learners 15] [--classes 10]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from deem_core import simulation
from deem_core.answers import Answer, export
from deem_core.files import tables
from deem_core.readers import read
from deem_core.readers.notes import peak_bytes

ENDINGS = (".csv", ".csv.gz", ".parquet")
LIMIT_SECONDS = 60.0
"""For a million rows by fifteen learners on two cores."""
LIMIT_RATIO = 1.5
"""Exporting may add at its peak the table itself and some working space: a second table would make it 2."""


def main() -> None:
    """Print seconds, sizes, and the peak memory that each format adds, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--learners", type=int, default=15)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--one", nargs=2, metavar=("FILE", "ENDING"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        measure(Path(options.one[0]), options.one[1])
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        made = simulation.simulate("condind", options.rows, 0, options.learners, options.classes)
        tables.write(tables.wide_table(made.votes), path)
        size = f"{options.rows:,} rows × {options.learners} learners × {options.classes} classes"
        print(f"{size}: {path.stat().st_size / 1e6:.0f} MB of CSV; table, peak and file in MB")
        print(f"{'format':<10}{'score s':>8}{'write s':>9}{'table':>8}{'peak added':>12}{'ratio':>7}{'file':>7}")
        for ending in ENDINGS:
            one = [sys.executable, "-m", "benchmarks.bench_export", "--one", str(path), ending]
            print(subprocess.run(one, capture_output=True, text=True, check=True).stdout, end="", flush=True)


def measure(path: Path, ending: str) -> None:
    """Print one line of the table; reading the file and its posterior are there before the clock starts."""
    reading = read(path)
    votes = reading.votes
    posterior = np.full((votes.n_rows, votes.n_classes), 0.1 / votes.n_classes)
    posterior[np.arange(votes.n_rows), votes.majority_vote.codes] += 0.9
    head = read(_head(path))
    export.fused_table(head, Answer(head.votes, posterior[:1000]))  # imports and threads are not counted
    raise_peak_to_now()
    before, start = peak_bytes() or 0, time.perf_counter()
    answer = Answer(votes, posterior)
    _ = answer.needs_review
    scored = time.perf_counter() - start
    start, target = time.perf_counter(), path.with_name(f"fused{ending}")
    export.write_fused(reading, answer, target)
    written = time.perf_counter() - start
    added = (peak_bytes() or 0) - before
    table_bytes = export.fused_table(reading, answer).nbytes
    ratio = added / table_bytes
    seconds_over = scored + written > LIMIT_SECONDS
    verdict = "  over the limit" if seconds_over or ratio > LIMIT_RATIO else ""
    print(
        f"{ending:<10}{scored:>8.1f}{written:>9.1f}{table_bytes / 1e6:>8.0f}{added / 1e6:>12.0f}{ratio:>7.2f}"
        f"{target.stat().st_size / 1e6:>7.0f}{verdict}"
    )
    target.unlink()


def _head(path: Path) -> Path:
    head = path.with_name("head.csv")
    with path.open() as source:
        head.write_text("".join(line for line, _ in zip(source, range(1001), strict=False)))
    return head


def raise_peak_to_now() -> None:
    """Make the peak so far that of now, where the system can: reading needs more for a moment than it keeps."""
    clear = Path("/proc/self/clear_refs")
    if clear.exists():
        clear.write_text("5")


if __name__ == "__main__":
    main()
