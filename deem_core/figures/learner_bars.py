"""Drawings with one bar per learner: coverage and accuracy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from deem_core.figures._axes import MOST_LEARNERS, PERCENT_AXIS, bar_layout, shown_of
from deem_core.figures._names import bar_names, hover_names
from deem_core.figures._theme import theme_of
from deem_core.votes.intervals import wilson


def coverage_bars(
    coverage: ArrayLike,
    learners: Sequence[str],
    *,
    n_rows: int | None = None,
    theme: str | None = "light",
    max_learners: int = MOST_LEARNERS,
) -> go.Figure:
    """Draw the coverage of each learner, the lowest first.

    Parameters
    ----------
    coverage : (d,) array
        Shares of rows (`Votes.learner_coverage`).
    learners : sequence of d str
    n_rows : int, optional
        Rows of the table, for the hover text.
    theme : "light" or "dark"
    max_learners : int
        The learners with most votes beyond this many are left out, and the axis says so.
    """
    colours = theme_of(theme)
    share = np.asarray(coverage, np.float64)
    order = np.argsort(share, kind="stable")[:max_learners]
    axis_names, names = bar_names(learners), hover_names(learners)
    if n_rows is None:
        texts = [f"voted on {value:.2%} of the rows" for value in share[order]]
    else:
        texts = [f"voted on {round(value * n_rows):,} of {n_rows:,} rows ({value:.2%})" for value in share[order]]
    figure = go.Figure(
        go.Bar(
            y=[axis_names[j] for j in order],
            x=share[order],
            orientation="h",
            marker={"color": colours.accent, "line": {"width": 0}},
            customdata=list(zip([names[j] for j in order], texts, strict=True)),
            hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
        )
    )
    title = "learner, fewest votes first" if np.ptp(share) > 0 else "learner"
    return figure.update_layout(
        bar_layout(colours, len(order), shown_of(title, max_learners, len(learners))),
        xaxis={"title": "coverage (share of rows voted on)", **PERCENT_AXIS},
    )


def accuracy_bars(
    learners: Sequence[str],
    accuracy: ArrayLike,
    counts: ArrayLike,
    majority_accuracy: float | None = None,
    *,
    theme: str | None = "light",
    max_learners: int = MOST_LEARNERS,
) -> go.Figure:
    """Draw the accuracy of each learner, the best first (evaluation only).

    Error bars are 95% intervals.

    Parameters
    ----------
    learners : sequence of d str
    accuracy : (d,) array
        Share of right votes (`Facts.learner_accuracy`); NaN where there is nothing to judge: not drawn.
    counts : (d,) array of int
        Votes that each share rests on, those on rows with known truth.
    majority_accuracy : float, optional
        Drawn as a line to compare with.
    theme : "light" or "dark"
    max_learners : int
        Learners beyond this many are left out from the end, and the axis says so.
    """
    colours = theme_of(theme)
    share, votes = np.asarray(accuracy, np.float64), np.asarray(counts, np.int64)
    judged = np.flatnonzero(np.isfinite(share) & (votes > 0))
    order = judged[np.argsort(-share[judged], kind="stable")][:max_learners]
    axis_names, names = bar_names(learners), hover_names(learners)
    right, (low, high) = share[order], wilson(share[order], votes[order])
    figure = go.Figure(
        go.Bar(
            y=[axis_names[j] for j in order],
            x=right,
            orientation="h",
            marker={"color": colours.accent, "line": {"width": 0}},
            error_x={
                "type": "data",
                "array": high - right,
                "arrayminus": right - low,
                "color": colours.text,
                "thickness": 1.2,
                "width": 3,
            },
            customdata=[
                [names[j], f"{value:.2%} of {votes[j]:,} votes right", f"95% interval {a:.1%} to {b:.1%}"]
                for j, value, a, b in zip(order, right, low, high, strict=True)
            ],
            hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<br>%{customdata[2]}<extra></extra>",
        )
    )
    layout = bar_layout(colours, len(order), shown_of("learner, best first", max_learners, len(judged)))
    figure.update_layout(layout, xaxis={"title": "accuracy (share of its votes that are right)", **PERCENT_AXIS})
    if majority_accuracy is not None and np.isfinite(majority_accuracy):
        figure.add_vline(
            x=majority_accuracy,
            line={"color": colours.bad, "width": 2, "dash": "dash"},
            annotation={
                "text": f"majority vote {majority_accuracy:.1%}",
                "font": {"color": colours.bad},
                "yanchor": "bottom",
                "xanchor": "right" if majority_accuracy > 0.5 else "left",
                "y": 1,
            },
        )
        figure.update_layout(margin={"t": 30})
    return figure
