"""Records of a training: energies, sampler health and class shares over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deem_core.files.plain import from_plain, to_plain
from deem_core.typing import Floats


@dataclass(frozen=True)
class Record:
    """Measurements of one restart at one update.

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
    shares: Floats
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values."""
        plain: dict[str, Any] = to_plain(self)
        return plain

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Record:
        """Inverse of `to_dict`; null becomes NaN."""
        return from_plain(cls, values)


def by_restart(records: Sequence[Record]) -> list[list[Record]]:
    """Group records by restart, training by training.

    Where several trainings follow one another (parts of the table trained apart), each has its own restart 0: an
    update that is not later than the one before belongs to the next training.
    """
    groups: dict[tuple[int, int], list[Record]] = {}
    training: dict[int, int] = {}
    for record in records:
        at = training.setdefault(record.restart, 0)
        before = groups.get((at, record.restart))
        if before and record.update <= before[-1].update:
            at = training[record.restart] = at + 1
        groups.setdefault((at, record.restart), []).append(record)
    return [groups[key] for key in sorted(groups)]


def has_settled(records: Sequence[Record], smoothing: float = 0.7, window: int = 8, tolerance: float = 0.05) -> bool:
    """Return whether the smoothed difference has dipped and settled (paper's convergence criterion).

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


def not_finite(update: int) -> str:
    """Say when a training broke down."""
    return f"the energy was no longer finite at update {update:,}"
