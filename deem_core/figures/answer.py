"""Drawings of the answer: class shares, changed labels, confidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from deem_core.figures._axes import bar_layout, line_axis, picture_layout, picture_of_nothing, shown_of
from deem_core.figures._cells import places
from deem_core.figures._names import bar_names, hover_names
from deem_core.figures._theme import Theme, theme_of
from deem_core.figures.class_ranks import MOST_SHOWN, shares_by_rank
from deem_core.text import count, nearly
from deem_core.typing import Integers

MOST_WRITTEN = 12
"""Classes up to which the counts are written into the cells."""


def class_shares(
    fused: ArrayLike,
    majority: ArrayLike,
    classes: Sequence[Any],
    *,
    truth: ArrayLike | None = None,
    theme: str | None = "light",
) -> go.Figure:
    """Draw class shares of the fused labels, majority vote and truth.

    More classes than `MOST_SHOWN` are drawn as lines over their ranks.

    Parameters
    ----------
    fused, majority : (K,) array
        Shares of rows.
    classes : sequence of K labels
    truth : (K,) array, optional
        Real shares (evaluation only).
    theme : "light" or "dark"
    """
    if len(classes) > MOST_SHOWN:
        return shares_by_rank(fused, majority, classes, truth=truth, theme=theme)
    colours = theme_of(theme)
    shares = {"majority vote": np.asarray(majority, np.float64), "fused": np.asarray(fused, np.float64)}
    if truth is not None:
        shares["truth"] = np.asarray(truth, np.float64)
    palette = {"majority vote": colours.rest, "fused": colours.accent, "truth": colours.good}
    labels = [str(label) for label in classes]
    axis_names, names = bar_names(labels), hover_names(labels)
    texts = [
        "<br>".join(f"{name}: {share[k]:.2%} of the rows" for name, share in shares.items()) for k in range(len(labels))
    ]
    figure = go.Figure()
    for name, share in shares.items():
        figure.add_bar(
            name=name,
            y=axis_names,
            x=share,
            orientation="h",
            marker={"color": palette[name], "line": {"width": 0}},
            customdata=[list(pair) for pair in zip(names, texts, strict=True)],
            hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
        )
    layout = bar_layout(colours, len(labels), "class")
    return figure.update_layout(
        layout,
        height=layout["height"] + 8 * len(labels),
        barmode="group",
        bargroupgap=0.08,
        legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "traceorder": "normal"},
        xaxis={
            "title": "share of rows",
            "tickformat": ".0%" if max(float(np.nanmax(share)) for share in shares.values()) > 0.04 else ".2~%",
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
    cells = _cells(counts[at], changes[at], texts, colours, order)
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
    counts: NDArray[np.int64],
    changes: NDArray[np.int64],
    texts: list[list[str]],
    colours: Theme,
    order: NDArray[np.intp],
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
        "meta": places(order, order),
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
        share = f"{count(int(counts[i, j]), 'row')}, {counts[i, j] / max(totals[i], 1):.1%} of those voted {names[i]}"
        if i == j:
            return f"<b>{names[i]}</b> stayed<br>{share}"
        return f"<b>{names[i]}</b> by majority vote<br><b>{names[j]}</b> when fused<br>{share}"

    return [[text(i, j) for j in range(len(names))] for i in range(len(names))]


def confidence_histogram(
    edges: ArrayLike,
    counts: ArrayLike,
    *,
    reviewed: ArrayLike | None = None,
    threshold: float | None = None,
    theme: str | None = "light",
) -> go.Figure:
    """Draw how many rows have which confidence.

    Parameters
    ----------
    edges : (B + 1,) array
        Ends of the bins, the last of them 1.
    counts : (B,) array of int
        Rows in each bin.
    reviewed : (B,) array of int, optional
        Those of them that a person is to look at; they stand out.
    threshold : float, optional
        Confidence below which rows are to be looked at.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    ends, rows = np.asarray(edges, np.float64), np.asarray(counts, np.int64)
    if not rows.sum():
        return picture_of_nothing(colours, "No fused rows yet. Their confidence will be drawn here.")
    marked = np.zeros_like(rows) if reviewed is None else np.asarray(reviewed, np.int64)
    middle, total = (ends[1:] + ends[:-1]) / 2, int(rows.sum())
    digits = 0 if ends[-1] - ends[0] > 0.2 else 1
    texts = [
        [f"{low:.{digits + 1}%} to {high:.{digits + 1}%}", f"{count(n, 'row')} ({n / total:.1%}), {m:,} to review"]
        for low, high, n, m in zip(ends[:-1].tolist(), ends[1:].tolist(), rows.tolist(), marked.tolist(), strict=True)
    ]
    figure = go.Figure(
        [
            go.Bar(
                x=middle,
                y=part,
                width=np.diff(ends) * 0.92,
                marker={"color": colour, "line": {"width": 0}},
                customdata=texts,
                hovertemplate="<b>confidence %{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
            )
            for part, colour in ((marked, colours.selected), (rows - marked, colours.accent))
        ]
    )
    if threshold is not None:
        figure.add_vline(
            x=threshold,
            line={"color": colours.selected, "width": 2, "dash": "dash"},
            annotation={
                "text": f"review below {nearly(threshold)}",
                "font": {"color": colours.selected},
                "xanchor": "right" if threshold > ends.mean() else "left",
                "yanchor": "bottom",
                "y": 1,
            },
        )
    return figure.update_layout(
        picture_layout(colours, 320),
        barmode="stack",
        showlegend=False,
        margin={"t": 34},  # room for the camera above the bars
        xaxis=line_axis("confidence (probability of the fused label)", tickformat=f".{digits}%", showgrid=False),
        yaxis=line_axis("rows (number)", tickformat=",~d"),
    )
