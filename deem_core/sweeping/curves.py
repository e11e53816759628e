"""Curves: what was measured of every candidate of a sweep at every record."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from deem_core.sweeping.measure import Look

Floats = NDArray[np.float64]
CURVES = (
    "positive",
    "negative",
    "difference",
    "energy_positive",
    "energy_negative",
    "acceptance",
    "moved",
    "share_ratio",
)


@dataclass(frozen=True)
class Curves:
    """What was measured of R candidates at T updates: NaN where nothing was.

    Attributes
    ----------
    positive, negative, difference : (R, T)
        Mean free energy of data and samples, and their difference.
    energy_positive, energy_negative : (R, T)
        The same of E at the expected label.
    acceptance, moved : (R, T)
    share_ratio : (R, T)
    shares : (R, K)
        Latest predicted class shares.
    """

    positive: Floats
    negative: Floats
    difference: Floats
    energy_positive: Floats
    energy_negative: Floats
    acceptance: Floats
    moved: Floats
    share_ratio: Floats
    shares: Floats

    @classmethod
    def empty(cls, n_candidates: int, n_records: int, n_classes: int) -> Self:
        """Return curves without any record."""
        curves = {name: np.full((n_candidates, n_records), np.nan) for name in CURVES}
        return cls(**curves, shares=np.full((n_candidates, n_classes), np.nan))

    @property
    def reached(self) -> NDArray[np.intp]:
        """Records of each candidate, (R,)."""
        return np.asarray(np.isfinite(self.difference).sum(axis=1))

    def put(self, candidate: int, at: int, look: Look) -> None:
        """Enter one record."""
        for name in CURVES:
            value = look.positive - look.negative if name == "difference" else getattr(look, name)
            getattr(self, name)[candidate, at] = value
        self.shares[candidate] = look.shares

    def copy(self) -> Self:
        """Return curves that later records do not change."""
        return type(self)(**{item.name: getattr(self, item.name).copy() for item in fields(self)})
