"""The expert finder: whom the model listens to for which class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from deem_core.diagnostics.experts import lead
from deem_core.figures._axes import MOST_LEARNERS, picture_layout, picture_of_nothing, shown_of
from deem_core.figures._cells import (
    MOST_WRITTEN,
    cell_names,
    cell_numbers,
    colour_bar,
    name_axis,
    nats,
    outline,
    peaks,
    places,
    strongest,
    tick_angle,
)
from deem_core.figures._theme import theme_of
from deem_core.figures.influence import NOTHING
from deem_core.typing import Floats

OUTLINED = 1.7
"""How many times the mean of its class a cell must be to be outlined, unless the cells are named."""

WIDEST = 4.0
"""Ratio at which the colours end, on both sides."""

WIDTH = 620
"""Pixels of the picture's cells, about."""


def influence_heatmap(
    matrix: ArrayLike,
    learners: Sequence[str],
    classes: Sequence[Any],
    *,
    relative: bool = False,
    marked: Sequence[tuple[str, str]] | None = None,
    max_learners: int = MOST_LEARNERS,
    max_classes: int = 30,
    theme: str | None = "light",
) -> go.Figure:
    """Draw the influence of each learner on each class.

    Who stands out in a class is outlined.

    Parameters
    ----------
    matrix : (d, K) array
        `Importance.by_class`; NaN for a class without rows.
    learners : sequence of d str
    classes : sequence of K labels
    relative : bool
        Draw ratios to the class's median learner, from a quarter to four times. A class whose median is not positive is
        left blank: ratios would mean nothing there.
    marked : sequence of (learner, class), optional
        Names of the cells to outline (`Importance.experts`); by default those of `OUTLINED` times the median.
    max_learners, max_classes : int
        Of more, those with the highest peaks are drawn, and the axes say so.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    value = np.asarray(matrix, np.float64).reshape(len(learners), len(classes))
    if not np.isfinite(value).any():
        return picture_of_nothing(colours, NOTHING)
    ratio = lead(value)
    # A class is worth seeing where somebody stands out, a learner where the drawn classes show it.
    columns = strongest(peaks(ratio if np.isfinite(ratio).any() else value, axis=0), max_classes)
    rows = strongest(peaks(value[:, columns], axis=1), max_learners)
    at = np.ix_(rows, columns)
    names, titles = cell_names(learners), cell_names(classes)
    drawn = _relative(ratio[at]) if relative else _absolute(value[at])
    height = int(np.clip(26 * len(rows), 120, 760))
    texts = [
        [_words(names[1][i], titles[1][k], value[i, k], ratio[i, k]) for k in columns.tolist()] for i in rows.tolist()
    ]
    figure = go.Figure(
        go.Heatmap(
            z=drawn.z,
            zmin=drawn.low,
            zmax=drawn.high,
            x=list(range(len(columns))),
            y=list(range(len(rows))),
            colorscale=colours.diverging_scale() if relative else colours.colour_scale(),
            xgap=1,
            ygap=1,
            customdata=texts,
            hovertemplate="%{customdata}<extra></extra>",
            hoverongaps=False,
            meta=places(rows, columns),
            colorbar=colour_bar(drawn.title, **drawn.ticks),
        )
    )
    if len(columns) <= MOST_WRITTEN:
        figure.add_trace(cell_numbers(drawn.z, drawn.texts, figure.data[0]))
    cells = _cells(value, ratio, learners, classes, marked)
    frame = colours.text if relative else colours.selected  # orange is one end of the ratios' colours
    place = {(int(i), int(k)): (c, r) for r, i in enumerate(rows) for c, k in enumerate(columns)}
    shapes = [outline(*place[cell], frame) for cell in cells if cell in place]
    class_title = shown_of(
        "class, highest peaks first" if len(classes) > max_classes else "class", max_classes, len(classes)
    )
    if shapes:
        class_title += " · outlined: stands out in the class"
    learner_title = "learner, highest peaks first" if len(learners) > max_learners else "learner"
    column_names = [titles[0][k] for k in columns]
    return figure.update_layout(
        picture_layout(colours, height + 120),
        plot_bgcolor=colours.grid,
        shapes=shapes,
        xaxis={
            **name_axis(column_names, class_title, pixels=WIDTH),
            "tickangle": tick_angle(column_names, WIDTH),
        },
        yaxis=name_axis(
            [names[0][i] for i in rows],
            shown_of(learner_title, max_learners, len(learners)),
            pixels=height,
            upwards=False,
        ),
    )


@dataclass(frozen=True)
class _Drawn:
    """What the colours show."""

    z: Floats
    low: float
    high: float
    texts: list[list[str]]
    title: str
    ticks: dict[str, Any]


def _absolute(value: Floats) -> _Drawn:
    known = value[np.isfinite(value)]
    low, high = min(float(known.min(initial=0)), 0.0), float(known.max(initial=0))
    texts = [["" if np.isnan(cell) else f"{cell:.2g}" for cell in row] for row in value]
    return _Drawn(value, low, high if high > low else low + 1, texts, "influence (nats)", {})


def _relative(ratio: Floats) -> _Drawn:
    """Return ratios on a logarithmic scale, cut at `WIDEST`.

    What is not positive is at its lower end.
    """
    end = float(np.log2(WIDEST))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(np.isnan(ratio), np.nan, np.clip(np.log2(np.maximum(ratio, 0)), -end, end))
    texts = [["" if np.isnan(cell) else f"{cell:.1f}×" if cell > 0 else "≤ 0" for cell in row] for row in ratio]
    ticks = {"tickmode": "array", "tickvals": [-2, -1, 0, 1, 2], "ticktext": ["¼ ×", "½ ×", "1 ×", "2 ×", "4 ×"]}
    return _Drawn(z, -end, end, texts, "influence relative to the median learner", ticks)


def _cells(
    value: Floats,
    ratio: Floats,
    learners: Sequence[str],
    classes: Sequence[Any],
    marked: Sequence[tuple[str, str]] | None,
) -> list[tuple[int, int]]:
    """Return learner and class of the cells to outline."""
    if marked is None:
        found = np.argwhere((np.nan_to_num(ratio) >= OUTLINED) & (np.nan_to_num(value) > 0))
        return [(int(i), int(k)) for i, k in found]
    who = {name: i for i, name in enumerate(learners)}
    what = {str(label): k for k, label in enumerate(classes)}
    return [(who[name], what[str(label)]) for name, label in marked if name in who and str(label) in what]


def _words(learner: str, label: str, value: float, ratio: float) -> str:
    if not np.isfinite(value):
        return f"<b>{learner}</b><br>no rows with the label <b>{label}</b>"
    times = f"<br>{ratio:.2g} times the median learner" if ratio > 0 else ""
    return f"<b>{learner}</b> on rows with the label <b>{label}</b><br>influence {nats(value)}{times}"
