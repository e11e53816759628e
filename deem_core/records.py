"""Records: what a training tells about itself while it runs, and when it has settled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Record:
    """One look at one restart.

    Attributes
    ----------
    restart : int
    update, epoch : int, float
        How far it has come.
    positive, negative, difference : float
        Free energy F of the data, of the model's samples, and their difference; means since the last record.
    energy_positive, energy_negative, energy_difference : float
        The same of E at the expected label, on the last batch.
    acceptance, moved : float
        Health of the sampler.
    shares : (K,)
        Predicted class shares on a fixed set of rows.
    seconds : float
        Since the training began.
    """

    restart: int
    update: int
    epoch: float
    positive: float
    negative: float
    difference: float
    energy_positive: float
    energy_negative: float
    energy_difference: float
    acceptance: float
    moved: float
    shares: NDArray[np.float64]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values."""
        return {**vars(self), "shares": self.shares.tolist()}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Record:
        """Return the record of which `to_dict` gave the values; a number that JSON had no word for is NaN."""
        known: dict[str, Any] = {name: math.nan if value is None else value for name, value in values.items()}
        return cls(**{**known, "shares": np.array(known["shares"], np.float64)})


def settled(records: Sequence[Record], smoothing: float = 0.7, window: int = 8, tolerance: float = 0.05) -> bool:
    """Tell whether the smoothed difference of one restart has dipped and settled (paper's convergence criterion).

    Settled means: the last ``window`` smoothed values lie after the minimum and vary by less than ``tolerance``
    of the largest |difference| seen.
    """
    curve, value = [], None
    for record in records:
        value = record.difference if value is None else smoothing * value + (1 - smoothing) * record.difference
        curve.append(value)
    if len(curve) < 2 * window:
        return False
    scale = max(abs(point) for point in curve)
    tail = curve[-window:]
    return bool(int(np.argmin(curve)) < len(curve) - window and max(tail) - min(tail) < tolerance * scale)
