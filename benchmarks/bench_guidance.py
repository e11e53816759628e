"""Regret of learning rates: accuracy lost against the best rate of the grid, which only truth can name.

Usage: [DEEM_DATA=folder] python -m benchmarks.bench_guidance [NAME ...] [--quick] [--cached] [--seeds 5] [--minutes 60]

Each set is swept without truth (`deem_core.sweep`, default settings, seed 0), and trained from the majority vote at
every rate of the grid as users train, but with one restart: a collapsed restart counts as the majority vote that it
falls back to. A rate's accuracy is its mean over trainings that differ by their seed. Regret = best accuracy on the
grid − accuracy at the rate that a rule takes; where a rule takes none, the majority vote is the answer.

The best of nine means profits from luck. So a second figure is cross-fitted: the best rate by one half of the trainings
is compared with the rule's rate on the other half, both ways round. It is free of that luck, and may be negative; it
needs two trainings of each rate.

Rules, all without truth: *guided* is the product's (`deem_core.training.guidance.recommend`); *no referee* the same
without the grouped likelihood; *referee's best* takes the safe rate with the best grouped likelihood where there is
one; *twice the default* and *default* look at no curve; *smallest usable* is the paper's; *earlier rule* the smallest
usable from twice the default on, which was the product's.

The rule was chosen on the sets in TUNED alone, most with two trainings of each rate, by these figures; those in JUDGED
took no part: other draws, ensembles of classifiers on generated tables, and real sets that no earlier rule saw. Sets
under DEEM_DATA are cut to 10,000 evenly spread rows.

Everything trained is kept in benchmarks/results/guidance, sweeps first, then one seed of all sets after the other: a
run that was stopped goes on, and a change of the rule costs no training. --cached uses only what is there. The table
is written to benchmarks/results/guidance.md.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
from deem_core.model.config import Shape
from deem_core.training import guidance
from deem_core.training.guidance import Shown, Verdict
from deem_core.training.sweep import default_rates
from deem_core.typing import Floats
from deem_core.votes.arrays import spread_rows
from deem_core.votes.describe import accuracy, majority_accuracy

TUNED = (
    *("tree-0", "tree-1", "tree-100", "tree-2", "ampdata-0", "ampdata-1", "ampdata-100", "ampdata-101", "ampdata-2"),
    *("condind-0", "condind-1", "condind-100", "condind-101", "condind-2"),
    *("copies-0", "copies-100", "copies-101", "copies-2"),
    *("tree3k", "ampdata", "condind", "uci_gesture", "ens_digits", "uci_artchars", "mniste47", "mniste"),
)
JUDGED = (
    *("tree-300", "ampdata-300", "copies-300", "ws_youtube", "cifar10n", "tables-1", "tree-301", "copies-301"),
    *("tables-0", "condind-300", "ampdata-301", "condind-301"),
)
QUICK = ("tree-300", "copies-300")
DRAWN_ROWS, QUICK_ROWS, MOST_ROWS, TABLE_ROWS = 5_000, 1_000, 10_000, 4_000
SEEDS = 5
"""Trainings of every rate."""
GOAL, WORST_GOAL = 0.3, 1.5
"""Mean and worst regret to stay below, in points."""
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Line:
    """One set.

    Attributes
    ----------
    name : str
    tuned : bool
    rows : int
    referee : bool
        Whether the grouped model explains its votes.
    majority : float
        Per cent, ties as a fair draw.
    rates : (9,)
    runs : (9, s)
        Accuracies in per cent.
    chosen : dict of str to int or None
        Rule → position of its rate.
    verdicts : tuple of Verdict
    """

    name: str
    tuned: bool
    rows: int
    referee: bool
    majority: float
    rates: Floats
    runs: Floats
    chosen: dict[str, int | None]
    verdicts: tuple[Verdict, ...]

    @property
    def best(self) -> int:
        """Position of the best rate."""
        return int(self.runs.mean(axis=1).argmax())

    def found(self, rule: str) -> float:
        """Accuracy at the rate of a rule."""
        at = self.chosen[rule]
        return self.majority if at is None else float(self.runs[at].mean())

    def regret(self, rule: str) -> float:
        """Points lost against the best of the nine means."""
        return float(self.runs[self.best].mean()) - self.found(rule)

    def fair_regret(self, rule: str) -> float:
        """Points lost against the best rate of the other half; NaN with one training of each rate."""
        half = self.runs.shape[1] // 2
        if not half:
            return float("nan")
        at, both = self.chosen[rule], (self.runs[:, :half].mean(axis=1), self.runs[:, half:].mean(axis=1))
        lost = [
            judge[chooser.argmax()] - (self.majority if at is None else judge[at])
            for chooser, judge in (both, both[::-1])
        ]
        return float(np.mean(lost))


def main() -> None:
    """Train what is missing, print the tables and write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="sets (default: all)")
    parser.add_argument("--quick", action="store_true", help=f"{len(QUICK)} draws of {QUICK_ROWS:,} rows only")
    parser.add_argument("--cached", action="store_true", help="train nothing; use what is kept")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="trainings of every rate (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no training after this time")
    options = parser.parse_args()
    names = options.names or (QUICK if options.quick else (*TUNED, *JUDGED))
    if not options.cached:
        judged = names if options.names or options.quick else JUDGED
        complete(judged, quick=options.quick, seeds=options.seeds, until=time.time() + 60 * options.minutes)
    lines = [line for name in names if (line := line_of(name, quick=options.quick)) is not None]
    if not lines:
        print("Nothing to show: run without --cached, or set DEEM_DATA.")
        return
    text = page(lines, [name for name in names if name not in {line.name for line in lines}])
    print(text)
    if not options.quick and not options.names:
        (RESULTS / "guidance.md").write_text(text, encoding="utf-8")


