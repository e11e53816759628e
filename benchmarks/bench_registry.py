"""Every method of the registry on every set that is here: sample_data, and DEEM_DATA with its soft and crowd sets.

Usage: [DEEM_DATA=folder] python -m benchmarks.bench_registry [NAME ...] [--methods A,B] [--cached] [--again]

One run each, seed 0, no truth used; CPU seconds of one process, best with OMP_NUM_THREADS=1. A method that iterates is
cut after BUDGET CPU seconds. Trained methods are whole, but `deem` and `irbm_cd` have one restart instead of the
default number, and few updates on sets of very many classes: their figures say that they work, not how good they can
be (that is bench_accuracy's business). A posterior with a NaN, a row that does not sum to 1 or a label out of range is
printed loudly, and the exit code is 1.

Every result is kept in benchmarks/results/registry, so that a run that was stopped goes on; --cached uses only what is
there, --again does the named sets and methods anew, as is needed after a change of a method. Without names the tables
are written to benchmarks/results/registry.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.bench_accuracy import CROWDS
from benchmarks.bench_accuracy import load as load_stored
from benchmarks.paper.context import Context
from benchmarks.paper.data import SAMPLES, stored_soft
from deem_core import Votes, read_votes
from deem_core.comparison import METHODS, Entry
from deem_core.control import Stopped, StopWhen
from deem_core.errors import DeemError
from deem_core.estimators import as_methods
from deem_core.methods import Aggregate
from deem_core.votes import NO_VOTE
from deem_core.votes.describe import accuracy, majority_accuracy

BUDGET = 120.0
"""CPU seconds after which a method that iterates is cut."""
TRAINING = {"restarts": 1}
FEW_UPDATES, MANY_CLASSES = 300, 500
"""Updates of trained methods on sets with more than so many classes, so that each stays below three minutes."""
RESULTS = Path(__file__).parent / "results"
SAMPLE_FILES: dict[str, dict[str, Any]] = {
    "experts_wide": {},
    "moderation_missing": {},
    "crowd_long": {"truth_file": SAMPLES / "crowd_long_truth.csv"},
    "digits_soft": {"truth": "label"},
}
STORED = (
    *("tree3k", "ampdata", "condind", "uci_gesture", "uci_artchars", "ens_digits", "ens_letter", "mniste", "mniste47"),
    "imagenetlike",
)
STORED_SOFT = ("uci_gesture", "uci_artchars")
CUT, UNFINISHED = "†", "‡"

Told = dict[str, Any]


class _NotKeptError(Exception):
    """Nothing is known of a method on a set, and nothing shall run."""


def main() -> int:
    """Run what is not known yet, print it, write the tables and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="sets (default: all)")
    parser.add_argument("--methods", help="methods, with commas between them (default: all)")
    parser.add_argument("--cached", action="store_true", help="run nothing; use what is kept")
    parser.add_argument("--again", action="store_true", help="run all that is asked for, whatever is kept")
    options = parser.parse_args()
    known = sets()
    names = options.names or list(known)
    methods = options.methods.split(",") if options.methods else list(METHODS)
    unknown = [name for name in names if name not in known] + [name for name in methods if name not in METHODS]
    if unknown:
        parser.error(f"There is no {', '.join(unknown)} here; sets: {', '.join(known)}; methods: {', '.join(METHODS)}.")
    context = Context(results=RESULTS / "registry", again=options.again)
    found: dict[str, dict[str, Told]] = {}
    shapes: dict[str, str] = {}
    for name in names:
        votes = known[name]()
        shapes[name] = f"{votes.n_rows:,} × {votes.n_learners} × {votes.n_classes:,}"
        found[name] = dict(of_set(context, name, votes, methods, cached=options.cached))
    page = _page(shapes, found, methods)
    print(page)
    if not options.names and not options.methods:
        (RESULTS / "registry.md").write_text(page, encoding="utf-8")
    return 1 if any(told["faults"] for of_set in found.values() for told in of_set.values()) else 0


