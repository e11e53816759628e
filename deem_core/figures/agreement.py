"""Drawings of agreement between learners, and within rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from deem_core.figures._axes import picture_layout
from deem_core.figures._cells import MOST_WRITTEN, PAIR, cell_numbers, colour_bar, key_axis, places, tick_angle
from deem_core.figures._names import HOVER_LETTERS, bar_names
from deem_core.figures._theme import theme_of
from deem_core.text import count
from deem_core.typing import Floats, Integers
from deem_core.votes.agreement import SHARE_BINS, RowAgreement

MOST_LABELS = 40
"""Learners up to which cells are parted by lines."""


def agreement_heatmap(
    agreement: NDArray[np.floating[Any]],
    learners: Sequence[str],
    *,
    order: ArrayLike | None = None,
    common: Integers | None = None,
    who: str = "learner",
    what: str = "vote",
    theme: str | None = "light",
) -> go.Figure:
    """Draw how often each pair of learners or methods agrees.

    The diagonal is left blank: that everyone agrees with themselves would only eat up the colours. So is a pair
    without a number.

    Parameters
    ----------
    agreement : (d, d) array
        Shares; NaN where a pair has too few common rows (`PairAgreement.share`).
    learners : sequence of d str
    order : (d,) array of int, optional
        In which the learners are drawn (`PairAgreement.order`); as given by default.
    common : (d, d) array of int, optional
        Rows in which both voted, for the hover text.
    who, what : str
        What is compared, and what they have in common.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    d = len(learners)
    at = np.arange(d) if order is None else np.asarray(order, np.intp)
    share = np.asarray(agreement, np.float64)[np.ix_(at, at)]
    rows = None if common is None else np.asarray(common)[np.ix_(at, at)]
    drawn = np.where(np.eye(d, dtype=bool), np.nan, share)
    low, high = _range(drawn)
    all_names, all_keys = bar_names(learners), bar_names(learners, most=HOVER_LETTERS)
    names, keys = [all_names[j] for j in at], [all_keys[j] for j in at]
    cells = go.Heatmap(
        z=drawn.astype(np.float32),
        x=keys,
        y=keys,
        zmin=low,
        zmax=high,
        colorscale=colours.colour_scale(),
        xgap=1 if d <= MOST_LABELS else 0,
        ygap=1 if d <= MOST_LABELS else 0,
        customdata=rows,
        hovertemplate=f"{PAIR}same {what} on %{{z:.1%}} of "
        + ("the rows with both" if rows is None else "%{customdata:,} common rows")
        + "<extra></extra>",
        hoverongaps=False,
        meta=places(at, at),
        colorbar=colour_bar(f"share of rows with the same {what}", tickformat=".0%"),
    )
    figure = go.Figure([cells, *_unknown(share, rows, keys, at)])
    if d <= MOST_WRITTEN:
        texts = [[f"{cell:.0%}" if np.isfinite(cell) else "" for cell in row] for row in drawn]
        figure.add_trace(cell_numbers(drawn, texts, cells, at=keys))
    side = int(np.clip(34 * d, 300, 640))
    across, down = (key_axis(keys, names, who, pixels=side, upwards=upwards) for upwards in (True, False))
    return figure.update_layout(
        picture_layout(colours, side + 160),
        plot_bgcolor=colours.grid,
        xaxis={**across, "constrain": "domain", "tickangle": tick_angle(names, side)},
        yaxis={**down, "constrain": "domain", "scaleanchor": "x", "constraintoward": "top"},
    )


