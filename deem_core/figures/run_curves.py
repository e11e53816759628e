"""Overlay of several trainings: one energy curve each, one colour each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go

from deem_core.figures._theme import theme_of
from deem_core.figures.curves import Along, Curve, curves_of_records
from deem_core.figures.energies import energy_panels
from deem_core.model.records import Record
from deem_core.training.health import Restart


def run_panels(
    runs: Mapping[str, tuple[Sequence[Record], Sequence[Restart]]],
    *,
    smoothing: float = 0.0,
    x: Along = "epoch",
    theme: str | None = "light",
) -> go.Figure:
    """Draw the energies of several trainings over each other.

    Parameters
    ----------
    runs : mapping
        Name of each training → its records and, once it is done, its restarts.
    smoothing : float in [0, 1)
    x : "epoch", "update" or "second"
    theme : "light" or "dark"
    """
    colours = theme_of(theme).classes
    curves = [curve_of_run(name, *found, x=x) for name, found in runs.items()]
    return energy_panels(
        curves,
        palette=[colours[at % len(colours)] for at in range(len(curves))],
        smoothing=smoothing,
        x=x,
        theme=theme,
    )


def curve_of_run(name: str, records: Sequence[Record], restarts: Sequence[Restart], *, x: Along = "epoch") -> Curve:
    """Return the mean curve of the kept restarts of a training.

    Of several trainings in one run, such as that with near-copies merged, only the first that was kept: another model
    has other energies. Restarts that stopped early bound the mean, as a mean of fewer of them would jump.
    """
    curves = curves_of_records(records, restarts=restarts, x=x)
    kept = [at for at, curve in enumerate(curves) if not curve.rejected] or list(range(len(curves)))
    if not kept:
        nothing = np.empty(0)
        return Curve(name, name, nothing, nothing, nothing, nothing)
    own = [curves[at] for at in kept if _training(restarts, at) == _training(restarts, kept[0])]
    length = min(len(curve.x) for curve in own)
    verdict = f"mean of {len(own)} restarts" if len(own) > 1 else ""
    mean = {
        what: np.mean([getattr(curve, what)[:length] for curve in own], axis=0)
        for what in ("x", "positive", "negative", "difference")
    }
    return replace(own[0], key=name, name=name, verdict=verdict, rejected=False, **mean)


def _training(restarts: Sequence[Restart], at: int) -> int:
    return restarts[at].training if at < len(restarts) else 0
