"""Drawing of the tree of label, groups and learners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from deem_core.figures._axes import picture_layout, picture_of_nothing
from deem_core.figures._names import bar_names, hover_names
from deem_core.figures._theme import Theme, theme_of
from deem_core.text import percent
from deem_core.typing import Floats

LINE, GAP = 22, 0.6
"""Pixels of a learner's line, and lines between two groups."""

LABEL, GROUP, LEARNER = 0.0, 1.0, 2.0
"""Places of the three kinds from left to right."""

NOTHING = "Once a grouped model is fitted, this shows which learners make the same mistakes."


def group_tree(
    learners: Sequence[str],
    members: Sequence[Sequence[int]],
    follows: ArrayLike,
    agreement: ArrayLike,
    *,
    label_group: int = -1,
    theme: str | None = "light",
) -> go.Figure:
    """Draw the label, the groups that follow it, and their learners.

    Parameters
    ----------
    learners : sequence of d str
    members : sequence of G sequences of int
        Learners of each group; all others hang on the label.
    follows : (d,) array
        How often each learner says the opinion of its group, or the label; the wider its line.
    agreement : (G,) array
        How often the opinion of each group is the label.
    label_group : int
        The group whose opinion is the label, -1 for none.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    if not learners:
        return picture_of_nothing(colours, NOTHING)
    own, between = np.asarray(follows, np.float64), np.asarray(agreement, np.float64)
    grouped = {i for group in members for i in group}
    branches = [*map(list, members), [i for i in range(len(learners)) if i not in grouped]]
    height, place = _places([branch for branch in branches if branch])
    middle = height / 2
    figure = go.Figure()
    for g, group in enumerate(members):
        colour = colours.classes[g % len(colours.classes)]
        centre = float(np.mean([place[i] for i in group]))
        _line(figure, (LABEL, middle), (GROUP, centre), between[g], colour)
        for i in group:
            _line(figure, (GROUP, centre), (LEARNER, place[i]), own[i], colour)
        words = _group_words(g, len(group), None if g == label_group else between[g])
        _node(figure, (GROUP, centre), words, colour, colours, below=centre > middle)
    for i in branches[-1]:
        _line(figure, (LABEL, middle), (LEARNER, place[i]), own[i], colours.rest)
    above = "the label" if label_group < 0 else "what stands above all groups"
    said = [f"says {'its group’s opinion' if i in grouped else above}" for i in range(len(learners))]
    _leaves(figure, place, own, (learners, said), colours)
    title = "label" if label_group < 0 else "above all groups"
    _node(figure, (LABEL, middle), (f"<b>{title}</b>", f"<b>{title}</b>"), colours.text, colours)
    hidden = {"visible": False, "fixedrange": True}
    return figure.update_layout(
        picture_layout(colours, 60 + round(LINE * height)),
        showlegend=False,
        xaxis={**hidden, "range": [-0.25, 2.95]},
        yaxis={**hidden, "range": [height, -1.2]},
    )


def _places(branches: Sequence[Sequence[int]]) -> tuple[float, dict[int, float]]:
    """Return the height in lines, and the line of each learner."""
    place, at = {}, 0.0
    for branch in branches:
        for i in branch:
            place[i] = at
            at += 1
        at += GAP
    return at - GAP, place


def _line(figure: go.Figure, start: tuple[float, float], end: tuple[float, float], share: float, colour: str) -> None:
    """Draw a line, the wider the more often its ends agree."""
    width = 1 + 4 * float(np.clip(np.nan_to_num(share), 0, 1))
    figure.add_trace(
        go.Scatter(
            x=[start[0], end[0]],
            y=[start[1], end[1]],
            mode="lines",
            line={"color": colour, "width": width},
            opacity=0.65,
            hoverinfo="skip",
        )
    )


def _group_words(group: int, size: int, agreement: float | None) -> tuple[str, str]:
    """Return what stands at a group, and its hover text.

    ``agreement`` is None where its opinion is the label itself.
    """
    name = f"group {group + 1}"
    words, hover = f"<b>label</b>, of {name}", "its opinion is the label"
    if agreement is not None:
        words = f"{name} · {percent(agreement)}"
        hover = f"its opinion is the label on {percent(agreement)} of the rows"
    return words, f"<b>{name}</b>, {size} learners<br>{hover}"


def _node(
    figure: go.Figure,
    at: tuple[float, float],
    words: tuple[str, str],
    colour: str,
    colours: Theme,
    *,
    below: bool = False,
) -> None:
    """Draw a point with its words and those of its hover text."""
    figure.add_trace(
        go.Scatter(
            x=[at[0]],
            y=[at[1]],
            mode="markers+text",
            marker={"size": 13, "color": colour},
            text=[words[0]],
            textposition="bottom center" if below else "top center",
            textfont={"size": 13, "color": colours.text},
            customdata=[words[1]],
            hovertemplate="%{customdata}<extra></extra>",
            cliponaxis=False,
        )
    )


def _leaves(
    figure: go.Figure,
    place: Mapping[int, float],
    follows: Floats,
    texts: tuple[Sequence[str], Sequence[str]],
    colours: Theme,
) -> None:
    """Draw the learners; ``texts`` are their names and what each says."""
    learners, words = texts
    names, hover = bar_names(learners), hover_names(learners)
    figure.add_trace(
        go.Scatter(
            x=[LEARNER] * len(place),
            y=list(place.values()),
            mode="markers+text",
            marker={"size": 8, "color": colours.text},
            text=[f"{names[i]} · {percent(follows[i])}" for i in place],
            textposition="middle right",
            textfont={"size": 12, "color": colours.text},
            customdata=[f"<b>{hover[i]}</b><br>{words[i]} on {percent(follows[i])} of the rows" for i in place],
            hovertemplate="%{customdata}<extra></extra>",
            cliponaxis=False,
        )
    )
