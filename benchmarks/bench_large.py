"""Large files: describe, fuse, train and apply on a file that is read in parts, each in a process of its own.

Makes the file in chunks in a temporary folder (10,000,000 rows take 0.5 GB there, and the fused file 2 GB for a while),
prints seconds and the peak of resident memory of each stage, and removes everything.

Usage: python -m benchmarks.bench_large [--rows 10000000] [--format csv parquet] [--sample 1000000] [--whole] [--exact]
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from deem_core import simulation
from deem_core.files import tables
from deem_core.simulation.ensemble import Ensemble, draw_votes

LIMIT = 4_000_000_000
"""Bytes of resident memory that no stage may exceed."""

CHUNK = 500_000
BYTES_PER_ROW = 400  # of input, fused file and its parts, with room to spare

STAGE = """
import sys, time
from deem_core.cli import main
from deem_core.readers.notes import peak_bytes
start = time.perf_counter()
code = main(sys.argv[1:])
print(f"{code} {time.perf_counter() - start:.1f} {peak_bytes()}")
"""


def main() -> None:
    """Print a line per stage, and what the commands said of what they did."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--learners", type=int, default=15)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--sample", type=int, default=1_000_000)
    parser.add_argument("--format", nargs="+", default=["csv", "parquet"], choices=["csv", "parquet"])
    parser.add_argument("--updates", type=int, help="of DEEM's training (default: its own rule)")
    parser.add_argument("--whole", action="store_true", help="read the file whole, for comparison")
    parser.add_argument("--exact", action="store_true", help="only Dawid-Skene: on the sample, and exactly on all rows")
    options = parser.parse_args()
    size = f"{options.rows:,} rows × {options.learners} learners × {options.classes} classes (tree)"
    how = "read whole" if options.whole else f"in parts, sample of {options.sample:,} rows"
    print(f"{size}, {how}; at most {LIMIT / 1e9:g} GB resident")
    for ending in options.format:
        with tempfile.TemporaryDirectory() as folder:
            if shutil.disk_usage(folder).free < options.rows * BYTES_PER_ROW:
                sys.exit(
                    f"There is too little room on the disk: {options.rows * BYTES_PER_ROW / 1e9:.0f} GB are needed."
                )
            measure(Path(folder), ending, options)


def measure(folder: Path, ending: str, options: argparse.Namespace) -> None:
    """Print the stages on one format."""
    file, fused, model = folder / f"votes.{ending}", folder / f"fused.{ending}", folder / "model.safetensors"
    start = time.perf_counter()
    make_file(file, options.rows, options.learners, options.classes)
    print(f"\n{ending}, {file.stat().st_size / 1e6:,.0f} MB (made in {time.perf_counter() - start:.0f} s)")
    print(f"{'stage':<16}{'seconds':>9}{'peak MB':>9}")
    stream = ["--no-stream"] if options.whole else ["--stream", "--sample", str(options.sample)]
    updates = [] if options.updates is None else ["--updates", str(options.updates)]
    stages = {
        "describe": ["describe", str(file)],
        "fuse, auto": ["fuse", str(file), "-o", str(fused)],
        "fuse, ds": ["fuse", str(file), "-o", str(fused), "--method", "ds"],
        "train, deem": ["train", str(file), "-o", str(model), *updates],
        "apply": ["apply", str(model), str(file), "-o", str(fused)],
    }
    if options.exact:
        stages = {"fuse, ds": stages["fuse, ds"], "fuse, ds exact": [*stages["fuse, ds"], "--exact"]}
    said = []
    for name, words in stages.items():
        done = subprocess.run(
            [sys.executable, "-c", STAGE, *words, *stream], capture_output=True, text=True, check=False
        )
        *lines, last = done.stdout.splitlines() or [done.stderr[-300:]]
        if done.returncode or not last.startswith("0 "):
            sys.exit(f"{name} failed: {last} {done.stderr[-300:]}")
        _, seconds, peak = last.split()
        verdict = "" if options.whole or int(peak) <= LIMIT else "  over the limit"
        print(f"{name:<16}{seconds:>9}{int(peak) / 1e6:>9,.0f}{verdict}", flush=True)
        said += [
            f"{name}: {line}"
            for line in lines
            if line.startswith(("Labelled in", "Trained on", "Right in", "There are too many"))
        ]
        fused.unlink(missing_ok=True)
    print("\n".join(said))


def make_file(path: Path, rows: int, learners: int, classes: int) -> None:
    """Write rows of one ensemble, chunk by chunk."""
    pieces = _tables(simulation.simulate("tree", 1_000, 0, learners, classes), rows)
    first = next(pieces)
    tables.write_parts(_with_first(first, pieces), path, texts=first)


def _with_first(first: pa.Table, others: Iterator[pa.Table]) -> Iterator[pa.Table]:
    yield first
    yield from others


def _tables(ensemble: Ensemble, rows: int) -> Iterator[pa.Table]:
    """Yield rows of votes with id and truth, all drawn from the same parameters."""
    assert ensemble.parent_psi is not None and ensemble.leaf_psi is not None and ensemble.groups is not None  # noqa: PT018, S101
    rng, texts = np.random.default_rng(1), tables.class_texts(ensemble.votes)
    for start in range(0, rows, CHUNK):
        n = min(CHUNK, rows - start)
        truth = rng.choice(len(ensemble.pi), n, p=ensemble.pi).astype(np.int32)
        parents = draw_votes(rng, ensemble.parent_psi, truth[:, None])
        codes = draw_votes(rng, ensemble.leaf_psi, parents[:, ensemble.groups])
        columns = {name: tables.look_up(codes[:, j], texts) for j, name in enumerate(ensemble.votes.learners)}
        ids = pa.array(np.arange(start, start + n)).cast(pa.string())
        yield pa.table({"id": ids, **columns, "label": tables.look_up(truth, texts)})


if __name__ == "__main__":
    main()
