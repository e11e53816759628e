"""Placement of names beside points without overlap."""

from __future__ import annotations

from collections.abc import Sequence

from deem_core.typing import Floats

Box = tuple[float, float, float, float]

LETTER, LINE, GAP = 6.6, 15.0, 8.0  # pixels of a letter, a line, and between a point and its name

PLACES = {
    "top center": (-0.5, GAP),
    "bottom center": (-0.5, -GAP - LINE),
    "middle right": (0.0, -LINE / 2),
    "middle left": (-1.0, -LINE / 2),
}
"""Where a name may stand: share of its width to the right of the point, and pixels above it."""


def places_of_names(
    across: Floats,
    up: Floats,
    names: Sequence[str],
    *,
    width: float,
    height: float,
    taken: Sequence[Box] = (),
) -> list[str | None]:
    """Return the text position of each point's name; None without room.

    Earlier points have the first choice.

    Parameters
    ----------
    across, up : (n,) array
        Places of the points in shares of the picture's width and height, from 0 to 1.
    names : sequence of n str
    width, height : float
        Of the picture, in pixels.
    taken : sequence of boxes
        Left, bottom, right and top in pixels of what must not be covered.
    """
    x, y = across * width, up * height
    boxes: list[Box] = [*taken]
    points: list[Box] = [(a - 5, b - 5, a + 5, b + 5) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    found: list[str | None] = []
    for n, name in enumerate(names):
        wide = LETTER * len(name)
        others = [box for m, box in enumerate(points) if m != n]
        for place, (share, above) in PLACES.items():
            side = GAP if share == 0 else -GAP if share == -1 else 0
            left, bottom = x[n] + share * wide + side, y[n] + above
            box = (left, bottom, left + wide, bottom + LINE)
            inside = box[0] >= 0 and box[2] <= width and box[1] >= 0 and box[3] <= height
            if inside and not any(_overlap(box, other) for other in [*boxes, *others]):
                boxes.append(box)
                found.append(place)
                break
        else:
            found.append(None)
    return found


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
