"""Reliability against influence: whether the model listens to those who are right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from deem_core.figures._axes import line_axis, picture_layout, picture_of_nothing
from deem_core.figures._cells import nats
from deem_core.figures._names import bar_names, hover_names
from deem_core.figures._placement import LETTER, LINE, Box, places_of_names
from deem_core.figures._theme import Theme, theme_of
from deem_core.typing import Floats

HEIGHT = 430
WIDTH, INNER = 720.0, 330.0
"""Pixels of the area of points, about; a wider page only makes room."""

HINTS = {
    (0, 1): "reliable, little used",
    (1, 1): "reliable and trusted",
    (0, 0): "unreliable, little used",
    (1, 0): "trusted but unreliable",
}
"""What the corners mean: right or left, top or bottom."""


def trust_scatter(
    names: Sequence[str],
    influence: ArrayLike,
    reliability: ArrayLike,
    *,
    real: ArrayLike | None = None,
    theme: str | None = "light",
) -> go.Figure:
    """Draw the accuracy of each learner against its influence.

    Dotted lines at the medians part the picture; learners are named as far as there is room, those far from the
    middle first, and all on hover.

    Parameters
    ----------
    names : sequence of d str
    influence : (d,) array
        `Importance.overall`.
    reliability : (d,) array
        Accuracy without truth (`Reliability.accuracy`); learners with NaN in either are not drawn.
    real : (d,) array, optional
        Real accuracy (evaluation only), joined to the estimate by a line.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    x, y = np.asarray(influence, np.float64), np.asarray(reliability, np.float64)
    known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if not len(known):
        return picture_of_nothing(
            colours, ("Once a model is trained, this shows whether it trusts the accurate learners.")
        )
    truth = np.full(len(x), np.nan) if real is None else np.asarray(real, np.float64)
    x, y, truth = x[known], y[known], truth[known]
    shown, hover = bar_names(names), hover_names(names)
    horizontal, vertical = _range(x), _range(np.append(y, truth), most=1.0)
    places = _places(x, y, truth, [shown[j] for j in known], (horizontal, vertical))
    texts = [_words(hover[j], x[n], y[n], truth[n]) for n, j in enumerate(known.tolist())]
    figure = go.Figure()
    judged = np.isfinite(truth)
    if judged.any():
        figure.add_traces(
            _judged(
                x[judged], y[judged], truth[judged], [t for t, ok in zip(texts, judged, strict=True) if ok], colours
            )
        )
    figure.add_scatter(
        name="estimated accuracy",
        x=x,
        y=y,
        mode="markers+text",
        text=["" if place is None else shown[j] for place, j in zip(places, known, strict=True)],
        textposition=[place or "top center" for place in places],
        textfont={"size": 12, "color": colours.text},
        marker={"size": 11, "color": colours.accent, "line": {"width": 1.5, "color": colours.background}},
        customdata=texts,
        hovertemplate="%{customdata}<extra></extra>",
        cliponaxis=False,
    )
    if len(known) >= 4:
        _quadrants(figure, float(np.median(x)), float(np.median(y)), colours)
    measure = (
        "estimated accuracy (agreement with the fused label)" if not judged.any() else "accuracy (share of its votes)"
    )
    return figure.update_layout(
        picture_layout(colours, HEIGHT),
        showlegend=bool(judged.any()),
        legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "traceorder": "reversed"},
        xaxis=line_axis("influence (drop of the fused class's logit, nats)", range=horizontal, fixedrange=True),
        yaxis=line_axis(measure, range=vertical, tickformat=".0%", fixedrange=True),
    )


def _judged(x: Floats, y: Floats, truth: Floats, texts: list[str], colours: Theme) -> list[go.Scatter]:
    """Return the real accuracies, and lines from each estimate to them."""
    gap = np.full_like(x, np.nan)
    lines = go.Scatter(
        x=np.column_stack([x, x, gap]).ravel(),
        y=np.column_stack([y, truth, gap]).ravel(),
        mode="lines",
        line={"color": colours.rest, "width": 1.5},
        hoverinfo="skip",
        showlegend=False,
    )
    points = go.Scatter(
        name="real accuracy",
        x=x,
        y=truth,
        mode="markers",
        marker={"size": 9, "symbol": "diamond-open", "color": colours.selected, "line": {"width": 2}},
        customdata=texts,
        hovertemplate="%{customdata}<extra></extra>",
    )
    return [lines, points]


def _places(
    x: Floats, y: Floats, truth: Floats, names: Sequence[str], ranges: tuple[list[float], list[float]]
) -> list[str | None]:
    """Return where names fit between points, hints and real accuracies."""
    (left, right), (bottom, top) = ranges
    across, up = (x - left) / (right - left), (y - bottom) / (top - bottom)
    below = (truth - bottom) / (top - bottom)
    marks: list[Box] = [
        (a * WIDTH - 5, b * INNER - 5, a * WIDTH + 5, b * INNER + 5)
        for a, b in zip(across.tolist(), below.tolist(), strict=True)
        if np.isfinite(b)
    ]
    taken = [*marks, *(_hint_box(at, text) for at, text in HINTS.items())]
    first = np.argsort(-np.hypot(across - np.median(across), up - np.median(up)), kind="stable")
    found = places_of_names(across[first], up[first], [names[j] for j in first], width=WIDTH, height=INNER, taken=taken)
    places: list[str | None] = [None] * len(names)
    for j, place in zip(first.tolist(), found, strict=True):
        places[j] = place
    return places


def _hint_box(at: tuple[int, int], text: str) -> Box:
    wide = LETTER * len(text)
    left = WIDTH - wide if at[0] else 0.0
    bottom = INNER - LINE - 6 if at[1] else 0.0
    return left, bottom, left + wide, bottom + LINE + 6


def _quadrants(figure: go.Figure, across: float, up: float, colours: Theme) -> None:
    line: dict[str, Any] = {"color": colours.rest, "width": 1, "dash": "dot"}
    figure.add_vline(x=across, line=line, layer="below")
    figure.add_hline(y=up, line=line, layer="below")
    for (right, top), text in HINTS.items():
        figure.add_annotation(
            text=text,
            xref="paper",
            yref="paper",
            x=right,
            y=top,
            xanchor="right" if right else "left",
            yanchor="top" if top else "bottom",
            showarrow=False,
            opacity=0.6,
            font={"size": 12, "color": colours.text},
        )


def _range(values: Floats, most: float = np.inf) -> list[float]:
    """Return the ends of an axis with room for names."""
    known = values[np.isfinite(values)]
    low, high = float(known.min()), float(known.max())
    pad = 0.18 * (high - low) or max(0.1 * abs(high), 0.02)
    return [low - pad, high + pad if high + pad <= most else max(most + 0.04, high) + 0.02]


def _words(name: str, influence: float, reliability: float, real: float) -> str:
    judged = f"<br>actually right in {real:.1%} of its votes" if np.isfinite(real) else ""
    return f"<b>{name}</b><br>influence {nats(influence)}<br>estimated accuracy {reliability:.1%}{judged}"
