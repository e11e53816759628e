"""Drawings that compare methods: accuracies, and differences class by class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from deem_core.figures._axes import bar_layout, picture_of_nothing
from deem_core.figures._names import bar_names, hover_names, short
from deem_core.figures._theme import theme_of


def accuracy_intervals(
    names: Sequence[str],
    values: ArrayLike,
    lows: ArrayLike,
    highs: ArrayLike,
    *,
    highlight: str | None = None,
    reference: str | None = None,
    measure: str = "accuracy (share of rows that are right)",
    order: str = "best first",
    theme: str | None = "light",
) -> go.Figure:
    """Draw accuracies with intervals, the best first (evaluation only).

    Parameters
    ----------
    names : sequence of M str
    values, lows, highs : (M,) array
        Accuracies and the ends of their intervals, as fractions; a method without a value is not drawn.
    highlight : str, optional
        The method that stands out.
    reference : str, optional
        The method whose value is a line across the picture, such as majority vote.
    measure : str
        What the values are, if not accuracies.
    order : str
        What a high value means for the order of the methods, if it is not "best".
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    value, low, high = (np.asarray(numbers, np.float64) for numbers in (values, lows, highs))
    known = np.flatnonzero(np.isfinite(value))
    if not len(known):
        return picture_of_nothing(colours, "No accuracies to show: they need rows with known truth.")
    ranked = known[np.argsort(-value[known], kind="stable")]
    low, high = np.fmin(low, value), np.fmax(high, value)  # no interval where its ends are NaN
    axis_names, hover = bar_names(names, most=28), hover_names(names)
    palette = [colours.selected if names[m] == highlight else colours.accent for m in ranked]
    figure, what = go.Figure(), measure.partition(" (")[0]
    for m, colour in zip(ranked.tolist(), palette, strict=True):  # error bars have one colour per trace
        figure.add_scatter(
            x=[value[m]],
            y=[axis_names[m]],
            mode="markers",
            cliponaxis=False,  # a dot at 100% is whole
            marker={"size": 11, "color": colour},
            error_x={
                "type": "data",
                "array": [high[m] - value[m]],
                "arrayminus": [value[m] - low[m]],
                "color": colour,
                "thickness": 2,
                "width": 5,
            },
            customdata=[[hover[m], f"{what} {value[m]:.2%}", f"95% interval {low[m]:.2%} to {high[m]:.2%}"]],
            hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<br>%{customdata[2]}<extra></extra>",
            showlegend=False,
        )
    ends = [float(low[ranked].min()), float(high[ranked].max())]
    pad = max(0.06 * (ends[1] - ends[0]), 0.005)
    start, end = max(ends[0] - pad, 0.0), min(ends[1] + pad, 1.0)
    figure.update_layout(
        bar_layout(colours, len(ranked), f"method, {order}"),
        height=130 + 30 * len(ranked),
        xaxis={
            "title": measure,
            "tickformat": ".1%" if ends[1] - ends[0] < 0.05 else ".0%",
            "range": [start, end + 1e-6],  # so that the tick at 100% is drawn
            "zeroline": False,
            "fixedrange": True,
            "automargin": True,
        },
    )
    figure.update_yaxes(showgrid=True, categoryorder="array", categoryarray=[axis_names[m] for m in ranked])
    at = list(names).index(reference) if reference is not None and reference in names else None
    if at is not None and np.isfinite(value[at]):
        side = "right" if value[at] > end - 0.1 * (end - start) else "center"  # no word is cut at the edge
        figure.add_vline(
            x=value[at],
            line={"color": colours.text, "width": 1.3, "dash": "dash"},
            opacity=0.75,
            layer="below",
            annotation={"text": short(names[at], 28), "yanchor": "bottom", "xanchor": side, "y": 1},
        )
        room = 50 if side == "right" else 30  # there the camera stands in the corner, over the word
        figure.update_layout(margin={"t": room}, height=figure.layout.height + room - 30)
    return figure


def class_differences(
    classes: Sequence[Any], differences: ArrayLike, *, title: str, max_classes: int = 40, theme: str | None = "light"
) -> go.Figure:
    """Draw the difference of two methods in every class.

    Bars go to the right and to the left.

    Parameters
    ----------
    classes : sequence of K labels
    differences : (K,) array
        Shares, as fractions; NaN is not drawn.
    title : str
        Of the horizontal axis: what the differences are of.
    max_classes : int
        Classes with the largest differences that are drawn.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    value = np.asarray(differences, np.float64)
    known = np.flatnonzero(np.isfinite(value))
    if not len(known):
        return picture_of_nothing(colours, "There is nothing to compare in any class.")
    largest = known[np.argsort(-np.abs(value[known]), kind="stable")][:max_classes]
    order = largest[np.argsort(-value[largest], kind="stable")]
    labels = [str(label) for label in classes]
    axis_names, hover = bar_names(labels), hover_names(labels)
    axis_title = (
        "class" if len(order) == len(known) else f"class ({len(order)} of {len(known):,}, those that differ most)"
    )
    figure = go.Figure(
        go.Bar(
            x=value[order],
            y=[axis_names[k] for k in order],
            orientation="h",
            marker={"color": [colours.good if value[k] >= 0 else colours.bad for k in order]},
            customdata=[f"<b>{hover[k]}</b><br>{100 * value[k]:+.2f} points" for k in order],
            hovertemplate="%{customdata}<extra></extra>",
        )
    )
    figure.update_layout(
        bar_layout(colours, len(order), axis_title),
        xaxis={"title": title, "tickformat": "+.1%", "zeroline": True, "fixedrange": True, "automargin": True},
    )
    return figure