# ---------------------------------------------------------------------- sets


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


# ---------------------------------------------------------------------- store


def _file(name: str, quick: bool) -> Path:
    return RESULTS / "guidance" / f"{name}{'.quick' if quick else ''}.json"


def _known(file: Path) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"accuracy": {}}
    return stored


def complete(names: Sequence[str], *, quick: bool, seeds: int, until: float) -> None:
    """Sweep and train what is not known yet, and keep each result at once."""
    for seed in range(-1, seeds):  # -1: the sweeps
        for name in names:
            file = _file(name, quick)
            known = _known(file)
            shares = known["accuracy"].values()
            if "sweep" in known if seed < 0 else len(shares) == 9 and min(map(len, shares)) > seed:
                continue
            votes = votes_of(name, QUICK_ROWS if quick else DRAWN_ROWS)
            if votes is None or votes.truth is None:
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            if seed < 0:
                if time.time() < until:
                    known["sweep"] = _swept(votes)
                    write_json(known, file)
                    print(time.strftime("%H:%M"), "swept", name, flush=True)
                continue
            for rate in reversed(default_rates(Shape.of(votes))):  # large rates are quick
                runs = known["accuracy"].setdefault(f"{rate:g}", [])
                if len(runs) <= seed and time.time() < until:
                    model = DEEM(learning_rate=rate, restarts=1, start="majority", random_state=seed)
                    labels = model.fit(votes.without_truth()).fuse_codes(votes.codes).argmax(axis=1)
                    runs.append(accuracy(labels, votes.truth))
                    write_json(known, file)
            print(time.strftime("%H:%M"), "seed", seed, name, flush=True)


def _swept(votes: Votes) -> dict[str, Any]:
    """Return the curves of a sweep as plain values."""
    made = sweep(votes.without_truth(), random_state=0)
    likelihood = made.grouped_likelihood
    return {
        "rates": made.rates,
        "positive": made.positive.round(5),
        "negative": made.negative.round(5),
        "grouped_likelihood": None if likelihood is None else likelihood.round(5),
        "share_ratio": made.share_ratio,
        "failures": made.failures,
        "seconds": made.seconds,
    }


def line_of(name: str, *, quick: bool) -> Line | None:
    """Return what is kept of a set; None before its sweep and one training of each rate are."""
    known = _known(_file(name, quick))
    runs = known["accuracy"]
    if "sweep" not in known or len(runs) < 9 or not min(map(len, runs.values())):
        return None
    votes = votes_of(name, QUICK_ROWS if quick else DRAWN_ROWS)
    if votes is None:
        return None
    shown = curves_of(known["sweep"])
    done = min(map(len, runs.values()))
    return Line(
        name=name,
        tuned=name in TUNED,
        rows=votes.n_rows,
        referee=shown.grouped_likelihood is not None,
        majority=100 * majority_accuracy(votes),
        rates=shown.rates,
        runs=100 * np.array([runs[f"{rate:g}"][:done] for rate in shown.rates]),
        chosen={rule: choose(shown) for rule, choose in RULES.items()},
        verdicts=tuple(guidance.judge_curves(shown)),
    )


def curves_of(kept: dict[str, Any]) -> Shown:
    """Return curves that were kept."""
    likelihood = kept.get("grouped_likelihood")
    return Shown(
        rates=np.array(kept["rates"], np.float64),
        positive=np.array(kept["positive"], np.float64),
        negative=np.array(kept["negative"], np.float64),
        share_ratio=np.array(kept["share_ratio"], np.float64),
        failures={int(at): why for at, why in kept["failures"].items()},
        grouped_likelihood=None if likelihood is None else np.array(likelihood, np.float64),
    )


# ---------------------------------------------------------------------- rules


def guided(shown: Shown) -> int | None:
    """Return the position that the product recommends."""
    return guidance.recommend(guidance.judge_curves(shown), _default(shown))[1].index


def without_referee(shown: Shown) -> int | None:
    """Return the same without the grouped likelihood."""
    return guided(replace(shown, grouped_likelihood=None))


