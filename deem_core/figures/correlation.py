"""Drawings of dependence over layers and of correlation with the label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from deem_core.figures._axes import legend_below, line_axis, panels, picture_layout, picture_of_nothing
from deem_core.figures._cells import MOST_WRITTEN, PAIR, cell_numbers, colour_bar, name_axis, places, tick_angle
from deem_core.figures._names import HOVER_LETTERS, bar_names, safe, short
from deem_core.figures._theme import theme_of

HEIGHT = 340

WIDTH = 640
"""Pixels of a matrix of all learners from side to side, about."""

TITLES = (
    "All pairs</b><br><span style='font-size:12px'>Frobenius norm, nats</span><b>",
    "Largest pair</b><br><span style='font-size:12px'>mutual information, nats</span><b>",
)


def dependence_summary(
    layer_names: Sequence[str],
    frobenius: ArrayLike,
    frobenius_std: ArrayLike,
    largest: ArrayLike,
    largest_std: ArrayLike,
    *,
    floor: ArrayLike | None = None,
    largest_floor: ArrayLike | None = None,
    theme: str | None = "light",
) -> go.Figure:
    """Draw dependence over the layers, mean and spread over classes.

    Parameters
    ----------
    layer_names : sequence of L str
    frobenius, frobenius_std, largest, largest_std : (L,) array
        Columns of `Dependence.to_frame`; NaN where no class has enough rows.
    floor, largest_floor : (L,) array or float, optional
        What independent learners would seem to have (``floor_frobenius`` and ``floor`` of the same table), dashed.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    both = [np.asarray(values, np.float64) for values in (frobenius, largest)]
    if not any(np.isfinite(values).any() for values in both):
        return picture_of_nothing(
            colours, "Once a model is trained, this shows how dependence changes from layer to layer."
        )
    L = len(layer_names)
    figure = panels(colours, TITLES, height=HEIGHT, spacing=0.12)
    spreads = [np.asarray(values, np.float64) for values in (frobenius_std, largest_std)]
    floors = [np.broadcast_to(np.asarray(np.nan if f is None else f, np.float64), (L,)) for f in (floor, largest_floor)]
    hover = [short(name, 60) for name in layer_names]
    for at, (value, spread, least) in enumerate(zip(both, spreads, floors, strict=True), start=1):
        figure.add_scatter(
            name="mean ± standard deviation over classes",
            x=list(range(L)),
            y=value,
            mode="lines+markers",
            line={"color": colours.accent, "width": 2.4},
            marker={"size": 10, "color": colours.accent},
            error_y={
                "type": "data",
                "array": np.nan_to_num(spread),
                "color": colours.accent,
                "thickness": 1.6,
                "width": 5,
            },
            customdata=[_words(name, v, s, f) for name, v, s, f in zip(hover, value, spread, least, strict=True)],
            hovertemplate="%{customdata}<extra></extra>",
            legendgroup="mean",
            showlegend=at == 1,
            row=1,
            col=at,
        )
        if np.isfinite(least).any():
            level = least if L > 1 else np.repeat(least, 2)
            figure.add_scatter(
                name="floor: what independent learners would show",
                x=list(range(L)) if L > 1 else [-0.4, 0.4],
                y=level,
                mode="lines",
                line={"color": colours.text, "width": 1.3, "dash": "dash"},
                opacity=0.8,
                hoverinfo="skip",
                legendgroup="floor",
                showlegend=at == 1 or not np.isfinite(floors[0]).any(),
                row=1,
                col=at,
            )
        top = float(np.nanmax(np.concatenate([value + np.nan_to_num(spread), least, [0.0]])))
        figure.update_yaxes(line_axis("", range=[0, 1.08 * top or 1.0], fixedrange=True), row=1, col=at)
    figure.update_xaxes(
        line_axis(
            "",
            tickmode="array",
            tickvals=list(range(L)),
            ticktext=[_tick(name) for name in layer_names],
            tickangle=0,
            range=[-0.4, L - 0.6],
            showgrid=False,
            fixedrange=True,
        )
    )
    return figure.update_layout(legend={**legend_below("", HEIGHT), "itemclick": False, "itemdoubleclick": False})


