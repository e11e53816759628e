"""The default against every method: accuracy, rank and distance to the majority vote, on sets and fresh draws.

Usage: [DEEM_DATA=folder] python -m benchmarks.bench_trust [NAME ...] [--methods A,B] [--cached] [--again]

Runs are those of bench_registry, kept in the same store and with the same shortened trainings; sets are those of
bench_registry, further real ones, and draws of simulated trees, experts, independent learners, copies and families. The
majority vote is the expected value with ties as a fair draw. Methods that were cut or refused a set are marked there,
and only methods that finished every set of a kind stand in its means and ranks. Without names the page is written to
benchmarks/results/trust.md.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks import bench_registry
from benchmarks.bench_accuracy import load as load_stored
from benchmarks.paper.context import Context
from deem_core import Votes, simulation
from deem_core.comparison import METHODS
from deem_core.simulation import condind, copies_with_noise, families
from deem_core.votes.describe import majority_accuracy

FURTHER = ("llmjudge_llmbar", "llm_mmlupro", "ws_youtube", "cifar10n")
FURTHER_CROWDS = ("crowd_web", "crowd_cf", "crowd_facteval", "crowd_zencrowd_all")
SIMULATED = ("experts_wide", "moderation_missing", "crowd_long", "tree3k", "ampdata", "condind", "imagenetlike")
"""Sets under their own names that are simulated."""
ROWS = 10_000
"""Rows of each draw."""
DRAWS = {"tree": 12, "ampdata": 3, "condind": 3, "copies": 3, "families": 3}
COPIES = 3
"""Noisy copies of a guesser beside independent learners."""
SLOW = ("dnn_det", "dnn_sto")
"""Methods that draws leave out: stacked RBMs take minutes for each and are far behind everywhere."""
BELOW = 0.5
"""Points below the majority vote that count."""


@dataclass(frozen=True)
class Row:
    """Every method on one set.

    Attributes
    ----------
    name, shape : str
    majority : float
        Per cent, ties as a fair draw.
    scores : dict of str to float
        Method → accuracy in per cent, of those that finished.
    marks : dict of str to str
        Method → why it has no score, or how it was cut.
    seconds : dict of str to float
    answered_by : str
    """

    name: str
    shape: str
    majority: float
    scores: dict[str, float]
    marks: dict[str, str]
    seconds: dict[str, float]
    answered_by: str

    @property
    def simulated(self) -> bool:
        """Whether its truth is made up."""
        return self.name in SIMULATED or self.name.split("-")[0] in DRAWS


def main() -> None:
    """Run what is not known yet, print the page, and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="sets (default: all)")
    parser.add_argument("--methods", help="methods, with commas between them (default: all)")
    parser.add_argument("--cached", action="store_true", help="run nothing; use what is kept")
    parser.add_argument("--again", action="store_true", help="run all that is asked for, whatever is kept")
    options = parser.parse_args()
    known = sets()
    methods = options.methods.split(",") if options.methods else [name for name, item in METHODS.items()]
    context = Context(results=bench_registry.RESULTS / "registry", again=options.again)
    rows = [
        row_of(context, name, known[name](), methods, cached=options.cached) for name in options.names or list(known)
    ]
    text = page(rows, methods)
    print(text)
    if not options.names and not options.methods:
        (bench_registry.RESULTS / "trust.md").write_text(text, encoding="utf-8")


def sets() -> dict[str, Callable[[], Votes]]:
    """Return name → how to get it, for every set that is here and every draw."""
    known = {name: make for name, make in bench_registry.sets().items() if not name.endswith("_soft")}
    data = os.environ.get("DEEM_DATA")
    if data:
        folder = Path(data)
        known |= {name: partial(load_stored, folder, name) for name in FURTHER if (folder / f"{name}.npz").exists()}
        known |= {name: partial(_npz, folder, name) for name in FURTHER_CROWDS if (folder / f"{name}.npz").exists()}
    for kind, count in DRAWS.items():
        known |= {f"{kind}-{seed}": partial(draw, kind, seed) for seed in range(100, 100 + count)}
    return known


def _npz(folder: Path, name: str) -> Votes:
    stored = np.load(folder / f"{name}.npz", allow_pickle=False)
    codes = stored["X"].astype(np.int32)
    learners = [f"learner_{i + 1}" for i in range(codes.shape[1])]
    return Votes(codes, np.arange(int(stored["K"])), learners, truth=stored["y"].astype(np.int32))


def draw(kind: str, seed: int, rows: int = ROWS) -> Votes:
    """Return a fresh draw of a simulated ensemble, with its truth."""
    rng = np.random.default_rng(seed)
    if kind == "copies":
        return with_copies(rows, rng)
    if kind == "families":
        base = families(rows, rng=rng, n_classes=5, accuracies=(0.75, 0.7, 0.8, 0.65, 0.7))
        return copies_with_noise(base, 3, rng=rng).votes
    return simulation.make(kind, rows, seed=rng).votes


