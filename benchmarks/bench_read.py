"""Reading speed: deem_core.readers against pandas' plain parse of the same file, in one process.

Usage: python -m benchmarks.bench_read [--rows 1000000] [--learners 15] [--repeats 3]
"""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from deem_core.readers import read

LIMIT = 3.0
"""Reading, coding and checking may take this many times pandas' plain parse."""


def main() -> None:
    """Print seconds, the ratio and the peak memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--learners", type=int, default=15)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(f"{options.rows:,} rows × {options.learners} learners, best of {options.repeats}, seconds")
        print(f"{'file':<34}{'MB':>7}{'pandas':>9}{'deem_core':>11}{'ratio':>8}{'peak MB':>9}{'held MB':>9}")
        for title, path in make_files(Path(folder), options.rows, options.learners):
            compare(title, path, options.repeats)


def make_files(folder: Path, rows: int, learners: int) -> list[tuple[str, Path]]:
    """Write files of small integers and of words, the last two with an id, a truth column and missing votes."""
    rng = np.random.default_rng(0)
    codes = pd.DataFrame(rng.integers(0, 10, (rows, learners)), columns=[f"m{j}" for j in range(learners)])
    names = np.array(["cat", "dog", "horse", "bird", "fish", "lizard", "frog", "snail", "spider", ""], object)
    words = pd.DataFrame(names[codes.to_numpy()], columns=codes.columns)
    words["label"] = names[rng.integers(0, 9, rows)]
    files = {
        "integers": codes,
        "words, numbers as ids": words.assign(id=range(rows)),
        "words, text as ids": words.assign(id=[f"row-{at}" for at in rng.permutation(rows)]),
    }
    for at, table in enumerate(files.values()):
        table.to_csv(folder / f"{at}.csv", index=False)
    return [(title, folder / f"{at}.csv") for at, title in enumerate(files)]


def compare(title: str, path: Path, repeats: int) -> None:
    """Print one line of the table."""
    pandas_seconds = best_of(lambda: pd.read_csv(path), repeats)
    seconds = best_of(lambda: read(path), repeats)
    held = read(path).report.held_bytes
    peak = peak_of_reading(path)
    ratio = seconds / pandas_seconds
    verdict = "" if ratio <= LIMIT else f"  over the limit of {LIMIT:g}"
    size = path.stat().st_size
    print(
        f"{title:<34}{size / 1e6:>7.0f}{pandas_seconds:>9.2f}{seconds:>11.2f}{ratio:>8.2f}"
        f"{peak / 1e6:>9.0f}{held / 1e6:>9.0f}{verdict}"
    )


def best_of(action: Callable[[], Any], repeats: int) -> float:
    """Return the least seconds of several runs."""
    times = []
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def peak_of_reading(path: Path) -> int:
    """Return the bytes that reading adds to a fresh process at its peak, beyond imports."""
    script = (
        "import sys\n"
        "from deem_core.readers.notes import peak_bytes\n"
        "from deem_core.readers import read\n"
        "before = peak_bytes()\n"
        "read(sys.argv[1])\n"
        "print(peak_bytes() - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    return int(done.stdout)


if __name__ == "__main__":
    main()
