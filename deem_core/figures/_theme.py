"""The colours of all pictures, for a light and a dark background."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

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
    accent : str
        For data of a single kind.
    selected : str
        For the one that was picked out of many; far from the scale.
    recommended : str
        For the one that is advised.
    rejected : str
        For what must not be used.
    good, bad : str
        For what is better or worse than a reference; told apart by the colour-blind too (blue-green and orange-red).
    scale : tuple of str
        From the least to the most, evenly spaced; lightness alone tells the order, so that hue does not matter.
    faintest : float
        Place on the scale from which a thin line can be seen against the background.
    """

    background: str
    text: str
    grid: str
    classes: tuple[str, ...]
    rest: str
    accent: str
    selected: str
    recommended: str
    rejected: str
    good: str
    bad: str
    scale: tuple[str, ...]
    faintest: float

    def colour_scale(self) -> list[list[float | str]]:
        """Return the scale as Plotly wants it: pairs of place and colour."""
        return [[place / (len(self.scale) - 1), colour] for place, colour in enumerate(self.scale)]

    def diverging_scale(self) -> list[list[float | str]]:
        """Return a diverging scale: orange, background, blue.

        Orange and blue are told apart by the colour-blind, and lightness falls off the same way to both sides.
        """
        return [[0, self.bad], [0.5, self.scale[0]], [1, self.scale[3]]]

    def line_colours(self, n: int) -> list[str]:
        """Return colours of n ordered lines, from faint to strong.

        The end of the scale that fades away is left out.
        """
        places = np.linspace(self.faintest, 1, n) if n > 1 else [0.6]
        colours: list[str] = sample_colorscale(self.colour_scale(), list(places))
        return colours

    def template(self) -> go.layout.Template:
        """Return the look of everything that is not data.

        It is a template rather than part of the layout, so that a page with a theme of its own may overrule it.
        """
        title = {"font": {"size": 13}}
        axis = {"gridcolor": self.grid, "zerolinecolor": self.grid, "linecolor": self.grid, "title": title}
        return go.layout.Template(
            data={"heatmap": [{"colorbar": {"title": title}}]},
            layout={
                "font": {"color": self.text, "size": 13},
                "paper_bgcolor": self.background,
                "plot_bgcolor": self.background,
                "xaxis": axis,
                "yaxis": axis,
            },
        )


THEMES: dict[ThemeName, Theme] = {
    "light": Theme(
        background="#ffffff",
        text="#0b1122",
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
        accent="#3b5bdb",
        selected="#e8590c",
        recommended="#2b8a3e",
        rejected="#c92a2a",
        good="#128a74",
        bad="#d9480f",
        scale=("#f3f5fd", "#c3cffa", "#8ba0f3", "#5572e3", "#3149b8", "#1b2a78"),
        faintest=0.22,
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
        accent="#748ffc",
        selected="#ff922b",
        recommended="#69db7c",
        rejected="#ff8787",
        good="#35c4a6",
        bad="#ff8a4c",
        scale=("#1a2136", "#26346a", "#3850ad", "#5f7df0", "#9db1ff", "#e3e9ff"),
        faintest=0.36,
    ),
}

MOST_CLASSES = len(THEMES["light"].classes)
"""Classes that get a colour of their own."""


def theme_of(name: str | None) -> Theme:
    """Return a theme by name, the light one by default."""
    return THEMES["dark" if name == "dark" else "light"]
