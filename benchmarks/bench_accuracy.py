"""Accuracy of the default settings on the ensembles under DEEM_DATA, beside simpler methods and the paper.

Usage: DEEM_DATA=folder python -m benchmarks.bench_accuracy [NAME ...] [--seed 0]

No truth reaches training. "mean ± sd" is over the kept restarts of the first training, "consensus" is what fuse
answers. A figure below its floor is marked.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deem_core import DEEM, IRBM, Votes, read_votes
from deem_core.methods import dawid_skene
from deem_core.training.parts import Part
from deem_core.votes.describe import accuracy, majority_accuracy

FLOORS = {
    "mniste": 95.0,
    "mniste47": 95.2,
    "tree3k": 97.5,
    "ampdata": 95.5,
    "condind": 94.5,
    "uci_artchars": 78.7,
    "uci_gesture": 62.3,
    "ens_letter": 72.9,
    "ens_digits": 90.5,
    "crowd_zencrowd_us": 84.0,
}
CROWDS = (
    "crowd_bluebird",
    "crowd_rte",
    "crowd_ms",
    "crowd_dog",
    "crowd_zencrowd_us",
)  # majority vote − 0.5 but for the last
PAPER = {"mniste": 94.95, "tree3k": 95.52, "ampdata": 96.4}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="data sets (default: all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--near-copies", default="guard")
    options = parser.parse_args()
    folder = os.environ.get("DEEM_DATA")
    if not folder:
        print("Skipped: set DEEM_DATA to the folder of the ensembles.")
        return
    header = f"{'set':<18}{'MV':>7}{'DS 10':>7}{'DS conv':>8}{'IRBM':>7}{'DEEM mean ± sd':>18}{'consensus':>11}"
    print(f"{header}{'floor':>7}{'paper':>7}{'kept':>6}{'s':>6}")
    for name in options.names or [*(key for key in FLOORS if not key.startswith("crowd")), *CROWDS]:
        print(_line(name, load(Path(folder), name), options.seed, options.near_copies), flush=True)


def load(folder: Path, name: str) -> Votes:
    """Return the votes of a set, with truth."""
    file, crowd = folder / f"{name}.npz", folder / "crowd"
    if not file.exists():
        return read_votes(crowd / f"{name}.label.csv.gz", truth_file=crowd / f"{name}.truth.csv")
    stored = np.load(file)
    classes = np.arange(int(stored["K"]))
    learners = [str(learner) for learner in stored["learners"]]
    return Votes(stored["X"].astype(np.int32), classes, learners, truth=stored["y"].astype(np.int32))


def _line(name: str, votes: Votes, seed: int, near_copies: str) -> str:
    truth = votes.truth
    assert truth is not None  # noqa: S101

    def percent(codes: NDArray[np.integer]) -> float:
        return 100 * accuracy(codes, truth)

    rng = np.random.default_rng(seed)
    majority = 100 * majority_accuracy(votes)  # ties as a fair draw
    ten = dawid_skene.aggregate(votes, rng, tolerance=0, max_iterations=10)
    converged = dawid_skene.aggregate(
        votes, rng, tolerance=dawid_skene.CONVERGED_TOLERANCE, max_iterations=dawid_skene.CONVERGED_MAX_ITERATIONS
    )
    bare = votes.without_truth()
    exact = IRBM(random_state=seed).fit(bare).fuse_codes(votes.codes).argmax(1)
    begun = time.perf_counter()
    model = DEEM(random_state=seed, near_copies=near_copies).fit(bare)
    consensus = percent(model.fuse_codes(votes.codes).argmax(1))
    seconds = time.perf_counter() - begun
    singles = [percent(_alone(model.parts_[0], r).posteriors(votes.codes).argmax(1)) for r in _restarts(model)]
    spread = f"{np.mean(singles):.2f} ± {np.std(singles):.2f}" if singles else "fallback"
    floor = FLOORS.get(name, majority - 0.5)
    mark = " *" if consensus < floor and near_copies == "guard" else ""
    kept = sum(restart["kept"] for restart in model.restarts_)
    return (
        f"{name:<18}{majority:>7.2f}{percent(ten.codes):>7.2f}{percent(converged.codes):>8.2f}{percent(exact):>7.2f}"
        f"{spread:>18}{consensus:>11.2f}{floor:>7.1f}{PAPER.get(name, ''):>7}{kept:>3}/{len(model.restarts_):<2}"
        f"{seconds:>6.0f}{mark}"
    )


def _restarts(model: DEEM) -> range:
    return range(model.parts_[0].model.n_models) if model.parts_ else range(0)


def _alone(part: Part, restart: int) -> Part:
    return Part(part.reduction, part.model.single(restart), part.maps[restart : restart + 1], part.exact)


if __name__ == "__main__":
    main()
