"""Heatmap helpers: axes of names, colour bars, numbers on cells."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.colors import sample_colorscale

from deem_core.figures._names import bar_names, hover_names, short
from deem_core.typing import Floats, Integers

MOST_WRITTEN = 12
"""Cells in a row up to which numbers are written into them."""

MOST_TARGETS = 3_600
"""Cells of a figure up to which each can be clicked."""

DARK, LIGHT = "#141a2a", "#ffffff"
"""Colours of numbers on light and on dark cells."""

PAIR = "<b>%{y}</b><br><b>%{x}</b><br>"
"""How hover texts of pairs begin: names come from the axes, for a text per cell is megabytes with 100 learners."""

SIDES = "sides"
"""Where ``layout.meta`` of a figure says what stands down and across its cells, if titles of axes do not."""

LETTER = 7
"""Pixels of a letter on an axis, about."""


def name_axis(
    names: Sequence[str],
    title: str,
    *,
    pixels: int,
    upwards: bool = True,
    labelled: bool = True,
    most_letters: int = 18,
) -> dict[str, Any]:
    """Return an axis of cells at 0, 1, …, named where possible.

    Parameters
    ----------
    names : sequence of str
        As on axes: short and safe (`bar_names`).
    title : str
    pixels : int
        Length of the axis, about; where the names do not fit, every second or third is written.
    upwards : bool
        Whether the first cell is at the left or bottom, rather than at the top.
    labelled : bool
        Whether names are written at all.
    most_letters : int
        Of a name; longer ones are cut in the middle.
    """
    n = len(names)
    step = max(1, math.ceil(n * 13 / max(pixels, 1)))
    named = [_cut(name, most_letters) for name in names]
    return {
        "tickmode": "array",
        "tickvals": list(range(n))[::step] if labelled else [],
        "ticktext": named[::step] if labelled else [],
        "tickfont": {"size": 12 if n * 18 <= pixels else 10},
        "range": [-0.5, n - 0.5] if upwards else [n - 0.5, -0.5],
        "title": {"text": title if step == 1 or not labelled else f"{title} (one in {step} is named)", "standoff": 12},
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
        "automargin": True,
        "ticks": "",
        "ticklabelstandoff": 4,
    }


def key_axis(keys: Sequence[str], names: Sequence[str], title: str, **how: Any) -> dict[str, Any]:
    """Return an axis of cells placed by keys, named where possible.

    Hover texts show the keys.

    Parameters
    ----------
    keys, names : sequence of n str
        Long and short names; no two keys may be the same.
    title : str
    **how
        As for `name_axis`.
    """
    axis = name_axis(names, title, **how)
    return {**axis, "type": "category", "tickvals": [keys[k] for k in axis["tickvals"]]}


def tick_angle(names: Sequence[str], pixels: int) -> int | None:
    """Return the angle of names under their columns, in degrees.

    Names that fit lie flat; None lets Plotly turn them where a narrow screen squeezes the picture.
    """
    if len(names) * LETTER * (max(map(len, names), default=0) + 1) <= pixels:
        return None
    return -50 if len(names) * 20 <= pixels else -90


def colour_bar(title: str, **changes: Any) -> dict[str, Any]:
    """Return the bar that explains the colours."""
    return {
        "title": {"text": title, "side": "right", "font": {"size": 13}},
        "thickness": 14,
        "outlinewidth": 0,
        **changes,
    }


def cell_names(labels: Sequence[Any]) -> tuple[list[str], list[str]]:
    """Return names of learners or classes for axes and hover texts."""
    texts = [str(label) for label in labels]
    return bar_names(texts), hover_names(texts)


def strongest(values: Floats, most: int) -> NDArray[np.intp]:
    """Return the positions of the largest values, at most ``most``.

    The largest come first if some are left out; else all keep their order.
    """
    if len(values) <= most:
        return np.arange(len(values))
    return np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable")[:most]


def peaks(values: Floats, axis: int) -> Floats:
    """Return the maxima along an axis; minus infinity where all is NaN."""
    return np.asarray(np.where(np.isnan(values), -np.inf, values).max(axis=axis, initial=-np.inf))


def cell_numbers(
    z: Floats,
    texts: Sequence[Sequence[str]],
    cells: go.Heatmap,
    *,
    size: int = 12,
    at: Sequence[str] | None = None,
) -> go.Scatter:
    """Return numbers written on cells in a legible colour.

    A heatmap could write them itself, but in a fixed grey that is lost on half of the colours.

    Parameters
    ----------
    z : (rows, columns) array
        What the colours show; nothing is written where it is NaN.
    texts : rows of str
    cells : Heatmap
        Whose ``zmin``, ``zmax`` and ``colorscale`` are looked at.
    size : int
        Of the letters, in pixels.
    at : sequence of str, optional
        Keys of the cells in both directions; by default they lie at 0, 1, ….
    """
    known = np.argwhere(np.isfinite(z))
    places = np.clip((z[tuple(known.T)] - cells.zmin) / (cells.zmax - cells.zmin), 0, 1)
    scale = [[place, colour] for place, colour in cells.colorscale]
    below = sample_colorscale(scale, places.tolist(), colortype="tuple") if len(known) else []
    return go.Scatter(
        x=known[:, 1] if at is None else [at[k] for k in known[:, 1]],
        y=known[:, 0] if at is None else [at[k] for k in known[:, 0]],
        mode="text",
        text=[texts[row][column] for row, column in known.tolist()],
        textfont={"size": size, "color": [DARK if _light(colour) else LIGHT for colour in below]},
        hoverinfo="skip",
        showlegend=False,
    )


def written_width(figure: go.Figure) -> int:
    """Return the width of the numbers on cells, in pixels.

    That is what they need side by side; 0 without any.
    """
    if not any(isinstance(trace, go.Heatmap) for trace in figure.data):
        return 0
    columns: dict[str, set[Any]] = {}
    letters = 0
    for trace in figure.data:
        if isinstance(trace, go.Scatter) and trace.mode == "text" and trace.hoverinfo == "skip":
            columns.setdefault(trace.xaxis or "x", set()).update(trace.x)
            letters = max(letters, *map(len, trace.text), 0)
    return sum(map(len, columns.values())) * LETTER * (letters + 1)


def nats(value: float) -> str:
    """Return a number of nats, or that it is not known."""
    return f"{value:,.3g} nats" if math.isfinite(value) else "not known"


def outline(column: int, row: int, colour: str, width: float = 2) -> dict[str, Any]:
    """Return the frame of one cell."""
    return {
        "type": "rect",
        "x0": column - 0.5,
        "x1": column + 0.5,
        "y0": row - 0.5,
        "y1": row + 0.5,
        "line": {"color": colour, "width": width},
    }


def places(down: Sequence[int] | Integers, across: Sequence[int] | Integers, panel: int = 0) -> dict[str, Any]:
    """Return names of drawn rows and columns, as a heatmap's ``meta``.

    Positions among all names, since figures leave some out and put others first. `targets` reads it.
    """
    return {"down": [int(at) for at in down], "across": [int(at) for at in across], "panel": panel}


def targets(figure: go.Figure, colour: str) -> list[go.Scatter]:
    """Return invisible points on the cells of a figure, to be clicked.

    Clicks on a heatmap itself select nothing. A point has ``customdata`` (place down, place across, panel), from the
    heatmap's `places`, and shows what the heatmap would on hover. None where cells are too many or too small to be met.

    Parameters
    ----------
    figure : Figure
    colour : str
        Of the mark on the cell that was clicked.
    """
    maps = [trace for trace in figure.data if isinstance(trace, go.Heatmap) and trace.meta is not None]
    if sum(np.size(trace.z) for trace in maps) > MOST_TARGETS:
        return []
    return [_targets(trace, colour) for trace in maps]


def undimmed(figure: go.Figure) -> go.Figure:
    """Return the figure with numbers that selecting a cell leaves alone.

    Plotly pales what is not selected, and can be told one colour for each trace alone: so each colour gets its own.
    """
    numbers = [trace for trace in figure.data if isinstance(trace, go.Scatter) and trace.mode == "text"]
    split = []
    for trace in numbers:
        colours = np.array(trace.textfont.color, object)
        for colour in dict.fromkeys(colours.tolist()):
            own = np.flatnonzero(colours == colour).tolist()
            kept = {"textfont": {"color": colour}}
            part = go.Scatter(trace)
            part.update(
                x=[trace.x[at] for at in own],
                y=[trace.y[at] for at in own],
                text=[trace.text[at] for at in own],
                textfont={"color": colour},
                selected=kept,
                unselected=kept,
            )
            split.append(part)
    others = [trace for trace in figure.data if not any(trace is one for one in numbers)]
    return go.Figure([*others, *split], layout=figure.layout)


def _targets(cells: go.Heatmap, colour: str) -> go.Scatter:
    z = np.asarray(cells.z, np.float64)
    known = np.argwhere(np.isfinite(z)).tolist()
    down, across, panel = cells.meta["down"], cells.meta["across"], cells.meta["panel"]
    told = cells.customdata
    hover = re.sub(r"%\{customdata(?=[:}])", "%{customdata[3]", str(cells.hovertemplate))
    return go.Scatter(
        x=[cells.x[column] for _, column in known],
        y=[cells.y[row] for row, _ in known],
        customdata=[
            [down[row], across[column], panel, None if told is None else told[row][column]] for row, column in known
        ],
        hovertemplate=hover.replace("%{z", "%{marker.color"),
        mode="markers",
        marker={
            "size": 12,
            "symbol": "square",
            "opacity": 0,
            "color": [float(z[row, column]) for row, column in known],  # which hover texts read
        },
        selected={"marker": {"opacity": 0.5, "color": colour, "size": 22}},
        unselected={"marker": {"opacity": 0}},
        showlegend=False,
        xaxis=cells.xaxis,
        yaxis=cells.yaxis,
    )


def _light(colour: tuple[float, float, float]) -> bool:
    """Return whether dark letters are legible on a colour.

    Relative luminance as the web defines it.
    """
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return luminance > 0.2


def _cut(name: str, most: int) -> str:
    # An escaped name may hold "&lt;": cut it only where nothing is escaped.
    return name if len(name) <= most or "&" in name else short(name, most)
