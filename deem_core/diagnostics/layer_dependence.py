"""Dependence of the units of one layer, in figures and words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import chdtri

from deem_core.files.results import Result
from deem_core.typing import Floats, Mask
from deem_core.votes.agreement import clustered_order

WELL_ABOVE = 3.0
"""How many times the bias floor dependence must be to speak of it."""


LUCK = 0.01
"""Chance of calling any pair of a layer dependent if none is."""

SHARED = 0.1
"""Share of their entropy from which on two units are said to share mistakes."""

UNMISTAKABLE = 0.3
"""Share of the entropy that two units have in common which chance does not explain, however few the rows."""


@dataclass(frozen=True)
class LayerDependence(Result):
    """Dependence of the u units of one layer, for C classes.

    Attributes
    ----------
    name : str
        "input", "input, near-copies merged", "after layer 1", …
    units : tuple of u str
        Learners, or the voices of merged near-copies. Unit i of a layer began as the identity on voice i.
    classes : tuple of C str
    rows : (C,) int64
        Rows of each class that were used.
    information : (C, u, u) float64
        Mutual information in nats, entropy on the diagonal.
    normalised : (C, u, u) float64
        Information over the mean of both entropies.
    n_states : int
        K.
    """

    name: str
    units: tuple[str, ...]
    classes: tuple[str, ...]
    rows: NDArray[np.int64]
    information: Floats
    normalised: Floats
    n_states: int

    @property
    def largest(self) -> Floats:
        """Largest information of a pair, (C,)."""
        return _over_pairs(self.information, "max")

    @property
    def frobenius(self) -> Floats:
        """Frobenius norm without the diagonal, (C,)."""
        return _over_pairs(self.information, "norm")

    @property
    def mean_normalised(self) -> Floats:
        """Mean over pairs of the normalised information, (C,)."""
        return _over_pairs(self.normalised, "mean")

    @property
    def entropy(self) -> Floats:
        """Mean entropy of the units, (C,)."""
        return np.asarray(np.nanmean(np.diagonal(self.information, axis1=1, axis2=2), axis=1))

    @property
    def floor(self) -> Floats:
        """Information that independent units would seem to have, (C,).

        About (K − 1)² / 2n for each pair.
        """
        return np.asarray((self.n_states - 1) ** 2 / (2 * self.rows))

    @property
    def floor_frobenius(self) -> Floats:
        """Frobenius norm that independent units would seem to have, (C,).

        2n times the information of a pair is then chi-square with (K − 1)² degrees of freedom.
        """
        u, freedom = len(self.units), (self.n_states - 1) ** 2
        return np.asarray(self.floor * np.sqrt(u * (u - 1) * (1 + 2 / freedom)))

    @property
    def mean_matrix(self) -> Floats:
        """Information averaged over the classes, (u, u)."""
        return np.asarray(_nan_mean(self.information))

    @property
    def order(self) -> NDArray[np.intp]:
        """Order of the units that puts dependent ones together, (u,)."""
        if not len(self.classes):
            return np.arange(len(self.units))
        likeness = _nan_mean(self.normalised)
        return clustered_order(likeness)

    def pairs(self, most: int = 10) -> tuple[DependentPair, ...]:
        """Return the most dependent pairs.

        By their information, averaged over the classes.
        """
        if not len(self.classes):
            return ()
        mean, share = self.mean_matrix, _nan_mean(self.normalised)
        clear = self.beyond_chance
        first, second = np.triu_indices(len(self.units), 1)
        best = np.argsort(-np.nan_to_num(mean[first, second], nan=-1), kind="stable")[:most]
        pairs = []
        for i, j in zip(first[best].tolist(), second[best].tolist(), strict=True):
            if np.isnan(mean[i, j]):
                continue
            peak = int(np.nanargmax(self.information[:, i, j]))
            where, at = self.classes[peak], float(self.information[peak, i, j])
            pairs.append(
                DependentPair(
                    self.units[i],
                    self.units[j],
                    float(mean[i, j]),
                    float(share[i, j]),
                    where,
                    at,
                    _pair_reading(float(share[i, j]), bool(clear[i, j])),
                )
            )
        return tuple(pairs)

    def pairs_above(self, share: float) -> NDArray[np.intp]:
        """Return the pairs that share so much of their entropy, (m, 2).

        And more than chance would show.
        """
        if not len(self.classes):
            return np.empty((0, 2), np.intp)
        return np.argwhere(np.triu((np.nan_to_num(_nan_mean(self.normalised)) >= share) & self.beyond_chance, 1))

    @property
    def beyond_chance(self) -> Mask:
        """Whether a pair depends more than chance explains, (u, u).

        2n times the information of an independent pair is chi-square with (K − 1)² degrees of freedom, and so is the
        sum over classes with as many more; `LUCK` is the chance that any pair at all looks dependent without being it.
        """
        u, freedom = len(self.units), max(len(self.classes), 1) * (self.n_states - 1) ** 2
        total = np.nansum(2 * self.rows[:, None, None] * self.information, axis=0)
        least = chdtri(max(freedom, 1), LUCK / max(u * (u - 1) // 2, 1))
        return np.asarray((total >= least) | (np.nan_to_num(_nan_mean(self.normalised)) >= UNMISTAKABLE))

    def summary(self) -> dict[str, float]:
        """Return mean and standard deviation of each figure over the classes."""
        figures = {
            "largest": self.largest,
            "frobenius": self.frobenius,
            "entropy": self.entropy,
            "normalised": self.mean_normalised,
            "floor": self.floor,
            "floor_frobenius": self.floor_frobenius,
        }
        summary: dict[str, float] = {}
        for name, values in figures.items():
            summary[name] = float(values.mean()) if len(values) else float("nan")
            summary[f"{name}_std"] = float(values.std()) if len(values) else float("nan")
        return summary

    def to_frame(self) -> pd.DataFrame:
        """Return a row per class and pair of units."""
        first, second = np.triu_indices(len(self.units), 1)
        C, names = len(self.classes), np.asarray(self.units, object)
        return pd.DataFrame(
            {
                "layer": self.name,
                "class": np.repeat(np.asarray(self.classes, object), len(first)),
                "first": np.tile(names[first], C),
                "second": np.tile(names[second], C),
                "information": self.information[:, first, second].ravel(),
                "normalised": self.normalised[:, first, second].ravel(),
                "rows": np.repeat(self.rows, len(first)),
            }
        )


@dataclass(frozen=True)
class DependentPair(Result):
    """Two dependent units, with words for what that means.

    Dependence is averaged over classes; ``peak_class`` is where it is largest.
    """

    first: str
    second: str
    information: float
    normalised: float
    peak_class: str
    peak: float
    reading: str


def _over_pairs(matrices: Floats, what: str) -> Floats:
    """Return the maximum, norm or mean over pairs, (C,).

    Of each (u, u) matrix; 0 without pairs.
    """
    first, second = np.triu_indices(matrices.shape[1], 1)
    pairs = np.nan_to_num(matrices[:, first, second])
    if not pairs.shape[1]:
        return np.zeros(len(matrices))
    if what == "norm":
        return np.asarray(np.sqrt(2 * (pairs**2).sum(axis=1)))
    return np.asarray(pairs.max(axis=1) if what == "max" else pairs.mean(axis=1))


def _nan_mean(matrices: Floats) -> Floats:
    """Return the mean over classes, NaN for pairs that no class knows."""
    known = ~np.isnan(matrices)
    total, count = np.where(known, matrices, 0).sum(axis=0), known.sum(axis=0)
    return np.asarray(np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0))


def _pair_reading(share: float, clear: bool) -> str:
    """Return what the dependence of a pair means, in words."""
    if not clear:
        return "no more than chance would show"
    for least, words in (
        (0.6, "nearly the same votes, whatever the label: one opinion counted twice"),
        (UNMISTAKABLE, "strongly dependent: they share most of their mistakes"),
        (SHARED, "dependent: they share some of their mistakes"),
    ):
        if share >= least:
            return words
    return "weakly dependent"
