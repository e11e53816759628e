"""What all pictures with a bar per learner have in common."""

from __future__ import annotations

from typing import Any

from deem_core.figures.theme import Theme

MOST_LEARNERS = 40
"""Bars that fit on a screen with their names."""

PERCENT_AXIS: dict[str, Any] = {"tickformat": ".0%", "range": [0, 1.02], "fixedrange": True, "automargin": True}
"""An axis of shares from nothing to everything."""


def bar_layout(theme: Theme, n_bars: int, axis_title: str) -> dict[str, Any]:
    """Return the layout of horizontal bars, one per learner, the first at the top."""
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


def shown_of(title: str, shown: int, total: int) -> str:
    """Return an axis title that says how many of all learners are drawn."""
    return title if total <= shown else f"{title} ({shown} of {total:,})"