def sets() -> dict[str, Callable[[], Votes]]:
    """Return name → how to read it, for every set that is here."""
    known: dict[str, Callable[[], Votes]] = {
        name: partial(read_votes, SAMPLES / f"{name}.csv", **asked) for name, asked in SAMPLE_FILES.items()
    }
    data = os.environ.get("DEEM_DATA")
    if data:
        folder = Path(data)
        there = [name for name in STORED if (folder / f"{name}.npz").exists()]
        there += [name for name in CROWDS if (folder / "crowd" / f"{name}.truth.csv").exists()]
        known |= {name: partial(load_stored, folder, name) for name in there}
        soft = [name for name in STORED_SOFT if (folder / f"{name}_soft.npz").exists()]
        known |= {f"{name}_soft": partial(_soft, name) for name in soft}
    return known


def _soft(name: str) -> Votes:
    votes = stored_soft(name)
    assert votes is not None  # noqa: S101  # asked by the caller
    return votes


# ---------------------------------------------------------------------- running


def of_set(
    context: Context, name: str, votes: Votes, methods: Iterable[str], *, cached: bool
) -> Iterable[tuple[str, Told]]:
    """Yield what is known of each method on a set."""
    for method in methods:
        item = METHODS[method]
        settings = _training(votes) if item in _shortened() else {}
        asked = {"method": method, "seed": 0, "budget": BUDGET, "training": settings}

        def run(item: Entry = item, settings: dict[str, int] = settings) -> Told:
            if cached:
                raise _NotKeptError
            return run_once(votes, item, settings)

        try:
            told = context.unit(f"{name}-{method}", votes, asked, run)
        except _NotKeptError:
            continue
        for fault in told["faults"]:
            print(f"!!! {name}, {method}: {fault}", file=sys.stderr, flush=True)
        yield method, told


def _shortened() -> list[Entry]:
    """Return the methods whose training is shortened: those that are `DEEM` or `IRBM` with default settings."""
    return [item for item in METHODS.values() if item.whole and item.function.startswith(as_methods.__name__)]


def _training(votes: Votes) -> dict[str, int]:
    return {**TRAINING, "updates": FEW_UPDATES} if votes.n_classes > MANY_CLASSES else dict(TRAINING)


def run_once(votes: Votes, item: Entry, settings: dict[str, int]) -> Told:
    """Run a method once without truth; return its score, its cost, and what is wrong with its answer."""
    method, why_not, made = item.load(), "", None
    bare, begun = votes.without_truth(), time.process_time()

    def over() -> bool:
        return not item.whole and time.process_time() - begun > BUDGET

    try:
        with ExitStack() as short:
            for name in ("DEEM", "IRBM") if settings else ():
                short.enter_context(patch.object(as_methods, name, partial(getattr(as_methods, name), **settings)))
            made = method(bare, np.random.default_rng(0), control=StopWhen(over))
    except Stopped as error:
        why_not = f"No answer within {BUDGET:g} s. {error}"
    except DeemError as error:
        why_not = str(error)
    seconds = time.process_time() - begun
    told: Told = {"seconds": seconds, "why_not": why_not, "score": None, "faults": [], "cut": False, "finished": True}
    if made is None:
        return told
    told |= {
        "score": _score(votes, made, item),
        "faults": faults(votes, made),
        "cut": made.cut,
        "finished": made.converged,
    }
    return {**told, "iterations": made.iterations, "notes": list(made.notes), "answered_by": made.answered_by}


def _score(votes: Votes, made: Aggregate, item: Entry) -> float:
    """Return the accuracy in per cent, or the agreement with majority vote where no truth is known.

    That of the majority vote itself is the expected one of a fair draw of its ties.
    """
    if item.name == "mv" and votes.truth is not None:
        return 100 * majority_accuracy(votes)
    reference = votes.majority_vote.codes if votes.truth is None else votes.truth
    return 100 * accuracy(made.codes, reference)


