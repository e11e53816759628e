"""Layouts and axes that several figures share."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from deem_core.figures._names import safe
from deem_core.figures._theme import Theme

MOST_LEARNERS = 40
"""Bars that fit on a screen with their names."""

PERCENT_AXIS: dict[str, Any] = {"tickformat": ".0%", "range": [0, 1.02], "fixedrange": True, "automargin": True}
"""An axis of shares from nothing to everything."""


def bar_layout(theme: Theme, n_bars: int, axis_title: str) -> dict[str, Any]:
    """Return the layout of horizontal bars, the first at the top."""
    bar = 30 if n_bars <= 15 else 18  # pixels
    return {
        "template": theme.template(),
        "bargap": 0.28,
        "height": 150 + bar * n_bars,
        "margin": {"l": 8, "r": 12, "t": 8, "b": 8},
        "dragmode": False,
        "hovermode": "closest",
        "yaxis": {
            "title": {"text": axis_title, "standoff": 12},
            "type": "category",
            "autorange": "reversed",
            "fixedrange": True,
            "automargin": True,
            "showgrid": False,
        },
    }


def legend_above(title: str) -> dict[str, Any]:
    """Return a legend above bars, in the order of their parts."""
    return {
        "title": {"text": title, "side": "left", "font": {"size": 13}},  # Plotly's own is larger: too wide for a phone
        "orientation": "h",
        "traceorder": "normal",
        "x": 0,
        "xanchor": "left",
        "y": 1.0,
        "yanchor": "bottom",
    }


def shown_of(title: str, shown: int, total: int) -> str:
    """Return an axis title with the number of learners drawn."""
    return title if total <= shown else f"{title} ({shown} of {total:,})"


MARGIN = {"l": 8, "r": 12, "t": 8, "b": 8, "pad": 0}
"""Pixels around a picture. A page's theme may pad axes, which frames cells in grey and pushes ticks into titles."""

QUESTION, QUESTION_LINE, LEGEND = 34, 20, 30
"""Pixels that a question above a picture takes, each further line of it, and a legend between question and picture."""

QUESTION_LETTERS = 44
"""Letters of a line of a question, as many as a phone is wide."""


def with_question(figure: go.Figure, question: str) -> go.Figure:
    """Put a question above a figure, so that both are saved together."""
    lines = wrap(question, QUESTION_LETTERS)
    room = QUESTION + QUESTION_LINE * (len(lines) - 1)
    above = figure.layout.margin.t or 0
    if figure.layout.showlegend is not False and (figure.layout.legend.y or 0) >= 1:
        above = max(above, LEGEND)
    if figure.layout.height is not None:
        figure.update_layout(height=figure.layout.height + room)
    return figure.update_layout(
        margin={"t": above + room},
        title={
            "text": f"<b>{'<br>'.join(map(safe, lines))}</b>",
            "font": {"size": 16},
            "x": 0,
            "xref": "container",
            "xanchor": "left",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 6 + QUESTION_LINE * (len(lines) - 1)},  # its first line stands above the anchor
        },
    )


def panels(theme: Theme, titles: Sequence[str], *, height: int, spacing: float = 0.08, columns: int = 0) -> go.Figure:
    """Return empty panels with titles, by default side by side.

    ``columns`` says how many stand in a row.
    """
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
    """Return a legend under the panels of a picture."""
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
    """Return a figure that only says what will be shown here."""
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
    """Draw a dashed level across a panel.

    It lies on top, since grid lines would cover one below.
    """
    figure.add_hline(y=y, line={"color": theme.text, "width": 1.3, "dash": "dash"}, opacity=0.8, row=row, col=column)
