"""Regret of the guided learning rate: accuracy lost against the best rate of the grid, which only truth can name.

Usage: [DEEM_DATA=folder] python -m benchmarks.bench_guidance [NAME ...] [--quick] [--cached]

Each set is swept without truth (`deem_core.sweep`, default settings, seed 0), and trained at every rate of the grid
as users train, but with one restart: a collapsed restart counts as the majority vote that it falls back to. Regret =
best accuracy on the grid − accuracy at the recommended rate; where no rate is safe, the majority vote is the answer.
Beside it stands the regret of always taking the default rate. Accuracies of single restarts differ by a point from
seed to seed, and the best of nine profits from that luck: so the accuracy of a rate is its mean over SEEDS trainings,
and what one training alone (seed 0) would have said is printed too.

The rule (deem_core/training/guidance) was chosen looking at truth on the draws in TUNED, and is the third that was
tried: the smallest rate with a recovery of 0.75 lost 1.2 points on tree-100, the largest rate well below the first
that fails lost 9.2 on ampdata-101. "fresh" draws and the ensembles under DEEM_DATA, of which at most 10,000 evenly
spread rows are used, took no part in that. Two things came after a first look at all sets, by one training of each
rate, had shown a mean of 0.63 on 22 of them: the mean over several trainings, and, on seeing ampdata-2 (a "fresh"
draw, 7.8 points then), that DEEM trains further restarts where too few survive. The rule itself was not touched.

"rates" counts the rates trained so far: with fewer than nine the best of the grid, and so the regret, may be higher
than shown; "seeds" counts the trainings of every rate. Everything trained is kept in benchmarks/results/guidance, so
that a change of the rule costs no training and a run that was stopped goes on; --cached uses only what is there. The
table is written to benchmarks/results/guidance.md.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from benchmarks.bench_accuracy import load
from deem_core import DEEM, Votes, simulation, sweep
from deem_core.files.atomic import write_json
from deem_core.model.config import Shape, TrainConfig, resolve
from deem_core.training import guidance
from deem_core.training.sweep import default_rates
from deem_core.votes.arrays import spread_rows
from deem_core.votes.describe import accuracy, majority_accuracy

TUNED = (
    *("tree-0", "tree-1", "tree-100", "ampdata-0", "ampdata-1", "ampdata-100", "ampdata-101"),
    *("condind-0", "condind-1", "condind-100", "condind-101", "copies-0", "copies-100", "copies-101"),
)
FRESH = ("tree-2", "ampdata-2", "condind-2", "copies-2")
REAL = (
    "tree3k",
    "ampdata",
    "condind",
    "uci_gesture",
    "ens_digits",
    "uci_artchars",
    "ens_letter",
    "mniste47",
    "mniste",
)
QUICK = FRESH
DRAWN_ROWS, QUICK_ROWS, MOST_ROWS, TABLE_ROWS = 5_000, 1_000, 10_000, 4_000
SEEDS = 3
"""Trainings of every rate."""
GOAL = 0.5
"""Mean regret to stay below, in points."""
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Line:
    """One set: accuracies in per cent, means over ``seeds`` trainings; ``single`` is the regret of seed 0 alone."""

    name: str
    kind: str
    rows: int
    majority: float
    best_rate: float
    best: float
    recommended: float | None
    found: float
    fixed: float
    rates: int
    seeds: int
    single: float

    @property
    def regret(self) -> float:
        """Points lost by taking the recommended rate."""
        return self.best - self.found

    @property
    def fixed_regret(self) -> float:
        """Points lost by taking the default rate."""
        return self.best - self.fixed


def main() -> None:
    """Print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="sets (default: all)")
    parser.add_argument("--quick", action="store_true", help=f"{len(QUICK)} draws of {QUICK_ROWS:,} rows only")
    parser.add_argument("--cached", action="store_true", help="train nothing; use what is kept")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="trainings of every rate (default: %(default)s)")
    options = parser.parse_args()
    names = options.names or (QUICK if options.quick else (*TUNED, *FRESH, *REAL))
    lines = []
    for name in names:
        line = _line(name, quick=options.quick, seeds=0 if options.cached else options.seeds)
        if line is not None:
            lines.append(line)
            print(" | ".join(_cells(line)), flush=True)
    if not lines:
        print("Nothing to show: run without --cached, or set DEEM_DATA.")
        return
    missing = [name for name in names if name not in {line.name for line in lines}]
    said = [*_summary(lines), f"Not measured yet: {', '.join(missing) or 'none'}."]
    print("\n".join(said))
    if not options.quick and not options.names:
        (RESULTS / "guidance.md").write_text(_page(lines, said), encoding="utf-8")


