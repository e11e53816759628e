"""Capture, and its cure: DEEM from the majority vote and from groups of learners, beside the grouped model.

Usage: [DEEM_DATA=folder] python -m benchmarks.bench_start [--restarts 2]

Tree draws 0 to 5 always; ampdata, condind, mniste (its first 15,000 rows) and uci_gesture where there is a folder of
ensembles. Per cent right on the training rows, seed 0, truth for the score alone. Every learner keeps its voice in the
trainings from the majority vote (near_copies="keep"), so that the start alone is compared.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.bench_accuracy import load
from deem_core import DEEM, Votes
from deem_core.simulation import make
from deem_core.votes.describe import accuracy

TREES = range(6)
SETS = {"ampdata": None, "condind": None, "mniste": 15_000, "uci_gesture": None}
"""Name → rows, from the first on."""


def sources() -> Iterator[tuple[str, Votes]]:
    """Yield names and votes with truth."""
    for seed in TREES:
        yield f"tree draw {seed}", make("tree", 10_000, seed=seed).votes
    folder = os.environ.get("DEEM_DATA")
    for name, most in SETS.items() if folder else ():
        votes = load(Path(str(folder)), name)
        yield (name, votes) if most is None else (f"{name} {most}", votes.select_rows(np.arange(most)))


def line(name: str, votes: Votes, restarts: int) -> str:
    """Return the row of one set."""
    assert votes.truth is not None  # noqa: S101  # every source has it
    bare, truth = votes.without_truth(), votes.truth

    def right(model: DEEM) -> float:
        return 100 * accuracy(model.fuse_codes(votes.codes).argmax(axis=1), truth)

    captured = DEEM(start="majority", near_copies="keep", restarts=restarts, random_state=0).fit(bare)
    model = DEEM(restarts=restarts, random_state=0).fit(bare)
    tree = model.start_.tree
    grouped = "-" if tree is None else f"{100 * accuracy(tree.posterior(votes.codes).argmax(axis=1), truth):.2f}"
    majority = 100 * accuracy(votes.majority_vote.codes, truth)
    return (
        f"{name:<18}{majority:>9.2f}{right(captured):>14.2f}{grouped:>10}{right(model):>10.2f}"
        f"  {model.settings_['start']['value']}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--restarts", type=int, default=2)
    restarts = parser.parse_args().restarts
    print(f"DEEM with {restarts} restarts; per cent right\n")
    print(f"{'set':<18}{'majority':>9}{'from majority':>14}{'grouped':>10}{'DEEM':>10}  start")
    for name, votes in sources():
        print(line(name, votes, restarts), flush=True)


if __name__ == "__main__":
    main()
