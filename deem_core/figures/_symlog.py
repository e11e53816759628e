"""Symmetric logarithm for numbers of either sign, and its ticks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deem_core.typing import Floats


def symlog(values: Floats, unit: float) -> Floats:
    """Return sign(v)·log₁₀(1 + |v|/unit): about linear below the unit, logarithmic beyond."""
    drawn: Floats = np.sign(values) * np.log10(1 + np.abs(values) / unit)
    return drawn


def fitting_unit(values: Floats) -> float:
    """Return the power of ten nearest to the median value.

    There the logarithm begins.
    """
    size = np.abs(values[np.isfinite(values)])
    size = size[size > 0]
    if not len(size):
        return 1.0
    return float(10.0 ** round(math.log10(float(np.median(size)))))


def symlog_ticks(low: float, high: float, unit: float, most: int = 9) -> dict[str, Any]:
    """Return ticks at zero and at powers of ten in a range."""
    reach = math.ceil(max(abs(low), abs(high), 0.3))
    powers = unit * 10.0 ** np.arange(reach + 1)
    values = np.concatenate([-powers[::-1], [0.0], powers])
    places = symlog(values, unit)
    inside = (places >= low - 0.15) & (places <= high + 0.15)
    values, places = values[inside], places[inside]
    step = math.ceil(len(values) / most)
    zero = int(np.argmin(np.abs(values))) if len(values) else 0
    kept = [k for k in range(len(values)) if (k - zero) % step == 0]
    return {
        "tickmode": "array",
        "tickvals": [float(places[k]) for k in kept],
        "ticktext": [_written(float(values[k])) for k in kept],
    }


def _written(value: float) -> str:
    sign = "−" if value < 0 else ""
    size = abs(value)
    return f"{sign}{size:,.6g}" if size == 0 or 1e-3 <= size < 1e6 else f"{sign}{size:.0e}"