def faults(votes: Votes, made: Aggregate) -> list[str]:
    """Return what must never be so in an answer."""
    wrong = []
    if made.posterior.shape != (votes.n_rows, votes.n_classes):
        return [f"its posterior has the shape {made.posterior.shape}"]
    if not np.isfinite(made.posterior).all():
        wrong.append(f"{int((~np.isfinite(made.posterior)).any(axis=1).sum()):,} rows have no number for a class")
    off = np.abs(made.posterior.sum(axis=1) - 1)
    if not off.max() < 1e-6:
        wrong.append(f"a row sums to 1 only within {off.max():.1e}")
    if made.posterior.min() < 0:
        wrong.append(f"a probability is {made.posterior.min():.1e}")
    voted = votes.votes_per_row > 0
    if not ((made.codes[voted] >= 0) & (made.codes[voted] < votes.n_classes)).all():
        wrong.append("a label is none of the classes")
    if (made.codes[~voted] != NO_VOTE).any():
        wrong.append("a row without votes has a label")
    return wrong


# ---------------------------------------------------------------------- words


def _page(shapes: dict[str, str], found: dict[str, dict[str, Told]], methods: Sequence[str]) -> str:
    refused: dict[str, list[tuple[str, str]]] = defaultdict(list)  # sentence → (method, set)
    for name, of_set in found.items():
        for method, told in of_set.items():
            if told["why_not"]:
                refused[told["why_not"]].append((method, name))
    place = {sentence: at for at, sentence in enumerate(refused, 1)}
    loud = [
        f"**{name}, {method}: {fault}.**"
        for name, of_set in found.items()
        for method, told in of_set.items()
        for fault in told["faults"]
    ]

    def score(told: Told) -> str:
        if told["why_not"]:
            return f"[{place[told['why_not']]}]"
        return f"{told['score']:.1f}{CUT if told['cut'] else '' if told['finished'] else UNFINISHED}"

    def seconds(told: Told) -> str:
        return "" if told["why_not"] else f"{told['seconds']:.1f}"

    training = ", ".join(f"{name} = {value}" for name, value in TRAINING.items())
    short = ", ".join(f"`{item.name}`" for item in _shortened())
    return "\n".join(
        [
            "# Every method of the registry on every set",
            "",
            "Made by `python -m benchmarks.bench_registry`, which explains what runs. Accuracy in per cent, one run "
            f"with seed 0, no truth used. {CUT} cut after {BUDGET:g} CPU seconds, {UNFINISHED} ended before its own "
            "stop rule was met (or a training that fell back to majority vote), [n] refused: the sentence is below. "
            f"{short} with {training} (the default is more), and on sets of more than {MANY_CLASSES} classes with "
            f"updates = {FEW_UPDATES}: these figures say that they work, not how good they can be.",
            "",
            *(loud or ["No posterior has a NaN, all rows sum to 1 and all labels are in range."]),
            "",
            *_table(shapes, found, methods, score),
            "",
            "## CPU seconds",
            "",
            *_table(shapes, found, methods, seconds),
            "",
            "## Refused",
            "",
            *(_refusal(at, sentence, refused[sentence]) for sentence, at in place.items()),
            "",
        ]
    )


def _refusal(at: int, sentence: str, held: Sequence[tuple[str, str]]) -> str:
    methods, names = (dict.fromkeys(column) for column in zip(*held, strict=True))
    return f"{at}. {', '.join(f'`{method}`' for method in methods)}: {sentence} ({', '.join(names)})"


def _table(
    shapes: dict[str, str],
    found: dict[str, dict[str, Told]],
    methods: Sequence[str],
    cell: Callable[[Told], str],
) -> list[str]:
    rows = [["set", "rows × learners × classes", *methods], ["---"] * (2 + len(methods))]
    for name, of_set in found.items():
        cells = [cell(of_set[method]) if method in of_set else "" for method in methods]
        rows.append([name, shapes[name], *cells])
    return [f"| {' | '.join(row)} |" for row in rows]


if __name__ == "__main__":
    sys.exit(main())
