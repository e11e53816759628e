"""The colours of all pictures, for a light and a dark background."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import plotly.graph_objects as go

ThemeName = Literal["light", "dark"]


@dataclass(frozen=True)
class Theme:
    """What depends on the background.

    Attributes
    ----------
    background, text, grid : str
    classes : tuple of str
        One colour per class, far apart from each other, as many as `MOST_CLASSES`.
    rest : str
        For all other classes together.
    """

    background: str
    text: str
    grid: str
    classes: tuple[str, ...]
    rest: str

    def template(self) -> go.layout.Template:
        """Return the look of everything that is not data.

        It is a template rather than part of the layout, so that a page with a theme of its own may overrule it.
        """
        axis = {"gridcolor": self.grid, "zerolinecolor": self.grid, "linecolor": self.grid}
        return go.layout.Template(
            layout={
                "font": {"color": self.text, "size": 13},
                "paper_bgcolor": self.background,
                "plot_bgcolor": self.background,
                "xaxis": axis,
                "yaxis": axis,
            }
        )


THEMES: dict[ThemeName, Theme] = {
    "light": Theme(
        background="#ffffff",
        text="#1c2333",
        grid="#e1e6f0",
        classes=(
            "#3b5bdb",
            "#f08c4a",
            "#37a067",
            "#ad6fc9",
            "#2aa5b8",
            "#e0668f",
            "#8fae3d",
            "#e5b53b",
            "#8c6d5a",
            "#91a7ff",
        ),
        rest="#adb5bd",
    ),
    "dark": Theme(
        background="#12151e",
        text="#e6e9f2",
        grid="#2b3246",
        classes=(
            "#748ffc",
            "#f0935a",
            "#51b87f",
            "#c084dc",
            "#3bb9cc",
            "#ec7fa4",
            "#a5c454",
            "#edc555",
            "#b39480",
            "#bac8ff",
        ),
        rest="#6c757d",
    ),
}

MOST_CLASSES = len(THEMES["light"].classes)
"""Classes that get a colour of their own."""


def theme_of(name: str | None) -> Theme:
    """Return a theme by name; the light one where the name is not known."""
    return THEMES["dark" if name == "dark" else "light"]
