"""Drawing of the grouped likelihood of a sweep's labels over time."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import plotly.graph_objects as go

from deem_core.figures._arrangements import narrow_legend
from deem_core.figures._axes import legend_below, line_axis, picture_layout, picture_of_nothing
from deem_core.figures._theme import theme_of
from deem_core.figures.curves import curves_of_sweep
from deem_core.figures.energies import ALL_HIDDEN, DIMMED
from deem_core.training.guidance import smooth
from deem_core.training.sweep import Sweep

HEIGHT = 360
AXIS = "log-probability of the labels (nats per row)"
NO_MODEL = "There is no grouped model that explains these votes, so its likelihood cannot be drawn."


def grouped_likelihood(
    sweep: Sweep,
    *,
    selected: float | None = None,
    recommended: float | int | None = None,
    smoothing: float = 0.0,
    hidden: Collection[float] = (),
    theme: str | None = "light",
) -> go.Figure:
    """Draw how likely the grouped model finds each candidate's labels.

    Colours, dotted lines and keys are those of `energy_panels`.

    Parameters
    ----------
    sweep : Sweep
    selected : float, optional
        Key of the curve to stand out.
    recommended : optional
        Key of the curve that has a colour of its own.
    smoothing : float in [0, 1)
    hidden : collection
        Keys of curves that are not drawn.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    if sweep.grouped_likelihood is None:
        return picture_of_nothing(colours, NO_MODEL, HEIGHT)
    curves = curves_of_sweep(sweep)
    palette = colours.line_colours(len(curves))
    figure = go.Figure().update_layout(picture_layout(colours, HEIGHT))
    for rank, (curve, values) in enumerate(zip(curves, sweep.grouped_likelihood, strict=True)):
        if curve.key in hidden:
            continue
        chosen, best = curve.key == selected, curve.key == recommended
        line = smooth(np.asarray(values, np.float64), smoothing)
        figure.add_scatter(
            x=curve.x,
            y=line,
            mode="lines",
            name=curve.name.rpartition(" ")[2],
            customdata=[curve.key] * len(line),
            line={
                "color": colours.recommended if best else colours.selected if chosen else palette[rank],
                "width": 3.2 if chosen or best else 1.6,
                "dash": "dot" if curve.rejected else "solid",
            },
            opacity=DIMMED if curve.rejected and not chosen else 1.0,
            hovertemplate=f"<b>{curve.name}</b><br>epoch %{{x:.4~g}}<br>%{{y:.3f}} nats per row<extra></extra>",
        )
    if not figure.data:
        return picture_of_nothing(colours, ALL_HIDDEN, HEIGHT)
    title = curves[0].name.rpartition(" ")[0]
    return figure.update_layout(
        xaxis=line_axis("epoch", showgrid=False),
        yaxis=line_axis(AXIS),
        legend={**legend_below(title, HEIGHT), "itemclick": False, "itemdoubleclick": False},
        showlegend=len(curves) > 1,
        meta={"arrangements": narrow_legend()},
    )
