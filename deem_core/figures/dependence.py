"""Drawing of mutual information by pair, class and layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray
from plotly.subplots import make_subplots

from deem_core.figures._axes import picture_layout, picture_of_nothing
from deem_core.figures._cells import LETTER, PAIR, SIDES, colour_bar, key_axis, places, tick_angle
from deem_core.figures._names import bar_names, safe, short
from deem_core.figures._theme import Theme, theme_of
from deem_core.typing import Floats
from deem_core.votes.agreement import clustered_order

Order = Literal["clustered", "file"] | Sequence[ArrayLike]

TALLEST = {1: 560, 2: 360, 3: 300, 4: 240}
"""Pixels of a panel's height at most, by the number of classes below each other."""

LOWEST = 180
"""Pixels of a panel's height at least, and with more classes than that."""

NAME, ROOMY = 13, 20
"""Pixels that a name beside a panel needs, and has where there is room."""

WIDTH = 700
"""Pixels of all panels of a row together, about."""

WEAK = 0.1
"""Nats that the colours reach at least, so that dependence which hardly counts looks pale."""

GAP = 26
"""Pixels between two rows of panels."""

NOTHING = "Once a model is trained, this shows which learners go together beyond what the label explains."


@dataclass(frozen=True)
class _Layer:
    """One column of panels, its units in the order drawn."""

    title: str
    names: list[str]
    information: Floats  # (C, u, u), NaN on the diagonal
    order: NDArray[np.intp] | None  # positions among the first layer's units; None if the units are others


