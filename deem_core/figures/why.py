"""Why this label? What each learner's vote did for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from deem_core.figures._axes import bar_layout, picture_of_nothing, shown_of
from deem_core.figures._names import bar_names, hover_names, short
from deem_core.figures._theme import theme_of

MOST_LEARNERS = 25
"""Bars that fit on a screen with their names and votes."""

NO_VOTE = "no vote"


def why_bars(
    learners: Sequence[str],
    votes: Sequence[Any],
    contributions: ArrayLike,
    *,
    fused: Any,
    runner_up: Any,
    max_learners: int = MOST_LEARNERS,
    theme: str | None = "light",
) -> go.Figure:
    """Draw what each vote on one row did for its label.

    Votes for it go to the right, votes for the runner-up to the left.

    Parameters
    ----------
    learners : sequence of d str
    votes : sequence of d labels
        None for no vote.
    contributions : (d,) array
        Log-odds (a row of `Why.contributions`); NaN where there is no vote.
    fused, runner_up : label
    max_learners : int
        Of more learners, those with the largest contributions are drawn, and the axis says so; learners without a vote
        are muted at the end.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    value = np.asarray(contributions, np.float64)
    cast = np.array([vote is not None for vote in votes], bool) & np.isfinite(value)
    if not cast.any():
        return picture_of_nothing(colours, "Choose a row with votes to see why it got its label.")
    by_size = np.argsort(-np.where(cast, np.abs(np.nan_to_num(value)), -1), kind="stable")[:max_learners]
    spoke = by_size[cast[by_size]]
    order = np.append(spoke[np.argsort(-value[spoke], kind="stable")], by_size[~cast[by_size]])
    drawn = np.where(cast, np.nan_to_num(value), 0.0)[order]
    said = [NO_VOTE if not cast[j] else f"says {short(str(votes[j]), 14)}" for j in order.tolist()]
    winner, other = short(str(fused)), short(str(runner_up))
    names, hover = bar_names(learners), hover_names(learners)

    def words(j: int) -> str:
        if not cast[j]:
            return f"<b>{hover[j]}</b><br>did not vote on this row"
        side = f"for {winner}" if value[j] >= 0 else f"for {other}"
        return f"<b>{hover[j]}</b> says <b>{short(str(votes[j]), 60)}</b><br>{abs(value[j]):.3g} nats {side}"

    figure = go.Figure(
        go.Bar(
            x=drawn,
            y=[names[j] for j in order],
            orientation="h",
            marker={"color": [colours.good if value[j] >= 0 else colours.bad for j in order], "line": {"width": 0}},
            text=said,
            textposition="outside",
            textfont={"size": 12, "color": [colours.text if cast[j] else colours.rest for j in order]},
            customdata=[words(j) for j in order.tolist()],
            hovertemplate="%{customdata}<extra></extra>",
            cliponaxis=False,
        )
    )
    layout = bar_layout(colours, len(order), shown_of(_title(order, learners), max_learners, len(learners)))
    figure.update_layout(
        layout,
        height=layout["height"] + 10,
        margin={"t": 34},
        xaxis={
            "title": {"text": f"log-odds of {winner} against {other} (nats)", "standoff": 8},
            "range": _range(drawn, said),
            "zeroline": True,
            "zerolinecolor": colours.text,
            "zerolinewidth": 1,
            "fixedrange": True,
            "automargin": True,
        },
    )
    ticks = [names[j] if cast[j] else f"<span style='color:{colours.rest}'>{names[j]}</span>" for j in order]
    figure.update_yaxes(tickmode="array", tickvals=[names[j] for j in order], ticktext=ticks)
    for text, side, colour in ((f"← for {other}", "left", colours.bad), (f"for {winner} →", "right", colours.good)):
        figure.add_annotation(
            text=f"<b>{text}</b>",
            xref="paper",
            yref="paper",
            x=0 if side == "left" else 1,
            y=1,
            xanchor=side,
            yanchor="bottom",
            showarrow=False,
            font={"size": 13, "color": colour},
        )
    return figure


def _title(order: Any, learners: Sequence[str]) -> str:
    return "learner, largest contributions" if len(order) < len(learners) else "learner"


def _range(values: Any, said: Sequence[str]) -> list[float]:
    """Return an axis with room for what is written beside the bars."""
    low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
    span = (high - low) or 1.0
    room = 0.021 * span * max(map(len, said))
    negative = any(value < 0 for value in values)
    return [low - (room if negative else 0.04 * span), high + room]
