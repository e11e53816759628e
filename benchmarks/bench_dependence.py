"""Speed of the mutual information of all pairs against a loop over scikit-learn's ``mutual_info_score``.

Usage: python -m benchmarks.bench_dependence

CPU time in one process, one matrix each; the largest difference between both is printed beside the ratio.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.metrics import mutual_info_score

from deem_core.votes.information import pair_information

SHAPES = {(60_000, 15, 10): 15.0, (10_000, 100, 5): 100.0}
"""Rows, learners and classes, and how many times faster we must be."""

REPEATS = 5


def main() -> None:
    """Print a line per shape."""
    rng = np.random.default_rng(0)
    print(f"{'rows':>8}{'d':>5}{'K':>4}{'ours, s':>10}{'scikit-learn, s':>17}{'ratio':>8}{'difference':>12}")
    for (n, d, K), least in SHAPES.items():
        truth = rng.integers(0, K, n)
        codes = np.where(rng.random((n, d)) < 0.6, truth[:, None], rng.integers(0, K, (n, d))).astype(np.int32)
        pair_information(codes)  # libraries warm up
        ours = min(_seconds(pair_information, codes) for _ in range(REPEATS))
        started = time.process_time()
        theirs = _looped(codes)
        looped = time.process_time() - started
        apart = np.abs(np.triu(pair_information(codes).information - theirs, 1)).max()
        mark = "" if looped / ours >= least else f"  below the limit of {least:g}"
        print(f"{n:>8,}{d:>5}{K:>4}{ours:>10.4f}{looped:>17.2f}{looped / ours:>8.0f}{apart:>12.1e}{mark}", flush=True)


def _seconds(work: Any, codes: Any) -> float:
    started = time.process_time()
    work(codes)
    return time.process_time() - started


def _looped(codes: Any) -> Any:
    d = codes.shape[1]
    matrix = np.zeros((d, d))
    for i in range(d):
        for j in range(i + 1, d):
            matrix[i, j] = mutual_info_score(codes[:, i], codes[:, j])
    return matrix


if __name__ == "__main__":
    main()