def votes_of(name: str, rows: int) -> Votes | None:
    """Return a draw such as ``tree-1`` or a set under DEEM_DATA; None if that is not there."""
    if "-" in name:
        kind, seed = name.rsplit("-", 1)
        if kind == "tables":
            return classifiers(int(seed))
        small = {"n_learners": 9, "n_classes": 5} if kind == "copies" else {}
        return simulation.make(kind, rows, int(seed), **small).votes
    folder = os.environ.get("DEEM_DATA")
    if not folder:
        return None
    votes = load(Path(folder), name)
    return votes.select_rows(spread_rows(votes.n_rows, MOST_ROWS))


def classifiers(seed: int) -> Votes:
    """Return nine families of classifiers on a table of `make_classification`, voting out of fold."""
    K = 3 + seed % 4
    features, truth = make_classification(
        TABLE_ROWS,
        n_features=12,
        n_informative=8,
        n_redundant=0,
        n_classes=K,
        n_clusters_per_class=2,
        flip_y=0.03,
        class_sep=0.9,
        random_state=seed,
    )
    learners = {
        "logistic": LogisticRegression(max_iter=300),
        "ridge": RidgeClassifier(),
        "bayes": GaussianNB(),
        "discriminant": QuadraticDiscriminantAnalysis(),
        "neighbours": KNeighborsClassifier(5),
        "centroid": NearestCentroid(),
        "tree": DecisionTreeClassifier(max_depth=6, random_state=seed),
        "forest": RandomForestClassifier(30, max_depth=6, random_state=seed),
        "support": SVC(C=1.0, random_state=seed),
    }
    votes = [cross_val_predict(each, features, truth, cv=3) for each in learners.values()]
    return Votes(np.stack(votes, axis=1).astype(np.int32), np.arange(K), tuple(learners), truth=truth.astype(np.int32))


def _line(name: str, *, quick: bool, seeds: int) -> Line | None:
    """Return what is known of a set, after training every rate with so many seeds (0: train nothing)."""
    votes = votes_of(name, QUICK_ROWS if quick else DRAWN_ROWS)
    if votes is None or votes.truth is None:
        return None
    file = RESULTS / "guidance" / f"{name}{'.quick' if quick else ''}.json"
    known: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"accuracy": {}}
    grid = default_rates(Shape.of(votes))
    default = float(resolve(TrainConfig(), Shape.of(votes)).config.learning_rate or 0)
    if seeds:
        _complete(file, known, votes, grid, 1 if quick else seeds)
    if "sweep" not in known:
        return None
    chosen = recommended(known["sweep"])
    runs = {float(rate): 100 * np.array(shares) for rate, shares in known["accuracy"].items()}
    if default not in runs or (chosen is not None and chosen not in runs):
        return None
    done = min(map(len, runs.values()))
    majority = 100 * majority_accuracy(votes)  # ties as a fair draw
    found = {rate: float(shares[:done].mean()) for rate, shares in runs.items()}
    first = {rate: float(shares[0]) for rate, shares in runs.items()}
    best = max(found, key=lambda rate: found[rate])
    return Line(
        name=name,
        kind="tuned" if name in TUNED else "fresh" if "-" in name else "real",
        rows=votes.n_rows,
        majority=majority,
        best_rate=best,
        best=found[best],
        recommended=chosen,
        found=majority if chosen is None else found[chosen],
        fixed=found[default],
        rates=len(found),
        seeds=done,
        single=max(first.values()) - (majority if chosen is None else first[chosen]),
    )


