"""Make digits_soft.csv: seven small scikit-learn classifiers read handwritten digits and say how sure they are.

Run ``python sample_data/make_digits.py [-o FILE]`` from the project's folder; without FILE the sample is replaced.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # so that a checkout needs no installation

from deem_core import Votes  # noqa: E402
from deem_core.files import tables  # noqa: E402

SEED = 7
N_ROWS = 1_300  # images to label; the learners are trained on some of the other 497
PER_CLASS = 6  # training images of each digit, other ones for each learner, so that all make mistakes of their own


def classifiers() -> dict[str, Any]:
    """Return learner name → untrained classifier, some much weaker than others."""
    return {
        "shallow_tree": DecisionTreeClassifier(max_depth=4, random_state=SEED),
        "deep_tree": DecisionTreeClassifier(min_samples_leaf=2, random_state=SEED),
        "naive_bayes": GaussianNB(var_smoothing=0.01),
        "neighbours": KNeighborsClassifier(n_neighbors=9),
        "logistic": make_pipeline(MinMaxScaler(), LogisticRegression(C=0.1, max_iter=500)),
        "small_forest": RandomForestClassifier(n_estimators=12, max_depth=5, random_state=SEED),
        "svm": CalibratedClassifierCV(SVC(gamma=0.001), ensemble=False, cv=3),
    }


def rounded(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round to three decimals; the largest probability takes what is missing from a sum of 1."""
    short = probabilities.round(3)
    largest = short.argmax(axis=1)[:, None]
    rest = np.take_along_axis(short, largest, axis=1) + 1 - short.sum(axis=1, keepdims=True)
    np.put_along_axis(short, largest, rest, axis=1)
    return short


def digits_votes() -> Votes:
    """Train every learner on its own few images and return what they say about the images to label."""
    digits = load_digits()
    pool, images, pool_truth, truth = train_test_split(
        digits.data, digits.target, test_size=N_ROWS, random_state=SEED, stratify=digits.target
    )
    rng, said = np.random.default_rng(SEED), {}
    for name, classifier in classifiers().items():
        chosen = [rng.choice(np.flatnonzero(pool_truth == digit), PER_CLASS, replace=False) for digit in range(10)]
        rows = np.concatenate(chosen)
        said[name] = rounded(classifier.fit(pool[rows], pool_truth[rows]).predict_proba(images))
    return Votes.from_soft(np.stack(list(said.values()), axis=1), learners=list(said), truth=truth)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make the sample of handwritten digits.")
    parser.add_argument("-o", "--output", metavar="FILE", default=HERE / "digits_soft.csv", help="file to write")
    output = parser.parse_args().output
    tables.write(tables.soft_table(digits_votes()), output)