def dependence_grid(
    matrices: Mapping[str, ArrayLike] | Sequence[ArrayLike] | NDArray[Any],
    unit_names: Sequence[str] | Sequence[Sequence[str]],
    layer_names: Sequence[str],
    class_names: Sequence[Any],
    *,
    order: Order = "clustered",
    max_classes: int = 12,
    averaged: bool = False,
    theme: str | None = "light",
) -> go.Figure:
    """Draw the dependence of all pairs by layer and class.

    Layers go from left to right, classes from top to bottom.

    The diagonal is left blank, since everyone knows themselves, and one scale of colours serves all panels.

    Parameters
    ----------
    matrices : L arrays of shape (C, u, u), an array (L, C, d, d), or a mapping from the names of layers
        `LayerDependence.information` of every layer, in nats.
    unit_names : sequence of str, or L of them
        Of all layers, or of each where their units differ, as after merging near-copies.
    layer_names : sequence of L str
    class_names : sequence of C labels
    order : "clustered", "file", or L sequences of int
        Clustered: dependent units side by side, in the same order in all layers with the same units.
    max_classes : int
        Of more classes, those with the most dependence at the input are drawn, and the picture says so.
    averaged : bool
        Whether the only "class" is the average over all of them, so that no text calls it a label.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    given = [matrices[name] for name in layer_names] if isinstance(matrices, Mapping) else list(matrices)
    arrays = [np.asarray(own, np.float64) for own in given]
    if not arrays or not len(class_names) or not any(_pairs(own).size for own in arrays):
        return picture_of_nothing(colours, NOTHING)
    classes = _classes(arrays[0], max_classes)
    layers = _layers(arrays, _units_of_layers(unit_names, len(arrays)), layer_names, order, classes)
    top = max(float(_pairs(layer.information).max(initial=0)) for layer in layers)
    drawn = {int(k): class_names[k] for k in classes}
    return _Grid(layers, drawn, len(class_names), max(top, WEAK), colours, averaged=averaged).figure()


class _Grid:
    """Panels, a column per layer and a row per class."""

    def __init__(
        self,
        layers: list[_Layer],
        classes: dict[int, Any],
        n_classes: int,
        top: float,
        theme: Theme,
        *,
        averaged: bool,
    ) -> None:
        self.layers, self.n_classes, self.top, self.averaged, self.theme = layers, n_classes, top, averaged, theme
        self.class_order, self.classes = list(classes), list(classes.values())
        wanted = (ROOMY if len(classes) == 1 else NAME) * max(len(layer.names) for layer in layers)
        self.side = int(np.clip(wanted, LOWEST, TALLEST.get(len(classes), LOWEST)))
        self.width = WIDTH // len(layers)

    def figure(self) -> go.Figure:
        L, C = len(self.layers), len(self.classes)
        inner = C * self.side + (C - 1) * GAP
        figure = make_subplots(
            rows=C,
            cols=L,
            column_titles=[f"<b>{_wrapped(layer.title)}</b>" for layer in self.layers],
            horizontal_spacing=0.1 / L if L > 1 else 0.0,
            vertical_spacing=GAP / inner if C > 1 else 0.0,
        )
        figure.update_annotations(font={"size": 14, "color": self.theme.text})
        for row in range(C):
            for column, layer in enumerate(self.layers):
                figure.add_trace(self._cells(layer, row), row=row + 1, col=column + 1)
                figure.update_xaxes(self._across(layer, row), row=row + 1, col=column + 1)
                figure.update_yaxes(self._down(column, row), row=row + 1, col=column + 1)
        lines = max(_wrapped(layer.title).count("<br>") for layer in self.layers)
        margin = {"l": 8, "r": 8, "t": 30 + 18 * lines + (22 if self.n_classes > C else 0), "b": 8}
        figure.update_layout(
            picture_layout(self.theme, inner + margin["t"] + self._below()),
            margin=margin,
            meta={SIDES: self._sides()},
            plot_bgcolor=self.theme.grid,
            dragmode=False if self._fits() else "zoom",
            coloraxis={
                "colorscale": self.theme.colour_scale(),
                "cmin": 0,
                "cmax": self.top,
                "colorbar": colour_bar(
                    "mutual information (nats)",
                    lenmode="pixels",
                    len=min(inner, 300),
                    y=1,
                    yanchor="top",
                ),
            },
        )
        if self.n_classes > C:
            figure.add_annotation(
                text=f"the {C} of {self.n_classes:,} classes with the most dependence",
                xref="paper",
                yref="paper",
                x=0,
                y=1,
                yshift=24 + 18 * lines,
                xanchor="left",
                yanchor="bottom",
                showarrow=False,
                opacity=0.75,
                font={"size": 12, "color": self.theme.text},
            )
        return figure

    def _cells(self, layer: _Layer, row: int) -> go.Heatmap:
        # Names come from the axes, not from a text per cell: with 100 learners those would be megabytes.
        label = short(str(self.classes[row]), 40)
        given = ", average over classes" if self.averaged else f" given the label {label}"
        return go.Heatmap(
            name=None if self.averaged else label,
            z=layer.information[row].astype(np.float32),
            x=layer.names,
            y=layer.names,
            coloraxis="coloraxis",
            xgap=1 if len(layer.names) <= 40 else 0,
            ygap=1 if len(layer.names) <= 40 else 0,
            hovertemplate=f"{PAIR}%{{z:.3g}} nats{given}<br>{safe(layer.title)}<extra></extra>",
            hoverongaps=False,
            meta=None if layer.order is None else places(layer.order, layer.order, self.class_order[row]),
        )

    def _sides(self) -> list[str]:
        """Return what stands at the sides: titles of these axes are classes."""
        unit = "learner" if len(self.layers) == 1 else "unit"
        return [unit, f"other {unit}"]

    def _fits(self) -> bool:
        """Return whether the names of all layers fit beside the panels.

        If not, one can zoom in.
        """
        return max(len(layer.names) for layer in self.layers) * NAME <= self.side + NAME

    def _across(self, layer: _Layer, row: int) -> dict[str, Any]:
        last = row == len(self.classes) - 1
        title = "" if self._fits() or not last else f"{len(layer.names)} learners · drag to zoom in"
        names = [_cut(name) for name in layer.names]
        axis = self._axis(layer, title, self.width, last)
        angle = tick_angle(names, self.width) if self._fits() else -90
        if angle is not None and len(self.layers) > 1:  # a phone squeezes panels side by side: upright names still fit
            angle = -90
        return {**axis, "tickangle": angle}

    def _down(self, column: int, row: int) -> dict[str, Any]:
        # Names beside the first panel alone: others would run into their neighbours, and have them below.
        axis = self._axis(self.layers[column], "", self.side, column == 0, upwards=False)
        if column == 0:
            axis["title"] = {"text": f"<b>{short(str(self.classes[row]), self.side // 9)}</b>", "standoff": 10}
        return axis

    def _axis(self, layer: _Layer, title: str, pixels: int, labelled: bool, *, upwards: bool = True) -> dict[str, Any]:
        """Return an axis of a panel.

        Where names do not fit, Plotly names as many as do, and more when zoomed in.
        """
        names = [_cut(name) for name in layer.names]
        axis = key_axis(layer.names, names, title, pixels=pixels, labelled=labelled, upwards=upwards)
        axis |= {"title": {"text": title, "standoff": 12}, "tickfont": {"size": 10}}
        if self._fits():
            return axis | ({"tickvals": layer.names, "ticktext": names} if labelled else {})
        free = {"fixedrange": False, "tickmode": "auto", "nticks": pixels // NAME, "showticklabels": labelled}
        return {name: value for name, value in axis.items() if name not in ("tickvals", "ticktext")} | free

    def _below(self) -> int:
        """Return the pixels that names under the last row take."""
        longest = LETTER * max(len(_cut(name)) for layer in self.layers for name in layer.names)
        names = [_cut(name) for layer in self.layers for name in layer.names]
        if not self._fits():
            return 60 + longest
        flat = all(tick_angle([_cut(name) for name in layer.names], self.width) == 0 for layer in self.layers)
        return 30 if flat or not names else 24 + longest


def _cut(name: str) -> str:
    """Return a name for a small panel; an escaped one stays whole."""
    return name if "&" in name else short(name, 14)


def _wrapped(title: str) -> str:
    """Return a long title in two lines, for panels of 200 pixels."""
    head, comma, tail = title.partition(", ")
    return f"{safe(head)}{comma.strip()}<br>{safe(tail)}" if comma and len(title) > 18 else short(title, 26)


def _units_of_layers(units: Sequence[str] | Sequence[Sequence[str]], n_layers: int) -> list[list[str]]:
    if len(units) and not isinstance(units[0], str):
        return [list(own) for own in units]
    return [[str(name) for name in units]] * n_layers


def _layers(
    arrays: Sequence[Floats],
    units: Sequence[Sequence[str]],
    titles: Sequence[str],
    order: Order,
    classes: NDArray[np.intp],
) -> list[_Layer]:
    """Return the layers with their units in order.

    Layers with the same units share the first one's order.
    """
    shared: dict[tuple[str, ...], NDArray[np.intp]] = {}
    made = []
    for at, (own, names) in enumerate(zip(arrays, units, strict=True)):
        if isinstance(order, str):
            if tuple(names) not in shared:
                shared[tuple(names)] = _clustered(own) if order == "clustered" else np.arange(len(names))
            order_here = shared[tuple(names)]
        else:
            order_here = np.asarray(order[at], np.intp)
        drawn = own[np.ix_(classes, order_here, order_here)].copy()
        drawn[:, np.arange(len(order_here)), np.arange(len(order_here))] = np.nan
        hover = bar_names(names, most=40)
        same = list(names) == list(units[0])
        made.append(_Layer(titles[at], [hover[j] for j in order_here], drawn, order_here if same else None))
    return made


def _clustered(own: Floats) -> NDArray[np.intp]:
    known = np.isfinite(own)
    mean = np.where(known, own, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    top = float(_pairs(mean[None]).max(initial=0)) or 1.0
    return clustered_order(mean / top)


def _classes(first: Floats, most: int) -> NDArray[np.intp]:
    """Return the classes drawn, in their order."""
    u = first.shape[1]
    size = np.where(np.eye(u, dtype=bool), 0, np.nan_to_num(first) ** 2).sum(axis=(1, 2))
    return np.sort(np.argsort(-size, kind="stable")[:most])


def _pairs(matrices: Floats) -> Floats:
    """Return all known values off the diagonal."""
    u = matrices.shape[-1]
    values = matrices[..., ~np.eye(u, dtype=bool)]
    return np.asarray(values[np.isfinite(values)])
