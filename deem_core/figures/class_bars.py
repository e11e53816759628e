"""Drawings with bars per class: how well votes cover it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from deem_core.figures._axes import MOST_LEARNERS, PERCENT_AXIS, bar_layout, shown_of
from deem_core.figures._names import bar_names, hover_names
from deem_core.figures._theme import theme_of
from deem_core.text import count


def class_coverage_bars(
    classes: Sequence[str],
    row_share: ArrayLike,
    vote_share: ArrayLike,
    n_learners: ArrayLike,
    *,
    theme: str | None = "light",
    max_classes: int = MOST_LEARNERS,
) -> go.Figure:
    """Draw rows and votes of each class, the rarest first.

    Parameters
    ----------
    classes : sequence of K str
    row_share, vote_share : (K,) array
        Share of the rows with at least one vote for the class, and of all votes.
    n_learners : (K,) array of int
        Learners that ever vote for it, for the hover text.
    theme : "light" or "dark"
    max_classes : int
        The most common classes beyond this many are left out, and the axis says so.
    """
    colours = theme_of(theme)
    rows, votes, learners = np.asarray(row_share), np.asarray(vote_share), np.asarray(n_learners)
    order = np.argsort(rows, kind="stable")[:max_classes]
    axis_names, names = bar_names(classes), hover_names(classes)
    figure = go.Figure()
    for title, share, colour in (
        ("rows with a vote for it", rows, colours.accent),
        ("share of all votes", votes, colours.rest),
    ):
        figure.add_bar(
            name=title,
            y=[axis_names[k] for k in order],
            x=share[order],
            orientation="h",
            marker={"color": colour, "line": {"width": 0}},
            customdata=[[names[k], f"{title}: {share[k]:.1%}", count(int(learners[k]), "learner")] for k in order],
            hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<br>%{customdata[2]}<extra></extra>",
        )
    layout = bar_layout(colours, len(order), shown_of("class, rarest first", max_classes, len(classes)))
    return figure.update_layout(
        layout,
        height=layout["height"] + 10 * len(order),
        barmode="group",
        legend={"orientation": "h", "traceorder": "normal", "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom"},
        xaxis={"title": "share", **PERCENT_AXIS},
    )
