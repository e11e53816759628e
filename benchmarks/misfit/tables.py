"""Tables with truth: those bundled with scikit-learn, and its generators.

Nothing is downloaded. Tables of fewer than 500 rows (iris, wine, diabetes) are left out: there a single row is worth
0.2 to 0.7 points, and the question is about half a point.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets

from deem_core.typing import Floats

ROWS = 6_000
"""Rows of tables that can have any number."""

Half = Literal["choose", "judge"]
Labels = NDArray[np.int64]
Made = tuple[Floats, Labels]


@dataclass(frozen=True)
class Source:
    """Where a table comes from.

    Attributes
    ----------
    name : str
    origin : str
        Tables of one origin share rows and stand in the same half.
    real : bool
        Whether its truth was observed, not drawn.
    make : callable
        Seed → features (n, p) and classes (n,).
    """

    name: str
    origin: str
    real: bool
    make: Callable[[int], Made]


def half(source: Source) -> Half:
    """Return the half of a table: fixed by the hashes of the origins' names, before any accuracy was seen."""
    origins = {other.origin for other in _TABLES if other.real == source.real}
    ordered = sorted(origins, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    return "choose" if ordered.index(source.origin) % 2 == 0 else "judge"


# ---------------------------------------------------------------------- bundled


def _bundled(load: Callable[..., Any], _seed: int) -> Made:
    features, classes = load(return_X_y=True)
    return features.astype(float), classes.astype(np.int64)


def _noisy_digits(seed: int) -> Made:
    features, classes = _bundled(datasets.load_digits, seed)
    return features + np.random.default_rng(seed).normal(0, 6, features.shape), classes


def _half_digits(seed: int) -> Made:
    """Return digits of which only the upper half is seen."""
    features, classes = _bundled(datasets.load_digits, seed)
    return features[:, :32], classes


def _picture(name: str, n_classes: int, gap: int, seed: int) -> Made:
    """Return pixels of a photograph: grey in equally large classes, told from the colours ``gap`` pixels away."""
    picture = datasets.load_sample_image(name).astype(float)
    rng = np.random.default_rng(seed)
    height, width = picture.shape[:2]
    rows, columns = (rng.integers(gap, size - gap, ROWS) for size in (height, width))
    steps = [(y, x) for y in (-gap, 0, gap) for x in (-gap, 0, gap) if (y, x) != (0, 0)]
    features = np.hstack([picture[rows + y, columns + x] for y, x in steps])
    return features, _classes(picture.mean(axis=2)[rows, columns] + rng.random(ROWS), n_classes)


def _classes(numbers: Floats, n_classes: int) -> Labels:
    """Return a number's quantile class."""
    edges = np.quantile(numbers, np.linspace(0, 1, n_classes + 1)[1:-1])
    return np.searchsorted(edges, numbers).astype(np.int64)


# ---------------------------------------------------------------------- generators


def _drawn(generator: Callable[..., Any], asked: dict[str, Any], n_classes: int | None, seed: int) -> Made:
    """Return a generator's table; numbers to predict become ``n_classes`` classes."""
    features, target = generator(n_samples=ROWS, random_state=seed, **asked)[:2]
    classes = target if n_classes is None else _classes(target, n_classes)
    return features.astype(float), np.unique(classes, return_inverse=True)[1].astype(np.int64)


def _separable(informative: int, n_classes: int, clusters: int, flip: float, *more: float) -> dict[str, Any]:
    """Return the settings of a table of `make_classification`; ``more``: class separation, noise features."""
    apart, noise = more
    return {
        "n_features": informative + int(noise),
        "n_informative": informative,
        "n_redundant": 0,
        "n_classes": n_classes,
        "n_clusters_per_class": clusters,
        "flip_y": flip,
        "class_sep": apart,
    }


_CLASSIFICATIONS = {
    "classes_2": _separable(5, 2, 3, 0.05, 0.8, 5),
    "classes_3": _separable(6, 3, 2, 0.0, 0.7, 10),
    "classes_4": _separable(8, 4, 3, 0.1, 1.0, 2),
    "classes_5": _separable(5, 5, 1, 0.02, 0.8, 0),
    "classes_6": _separable(10, 6, 2, 0.0, 1.0, 20),
    "classes_8": _separable(6, 8, 2, 0.05, 1.2, 4),
    "classes_10": _separable(12, 10, 1, 0.0, 0.9, 0),
    "classes_2_wide": _separable(15, 2, 6, 0.0, 0.9, 25),
}
_OTHERS: dict[str, tuple[Callable[..., Any], dict[str, Any], int | None]] = {
    "moons": (datasets.make_moons, {"noise": 0.4}, None),
    "circles": (datasets.make_circles, {"noise": 0.25, "factor": 0.5}, None),
    "quantiles": (datasets.make_gaussian_quantiles, {"n_features": 5, "n_classes": 5}, None),
    "hastie": (datasets.make_hastie_10_2, {}, None),
    "blobs": (datasets.make_blobs, {"centers": 8, "n_features": 4, "cluster_std": 5.0}, None),
    "blobs_wide": (datasets.make_blobs, {"centers": 12, "n_features": 10, "cluster_std": 9.0}, None),
    "friedman_1": (datasets.make_friedman1, {"n_features": 8, "noise": 1.5}, 4),
    "friedman_2": (datasets.make_friedman2, {"noise": 120.0}, 3),
    "friedman_3": (datasets.make_friedman3, {"noise": 0.15}, 5),
    "swiss_roll": (datasets.make_swiss_roll, {"noise": 1.2}, 6),
    "s_curve": (datasets.make_s_curve, {"noise": 0.3}, 4),
}

_TABLES = (
    Source("digits", "digits", True, partial(_bundled, datasets.load_digits)),
    Source("digits_noisy", "digits", True, _noisy_digits),
    Source("digits_half", "digits", True, _half_digits),
    Source("breast_cancer", "breast_cancer", True, partial(_bundled, datasets.load_breast_cancer)),
    Source("china_6", "china", True, partial(_picture, "china.jpg", 6, 4)),
    Source("china_3", "china", True, partial(_picture, "china.jpg", 3, 12)),
    Source("flower_4", "flower", True, partial(_picture, "flower.jpg", 4, 6)),
    Source("flower_8", "flower", True, partial(_picture, "flower.jpg", 8, 3)),
    *(
        Source(name, name, False, partial(_drawn, datasets.make_classification, asked, None))
        for name, asked in _CLASSIFICATIONS.items()
    ),
    *(Source(name, name, False, partial(_drawn, *made)) for name, made in _OTHERS.items()),
)

SOURCES = (*_TABLES, *(replace(source, name=f"{source.name}-2") for source in _TABLES if half(source) == "choose"))
"""Every table, and those to choose from twice: a second draw of rows, where it is drawn, and other learners."""
