"""Pictures of a report: each drawn for a light and a dark page; the browser shows the one that fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deem_core.figures.html import figure_json
from deem_core.report.markup import Html, element

Draw = Callable[[str], Any]
"""Draws a Plotly figure for a theme, "light" or "dark"."""


def picture(draw: Draw, words: str, caption: str, *, width: int = 0) -> Html:
    """Return a picture with its caption.

    Parameters
    ----------
    draw : callable
    words : str
        What is to be seen, for those who cannot see it.
    caption : str
        How to read it.
    width : int
        Pixels below which it scrolls sideways rather than shrinks; 0 for a picture that fits anywhere.
    """
    data = [
        element("script", Html(figure_json(draw(theme))), type="application/json", class_=theme)
        for theme in ("light", "dark")
    ]
    place = element("div", class_="plot", role="img", aria_label=words, style=f"min-width:{width}px" if width else None)
    return element("figure", element("div", place, class_="scroll"), *data, element("figcaption", caption))
