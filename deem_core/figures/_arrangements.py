"""Arrangements of three panels: side by side, and for narrow places."""

from __future__ import annotations

from typing import Any

from deem_core.figures._axes import legend_below

ABOVE, BELOW = 52, 78
"""Pixels above the panels (title and unit) and below (axis and legend)."""

BELOW_NARROW = 128
"""The same where the legend breaks into lines."""

NARROW, NARROWER = 800, 560
"""Pixels below which the last panel stands above the others, and below which all stand above each other."""

_TALL, _TALLER = 660, 1060

TITLE_ON_TOP: dict[str, Any] = {"title": {"side": "top"}}
"""Of a legend in lines: beside a title Plotly breaks them too late, and the last name of each is cut off."""

Place = tuple[tuple[float, float], tuple[float, float]]


def arrangements(one: str, two: str, last: str) -> list[dict[str, Any]]:
    """Return the layouts for narrow places, the last panel first.

    Each is ``{"below": pixels, "layout": changes}``, as ``layout.meta["arrangements"]`` of a figure.

    Parameters
    ----------
    one, two, last : str
        The panels, from left to right where there is room.
    """
    pair: dict[str, Place] = {
        one: ((0.0, 0.44), (0.0, 0.36)),
        two: ((0.56, 1.0), (0.0, 0.36)),
        last: ((0.0, 1.0), (0.6, 1.0)),
    }
    column: dict[str, Place] = {
        one: ((0.0, 1.0), (0.39, 0.62)),
        two: ((0.0, 1.0), (0.0, 0.23)),
        last: ((0.0, 1.0), (0.77, 1.0)),
    }
    return [
        {"below": NARROW, "layout": _arranged(pair, _TALL)},
        {"below": NARROWER, "layout": _arranged(column, _TALLER)},
    ]


def narrow_legend() -> list[dict[str, Any]]:
    """Return the layout for narrow places of a picture with one panel."""
    return [{"below": NARROW, "layout": {"legend": TITLE_ON_TOP}}]


def _arranged(places: dict[str, Place], height: int) -> dict[str, Any]:
    """Return the changes of a layout with panels at these places."""
    layout: dict[str, Any] = {
        "height": height,
        "margin": {"t": ABOVE, "b": BELOW_NARROW},
        "legend": {"y": legend_under_panels(height, BELOW_NARROW)["y"], **TITLE_ON_TOP},
        "annotations": [],  # the titles come first
    }
    for at, ((left, right), (bottom, top)) in enumerate(places.values(), start=1):
        number = "" if at == 1 else str(at)
        layout[f"xaxis{number}"] = {"domain": [left, right]}
        layout[f"yaxis{number}"] = {"domain": [bottom, top]}
        layout["annotations"].append({"x": (left + right) / 2, "y": top})
    return layout


def legend_under_panels(height: int, below: int) -> dict[str, Any]:
    """Return a legend under panels, for this height and room below."""
    return {**legend_below("", height), "y": -44 / (height - ABOVE - below), "tracegroupgap": 0}
