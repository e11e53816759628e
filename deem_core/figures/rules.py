"""Drawing of labelling rules: how often each fires, alone or with others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from deem_core.figures._axes import MOST_LEARNERS, bar_layout, legend_above, shown_of
from deem_core.figures._names import bar_names, hover_names, safe, short
from deem_core.figures._theme import theme_of
from deem_core.text import listing
from deem_core.typing import Floats


def rule_bars(
    learners: Sequence[str],
    polarity: Sequence[Sequence[str]],
    coverage: Floats,
    overlap: Floats,
    conflict: Floats,
    *,
    theme: str | None = "light",
    max_learners: int = MOST_LEARNERS,
) -> go.Figure:
    """Draw the rows of each rule as stacked bars, the busiest first.

    The parts are rows on which it votes alone, with others of the same opinion, and against others; together they are
    its coverage.

    Parameters
    ----------
    learners : sequence of d str
    polarity : sequence of d sequences of str
        Classes that each votes for; their names stand beside its own.
    coverage, overlap, conflict : (d,) arrays
        Shares of all rows, as in `deem_core.diagnostics.rules.Rule`.
    theme : "light" or "dark"
    max_learners : int
        The rules with fewest votes beyond this many are left out, and the axis says so.
    """
    colours = theme_of(theme)
    order = np.argsort(-coverage, kind="stable")[:max_learners]
    names, hovers = bar_names(learners), hover_names(learners)
    classes = [safe(listing(list(each), 4)) if each else "nothing" for each in polarity]
    ticks = [names[j] if len(polarity[j]) > 1 else f"{names[j]} → {_class_name(polarity[j])}" for j in order]
    parts = (
        ("alone", coverage - overlap, colours.rest),
        ("with others, who agree", overlap - conflict, colours.accent),
        ("against another", conflict, colours.bad),
    )
    figure = go.Figure()
    for name, share, colour in parts:
        figure.add_bar(
            name=name,
            y=ticks,
            x=share[order],
            orientation="h",
            marker={"color": colour, "line": {"width": 0}},
            customdata=[
                [hovers[j], classes[j], f"{share[j]:.2%}", f"{coverage[j]:.2%}", name.replace(", who agree", "")]
                for j in order
            ],
            hovertemplate="<b>%{customdata[0]}</b>, votes for %{customdata[1]}<br>%{customdata[4]} on %{customdata[2]} "
            "of the rows<br>votes on %{customdata[3]}<extra></extra>",
        )
    figure.update_layout(
        bar_layout(colours, len(order), shown_of("rule, busiest first", max_learners, len(learners))),
        barmode="stack",
        legend=legend_above("it votes"),
        xaxis={"title": "share of all rows", "tickformat": ".0%", "fixedrange": True, "automargin": True},
    )
    return figure


def _class_name(polarity: Sequence[str]) -> str:
    return short(polarity[0], 14) if polarity else "nothing"
