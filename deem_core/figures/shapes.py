"""The four shapes to know when energy curves are read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from deem_core.figures._axes import dashed_line, panels
from deem_core.figures._theme import theme_of
from deem_core.typing import Floats


@dataclass(frozen=True)
class _Shape:
    """A shape: its curve over time from 0 to 1, and advice."""

    title: str
    caption: str
    axis: str
    curve: Floats
    colour: str
    zero: bool = True


def shapes(*, columns: int = 4, theme: str | None = "light") -> go.Figure:
    """Draw a healthy, a stagnant, a rising and an exploding curve.

    Parameters
    ----------
    columns : int
        Panels in a row: 4 for a wide place, 2 for a narrow one.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    t = np.linspace(0.0, 1.0, 60)
    wobble = 0.05 * np.sin(37 * t) + 0.035 * np.sin(71 * t)
    drawn = (
        _Shape(
            "Healthy",
            "The difference dips, comes back<br>to zero and stays: a good rate.",
            "difference",
            -2.9 * (t / 0.12) * np.exp(1 - t / 0.12) * 0.33 + 0.5 * wobble - 0.04,
            colours.good,
        ),
        _Shape(
            "Stagnant",
            "Hardly anything moves:<br>the rate is too small.",
            "difference",
            -0.22 - 0.1 * t + 0.5 * wobble,
            colours.accent,
        ),
        _Shape(
            "Rising",
            "The energy of the data climbs<br>instead of falling: unstable.",
            "positive energy",
            -0.75 + 1.5 / (1 + np.exp(-9 * (t - 0.5))) + wobble,
            colours.bad,
            zero=False,
        ),
        _Shape(
            "Exploding",
            "Swings grow and leave zero:<br>the rate is too large.",
            "difference",
            0.055 * np.exp(2.9 * t) * np.sin(34 * t**1.15) - 0.12 * t,
            colours.bad,
        ),
    )
    rows = -(-len(drawn) // columns)
    figure = panels(colours, [shape.title for shape in drawn], height=255 * rows, spacing=0.05, columns=columns)
    for at, shape in enumerate(drawn):
        row, col = at // columns + 1, at % columns + 1
        figure.add_scatter(
            x=t,
            y=shape.curve,
            mode="lines",
            line={"color": shape.colour, "width": 2.6, "shape": "spline"},
            hoverinfo="skip",
            showlegend=False,
            row=row,
            col=col,
        )
        plain = {"showticklabels": False, "showgrid": False, "zeroline": False, "fixedrange": True, "showline": True}
        figure.update_xaxes(
            title={"text": f"time<br>{shape.caption}", "font": {"size": 12}, "standoff": 6}, **plain, row=row, col=col
        )
        figure.update_yaxes(
            title={"text": shape.axis, "font": {"size": 12}, "standoff": 4},
            range=[-1.3, 1.2],
            automargin=True,
            **plain,
            row=row,
            col=col,
        )
        if shape.zero:
            dashed_line(figure, 0.0, colours, column=col, row=row)
    return figure.update_layout(margin={"b": 64})