def _complete(file: Path, known: dict[str, Any], votes: Votes, grid: list[float], seeds: int) -> None:
    """Sweep and train what is not known yet, and keep each result at once."""
    file.parent.mkdir(parents=True, exist_ok=True)
    bare = votes.without_truth()
    if "sweep" not in known:
        made = sweep(bare, grid, random_state=0, start="majority")
        known["sweep"] = {
            "rates": made.rates,
            "positive": made.positive.round(5),
            "negative": made.negative.round(5),
            "share_ratio": made.share_ratio,
            "failures": made.failures,
            "seconds": made.seconds,
        }
        write_json(known, file)
        known |= json.loads(file.read_text(encoding="utf-8"))
    for seed in range(seeds):
        for rate in reversed(grid):  # large rates are quick: what is known first tells most
            runs = known["accuracy"].setdefault(f"{rate:g}", [])
            if len(runs) <= seed:
                model = DEEM(learning_rate=rate, restarts=1, start="majority", random_state=seed).fit(bare)
                labels = model.fuse_codes(votes.codes).argmax(axis=1)
                runs.append(accuracy(labels, votes.truth))  # type: ignore[arg-type]
                write_json(known, file)


def recommended(curves: dict[str, Any]) -> float | None:
    """Return the rate that the present rule recommends from curves that were kept."""
    shown = guidance.Shown(
        rates=np.array(curves["rates"], np.float64),
        positive=np.array(curves["positive"], np.float64),
        negative=np.array(curves["negative"], np.float64),
        share_ratio=np.array(curves["share_ratio"], np.float64),
        failures={int(at): why for at, why in curves["failures"].items()},
    )
    default = float(np.median(shown.rates))  # the grid is centred on it
    return guidance.recommend(guidance.judge_curves(shown), guidance.FLOOR * default)[1].learning_rate


# ---------------------------------------------------------------------- words


HEADER = (
    *("set", "kind", "rows", "rates", "seeds", "majority", "best rate", "best", "guided rate", "guided", "regret"),
    *("one seed's", "default rate's"),
)


def _cells(line: Line) -> list[str]:
    return [
        line.name,
        line.kind,
        f"{line.rows:,}",
        str(line.rates),
        str(line.seeds),
        f"{line.majority:.2f}",
        f"{line.best_rate:g}",
        f"{line.best:.2f}",
        "none is safe" if line.recommended is None else f"{line.recommended:g}",
        f"{line.found:.2f}",
        f"{line.regret:.2f}",
        f"{line.single:.2f}",
        f"{line.fixed_regret:.2f}",
    ]


def _summary(lines: list[Line]) -> list[str]:
    said = []
    groups = {"all": lines, **{kind: [one for one in lines if one.kind == kind] for kind in ("tuned", "fresh", "real")}}
    for name, own in groups.items():
        if not own:
            continue
        regret, fixed = [one.regret for one in own], [one.fixed_regret for one in own]
        worst = own[int(np.argmax(regret))]
        said.append(
            f"{name} ({len(own)} sets): mean regret {np.mean(regret):.2f} (goal {GOAL}), worst {worst.regret:.2f} "
            f"({worst.name}); always the default rate: mean {np.mean(fixed):.2f}, worst {max(fixed):.2f}; by one "
            f"training of each rate: mean {np.mean([one.single for one in own]):.2f}."
        )
    return said


def _page(lines: list[Line], said: list[str]) -> str:
    rows = ["| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    rows += ["| " + " | ".join(_cells(line)) + " |" for line in lines]
    text = [f"- {sentence}" for sentence in said]
    intro = "Made by `python -m benchmarks.bench_guidance`, which explains the columns; regrets in points of accuracy."
    return "\n".join(["# Regret of the guided learning rate", "", intro, "", *text, "", *rows, ""])


if __name__ == "__main__":
    main()