def referees_best(shown: Shown) -> int | None:
    """Return the safe rate with the best grouped likelihood; the product's where there is none."""
    if shown.grouped_likelihood is None:
        return guided(shown)
    safe = [r for r, verdict in enumerate(guidance.judge_curves(shown)) if not verdict.rejected]
    return max(safe, key=lambda r: float(shown.grouped_likelihood[r, -1])) if safe else None  # type: ignore[index]


def usable_from(times: float) -> Callable[[Shown], int | None]:
    """Return the rule of the smallest usable rate from so many times the default on."""

    def choose(shown: Shown) -> int | None:
        verdicts = guidance.judge_curves(shown)
        usable = [r for r, verdict in enumerate(verdicts) if verdict.kind == "usable"]
        if not usable:
            return guidance.recommend(verdicts, _default(shown))[1].index
        edge = next((r for r in range(usable[0], len(verdicts)) if verdicts[r].rejected), len(verdicts))
        trusted = [r for r in usable if r < edge]
        return next((r for r in trusted if shown.rates[r] >= 0.99 * times * _default(shown)), trusted[-1])

    return choose


def fixed(times: float) -> Callable[[Shown], int | None]:
    """Return the rule of one multiple of the default rate, whatever the curves."""
    return lambda shown: int(np.abs(np.log(shown.rates / (times * _default(shown)))).argmin())


def _default(shown: Shown) -> float:
    return float(np.median(shown.rates))  # the grid is centred on it


RULES: dict[str, Callable[[Shown], int | None]] = {
    "guided": guided,
    "no referee": without_referee,
    "referee's best": referees_best,
    "twice the default": fixed(2),
    "default": fixed(1),
    "smallest usable": usable_from(0),
    "earlier rule": usable_from(2),
}


# ---------------------------------------------------------------------- words


def page(lines: Sequence[Line], missing: Sequence[str]) -> str:
    """Return both tables with their heads."""
    parts = {
        "took no part": [line for line in lines if not line.tuned],
        "took no part, grouped model fits": [line for line in lines if not line.tuned and line.referee],
        "took no part, it does not": [line for line in lines if not line.tuned and not line.referee],
        "tuned": [line for line in lines if line.tuned],
    }
    head = ("sets", "count", "rule", "mean regret", "worst", "on", "cross-fitted (sets)")
    rows = [_summary(part, own, rule) for part, own in parts.items() if own for rule in RULES]
    every = ("set", "part", "rows", "referee", "seeds", "majority", "best rate", "best", "guided rate", "guided")
    every += ("regret", "default rate's", "cross-fitted", "default rate's")
    return "\n".join(
        [
            "# Regret of learning rates",
            "",
            "Made by `python -m benchmarks.bench_guidance`, which explains rules and columns; regrets in points of "
            f"accuracy. Goal on sets that took no part: mean {GOAL}, worst {WORST_GOAL}.",
            "",
            *_table(head, rows),
            "",
            *_table(every, [_cells(line) for line in lines]),
            "",
            _rises(lines),
            "",
            f"Not measured yet: {', '.join(missing) or 'none'}.",
            "",
        ]
    )


def _summary(part: str, lines: Sequence[Line], rule: str) -> list[str]:
    regrets = [line.regret(rule) for line in lines]
    fair = [value for line in lines if np.isfinite(value := line.fair_regret(rule))]
    worst = lines[int(np.argmax(regrets))]
    crossed = f"{np.mean(fair):.2f} ({len(fair)})" if fair else "–"
    return [part, str(len(lines)), rule, f"{np.mean(regrets):.2f}", f"{max(regrets):.2f}", worst.name, crossed]


def _rises(lines: Sequence[Line]) -> str:
    """Say how often an energy ends above its start."""
    said = []
    for who, places in (("guided", [line.chosen["guided"] for line in lines]), ("best", [line.best for line in lines])):
        numbers = [line.verdicts[at].numbers for line, at in zip(lines, places, strict=True) if at is not None]
        risen = [own for own in numbers if own.rise > guidance.NOISE * own.rise_noise]
        far = sum(own.rise > 1 for own in risen)
        said.append(f"at {len(risen)} of the {len(numbers)} {who} rates, at {far} of them by more than one margin")
    return f"An energy ends above its start by more than its noise {'; '.join(said)}."


def _cells(line: Line) -> list[str]:
    at = line.chosen["guided"]
    fair = [line.fair_regret(rule) for rule in ("guided", "default")]
    return [
        line.name,
        "tuned" if line.tuned else "no part",
        f"{line.rows:,}",
        "yes" if line.referee else "no",
        str(line.runs.shape[1]),
        f"{line.majority:.2f}",
        f"{line.rates[line.best]:g}",
        f"{line.runs[line.best].mean():.2f}",
        "none is safe" if at is None else f"{line.rates[at]:g}",
        f"{line.found('guided'):.2f}",
        f"{line.regret('guided'):.2f}",
        f"{line.regret('default'):.2f}",
        *(f"{value:.2f}" if np.isfinite(value) else "–" for value in fair),
    ]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(row) + " |" for row in rows)]


if __name__ == "__main__":
    main()