def agreement_histogram(
    rows: RowAgreement, *, by: Literal["size", "share"] | None = None, theme: str | None = "light"
) -> go.Figure:
    """Draw on how many rows how many learners agree.

    The unanimous rows stand out.

    Parameters
    ----------
    rows : RowAgreement
        From `deem_core.votes.agreement.row_agreement`.
    by : "size" or "share", optional
        Size of the winning group in learners, or its share of the votes cast; by default the size where everyone
        voted on every row, and the share elsewhere.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    if by is None:
        by = "size" if rows.complete else "share"
    counts, ticks, texts, title = _sizes(rows) if by == "size" else _shares(rows)
    total = max(int(counts.sum()), 1)
    palette = [colours.accent] * len(counts)
    if by == "share" or rows.complete:
        palette[-1] = colours.good
    figure = go.Figure(
        go.Bar(
            x=list(range(len(counts))),
            y=counts,
            marker={"color": palette, "line": {"width": 0}},
            customdata=[
                [text, f"{count(n, 'row')} ({n / total:.1%})"] for text, n in zip(texts, counts.tolist(), strict=True)
            ],
            hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
        )
    )
    step = math.ceil(len(ticks) / 20)
    chosen = list(range(len(ticks) - 1, -1, -step))[::-1]  # from the end, so that "all" is always named
    return figure.update_layout(
        template=colours.template(),
        height=320,
        bargap=0.15,
        margin={"l": 8, "r": 12, "t": 8, "b": 8},
        dragmode=False,
        hovermode="closest",
        xaxis={
            "title": title,
            "tickmode": "array",
            "tickvals": chosen,
            "ticktext": [ticks[k] for k in chosen],
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
            "automargin": True,
        },
        yaxis={"title": "rows (number)", "tickformat": ",~d", "fixedrange": True, "automargin": True},
    )


def _unknown(share: Floats, common: Integers | None, keys: Sequence[str], order: NDArray[np.intp]) -> list[go.Heatmap]:
    """Return cells without colour that tell why a pair has no number."""
    pairs = np.isnan(share) & ~np.eye(len(share), dtype=bool)
    if not pairs.any():
        return []
    return [
        go.Heatmap(
            z=np.where(pairs, 0.0, np.nan).astype(np.float32),
            x=keys,
            y=keys,
            customdata=common,
            opacity=0,
            showscale=False,
            meta=places(order, order),
            hovertemplate=f"{PAIR}too few rows in common"
            + ("" if common is None else " (%{customdata:,})")
            + "<extra></extra>",
            hoverongaps=False,
        )
    ]


def _range(values: Floats) -> tuple[float, float]:
    """Return the range of the colours, widened to steps of 5%."""
    known = values[np.isfinite(values)]
    if not len(known):
        return 0.0, 1.0
    low, high = math.floor(known.min() * 20) / 20, math.ceil(known.max() * 20) / 20
    return (low, high) if high - low >= 0.1 else (max(high - 0.1, 0.0), max(high, 0.1))


def _sizes(rows: RowAgreement) -> tuple[NDArray[np.int64], list[str], list[str], str]:
    """Return counts, tick names, hover names and axis title by size."""
    first = 0 if rows.n_silent else 1
    sizes = range(first, len(rows.by_size))
    d = sizes[-1]

    def text(size: int) -> str:
        if size == 0:
            return "no votes"
        if size == 1:
            return "no two learners agree" if d > 1 else "one vote"
        return f"all {d:,} learners agree" if size == d else f"{size:,} of {d:,} learners agree"

    ticks = [f"all {d:,}" if size == d and d > 1 else f"{size:,}" for size in sizes]
    return (
        rows.by_size[first:],
        ticks,
        [text(size) for size in sizes],
        "learners that agree (size of the winning group)",
    )


def _shares(rows: RowAgreement) -> tuple[NDArray[np.int64], list[str], list[str], str]:
    """Return the same as `_sizes` by share of the votes cast."""
    used = np.flatnonzero(rows.by_share)
    first = min(int(used[0]), SHARE_BINS - 1) if len(used) else 0
    width = 100 // SHARE_BINS
    ends = [width * (k + 1) for k in range(first, SHARE_BINS)]
    ticks = [f"{end - width}–{end}%" for end in ends] + ["all"]
    texts = [f"{end - width} to {end}% of the votes agree" for end in ends] + ["all votes agree"]
    return rows.by_share[first:], ticks, texts, "votes that agree (share of the votes cast in the row, two or more)"
