"""Alarms against failures: whether there was a warning where a method ends below the majority vote.

Usage: DEEM_DATA=folder python -m benchmarks.bench_alarms [NAME ...] [--rows 5000] [--draws 6]

Every set is cut to 5,000 evenly spread rows. A failure is an accuracy of more than a point below the majority vote
with ties drawn fairly. The truth is used for that alone, after the alarms were raised. Simulated trees (tree-0 …) stand
beside the sets: there captured methods fall below the vote. DEEM is left out, as it is slow.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.bench_accuracy import load
from deem_core import Votes, simulation
from deem_core.alarm import Kind
from deem_core.answers.alarms import alarms, file_health
from deem_core.errors import DeemError
from deem_core.methods import registry
from deem_core.votes.arrays import spread_rows
from deem_core.votes.describe import accuracy, majority_accuracy

METHODS = ("ds", "onecoin", "ebcc", "la2", "lsml", "irbm")
ENSEMBLES = (
    *("mniste", "mniste47", "condind", "tree3k", "ampdata", "uci_artchars", "uci_gesture", "ens_letter", "ens_digits"),
)
OTHERS = (
    *("llmjudge_llmbar", "llm_mmlupro", "ws_youtube", "cifar10n", "crowd_web", "crowd_cf", "crowd_facteval"),
    *("crowd_zencrowd_all", "crowd_bluebird", "crowd_rte", "crowd_ms", "crowd_dog", "crowd_zencrowd_us"),
)
FAILURE = 1.0
"""Points below the majority vote that count as a failure."""


@dataclass(frozen=True)
class Line:
    """One method on one set.

    Attributes
    ----------
    name, method : str
    gain : float
        Points above the majority vote with ties drawn.
    kinds : tuple of str
        Alarms that were raised.
    """

    name: str
    method: str
    gain: float
    kinds: tuple[Kind, ...]

    @property
    def failed(self) -> bool:
        """Whether it is more than a point below the majority vote."""
        return self.gain < -FAILURE

    def warned(self, without: Sequence[Kind] = ()) -> bool:
        """Return whether there was an alarm; rows without votes are no warning."""
        return any(kind not in (*without, "silent rows") for kind in self.kinds)


def main() -> None:
    """Print a line for each set and method, and the counts of hits and misses."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="data sets (default: all)")
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--draws", type=int, default=6, help="simulated trees beside the sets")
    options = parser.parse_args()
    folder = os.environ.get("DEEM_DATA")
    if not folder:
        print("Skipped: set DEEM_DATA to the folder of the ensembles.")
        return
    print(f"{'set':<20}{'MV':>7}{'s':>6}  {'method':<9}{'− MV':>7}   alarms")
    lines = []
    for name in options.names or (*ENSEMBLES, *(f"tree-{seed}" for seed in range(options.draws)), *OTHERS):
        lines.extend(measured(name, cut(votes_of(Path(folder), name), options.rows)))
    print()
    for line in summary(lines):
        print(line)


def votes_of(folder: Path, name: str) -> Votes:
    """Return a set with truth, or a simulated tree."""
    if name.startswith("tree-"):
        return simulation.simulate("tree", 5000, int(name.removeprefix("tree-"))).votes
    if (folder / f"{name}.npz").exists():
        stored = np.load(folder / f"{name}.npz")
        learners = [str(learner) for learner in stored["learners"]]
        codes, truth = stored["X"].astype(np.int32), stored["y"].astype(np.int32)
        return Votes(codes, np.arange(int(stored["K"])), learners, truth=truth)
    return load(folder, name)


def cut(votes: Votes, rows: int) -> Votes:
    """Return evenly spread rows, and the learners who voted on them."""
    some = votes.select_rows(spread_rows(votes.n_rows, rows))
    there = np.flatnonzero((some.codes >= 0).any(axis=0))
    learners = [some.learners[i] for i in there.tolist()]
    return Votes(some.codes[:, there], some.classes, learners, truth=some.truth, truth_only=some.truth_only)


def measured(name: str, votes: Votes) -> Iterator[Line]:
    """Yield every method on one set, and print it."""
    begun = time.perf_counter()
    health = file_health(votes)
    seconds, right = time.perf_counter() - begun, majority_accuracy(votes)
    assert votes.truth is not None  # noqa: S101
    for at, method in enumerate(METHODS):
        start = f"{name:<20}{100 * right:>7.1f}{seconds:>6.1f}" if not at else " " * 33
        try:
            made = registry.aggregate(method, votes, np.random.default_rng(0))
        except DeemError as error:
            print(f"{start}  {method:<9}   {error}", flush=True)
            continue
        kinds = tuple(alarm.kind for alarm in alarms(made.answer(votes.without_truth(), method), health))
        line = Line(name, method, 100 * (accuracy(made.codes, votes.truth) - right), kinds)
        mark = "" if not line.failed else "  hit" if line.warned() else "  MISSED"
        print(f"{start}  {method:<9}{line.gain:>+7.1f}   {', '.join(kinds) or '–'}{mark}", flush=True)
        yield line


def summary(lines: Sequence[Line]) -> Iterator[str]:
    """Yield hits among failures and alarms among the others, by method and kind of set."""
    yield "Failures announced, and alarms where the method did not fail; in brackets without the alarm of capture"
    yield f"{'':<10}{'ensembles, trees':>42}{'crowds, panels, rules':>42}"
    for method in (*METHODS, "all"):
        cells = []
        for crowd in (False, True):
            own = [each for each in lines if method in (each.method, "all") and (each.name in OTHERS) == crowd]
            bad, good = ([each for each in own if each.failed == failed] for failed in (True, False))
            hits, quiet = (sum(each.warned(no) for each in bad) for no in ((), ("capture",)))
            false, less = (sum(each.warned(no) for each in good) for no in ((), ("capture",)))
            cells.append(f"hit {hits} ({quiet}) of {len(bad)}, false {false} ({less}) of {len(good)}")
        yield f"{method:<10}{cells[0]:>42}{cells[1]:>42}"


if __name__ == "__main__":
    main()
