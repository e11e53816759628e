"""Pictures of votes as they came, before anything is fused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from deem_core.figures._axes import MOST_LEARNERS, bar_layout, legend_above, shown_of
from deem_core.figures._names import bar_names, safe, short
from deem_core.figures._theme import MOST_CLASSES, theme_of
from deem_core.figures.class_ranks import MOST_SHOWN, votes_by_rank
from deem_core.typing import Integers


def votes_per_class(
    counts: Integers,
    learners: Sequence[str],
    classes: Sequence[Any],
    *,
    theme: str | None = "light",
    max_learners: int = MOST_LEARNERS,
    max_classes: int = MOST_CLASSES,
    word: str = "class",
) -> go.Figure:
    """Draw the votes of each learner by class, as stacked bars.

    Learners stand in the order given, unless some voted more than twice as often as others: then the busiest
    come first. More classes than `MOST_SHOWN` are drawn as lines over their ranks.

    Parameters
    ----------
    counts : (d, K) array of int
        Votes of each learner for each class (`Votes.class_counts`).
    learners : sequence of d str
    classes : sequence of K labels
    theme : "light" or "dark"
    max_learners : int
        Learners beyond this many are left out, and the axis says so.
    max_classes : int
        The most frequent classes get a colour of their own; the others are drawn together.
    word : "class" or "label"
        What the legend calls a class: of several labels in a cell, each is a label, and a vote may have many.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    if len(classes) > MOST_SHOWN:
        return votes_by_rank(counts, learners, classes, theme=theme)
    colours = theme_of(theme)
    order, axis_title = _order(np.asarray(counts).sum(axis=1), max_learners)
    shown = np.asarray(counts)[order]
    all_names = bar_names(learners)
    names = [all_names[j] for j in order]
    total = np.maximum(shown.sum(axis=1), 1)
    unit, axis = ("votes", "votes cast (number of rows)") if word == "class" else ("labels", "labels given (number)")
    figure = go.Figure()
    for label, votes, colour in _series(shown, classes, min(max_classes, MOST_CLASSES), colours.classes, colours.rest):
        figure.add_bar(
            name=short(label),
            y=names,
            x=votes,
            orientation="h",
            marker={"color": colour, "line": {"width": 0}},
            customdata=np.stack([votes / total, total], axis=1),
            hovertemplate=f"<b>%{{y}}</b><br>{word} {safe(label)}: %{{x:,}} of %{{customdata[1]:,}} {unit}"
            f"<br>%{{customdata[0]:.1%}} of its {unit}<extra></extra>",
        )
    figure.update_layout(
        bar_layout(colours, len(names), axis_title),
        barmode="stack",
        legend=legend_above(word),
        xaxis={"title": axis, "tickformat": ",~d", "fixedrange": True, "automargin": True},
    )
    return figure


def _order(totals: Integers, most: int) -> tuple[NDArray[np.intp], str]:
    """Return the learners to draw, from the top, and the axis title."""
    order = np.arange(len(totals))
    uneven = bool(totals.max() > 2 * totals.min())
    if uneven:
        order = np.argsort(-totals, kind="stable")
    title = "learner, busiest first" if uneven else "learner"
    return order[:most], shown_of(title, most, len(order))


def _series(
    counts: Integers, classes: Sequence[Any], most: int, palette: Sequence[str], rest: str
) -> list[tuple[str, Integers, str]]:
    """Return (label, votes (d,), colour) per class.

    If there are too many, the less frequent ones are summed up.
    """
    labels = [str(label) for label in classes]
    if len(labels) <= most:
        return [(label, counts[:, k], palette[k]) for k, label in enumerate(labels)]
    frequent = np.sort(np.argsort(-counts.sum(axis=0), kind="stable")[: most - 1])
    series = [(labels[k], counts[:, k], palette[i]) for i, k in enumerate(frequent)]
    others = np.delete(counts, frequent, axis=1)
    return [*series, (f"{others.shape[1]:,} others", others.sum(axis=1), rest)]
