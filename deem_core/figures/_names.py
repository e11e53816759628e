"""Names in figures: short, harmless to Plotly, never two alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

MOST_LETTERS = 18
"""Letters of a name on an axis."""

HOVER_LETTERS = 60
"""Letters of a name in a hover text, where there is room."""


def bar_names(learners: Sequence[str], most: int = MOST_LETTERS) -> list[str]:
    """Return short names that still tell the learners apart.

    Give all learners, not only those drawn, so that one has the same name in every picture.
    """
    names = [short(name, most) for name in learners]
    times = Counter(names)
    return [name if times[name] == 1 else f"{name} ({position})" for position, name in enumerate(names, start=1)]


def hover_names(learners: Sequence[str]) -> list[str]:
    """Return names as hover texts show them."""
    return [short(name, HOVER_LETTERS) for name in learners]


def short(name: str, most: int = MOST_LETTERS) -> str:
    """Return a name cut in the middle, safe for Plotly.

    Names often differ at the end.
    """
    tail = (most - 1) // 2
    return safe(name if len(name) <= most else f"{name[: most - 1 - tail]}…{name[-tail:]}")


def safe(name: str) -> str:
    """Return a name that Plotly takes for neither HTML nor a template."""
    return name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("%{", "% {")
