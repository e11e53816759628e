"""More machines: what sharing out costs, what it brings, and what it cannot bring.

A Ray cluster of as many cores as this machine has, on this machine: overhead and memory are real, the network is not.
Four tables: pieces that do nothing; the same sweep and training here and on the cluster, with the memory of the
processes; rows per second of a large file beside plain PyArrow; what an update of DEEM costs beside the exchange of its
gradient. Seconds are on the clock, so nothing else should run meanwhile.

Usage: python -m benchmarks.bench_scale [pieces] [jobs] [rows] [exchange] [--parts 50]
Needs Ray: pip install -r requirements-ray.txt
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import torch

from benchmarks.bench_large import make_file
from deem_core import simulation, sweep, train
from deem_core.control import NO_CONTROL, Control
from deem_core.engine import Engine, cores, engine_of
from deem_core.model.backend import prepare, with_backend
from deem_core.model.config import Shape, TrainConfig, resolve
from deem_core.model.trainer import Trainer
from deem_core.readers.large import PART_ROWS

ROOT = Path(__file__).parent.parent
RATES = [0.03, 0.06, 0.12, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0]
RESTARTS = 20
ROWS = 60_000  # of the ensemble that is swept and trained
NETWORK = 10e9 / 8
"""Bytes per second between machines, where a table reckons with a network of 10 Gbit/s."""

SECTIONS = ("pieces", "jobs", "rows", "exchange")


def main() -> None:
    """Print the tables that are asked for, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], default=[])
    parser.add_argument("--parts", type=int, default=50, help=f"parts of {PART_ROWS:,} rows of the large file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    chosen = options.sections or SECTIONS
    print(f"{cores()} cores, Python {platform.python_version()}", flush=True)
    begun = time.perf_counter()
    ray = engine_of("ray")
    os.environ["RAY_ADDRESS"] = _address()  # for the commands
    print(f"connecting to the cluster (started here): {time.perf_counter() - begun:.1f} s\n", flush=True)
    if "pieces" in chosen:
        pieces(ray)
    if "jobs" in chosen:
        jobs(ray)
    if "rows" in chosen:
        rows(options.parts)
    if "exchange" in chosen:
        exchange()


def _address() -> str:
    import ray  # noqa: PLC0415  # only where it is asked for

    return str(ray.get_runtime_context().gcs_address)


# ---------------------------------------------------------------------- pieces that do nothing


def nothing(shared: Any, piece: Any, control: Control) -> Iterator[None]:
    """Do nothing."""
    yield from ()


def pieces(ray: Engine) -> None:
    """Print what a piece costs that does nothing, and sharing 100 MB once."""
    many, data = 1_000, np.zeros(100_000_000 // 8)
    print("pieces that do nothing\nengine     ms a piece    s with 100 MB shared by 10 pieces")
    for engine in (engine_of("local"), ray):
        with engine.crew() as crew:
            list(crew.run(nothing, range(10), None, control=NO_CONTROL))  # processes begin
            begun = time.perf_counter()
            list(crew.run(nothing, range(many), None, control=NO_CONTROL))
            each = (time.perf_counter() - begun) / many
            begun = time.perf_counter()
            list(crew.run(nothing, range(10), data, control=NO_CONTROL))
            shared = time.perf_counter() - begun
        print(f"{engine.wish:<10}{1000 * each:>11.2f}{shared:>12.2f}", flush=True)
    print()


# ---------------------------------------------------------------------- sweep, training


@contextmanager
def watched() -> Iterator[dict[str, float]]:
    """Watch the processes below this one: the largest resident memory of one that works for Ray."""
    peak, over = {"bytes": 0.0}, threading.Event()

    def look() -> None:
        while not over.wait(0.1):
            for process in psutil.process_iter(["name", "cmdline"]):
                try:
                    if (process.info["cmdline"] or [""])[0].startswith("ray::"):
                        peak["bytes"] = max(peak["bytes"], process.memory_full_info().uss)
                except psutil.Error:
                    continue

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        over.set()
        thread.join()


def jobs(ray: Engine) -> None:
    """Print a sweep of ten rates and a training of twenty restarts, here and on the cluster."""
    rng = np.random.default_rng(0)
    votes = simulation.copies_with_noise(simulation.families(ROWS, rng=rng), 5, rng=rng).votes.without_truth()
    plain = {"start": "majority", "near_copies": "keep", "random_state": 0}
    tasks: dict[str, Callable[[Any], Any]] = {
        f"sweep, {len(RATES)} rates": lambda on: sweep(votes, RATES, on=on, **plain),
        f"train, {RESTARTS} restarts": lambda on: train(votes, restarts=RESTARTS, on=on, **plain),
    }
    size = f"{votes.n_rows:,} × {votes.n_learners} × {votes.n_classes}"
    print(f"{size}, two runs each\n{'':<22}{'local s':>14}{'ray s':>14}{'ratio':>8}{'MB a worker':>13}")
    for name, work in tasks.items():
        seconds: dict[str, list[float]] = {"local": [], "ray": []}
        with watched() as peak:
            for where in ("local", "ray", "local", "ray"):
                begun = time.perf_counter()
                work(ray if where == "ray" else "local")
                seconds[where].append(time.perf_counter() - begun)
        here, there = seconds["local"], seconds["ray"]
        print(
            f"{name:<22}{here[0]:>7.1f}{here[1]:>7.1f}{there[0]:>7.1f}{there[1]:>7.1f}{there[1] / here[1]:>8.2f}"
            f"{peak['bytes'] / 1e6:>13.0f}",
            flush=True,
        )
    print()


# ---------------------------------------------------------------------- a large file


def rows(parts: int) -> None:
    """Print rows per second of a large Parquet file: read and written by PyArrow, and labelled by us."""
    n = parts * PART_ROWS
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.parquet"
        make_file(path, n, 15, 10)
        print(f"{n:,} rows × 15 learners in {parts} parts, Parquet, {path.stat().st_size / 1e6:.0f} MB")
        print(f"{'':<44}{'s':>8}{'rows/s':>12}{'MB a worker':>13}")
        begun = time.perf_counter()
        _copy(path, Path(folder) / "copy.parquet")
        _row("PyArrow reads and writes the same cells", n, time.perf_counter() - begun)
        for method in ("mv", "ds"):
            for where in ("local", "ray"):
                out = Path(folder) / "fused.parquet"
                command = ["fuse", str(path), "--stream", "--method", method, "--on", where, "-o", str(out)]
                begun = time.perf_counter()
                with watched() as peak:
                    subprocess.run(
                        [sys.executable, "-m", "deem_core", *command],
                        check=True,
                        cwd=ROOT,
                        stdout=subprocess.DEVNULL,
                    )
                used = peak["bytes"] if where == "ray" else 0.0
                _row(f"fuse --method {method} --on {where}", n, time.perf_counter() - begun, used)
                out.unlink()
    print()


def _copy(source: Path, target: Path) -> None:
    file = pq.ParquetFile(source)
    with pq.ParquetWriter(target, file.schema_arrow) as writer:
        for batch in file.iter_batches(PART_ROWS):
            writer.write_table(pa.Table.from_batches([batch]))


def _row(name: str, n: int, seconds: float, peak: float = 0.0) -> None:
    memory = f"{peak / 1e6:>13.0f}" if peak else ""
    print(f"{name:<44}{seconds:>8.1f}{n / seconds:>12,.0f}{memory}", flush=True)


# ---------------------------------------------------------------------- sharing out one update


SHAPES = (
    (15, 10, 0),
    (15, 10, 1),
    (100, 10, 0),
    (100, 10, 1),
    (20, 100, 0),
    (20, 100, 1),
    (5, 1_000, 0),
    (5, 1_000, 1),
)
"""Learners, classes, layers."""


class Averager:
    """A worker that takes parameters and hands back a gradient of their size."""

    def step(self, parameters: Any) -> Any:
        """Return an array of the same size."""
        return parameters + np.float32(1)


def exchange() -> None:
    """Print what an update costs here, and what averaging its gradient over workers would cost."""
    import ray  # noqa: PLC0415  # only where it is asked for

    print(
        "one update of DEEM (one restart, its default batch, one thread) beside one exchange of its gradient between\n"
        "two processes of this machine through Ray's object store; the last column is the best that 16 machines of 16\n"
        "cores could do against one of them, if updates were shared out evenly, with 10 Gbit/s between machines\n"
        "    d     K  layers  batch   gradient MB   update ms   exchange ms   16 machines / 1"
    )
    workers = [ray.remote(num_cpus=0)(Averager).remote() for _ in range(2)]
    for d, K, layers in SHAPES:
        update, batch, numbers = _update_seconds(d, K, layers)
        own = np.zeros(numbers, np.float32)
        took = [_exchange_seconds(workers, own) for _ in range(12)]
        both = float(np.median(took[2:]))
        best = max(both, 2 * own.nbytes / NETWORK)
        gain = update / 16 / (update / 256 + best)
        print(
            f"{d:>5}{K:>6}{layers:>8}{batch:>7}{own.nbytes / 1e6:>14.2f}{1000 * update:>12.2f}{1000 * both:>14.2f}"
            f"{gain:>18.2f}",
            flush=True,
        )
    print()


def _exchange_seconds(workers: list[Any], own: np.ndarray) -> float:
    import ray  # noqa: PLC0415  # only where it is asked for

    begun = time.perf_counter()
    shared = ray.put(own)
    gradients = ray.get([worker.step.remote(shared) for worker in workers])
    np.mean(gradients, axis=0)
    return time.perf_counter() - begun


def _update_seconds(d: int, K: int, layers: int) -> tuple[float, int, int]:
    """Return the seconds of one update, its rows, and how many parameters there are."""
    codes = np.random.default_rng(0).integers(K, size=(5_000, d)).astype(np.int32)
    shape = Shape(len(codes), d, K, votes_per_row=d, coverage=1.0)
    torch.set_num_threads(1)
    settings = resolve(TrainConfig(n_layers=layers, start="majority", restarts=1), shape)
    settings = prepare(with_backend(settings, shape, "cpu"))
    trainer = Trainer(codes, K, settings.config, [0], device=torch.device("cpu"))
    for _ in range(2):
        trainer.step()
    begun, made = time.perf_counter(), 0
    while made < 5 or time.perf_counter() - begun < 2:
        trainer.step()
        made += 1
    seconds = (time.perf_counter() - begun) / made
    numbers = sum(tensor.numel() for tensor in trainer.model.parameters())
    return seconds, int(settings.config.batch_size or 0), numbers


if __name__ == "__main__":
    main()
