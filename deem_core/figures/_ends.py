"""Names of curves at their right ends, without overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deem_core.typing import Floats

ROOM = 0.17
"""Share of a panel's width that is left free for names."""

LINE = 13.0
"""Pixels between two names."""


def spread(places: Floats, *, line: float = LINE, height: float) -> Floats:
    """Return places (n,) at least ``line`` apart, within 0 and ``height``.

    Names that stick together move as one block, to the mean of where they would like to be.
    """
    order = np.argsort(places, kind="stable")
    blocks: list[list[float]] = []  # [centre, how many]
    for place in places[order].tolist():
        blocks.append([place, 1])
        while len(blocks) > 1 and blocks[-1][0] - blocks[-2][0] < line * (blocks[-1][1] + blocks[-2][1]) / 2:
            later, earlier = blocks.pop(), blocks.pop()
            many = later[1] + earlier[1]
            blocks.append([(later[0] * later[1] + earlier[0] * earlier[1]) / many, many])
    spaced = np.concatenate(
        [centre + line * (np.arange(many) - (many - 1) / 2) for centre, many in ((c, int(m)) for c, m in blocks)]
    )
    half = line / 2
    spaced = np.minimum(spaced, height - half - line * np.arange(len(spaced))[::-1])
    moved = np.empty(len(places))
    moved[order] = np.maximum(spaced, half + line * np.arange(len(spaced)))
    return moved


def names_at_ends(
    ends: Sequence[tuple[str, str, float, float, str]], axis: int, span: tuple[float, float], *, height: float
) -> list[dict[str, Any]]:
    """Return annotations that name curves where they end.

    Parameters
    ----------
    ends : sequence of (group, name, x, y, colour)
        Curves that end outside ``span`` get no name.
    axis : int
        Number of the panel.
    span : (low, high)
        Of the vertical axis.
    height : float
        Of the panel, in pixels.
    """
    low, high = span
    seen = [end for end in ends if low <= end[3] <= high]
    if not seen:
        return []
    places = np.array([(y - low) / (high - low) * height for _, _, _, y, _ in seen])
    number = "" if axis == 1 else str(axis)
    return [
        {
            "name": group,
            "text": name,
            "x": x,
            "y": y,
            "xref": f"x{number}",
            "yref": f"y{number}",
            "xanchor": "left",
            "xshift": 3,
            "yshift": float(moved - place),
            "showarrow": False,
            "font": {"size": 11, "color": colour},
        }
        for (group, name, x, y, colour), place, moved in zip(seen, places, spread(places, height=height), strict=True)
    ]
