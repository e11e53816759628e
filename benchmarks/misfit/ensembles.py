"""Ensembles of scikit-learn's classifiers on a table, every row voted by learners that did not see it.

Which learners vote is drawn by the table's name: 7 to 15 of all families, and in every other ensemble each of them sees
a random half of the features only.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import AdaBoostClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from benchmarks.misfit.tables import Source
from deem_core import Votes

FOLDS = 3
LEARNERS = (7, 15)
"""Fewest and most learners of an ensemble."""
STORE = Path(__file__).parent.parent / "results" / "misfit"

POOL: dict[str, dict[str, Callable[[int], ClassifierMixin]]] = {
    "linear": {
        "logistic": lambda _: LogisticRegression(max_iter=200),
        "ridge": lambda _: RidgeClassifier(),
        "lda": lambda _: LinearDiscriminantAnalysis(),
        "hinge": lambda seed: SGDClassifier(random_state=seed),
        "perceptron": lambda seed: Perceptron(random_state=seed),
    },
    "tree": {
        "tree_4": lambda seed: DecisionTreeClassifier(max_depth=4, random_state=seed),
        "tree_leaf_5": lambda seed: DecisionTreeClassifier(min_samples_leaf=5, random_state=seed),
        "extra_tree": lambda seed: ExtraTreeClassifier(max_depth=8, random_state=seed),
    },
    "forest": {
        "forest": lambda seed: RandomForestClassifier(30, max_depth=10, random_state=seed),
        "extra_trees": lambda seed: ExtraTreesClassifier(30, min_samples_leaf=2, random_state=seed),
        "boosted_stumps": lambda seed: AdaBoostClassifier(n_estimators=25, random_state=seed),
    },
    "neighbours": {
        "neighbours_1": lambda _: KNeighborsClassifier(1),
        "neighbours_5": lambda _: KNeighborsClassifier(5),
        "neighbours_25": lambda _: KNeighborsClassifier(25),
        "centroid": lambda _: NearestCentroid(),
    },
    "bayes": {
        "gaussian_bayes": lambda _: GaussianNB(),
        "bernoulli_bayes": lambda _: BernoulliNB(),
        "quadratic": lambda _: QuadraticDiscriminantAnalysis(reg_param=0.1),
    },
    "network": {
        "network_8": lambda seed: MLPClassifier((8,), max_iter=60, random_state=seed),
        "network_32": lambda seed: MLPClassifier((32,), max_iter=60, random_state=seed),
    },
    "kernel": {
        "svm_rbf": lambda _: SVC(),
        "svm_square": lambda _: SVC(kernel="poly", degree=2),
    },
}
"""Family → learner → how it is made of a seed."""


def ensemble(source: Source, store: Path = STORE) -> Votes:
    """Return the votes on a table, with its truth, from the store if they were cast before."""
    file = store / f"{source.name}.npz"
    if not file.exists():
        codes, learners, truth = cast_votes(source)
        file.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(file, codes=codes.astype(np.int8), learners=learners, truth=truth.astype(np.int8))
    kept = np.load(file)
    codes, truth = kept["codes"].astype(np.int32), kept["truth"].astype(np.int32)
    return Votes(codes, np.arange(int(truth.max()) + 1), [str(name) for name in kept["learners"]], truth=truth)


def cast_votes(source: Source) -> tuple[Any, list[str], Any]:
    """Return codes (n, d), names of the learners, and the truth (n,)."""
    seed = zlib.crc32(source.name.encode())
    rng = np.random.default_rng(seed)
    features, classes = source.make(seed % 2**31)
    names, views = drawn_learners(rng), bool(rng.integers(2)) and features.shape[1] > 5
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    codes = []
    for at, (family, name) in enumerate(names):
        seen = np.arange(features.shape[1])
        if views:
            seen = np.sort(rng.choice(seen, max(2, len(seen) // 2), replace=False))
        learner = make_pipeline(StandardScaler(), POOL[family][name](at))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # networks are cut short on purpose
            codes.append(cross_val_predict(learner, features[:, seen], classes, cv=folds))
    return np.stack(codes, axis=1), [name for _, name in names], classes


def drawn_learners(rng: np.random.Generator) -> list[tuple[str, str]]:
    """Return (family, learner) of an ensemble: families have different weights, so that some are crowded."""
    everyone = [(family, name) for family, own in POOL.items() for name in own]
    weights = dict(zip(POOL, rng.dirichlet(np.ones(len(POOL))) + 0.1, strict=True))
    chances = np.array([weights[family] for family, _ in everyone])
    d = int(rng.integers(LEARNERS[0], LEARNERS[1] + 1))
    chosen = rng.choice(len(everyone), d, replace=False, p=chances / chances.sum())
    return [everyone[at] for at in sorted(chosen)]
