"""Picture: a drawing with the words that belong to it."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass

import plotly.graph_objects as go
import plotly.io
from plotly.offline import get_plotlyjs

from deem_core.figures._axes import with_question

PANELS = 760
"""Pixels that three panels side by side need."""

_BOLD = re.compile(r"\*\*(.+?)\*\*")


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
    """

    question: str
    draw: Callable[[str], go.Figure]
    alt: str
    caption: str = ""
    min_width: int = 0

    @property
    def scrolls(self) -> bool:
        """Whether it has panels side by side, too many for a phone."""
        return self.min_width >= PANELS

    def figure(self, theme: str, *, titled: bool = False) -> go.Figure:
        """Return the figure for a theme, on request under its question."""
        drawn = self.draw(theme)
        return with_question(drawn, self.question) if titled else drawn

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
