"""Speed of the baselines: Dawid-Skene against crowd-kit's in one run, and every rival on 10,000 × 12 × 3.

Usage: python -m benchmarks.bench_baselines [--slow]

CPU seconds of one run each, one after the other in one process. crowd-kit and hyperlm are in requirements-bench.txt;
without them their lines are left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from deem_core import InputError, Votes, simulation
from deem_core.comparison import METHODS
from deem_core.methods import dawid_skene
from deem_core.votes.describe import accuracy, majority_accuracy

LEAST_RATIO = 5.0
MOST_SECONDS = 5.0
ITERATIONS = 10


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slow", action="store_true", help="also time EBCC, the DNNs and the trained models")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    votes = simulation.copies_with_noise(simulation.families(60_000, rng=rng), 5, rng=rng).votes
    print(f"Dawid-Skene, {ITERATIONS} iterations on {votes.n_rows:,} × {votes.n_learners} × {votes.n_classes}")
    ours, posterior = timed(lambda: dawid_skene.aggregate(votes, rng, tolerance=0, max_iterations=ITERATIONS).posterior)
    print(f"  deem_core {ours:.2f} s")
    if importlib.util.find_spec("crowdkit"):
        answers = crowdkit_table(votes)
        theirs, other = timed(lambda: crowdkit_dawid_skene(answers, ITERATIONS))
        mark = "" if theirs / ours >= LEAST_RATIO else f"  below the limit of {LEAST_RATIO:g}"
        print(f"  crowd-kit {theirs:.2f} s, ratio {theirs / ours:.1f}{mark}")
        print(f"  largest difference of the posteriors {np.abs(posterior - other).max():.1e}")
    table(simulation.tree(10_000, rng=rng).votes, slow=options.slow)


def table(votes: Votes, *, slow: bool) -> None:
    """Print seconds and accuracy of every method."""
    print(f"\nEvery rival on {votes.n_rows:,} × {votes.n_learners} × {votes.n_classes}")
    bare, truth = votes.without_truth(), votes.truth
    assert truth is not None  # noqa: S101
    for entry in METHODS.values():
        if entry.soft or (entry.slow and not slow):
            continue
        method = entry.load()
        try:
            seconds, made = timed(lambda method=method: method(bare, np.random.default_rng(0)))
        except InputError as error:
            print(f"  {entry.name:<12} {error}")
            continue
        mark = "" if entry.slow or seconds < MOST_SECONDS else f"  above the limit of {MOST_SECONDS:g} s"
        right = majority_accuracy(votes) if entry.name == "mv" else accuracy(made.codes, truth)
        print(f"  {entry.name:<12}{seconds:>8.2f} s{100 * right:>8.2f} %{mark}", flush=True)


def crowdkit_dawid_skene(answers: pd.DataFrame, iterations: int) -> Any:
    """Return crowd-kit's posterior (n, K) after so many iterations."""
    from crowdkit.aggregation import DawidSkene  # type: ignore[import-not-found]  # noqa: PLC0415

    model = DawidSkene(n_iter=iterations, tol=-np.inf).fit(answers)
    return model.probas_.sort_index().sort_index(axis=1).to_numpy()


def crowdkit_table(votes: Votes) -> pd.DataFrame:
    """Return votes as crowd-kit's long table of task, worker and label."""
    row, learner = np.nonzero(votes.codes >= 0)
    return pd.DataFrame({"task": row, "worker": learner, "label": votes.codes[row, learner]})


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """Return CPU seconds, which other programs hardly disturb, and the result."""
    begun = time.process_time()
    made = action()
    return time.process_time() - begun, made


if __name__ == "__main__":
    main()
