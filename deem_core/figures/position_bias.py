"""Drawing of position bias: how often judges contradict themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from deem_core.figures._axes import MOST_LEARNERS, bar_layout, legend_above, shown_of
from deem_core.figures._names import bar_names, hover_names
from deem_core.figures._theme import theme_of
from deem_core.text import interval
from deem_core.votes.orders import PositionBias


def bias_bars(
    biases: Sequence[PositionBias], *, theme: str | None = "light", max_learners: int = MOST_LEARNERS
) -> go.Figure:
    """Draw the rows on which each judge contradicts itself, the most first.

    The parts are rows that lean to what was shown first, to what was shown second, and to neither.

    Parameters
    ----------
    biases : sequence of PositionBias
        Of judges with answers in both orders.
    theme : "light" or "dark"
    max_learners : int
        Judges beyond this many are left out, and the axis says so.
    """
    colours = theme_of(theme)
    order = np.argsort([-bias.share for bias in biases], kind="stable")[:max_learners]
    shown = [biases[j] for j in order]
    names, hovers = bar_names([bias.judge for bias in biases]), hover_names([bias.judge for bias in biases])
    both = np.array([bias.both for bias in shown], np.float64)
    first = np.array([bias.towards_first for bias in shown]) / both
    second = np.array([bias.towards_second for bias in shown]) / both
    neither = np.array([b.contradicted - b.towards_first - b.towards_second for b in shown]) / both
    share = np.array([bias.share for bias in shown])
    low, high = np.array([bias.interval for bias in shown]).reshape(-1, 2).T
    parts = (
        ("first", first, colours.bad),
        ("second", second, colours.accent),
        ("neither", neither, colours.rest),
    )
    figure = go.Figure()
    for at, (name, part, colour) in enumerate(parts):
        if name == "neither" and not part.any() and (first + second).any():
            continue
        figure.add_bar(
            name=name,
            y=[names[j] for j in order],
            x=part,
            orientation="h",
            marker={"color": colour, "line": {"width": 0}},
            customdata=[
                [hovers[j], f"{value:.2%}", name, f"{bias.contradicted:,} of {bias.both:,}", interval(*bias.interval)]
                for j, value, bias in zip(order, part, shown, strict=True)
            ],
            hovertemplate="<b>%{customdata[0]}</b><br>leans to the %{customdata[2]} on %{customdata[1]} of the rows"
            "<br>contradicts itself on %{customdata[3]}<br>95% interval %{customdata[4]}<extra></extra>"
            if at < 2
            else "<b>%{customdata[0]}</b><br>leans to neither on %{customdata[1]} of the rows"
            "<br>contradicts itself on %{customdata[3]}<br>95% interval %{customdata[4]}<extra></extra>",
        )
    figure.add_scatter(
        x=share,
        y=[names[j] for j in order],
        mode="markers",
        marker={"size": 1, "color": colours.text},
        error_x={
            "type": "data",
            "array": high - share,
            "arrayminus": share - low,
            "color": colours.text,
            "thickness": 1.2,
            "width": 3,
        },
        showlegend=False,
        hoverinfo="skip",
    )
    figure.update_layout(
        bar_layout(colours, len(order), shown_of("judge, most first", max_learners, len(biases))),
        barmode="stack",
        legend=legend_above("leans to what was shown"),
        xaxis={
            "title": "rows on which it contradicts itself",
            "tickformat": ".0%",
            "rangemode": "tozero",
            "fixedrange": True,
            "automargin": True,
        },
    )
    return figure