def correlation_heatmap(
    matrix: ArrayLike,
    names: Sequence[str],
    *,
    order: ArrayLike | None = None,
    fused: str | None = None,
    what: str = "votes",
    theme: str | None = "light",
) -> go.Figure:
    """Draw the correlation of all learners and the fused label.

    The diagonal is left blank. Where nothing is clearly negative, colours run from 0 to 1; else both ways from 0.

    Parameters
    ----------
    matrix : (d + 1, d + 1) array
        `Correlation.matrix`; NaN for pairs with too few common rows.
    names : sequence of d + 1 str
        The learners, then the fused label.
    order : array of int, optional
        In which they are drawn (`Correlation.order`); as given by default.
    fused : str, optional
        Name of the fused label, the last by default; it stands out. Empty if there are learners only.
    what : str
        What is correlated.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    n = len(names)
    value = np.asarray(matrix, np.float64).reshape(n, n)
    if n < 2:
        return picture_of_nothing(
            colours,
            ("Once a model is trained, this shows which learners agree with each other and with the fused label."),
        )
    at = np.arange(n) if order is None else np.asarray(order, np.intp)
    drawn = np.where(np.eye(n, dtype=bool), np.nan, value)[np.ix_(at, at)]
    known = drawn[np.isfinite(drawn)]
    signed = bool(len(known)) and float(known.min()) < -0.05
    shown = bar_names(names)
    keys = [bar_names(names, most=HOVER_LETTERS)[j] for j in at]
    own = names[-1] if fused is None else fused
    labels = [f"<b>{shown[j]}</b>" if names[j] == own else shown[j] for j in at]
    side = int(np.clip(36 * n, 240, 640))
    plain = [shown[j] for j in at]
    title = "learner, and the fused label in bold" if own else "learner"
    texts = [["" if np.isnan(cell) else f"{cell:.2f}" for cell in row] for row in drawn]
    cells = go.Heatmap(
        z=drawn.astype(np.float32),
        zmin=-1 if signed else 0,
        zmax=1,
        x=keys,
        y=keys,
        colorscale=colours.diverging_scale() if signed else colours.colour_scale(),
        xgap=1 if n <= 40 else 0,
        ygap=1 if n <= 40 else 0,
        hovertemplate=f"{PAIR}correlation %{{z:.2f}}<extra></extra>",
        hoverongaps=False,
        meta=places(at, at),
        colorbar=colour_bar(f"correlation of {what}"),
    )
    down: dict[str, Any] = name_axis(plain, title, pixels=side, upwards=False)
    across: dict[str, Any] = name_axis(plain, title, pixels=WIDTH)
    bold = [k for k, j in enumerate(at.tolist()) if names[j] == own]
    for axis in (down, across):
        named = _with(axis["tickvals"], bold)
        axis |= {"type": "category", "tickvals": [keys[k] for k in named], "ticktext": [labels[k] for k in named]}
    figure = go.Figure(cells)
    if n <= MOST_WRITTEN:
        figure.add_trace(cell_numbers(drawn, texts, cells, at=keys))
    return figure.update_layout(
        picture_layout(colours, side + 150),
        plot_bgcolor=colours.grid,
        xaxis={**across, "tickangle": tick_angle(plain, WIDTH)},
        yaxis=down,
    )


def _with(places: Sequence[int], wanted: Sequence[int]) -> list[int]:
    """Return the places to name, including those that must be named.

    A neighbour of these gives way.
    """
    step = places[1] - places[0] if len(places) > 1 else 1
    near = {other for k in wanted for other in range(k - step + 1, k + step)}
    return sorted({*wanted, *(k for k in places if k not in near)})


def _tick(name: str) -> str:
    """Return a layer's name in two lines where it is long."""
    head, comma, tail = name.partition(", ")
    if comma:
        return f"{safe(head)},<br>{safe(tail)}"
    head, space, tail = name.partition(" ")
    return short(name) if len(name) <= 8 or not space else f"{short(head)}<br>{short(tail)}"


def _words(name: str, value: float, spread: float, floor: float) -> str:
    said = f"<b>{name}</b><br>{value:.3g} nats"
    if np.isfinite(spread):
        said += f" ± {spread:.2g} over classes"
    return said + (f"<br>independent learners would show {floor:.2g}" if np.isfinite(floor) else "")
