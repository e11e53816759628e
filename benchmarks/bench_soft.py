"""Probabilities or their argmax: hard methods, pools and soft DEEM on soft votes, half to choose by, half to judge.

Usage: [DEEM_DATA=folder] python -m benchmarks.bench_soft [NAME ...] [--methods A,B] [--again]

Ensembles are made here: families of scikit-learn classifiers on bundled tables and generators, out-of-fold, so that
nobody votes on a row it was trained on. Which half a set belongs to was fixed before anything ran; the sets under
DEEM_DATA and the sample took part in earlier choices and count with those to choose by. Results are kept in
benchmarks/results/soft.json set by set, and benchmarks/results/soft.md is written from it.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from benchmarks.paper.context import Context
from benchmarks.paper.data import soft_sets
from deem_core import Votes, fuse
from deem_core.files.atomic import write_json
from deem_core.methods.registry import METHODS
from deem_core.votes.describe import accuracy, majority_accuracy

RESULTS = Path(__file__).parent / "results"
STORE = RESULTS / "soft.json"
PAGE = RESULTS / "soft.md"
HARD = ("mv", "ds", "auto_before", "deem")
SOFT = ("mean_prob", "geo_pool", "log_pool", "cal_pool", "deem_soft", "auto")
SEEDS = 1
FOLDS = 5
CHOOSE, JUDGE = "choose", "judge"

Table = tuple[NDArray[Any], NDArray[Any]]


@dataclass(frozen=True)
class Made:
    """An ensemble to be made.

    Attributes
    ----------
    half : str
        "choose" or "judge".
    table : function
        Features and classes.
    panel : str
        Which learners.
    rows : int
        Rows that each learner is trained on in each fold, at most.
    """

    half: str
    table: Callable[[], Table]
    panel: str
    rows: int = 10_000


# ---------------------------------------------------------------------- tables


def _bundled(load: Callable[..., Table]) -> Table:
    return load(return_X_y=True)


def _binned(X: NDArray[Any], y: NDArray[Any], n_classes: int) -> Table:
    """Return a regression table with as many equal classes."""
    return X, np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)


def _noisy_digits() -> Table:
    X, y = datasets.load_digits(return_X_y=True)
    return X + np.random.default_rng(0).normal(0, 6, X.shape), y


def _classes(n_classes: int, informative: int, seed: int, **more: Any) -> Callable[[], Table]:
    shape = {"n_samples": 3_000, "n_features": 20, "n_redundant": 4, **more}
    return partial(
        datasets.make_classification, n_classes=n_classes, n_informative=informative, random_state=seed, **shape
    )


SETS = {
    "digits": Made(CHOOSE, partial(_bundled, datasets.load_digits), "mixed", 150),
    "diabetes3": Made(CHOOSE, lambda: _binned(*_bundled(datasets.load_diabetes), 3), "mixed"),
    "cancer-sure": Made(CHOOSE, partial(_bundled, datasets.load_breast_cancer), "sure", 60),
    "classes4": Made(CHOOSE, _classes(4, 6, 1, class_sep=0.8), "mixed"),
    "classes3-rare": Made(CHOOSE, _classes(3, 5, 2, weights=[0.7, 0.2, 0.1]), "few", 200),
    "classes6-sure": Made(CHOOSE, _classes(6, 8, 3), "sure", 300),
    "moons": Made(CHOOSE, partial(datasets.make_moons, 3_000, noise=0.35, random_state=0), "few", 60),
    "quantiles5": Made(
        CHOOSE,
        partial(datasets.make_gaussian_quantiles, n_samples=3_000, n_features=6, n_classes=5, random_state=0),
        "mixed",
    ),
    "blobs6": Made(
        CHOOSE,
        partial(datasets.make_blobs, 3_000, n_features=4, centers=6, cluster_std=4.5, random_state=0),
        "few",
        100,
    ),
    "friedman4": Made(CHOOSE, lambda: _binned(*datasets.make_friedman1(3_000, noise=2.0, random_state=0), 4), "sure"),
    "digits-noisy": Made(JUDGE, _noisy_digits, "few", 200),
    "digits-sure": Made(JUDGE, partial(_bundled, datasets.load_digits), "sure", 100),
    "wine": Made(JUDGE, partial(_bundled, datasets.load_wine), "few", 40),
    "cancer": Made(JUDGE, partial(_bundled, datasets.load_breast_cancer), "mixed", 40),
    "diabetes2": Made(JUDGE, lambda: _binned(*_bundled(datasets.load_diabetes), 2), "few"),
    "classes8": Made(JUDGE, _classes(8, 8, 4), "mixed"),
    "classes3-flip": Made(JUDGE, _classes(3, 5, 5, flip_y=0.15), "sure"),
    "classes2": Made(JUDGE, _classes(2, 6, 6, n_clusters_per_class=3), "few", 150),
    "classes5-rare": Made(JUDGE, _classes(5, 8, 7, weights=[0.5, 0.2, 0.15, 0.1, 0.05]), "mixed", 400),
    "hastie": Made(JUDGE, partial(datasets.make_hastie_10_2, 3_000, random_state=0), "mixed"),
    "swiss5": Made(JUDGE, lambda: _binned(*datasets.make_swiss_roll(3_000, noise=2.0, random_state=0), 5), "few", 200),
    "friedman3": Made(JUDGE, lambda: _binned(*datasets.make_friedman3(3_000, noise=0.3, random_state=0), 3), "mixed"),
    "circles": Made(JUDGE, partial(datasets.make_circles, 3_000, noise=0.25, factor=0.5, random_state=0), "sure", 100),
}
"""Ensembles by name."""


# ---------------------------------------------------------------------- learners


def _learner(name: str) -> Any:
    """Return an untrained classifier; some are surer than right."""
    kinds: dict[str, Callable[[], Any]] = {
        "stump": lambda: DecisionTreeClassifier(max_depth=3, random_state=0),
        "tree": lambda: DecisionTreeClassifier(min_samples_leaf=2, random_state=0),
        "full_tree": lambda: DecisionTreeClassifier(random_state=0),
        "naive_bayes": GaussianNB,
        "nearest": lambda: KNeighborsClassifier(1),
        "neighbours": lambda: KNeighborsClassifier(9),
        "logistic": lambda: LogisticRegression(C=0.1, max_iter=500),
        "steep_logistic": lambda: LogisticRegression(C=1e3, max_iter=500),
        "lda": LinearDiscriminantAnalysis,
        "turned_bayes": lambda: make_pipeline(PCA(0.9), GaussianNB()),
        "forest": lambda: RandomForestClassifier(40, max_depth=6, random_state=0),
        "extra_trees": lambda: ExtraTreesClassifier(40, random_state=0),
        "boosted": lambda: HistGradientBoostingClassifier(max_iter=60, random_state=0),
        "ada": lambda: AdaBoostClassifier(n_estimators=30, random_state=0),
        "network": lambda: MLPClassifier((32,), alpha=1e-2, max_iter=200, random_state=0),
        "wide_network": lambda: MLPClassifier((128,), alpha=1e-6, max_iter=300, random_state=0),
        "svm": lambda: CalibratedClassifierCV(LinearSVC(C=0.1), ensemble=False, cv=3),
    }
    return make_pipeline(StandardScaler(), kinds[name]())


PANELS = {
    "mixed": (
        *("stump", "tree", "naive_bayes", "neighbours", "logistic", "lda"),
        *("forest", "extra_trees", "boosted", "network", "svm"),
    ),
    "few": ("stump", "tree", "naive_bayes", "neighbours", "logistic", "forest", "svm"),
    "sure": ("full_tree", "naive_bayes", "nearest", "steep_logistic", "turned_bayes", "wide_network", "boosted", "ada"),
}
"""Learners of an ensemble: many kinds, seven as in the sample, and some that are mostly too sure of themselves."""


def make(name: str) -> Votes:
    """Return the out-of-fold probabilities of an ensemble, with its truth."""
    made = SETS[name]
    X, y = made.table()
    classes, codes = np.unique(y, return_inverse=True)
    rng, learners = np.random.default_rng(0), PANELS[made.panel]
    soft = np.zeros((len(X), len(learners), len(classes)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # networks that stop at their limit, tiny folds
        for own, others in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, codes):
            for j, learner in enumerate(learners):
                rows = rng.permutation(own)[: made.rows]  # others for every learner, so that each errs on its own
                fitted = _learner(learner).fit(X[rows], codes[rows])
                soft[others[:, None], j, fitted.classes_] = fitted.predict_proba(X[others])
    soft /= soft.sum(axis=2, keepdims=True)
    return Votes.from_soft(soft, learners=list(learners), truth=codes, classes=list(range(len(classes))))


# ---------------------------------------------------------------------- runs


def earlier() -> dict[str, Votes]:
    """Return the soft sets that took part in earlier choices."""
    return {source.name: source.votes for source in soft_sets(Context())}


def run(votes: Votes, method: str) -> dict[str, Any]:
    """Return accuracies in per cent, seconds, and who answered."""
    truth = np.asarray(votes.truth)
    if method == "auto_before":
        votes, method = replace(votes, soft=None), "auto"
    if method == "mv":  # a fair draw of ties
        return {"accuracy": [100 * majority_accuracy(votes)], "seconds": 0.0}
    begun, found, by = time.perf_counter(), [], ""
    for seed in range(SEEDS if METHODS[method].stochastic and method != "auto" else 1):
        answer = fuse(votes.without_truth(), method, random_state=seed)
        found.append(100 * accuracy(answer.codes, truth))
        by = answer.answered_by
    return {"accuracy": found, "seconds": (time.perf_counter() - begun) / len(found), "by": by}


# ---------------------------------------------------------------------- the page


def half_of(name: str) -> str:
    """Return which half a set belongs to; earlier sets took part in choices."""
    return SETS[name].half if name in SETS else CHOOSE


def gains(store: dict[str, Any], half: str, method: str, beside: str) -> NDArray[np.float64]:
    """Return by how many points a method is ahead of another, on the sets of a half that both have done."""
    done = [one for name, one in store.items() if half_of(name) == half and method in one and beside in one]
    return np.array([np.mean(one[method]["accuracy"]) - np.mean(one[beside]["accuracy"]) for one in done])


def page(store: dict[str, Any]) -> str:
    """Return the page: every method on every set, and what the halves say."""
    methods = (*HARD, *SOFT)
    lines = [
        "# Probabilities or their argmax",
        "",
        "`DEEM_DATA=folder python -m benchmarks.bench_soft`",
        "",
        "Accuracy in per cent on all rows, seed 0; the majority vote with ties drawn fairly. Learners are scikit-learn",
        "classifiers that never vote on a row they were trained on. *auto before* is what auto answered while it used",
        "the most probable classes everywhere. The calibrated pool, and that auto answers by it where no model",
        "explains the votes, were chosen on the first half; the second took no part, except that the accuracies of the",
        "majority vote, Dawid-Skene, auto and the first three pools on it were seen before. A dash:",
        "not run yet.",
        "",
    ]
    for half, title in ((CHOOSE, "To choose by"), (JUDGE, "To judge")):
        names = [name for name in (*store,) if half_of(name) == half]
        lines += [f"## {title}", ""]
        lines += ["| set | rows × learners × classes | " + " | ".join(map(_title, methods)) + " | auto answered by |"]
        lines += ["|" + "---|" * (len(methods) + 3)]
        for name in names:
            one = store[name]
            cells = [f"{np.mean(one[method]['accuracy']):.1f}" if method in one else "–" for method in methods]
            shape = " × ".join(f"{size:,}" for size in one["shape"])
            lines.append(f"| {name} | {shape} | " + " | ".join(cells) + f" | {one.get('auto', {}).get('by', '–')} |")
        lines.append("")
        lines += ["| method | sets | mean gain over the majority vote | worst | sets where it gains |"]
        lines += ["|---|---|---|---|---|"]
        for method in methods[1:]:
            found = gains(store, half, method, "mv")
            if len(found):
                ahead = int((found > 0).sum())
                lines.append(
                    f"| {_title(method)} | {len(found)} | {found.mean():+.1f} | {found.min():+.1f} | {ahead} |"
                )
        lines.append("")
    return "\n".join(lines)


def _title(method: str) -> str:
    return "auto before" if method == "auto_before" else METHODS[method].title


def main() -> None:
    """Run what is not known yet and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="sets (default: all)")
    parser.add_argument("--methods", default=",".join((*HARD, *SOFT)), help="separated by commas")
    parser.add_argument("--again", action="store_true", help="also what is known")
    options = parser.parse_args()
    store: dict[str, Any] = json.loads(STORE.read_text()) if STORE.exists() else {}
    known = earlier()
    for name in options.names or [*known, *SETS]:
        methods = [m for m in options.methods.split(",") if options.again or m not in store.get(name, {})]
        if not methods:
            continue
        votes = known[name] if name in known else make(name)
        for method in methods:
            result = run(votes, method)
            store = json.loads(STORE.read_text()) if STORE.exists() else {}  # another process may have added to it
            own = store.setdefault(name, {})
            own["shape"] = [votes.n_rows, votes.n_learners, votes.n_classes]
            own[method] = result
            write_json(store, STORE)
            print(name, method, np.round(result["accuracy"], 2), f"{result['seconds']:.1f} s", flush=True)
    PAGE.write_text(page(store))


if __name__ == "__main__":
    main()
