"""Drawings of more classes than bars fit: cumulative shares by class rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from deem_core.figures._axes import PERCENT_AXIS, line_axis, picture_layout
from deem_core.figures._names import hover_names, safe, short
from deem_core.figures._theme import Theme, theme_of
from deem_core.typing import Floats, Integers

MOST_SHOWN = 20
"""Classes that fit on a screen with their names; of more, shares are drawn by rank."""

MOST_POINTS = 150
"""Points of a line. Ranks are drawn evenly on the logarithmic axis, so that the first ones are all there."""

MOST_CHANGED = 10
"""Classes marked on the fused line."""


@dataclass(frozen=True)
class _Line:
    """Class shares (K,) that add up to one, and their look."""

    name: str
    shares: Floats
    colour: str
    dash: str = "solid"


def votes_by_rank(
    counts: Integers, learners: Sequence[str], classes: Sequence[Any], *, theme: str | None = "light"
) -> go.Figure:
    """Draw the share of each learner's votes in its most frequent classes.

    Of more learners than there are colours, those are drawn whose most frequent class has the largest share of their
    votes, and the legend says so. The dashed line is all learners together.

    Parameters
    ----------
    counts : (d, K) array of int
        Votes of each learner for each class. Learners without votes are left out.
    learners : sequence of d str
    classes : sequence of K labels
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    votes = np.asarray(counts, np.float64)
    voting = np.flatnonzero(votes.sum(axis=1) > 0)
    shares = votes[voting] / votes[voting].sum(axis=1, keepdims=True)
    most, title = len(colours.classes), "learner"
    order = np.arange(len(voting))
    if len(voting) > most:
        order = np.argsort(-shares.max(axis=1), kind="stable")[:most]
        title = f"learner, most one-sided first ({most} of {len(voting):,})"
    lines = [_Line(short(learners[voting[i]]), shares[i], colours.classes[at]) for at, i in enumerate(order.tolist())]
    total = votes.sum(axis=0)
    if len(voting) > 1:
        lines.append(_Line("all together", total / total.sum(), colours.text, "dash"))
    return _drawn(lines, classes, colours, "votes", title)


def shares_by_rank(
    fused: ArrayLike,
    majority: ArrayLike,
    classes: Sequence[Any],
    *,
    truth: ArrayLike | None = None,
    theme: str | None = "light",
) -> go.Figure:
    """Draw the share of rows in the most frequent classes.

    There is one line for the fused labels, one for the majority vote, and one for the truth if it is given. Classes
    whose share changed most are marked on the fused line.

    Parameters
    ----------
    fused, majority : (K,) array
        Shares of rows.
    classes : sequence of K labels
    truth : (K,) array, optional
        Real shares (evaluation only).
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    lines = [
        _Line("majority vote", np.asarray(majority, np.float64), colours.rest),
        _Line("fused", np.asarray(fused, np.float64), colours.accent),
    ]
    if truth is not None:
        lines.append(_Line("truth", np.asarray(truth, np.float64), colours.good))
    figure = _drawn(lines, classes, colours, "rows", "")
    before, after = lines[0].shares, lines[1].shares
    order, total = _ranked(after)
    change = np.abs(after - before)
    marked = np.argsort(-change, kind="stable")[:MOST_CHANGED]
    marked = marked[change[marked] > 0]
    rank = np.empty(len(order), np.intp)
    rank[order] = np.arange(len(order))
    names = hover_names([str(classes[k]) for k in marked.tolist()])
    figure.add_scatter(
        name="most changed classes",
        x=rank[marked] + 1,
        y=total[rank[marked]],
        mode="markers",
        marker={"color": colours.selected, "size": 9, "line": {"width": 1, "color": colours.background}},
        customdata=[
            [name, f"{before[k]:.2%} of the rows by majority vote<br>{after[k]:.2%} fused"]
            for name, k in zip(names, marked.tolist(), strict=True)
        ],
        hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
    )
    return figure


def _drawn(lines: Sequence[_Line], classes: Sequence[Any], colours: Theme, unit: str, legend: str) -> go.Figure:
    """Draw lines over class ranks; each has ranks of its own."""
    figure = go.Figure()
    at = _points(len(classes))
    for line in lines:
        order, total = _ranked(line.shares)
        names = hover_names([str(classes[k]) for k in order[at].tolist()])
        figure.add_scatter(
            name=line.name,
            x=at + 1,
            y=total[at],
            mode="lines",
            line={"color": line.colour, "width": 2.2, "dash": line.dash},
            customdata=[
                [name, f"{line.shares[k]:.2%}", f"{total[rank]:.1%}", f"{rank + 1:,}"]
                for name, k, rank in zip(names, order[at].tolist(), at.tolist(), strict=True)
            ],
            hovertemplate=f"<b>{line.name}</b><br>rank %{{customdata[3]}}: class %{{customdata[0]}}, "
            f"%{{customdata[1]}} of the {unit}<br>up to this rank %{{customdata[2]}}<extra></extra>",
        )
    return figure.update_layout(
        picture_layout(colours, 400),
        legend={
            "title": {"text": safe(legend), "side": "top"},
            "orientation": "h",
            "traceorder": "normal",
            "x": 0,
            "xanchor": "left",
            "y": 1.02,
            "yanchor": "bottom",
        },
        showlegend=True,
        xaxis=line_axis(
            f"class rank, most frequent first ({len(classes):,} classes)",
            type="log",
            range=[0, float(np.log10(max(len(classes), 2))) + 0.02],
            dtick=1,
            tickformat=",~d",
            fixedrange=True,
        ),
        yaxis={**line_axis(f"share of {unit} up to this rank"), **PERCENT_AXIS},
    )


def _ranked(shares: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Return classes from the most frequent on, and cumulative shares."""
    order = np.argsort(-shares, kind="stable")
    return order, np.cumsum(shares[order])


def _points(n_classes: int) -> NDArray[np.intp]:
    """Return the ranks, from 0, at which lines have points."""
    return np.unique(np.round(np.geomspace(1, n_classes, MOST_POINTS)).astype(np.intp)) - 1