def with_copies(rows: int, rng: np.random.Generator, copies: int = COPIES) -> Votes:
    """Return independent learners beside noisy copies of one that guesses."""
    base = condind(rows, rng=rng)
    names = [f"noise_1_{c + 1}" for c in range(copies)]
    copied = copies_with_noise(base, copies, rng=rng, noise=0.05).votes.select_learners(names)
    codes = np.hstack([base.votes.codes, copied.codes])
    return Votes(codes, base.votes.classes, (*base.votes.learners, *names), truth=base.truth)


def row_of(context: Context, name: str, votes: Votes, methods: Sequence[str], *, cached: bool) -> Row:
    """Run or recall every method on a set."""
    is_draw = name.split("-", maxsplit=1)[0] in DRAWS and "-" in name
    asked = [method for method in methods if not (is_draw and method in SLOW)]
    told = dict(bench_registry.of_set(context, name, votes, asked, cached=cached))
    scores = {method: item["score"] for method, item in told.items() if not item["why_not"] and not item["cut"]}
    marks = {method: item["why_not"] or "cut" for method, item in told.items() if item["why_not"] or item["cut"]}
    shape = f"{votes.n_rows:,} × {votes.n_learners} × {votes.n_classes:,}"
    seconds = {method: item["seconds"] for method, item in told.items()}
    answered_by = told["auto"].get("answered_by", "") if "auto" in told else ""
    return Row(name, shape, 100 * majority_accuracy(votes), scores, marks, seconds, answered_by)


# ---------------------------------------------------------------------- words


def page(rows: Sequence[Row], methods: Sequence[str]) -> str:
    """Return the page: every set, then means by kind of set, then all scores."""
    parts = [("All sets", rows)]
    parts += [("Simulated sets", [row for row in rows if row.simulated])]
    parts += [("Real sets", [row for row in rows if not row.simulated])]
    return "\n".join(
        [
            "# The default against every method",
            "",
            "Made by `python -m benchmarks.bench_trust`, which explains what runs. Accuracy in per cent, one run with "
            "seed 0, no truth used; the majority vote is its expected value with ties as a fair draw. The best other "
            "method is named by the truth: nobody could have chosen it.",
            "",
            *_main_table(rows),
            "",
            *[line for title, some in parts if some for line in _means(title, some, methods)],
            "## Every method on every set",
            "",
            "Empty: not run. A dash: refused or cut.",
            "",
            *_all(rows, methods),
            "",
        ]
    )


def _main_table(rows: Sequence[Row]) -> Iterator[str]:
    heads = ("set", "rows × learners × classes", "majority vote", "best other method", "auto", "answered by")
    yield f"| {' | '.join(heads)} | auto − majority | CPU s |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows:
        others = {name: score for name, score in row.scores.items() if name not in ("auto", "mv")}
        best = max(others, key=lambda name: others[name], default="")
        other = f"{others[best]:.1f} ({METHODS[best].title})" if best else "–"
        own = row.scores.get("auto")
        cells = [row.name, row.shape, f"{row.majority:.1f}", other]
        cells += (
            ["–", "", "", ""]
            if own is None
            else [f"{own:.1f}", row.answered_by, f"{own - row.majority:+.1f}", f"{row.seconds['auto']:.1f}"]
        )
        yield f"| {' | '.join(cells)} |"


def _means(title: str, rows: Sequence[Row], methods: Sequence[str]) -> Iterator[str]:
    """Yield means over the sets of one kind, for methods that finished all of them."""
    whole = [name for name in methods if name != "mv" and all(name in row.scores for row in rows)]
    tables = [{"mv": row.majority, **{name: row.scores[name] for name in whole}} for row in rows]
    yield f"## {title}: {len(rows)}"
    yield ""
    heads = ("method", "mean accuracy", f"mean rank of {len(whole) + 1}", "worst against the majority vote")
    yield f"| {' | '.join(heads)} | sets more than {BELOW} below it |"
    yield "|---|---|---|---|---|"
    ranks = {name: np.mean([_rank(table, name) for table in tables]) for name in ("mv", *whole)}
    for name in sorted(ranks, key=lambda name: -float(np.mean([table[name] for table in tables]))):
        gains = [table[name] - table["mv"] for table in tables]
        mean = np.mean([table[name] for table in tables])
        below = sum(gain < -BELOW for gain in gains)
        yield f"| {METHODS[name].title} | {mean:.2f} | {ranks[name]:.2f} | {min(gains):+.1f} | {below} |"
    yield ""


def _rank(table: dict[str, float], name: str) -> float:
    """Return the rank of a method, ties in the middle."""
    better = sum(score > table[name] + 1e-9 for score in table.values())
    same = sum(abs(score - table[name]) <= 1e-9 for score in table.values())
    return better + (same + 1) / 2


def _all(rows: Sequence[Row], methods: Sequence[str]) -> Iterator[str]:
    names = [name for name in methods if any(name in row.scores for row in rows)]
    yield f"| set | {' | '.join(names)} |"
    yield f"|---|{'---|' * len(names)}"
    for row in rows:
        cells = [
            f"{row.scores[name]:.1f}" if name in row.scores else "–" if name in row.marks else "" for name in names
        ]
        yield f"| {row.name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
