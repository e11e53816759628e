"""Sweeps on all cores: a sweep against as many single trainings, and the sweeps of the bundled samples.

Usage: [DEEM_DATA=folder] python -m benchmarks.bench_sweep [--samples]

Seconds on the clock, so nothing else should run meanwhile. A sweep of ten rates may cost ten single trainings (one
thread, no measuring) divided by 0.8 × cores; a sweep of a bundled sample may take 10 s on two cores. mniste from the
folder of ensembles, a draw of its recipe without it. ``--samples`` leaves mniste out.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from benchmarks.bench_accuracy import load
from deem_core import Votes, read_votes, simulation, sweep
from deem_core.engine import cores
from deem_core.model.config import Shape, TrainConfig, resolve
from deem_core.model.trainer import Trainer

SAMPLES = Path(__file__).parent.parent / "sample_data"
RATES = [0.03, 0.06, 0.12, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0]
MOST_SECONDS = 10.0
SHARE = 0.8
"""How busy all cores must be."""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", action="store_true")
    warnings.simplefilter("ignore")
    if not parser.parse_args().samples:
        many_rates(mniste())
    print(f"Sweeps of the bundled samples, {cores()} cores\n{'sample':<22}{'rows':>8}{'d':>4}{'K':>4}{'seconds':>9}")
    for path in sorted(SAMPLES.glob("*.csv")):
        if path.stem.endswith("_truth"):
            continue
        votes = read_votes(path)
        begun = time.perf_counter()
        sweep(votes, random_state=0)
        seconds = time.perf_counter() - begun
        over = f"  above the limit of {MOST_SECONDS:g}" if seconds > MOST_SECONDS else ""
        size = f"{votes.n_rows:>8,}{votes.n_learners:>4}{votes.n_classes:>4}"
        print(f"{path.stem:<22}{size}{seconds:>9.1f}{over}", flush=True)


def mniste() -> Votes:
    """Return mniste, or a draw of its recipe."""
    folder = os.environ.get("DEEM_DATA")
    if folder:
        return load(Path(folder), "mniste").without_truth()
    rng = np.random.default_rng(0)
    return simulation.copies_with_noise(simulation.families(60_000, rng=rng), 5, rng=rng).votes.without_truth()


def many_rates(votes: Votes) -> None:
    """Print what a sweep of ten rates costs beside ten single trainings."""
    plain = {"start": "majority", "near_copies": "keep"}
    config = replace(resolve(TrainConfig(**plain), Shape.of(votes)).config, backend="numba")  # type: ignore[arg-type]
    torch.set_num_threads(1)
    trainer = Trainer(votes.codes, votes.n_classes, config, [0], device=torch.device("cpu"))
    trainer.step()
    begun = time.perf_counter()
    for _ in trainer:
        pass
    single = time.perf_counter() - begun
    begun = time.perf_counter()
    sweep(votes, RATES, random_state=0, **plain)
    whole = time.perf_counter() - begun
    limit = len(RATES) * single / (SHARE * cores())
    print(
        f"mniste, {votes.n_rows:,} × {votes.n_learners} × {votes.n_classes}: "
        f"one training on one thread {single:.1f} s; "
        f"a sweep of {len(RATES)} rates {whole:.1f} s on {cores()} cores, limit {limit:.1f}"
        f"{'  above the limit' if whole > limit else ''}\n",
        flush=True,
    )


if __name__ == "__main__":
    main()
