"""What pictures of several panels share: their look, their titles, and the picture of nothing yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from deem_core.figures.names import safe
from deem_core.figures.theme import Theme

MARGIN = {"l": 8, "r": 12, "t": 8, "b": 8, "pad": 0}
"""Pixels around a picture. A page's theme may pad axes, which frames cells in grey and pushes ticks into titles."""

QUESTION, LEGEND = 34, 30
"""Pixels that a question above a picture takes, and a legend between the two."""


def asking(figure: go.Figure, question: str) -> go.Figure:
    """Put the question that a picture answers above it, so that it goes with the picture when that is saved."""
    above = figure.layout.margin.t or 0
    if figure.layout.showlegend is not False and (figure.layout.legend.y or 0) >= 1:
        above = max(above, LEGEND)
    if figure.layout.height is not None:
        figure.update_layout(height=figure.layout.height + QUESTION)
    return figure.update_layout(
        margin={"t": above + QUESTION},
        title={
            "text": f"<b>{safe(question)}</b>",
            "font": {"size": 16},
            "x": 0,
            "xref": "container",
            "xanchor": "left",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 6},
        },
    )


def panels(theme: Theme, titles: Sequence[str], *, height: int, spacing: float = 0.08, columns: int = 0) -> go.Figure:
    """Return empty panels with titles, side by side unless ``columns`` says how many stand in a row."""
    columns = columns or len(titles)
    rows = -(-len(titles) // columns)
    figure = make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=[f"<b>{title}</b>" for title in titles],
        horizontal_spacing=spacing,
        vertical_spacing=0.3 if rows > 1 else 0.0,
    )
    figure.update_annotations(font={"size": 14, "color": theme.text})
    lines = max((title.count("<br>") for title in titles), default=0)
    figure.update_layout(picture_layout(theme, height), margin={"t": 34 + 18 * lines})
    return figure


def picture_layout(theme: Theme, height: int) -> dict[str, Any]:
    """Return the layout that all pictures of curves and cells begin with."""
    return {
        "template": theme.template(),
        "height": height,
        "margin": MARGIN,
        "dragmode": False,
        "hovermode": "closest",
        "hoverlabel": {"bgcolor": theme.background, "bordercolor": theme.rest, "font": {"color": theme.text}},
    }


def line_axis(title: str, **changes: Any) -> dict[str, Any]:
    """Return an axis of numbers with a title."""
    return {"title": {"text": title, "standoff": 8}, "zeroline": False, "automargin": True, **changes}


def legend_below(title: str, height: int) -> dict[str, Any]:
    """Return a legend that lies under the panels of a picture of some height."""
    return {
        "title": {"text": title, "side": "left", "font": {"size": 13}},
        "orientation": "h",
        "x": 0,
        "xanchor": "left",
        "y": -62 / (height - 130),  # clear of tick labels and axis title, in shares of the panels' height
        "yanchor": "top",
        "itemsizing": "trace",
        "traceorder": "normal",
    }


def picture_of_nothing(theme: Theme, sentence: str, height: int = 320) -> go.Figure:
    """Return a picture that only says what will be seen here, and how."""
    hidden = {"visible": False, "fixedrange": True}
    return go.Figure().update_layout(
        picture_layout(theme, height),
        xaxis=hidden,
        yaxis=hidden,
        annotations=[
            {
                "text": sentence,
                "xref": "paper",
                "yref": "paper",
                "x": 0.5,
                "y": 0.5,
                "showarrow": False,
                "opacity": 0.7,
                "font": {"size": 15, "color": theme.text},
            }
        ],
    )


def dashed_line(figure: go.Figure, y: float, theme: Theme, column: int = 1, *, row: int = 1) -> None:
    """Draw a dashed level across a panel; on top, since grid lines would cover one that lies below."""
    figure.add_hline(y=y, line={"color": theme.text, "width": 1.3, "dash": "dash"}, opacity=0.8, row=row, col=column)
