"""Figures inside a web page that needs no network: their data as harmless text, and Plotly's own code."""

from __future__ import annotations

import plotly.graph_objects as go
import plotly.io
from plotly.offline import get_plotlyjs


def figure_json(figure: go.Figure) -> str:
    """Return a figure as JSON that may stand inside a script element: it has no angle brackets."""
    text = str(plotly.io.to_json(figure, validate=False))
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def plotly_code() -> str:
    """Return the JavaScript that draws figures, about 5 MB."""
    return str(get_plotlyjs())
