"""Picture: a drawing with the words that belong to it."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
import plotly.io
from plotly.offline import get_plotlyjs

from deem_core.diagnostics.rows import RowFilter
from deem_core.figures._axes import with_question
from deem_core.figures._cells import targets, undimmed
from deem_core.figures._theme import theme_of

BESIDE = 560
"""Pixels that two heatmaps side by side need, so that names below them can be read."""

PANELS = 760
"""Pixels that three panels side by side need."""

_BOLD = re.compile(r"\*\*(.+?)\*\*")


@dataclass(frozen=True)
class Side:
    """One side of a heatmap: what it is, and all its names.

    Attributes
    ----------
    title : str
        For a person who chooses one: "Learner".
    names : sequence of str
        As they are spelled in the file, whether drawn or not.
    """

    title: str
    names: Sequence[str]


@dataclass(frozen=True)
class Cells:
    """What the cells of a heatmap stand for.

    Attributes
    ----------
    down, across : Side
    rows : callable
        Returns the rows behind a cell, given its place down, its place across and its panel; None if it has none.
    panels : sequence of str
        Titles of several heatmaps side by side; empty for one.
    """

    down: Side
    across: Side
    rows: Callable[[int, int, int], RowFilter | None]
    panels: Sequence[str] = ()


@dataclass(frozen=True)
class Picture:
    """A drawing with its question, alternative text and caption.

    They are worded here and nowhere else.

    Attributes
    ----------
    question : str
        What it answers.
    draw : callable
        Returns the figure for a theme, "light" or "dark".
    alt : str
        What is to be seen, for those who cannot see it.
    caption : str
        How to read it: Markdown with ``**bold**`` and nothing else, in our own words. Names from a user's file stand
        in the figure or beside it.
    min_width : int
        Pixels below which it scrolls sideways on a printed page rather than shrinks; 0 for a picture that fits
        anywhere. In the app only pictures of several panels do (`scrolls`): others fit a phone.
    cells : Cells, optional
        What its cells stand for, if it is a heatmap.
    """

    question: str
    draw: Callable[[str], go.Figure]
    alt: str
    caption: str = ""
    min_width: int = 0
    cells: Cells | None = None

    @property
    def scrolls(self) -> bool:
        """Whether it has panels side by side, too many for a phone."""
        return self.min_width >= BESIDE

    def figure(self, theme: str, *, titled: bool = False) -> go.Figure:
        """Return the figure for a theme, on request under its question."""
        drawn = self.draw(theme)
        return with_question(drawn, self.question) if titled else drawn

    def clickable(self, theme: str, *, titled: bool = False) -> go.Figure:
        """Return the figure with its cells as points that can be clicked.

        Without `cells`, or with too many of them, it is the plain figure.
        """
        figure = self.figure(theme, titled=titled)
        points = [] if self.cells is None else targets(figure, theme_of(theme).selected)
        if points:
            figure = undimmed(figure)
            figure.update_traces(hoverinfo="skip", hovertemplate=None, selector={"type": "heatmap"})
            figure.add_traces(points)
            figure.update_layout(hoverdistance=-1, hovermode="closest")  # the nearest centre is the cell one is in
        return figure

    def json(self, theme: str) -> str:
        """Return the figure as JSON for a script element.

        It has no angle brackets.
        """
        text = str(plotly.io.to_json(self.draw(theme), validate=False))
        return text.replace("<", "\\u003c").replace(">", "\\u003e")

    def caption_html(self) -> str:
        """Return the caption as HTML. Everything but the bold is escaped."""
        return _BOLD.sub(r"<strong>\1</strong>", html.escape(self.caption))


def plotly_code() -> str:
    """Return the JavaScript that draws figures, about 5 MB."""
    return str(get_plotlyjs())
