"""Drawings of the answer: class shares, changed labels, confidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from deem_core.figures._axes import bar_layout, line_axis, picture_layout, picture_of_nothing, shown_of
from deem_core.figures._names import bar_names, hover_names
from deem_core.figures._theme import Theme, theme_of
from deem_core.typing import Integers

MOST_SHOWN = 20
"""Classes that fit on a screen with their names."""

MOST_WRITTEN = 12
"""Classes up to which the counts are written into the cells."""


def class_shares(
    fused: ArrayLike,
    majority: ArrayLike,
    classes: Sequence[Any],
    *,
    truth: ArrayLike | None = None,
    theme: str | None = "light",
    max_classes: int = MOST_SHOWN,
) -> go.Figure:
    """Draw class shares of the fused labels, majority vote and truth.

    Parameters
    ----------
    fused, majority : (K,) array
        Shares of rows.
    classes : sequence of K labels
    truth : (K,) array, optional
        Real shares (evaluation only).
    theme : "light" or "dark"
    max_classes : int
        Of more classes, those whose share changed most are drawn, and the axis says so.
    """
    colours = theme_of(theme)
    shares = {"majority vote": np.asarray(majority, np.float64), "fused": np.asarray(fused, np.float64)}
    if truth is not None:
        shares["truth"] = np.asarray(truth, np.float64)
    palette = {"majority vote": colours.rest, "fused": colours.accent, "truth": colours.good}
    order = np.arange(len(classes))
    title = "class"
    if len(classes) > max_classes:
        change = np.abs(shares["fused"] - shares["majority vote"])
        order, title = np.argsort(-change, kind="stable")[:max_classes], "class, most changed first"
    labels = [str(label) for label in classes]
    axis_names, names = bar_names(labels), hover_names(labels)
    texts = [
        "<br>".join(f"{name}: {share[k]:.2%} of the rows" for name, share in shares.items()) for k in order.tolist()
    ]
    figure = go.Figure()
    for name, share in shares.items():
        figure.add_bar(
            name=name,
            y=[axis_names[k] for k in order],
            x=share[order],
            orientation="h",
            marker={"color": palette[name], "line": {"width": 0}},
            customdata=[[names[k], text] for k, text in zip(order, texts, strict=True)],
            hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
        )
    layout = bar_layout(colours, len(order), shown_of(title, max_classes, len(classes)))
    return figure.update_layout(
        layout,
        height=layout["height"] + 8 * len(order),
        barmode="group",
        bargroupgap=0.08,
        legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "traceorder": "normal"},
        xaxis={
            "title": "share of rows",
            "tickformat": ".0%" if max(float(np.nanmax(share[order])) for share in shares.values()) > 0.04 else ".2~%",
            "rangemode": "tozero",
            "fixedrange": True,
            "automargin": True,
        },
    )


def label_changes(
    matrix: Integers,
    classes: Sequence[Any],
    *,
    theme: str | None = "light",
    max_classes: int = MOST_SHOWN,
) -> go.Figure:
    """Draw rows by majority vote and by fused label.

    Colours follow the logarithm of the counts, so that few changes are seen beside many; rows that stayed, on the
    diagonal, are grey, since they would outshine all changes.

    Parameters
    ----------
    matrix : (K, K) array of int
        Rows of the table with majority vote i and fused label j.
    classes : sequence of K labels
    theme : "light" or "dark"
    max_classes : int
        Of more classes, those with most changes are drawn, and the axes say so.
    """
    colours = theme_of(theme)
    counts = np.asarray(matrix, np.int64)
    changes = counts - np.diag(np.diag(counts))
    order = np.arange(len(classes))
    if len(classes) > max_classes:
        order = np.argsort(-(changes.sum(axis=0) + changes.sum(axis=1)), kind="stable")[:max_classes]
    at = np.ix_(order, order)
    labels = [str(label) for label in classes]
    all_axis_names, all_names = bar_names(labels), hover_names(labels)
    axis_names, names = [all_axis_names[k] for k in order], [all_names[k] for k in order]
    texts = _change_texts(counts[at], counts.sum(axis=1)[order], names)
    n = len(order)
    cells = _cells(counts[at], changes[at], texts, colours)
    axis = {
        "tickmode": "array",
        "tickvals": list(range(n)),
        "ticktext": axis_names,
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
        "automargin": True,
        "ticks": "",
    }
    words = shown_of("most changes first", max_classes, len(classes)) if len(classes) > max_classes else ""
    after = f": {words}" if words else ""
    wide = n * max(map(len, axis_names), default=1) > 60  # letters in the width of the picture
    return go.Figure(cells).update_layout(
        picture_layout(colours, int(np.clip(34 * n, 140, 640)) + 110),
        xaxis={
            **axis,
            "title": {"text": f"fused label{after}", "standoff": 12},
            "range": [-0.5, n - 0.5],
            "tickangle": -50 if wide else 0,
        },
        yaxis={
            **axis,
            "title": {"text": "majority vote", "standoff": 12},
            "range": [n - 0.5, -0.5],
        },
    )


def _cells(
    counts: NDArray[np.int64], changes: NDArray[np.int64], texts: list[list[str]], colours: Theme
) -> list[go.Heatmap]:
    """Return heatmaps of the changes and of the unchanged rows."""
    n = len(counts)
    diagonal = np.eye(n, dtype=bool)
    numbers = np.array([[f"{count:,}" for count in row] for row in counts.tolist()], object).reshape(n, n)
    shared = {
        "x": list(range(n)),
        "y": list(range(n)),
        "xgap": 1,
        "ygap": 1,
        "customdata": texts,
        "hovertemplate": "%{customdata}<extra></extra>",
        "hoverongaps": False,
        "texttemplate": "%{text}" if n <= MOST_WRITTEN else None,
    }
    most = int(changes.max(initial=0))
    ticks = [count for count in (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000) if count <= most]
    stayed = go.Heatmap(
        z=np.where(diagonal, 1.0, np.nan),
        text=np.where(diagonal, numbers, ""),
        colorscale=[[0, colours.grid], [1, colours.grid]],
        showscale=False,
        **shared,
    )
    changed = go.Heatmap(
        z=np.where(diagonal, np.nan, np.log10(1.0 + changes)),
        text=np.where(diagonal, "", numbers),
        zmin=0,
        zmax=math.log10(1 + max(most, 1)),
        colorscale=colours.colour_scale(),
        showscale=most > 0,
        colorbar={
            "title": {"text": "rows that changed (log scale)", "side": "right"},
            "tickmode": "array",
            "tickvals": [math.log10(1 + count) for count in [0, *ticks]],
            "ticktext": [f"{count:,}" for count in [0, *ticks]],
            "thickness": 14,
            "outlinewidth": 0,
        },
        **shared,
    )
    return [stayed, changed]


def _change_texts(counts: NDArray[np.int64], totals: NDArray[np.int64], names: Sequence[str]) -> list[list[str]]:
    """Return the hover text of each cell.

    ``totals`` are the rows of each majority vote, drawn or not.
    """

    def text(i: int, j: int) -> str:
        share = f"{counts[i, j]:,} rows, {counts[i, j] / max(totals[i], 1):.1%} of those voted {names[i]}"
        if i == j:
            return f"<b>{names[i]}</b> stayed<br>{share}"
        return f"<b>{names[i]}</b> by majority vote<br><b>{names[j]}</b> when fused<br>{share}"

    return [[text(i, j) for j in range(len(names))] for i in range(len(names))]


def confidence_histogram(
    edges: ArrayLike, counts: ArrayLike, *, threshold: float | None = None, theme: str | None = "light"
) -> go.Figure:
    """Draw how many rows have which confidence.

    Those below a threshold stand out.

    Parameters
    ----------
    edges : (B + 1,) array
        Ends of the bins, from 0 to 1.
    counts : (B,) array of int
        Rows in each bin.
    threshold : float, optional
        Rows below it are to be looked at by a person; a bin is coloured by its middle.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    ends, rows = np.asarray(edges, np.float64), np.asarray(counts, np.int64)
    if not rows.sum():
        return picture_of_nothing(colours, "No fused rows yet. Their confidence will be drawn here.")
    middle, total = (ends[1:] + ends[:-1]) / 2, int(rows.sum())
    below = middle < (-np.inf if threshold is None else threshold)
    figure = go.Figure(
        go.Bar(
            x=middle,
            y=rows,
            width=np.diff(ends) * 0.92,
            marker={"color": np.where(below, colours.selected, colours.accent).tolist(), "line": {"width": 0}},
            customdata=[
                [f"{low:.1%} to {high:.1%}", f"{n:,} rows ({n / total:.1%})"]
                for low, high, n in zip(ends[:-1].tolist(), ends[1:].tolist(), rows.tolist(), strict=True)
            ],
            hovertemplate="<b>confidence %{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
        )
    )
    if threshold is not None:
        figure.add_vline(
            x=threshold,
            line={"color": colours.selected, "width": 2, "dash": "dash"},
            annotation={
                "text": f"review below {100 * threshold:.3g}%",
                "font": {"color": colours.selected},
                "xanchor": "right" if threshold > ends.mean() else "left",
                "yanchor": "bottom",
                "y": 1,
            },
        )
    return figure.update_layout(
        picture_layout(colours, 320),
        margin={"t": 8 if threshold is None else 30},
        xaxis=line_axis("confidence (probability of the fused label)", tickformat=".0%", showgrid=False),
        yaxis=line_axis("rows (number)", tickformat=",~d"),
    )
