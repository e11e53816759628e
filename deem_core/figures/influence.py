"""Drawings of influence: overall, and on a part of the rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from deem_core.figures._axes import MOST_LEARNERS, bar_layout, panels, picture_of_nothing, shown_of
from deem_core.figures._cells import nats
from deem_core.figures._names import bar_names, hover_names, short
from deem_core.figures._theme import Theme, theme_of
from deem_core.typing import Floats

INFLUENCE = "influence (drop of the fused class's logit, nats)"
"""What the bars measure, unless said otherwise."""

NOISE = 2.0
"""Spreads over repeated permutations that the noise band is wide: within it, influence may be none at all."""

NOTHING = "Once a model is trained, this shows whose votes decide its labels."


def influence_bars(
    names: Sequence[str],
    values: ArrayLike,
    *,
    spread: ArrayLike | None = None,
    noise: ArrayLike | None = None,
    highlight: Collection[str] = (),
    title_of_axis: str = INFLUENCE,
    max_learners: int = MOST_LEARNERS,
    theme: str | None = "light",
) -> go.Figure:
    """Draw the influence of each learner, the largest first.

    Parameters
    ----------
    names : sequence of d str
    values : (d,) array
        `Importance.overall` or a column of ``by_class``; NaN is not drawn.
    spread : (d,) array, optional
        Over restarts, as error bars (`Importance.restart_spread`); NaN where unknown.
    noise : (d,) array or float, optional
        Spread over repeated permutations (`Importance.noise`); a band of `NOISE` times it is shaded from 0.
    highlight : collection of str
        Learners that stand out.
    title_of_axis : str
        What is measured, with its unit.
    max_learners : int
        Learners beyond this many are left out from the end, and the axis says so.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    value = np.asarray(values, np.float64)
    known = np.flatnonzero(np.isfinite(value))
    if not len(known):
        return picture_of_nothing(colours, NOTHING)
    order = known[np.argsort(-value[known], kind="stable")][:max_learners]
    off, band = _per_learner(spread, len(value)), NOISE * _per_learner(noise, len(value))
    axis_names = bar_names(names)
    drawn = [axis_names[j] for j in order]
    figure = go.Figure()
    if np.nan_to_num(band[order]).any():
        both = bool((value[order] < 0).any())
        figure.add_bar(
            name="noise: no more than chance may produce",
            x=(2 if both else 1) * band[order],
            base=-band[order] if both else 0,
            y=drawn,
            orientation="h",
            width=1,
            marker={"color": colours.rest, "opacity": 0.4, "line": {"width": 0}},
            hoverinfo="skip",
        )
    texts = [_words(value[j], off[j], band[j] / NOISE, spread is not None, noise is not None) for j in order]
    whole = [f"<b>{name}</b><br>{text}" for name, text in zip(_of(hover_names(names), order), texts, strict=True)]
    bars = _bars(value[order], drawn, _palette(names, order, highlight, colours), whole)
    if np.isfinite(off[order]).any():
        bars.update(name="influence ± spread over restarts", error_x=_error(off[order], colours))
    else:
        bars.update(name="influence")
    figure.add_trace(bars.update(width=0.62))
    title = shown_of("learner, largest first", max_learners, len(known))
    legend = len(figure.data) > 1 or np.isfinite(off[order]).any()
    return figure.update_layout(
        bar_layout(colours, len(order), title),
        barmode="overlay",
        showlegend=bool(legend),
        legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "traceorder": "reversed"},
        xaxis=_value_axis(title_of_axis, [value[order]], [off[order]]),
    )


def influence_panels(
    subset_values: ArrayLike,
    rest_values: ArrayLike,
    names: Sequence[str],
    *,
    subset_name: str = "subset",
    rest_name: str = "all other rows",
    subset_spread: ArrayLike | None = None,
    rest_spread: ArrayLike | None = None,
    highlight: Collection[str] = (),
    title_of_axis: str = "influence (nats)",
    max_learners: int = MOST_LEARNERS,
    theme: str | None = "light",
) -> go.Figure:
    """Draw influence on some rows beside the rest (paper, importance).

    Both panels have one scale and one order.

    Parameters
    ----------
    subset_values, rest_values : (d,) array
        Influence on the rows of the subset and on the others; the subset's order is that of both panels.
    names : sequence of d str
    subset_name, rest_name : str
        Titles of the panels.
    subset_spread, rest_spread : (d,) array, optional
        Over restarts, as error bars.
    highlight : collection of str
        Learners that stand out.
    title_of_axis : str
    max_learners : int
        Learners beyond this many are left out from the end, and the axis says so.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    both = [np.asarray(values, np.float64) for values in (subset_values, rest_values)]
    spreads = [_per_learner(spread, len(names)) for spread in (subset_spread, rest_spread)]
    known = np.flatnonzero(np.isfinite(both[0]) | np.isfinite(both[1]))
    if not len(known):
        return picture_of_nothing(colours, "Choose some rows to see who matters more there than elsewhere.")
    rank = np.nan_to_num(both[0][known], nan=-np.inf)
    order = known[np.argsort(-rank, kind="stable")][:max_learners]
    titles = [short(subset_name, 34), short(rest_name, 34)]
    layout = bar_layout(colours, len(order), shown_of("learner, largest first", max_learners, len(known)))
    figure = panels(colours, titles, height=layout["height"] + 20, spacing=0.04)
    axis_names, hover = _of(bar_names(names), order), _of(hover_names(names), order)
    palette = _palette(names, order, highlight, colours)
    for at, (value, off) in enumerate(zip(both, spreads, strict=True), start=1):
        texts = [
            f"<b>{name}</b><br>{titles[at - 1]}: {nats(value[j])}{_plus_minus(off[j], 'over restarts')}"
            f"<br>{titles[2 - at]}: {nats(both[2 - at][j])}{_times(both[0][j], both[1][j])}"
            for name, j in zip(hover, order.tolist(), strict=True)
        ]
        bars = _bars(value[order], axis_names, palette, texts)
        if np.isfinite(off[order]).any():
            bars.update(error_x=_error(off[order], colours))
        figure.add_trace(bars, row=1, col=at)
    axis = _value_axis(title_of_axis, [value[order] for value in both], [off[order] for off in spreads])
    figure.update_xaxes(axis)
    figure.update_yaxes({**layout["yaxis"], "title": None})
    figure.update_yaxes(title=layout["yaxis"]["title"], col=1)
    figure.update_yaxes(showticklabels=False, matches="y", col=2)
    return figure.update_layout(bargap=layout["bargap"], showlegend=False)


def _bars(values: Floats, names: Sequence[str], palette: Sequence[str], texts: Sequence[str]) -> go.Bar:
    return go.Bar(
        x=values,
        y=names,
        orientation="h",
        marker={"color": palette, "line": {"width": 0}},
        customdata=texts,
        hovertemplate="%{customdata}<extra></extra>",
    )


def _error(spread: Floats, colours: Theme) -> dict[str, Any]:
    return {"type": "data", "array": np.nan_to_num(spread), "color": colours.text, "thickness": 1.2, "width": 3}


def _palette(names: Sequence[str], order: NDArray[np.intp], highlight: Collection[str], colours: Theme) -> list[str]:
    return [colours.selected if names[j] in highlight else colours.accent for j in order]


def _of(texts: Sequence[str], order: NDArray[np.intp]) -> list[str]:
    return [texts[j] for j in order]


def _per_learner(numbers: ArrayLike | None, d: int) -> Floats:
    return np.broadcast_to(np.asarray(np.nan if numbers is None else numbers, np.float64), (d,))


def _words(value: float, spread: float, noise: float, with_spread: bool, with_noise: bool) -> str:
    """Return influence, spread and noise in words."""
    said = [nats(value)]
    if with_spread and np.isfinite(spread):
        said.append(f"± {spread:.3g} over restarts")
    if with_noise and np.isfinite(noise):
        said.append(f"± {noise:.2g} over permutations")
        if noise > 0 and abs(value) < NOISE * noise:
            said.append("no more than chance may produce")
    return "<br>".join(said)


def _plus_minus(spread: float, what: str) -> str:
    return f" ± {spread:.3g} {what}" if np.isfinite(spread) else ""


def _times(here: float, elsewhere: float) -> str:
    """Return how many times as much a learner matters here.

    A ratio of anything but positive numbers says nothing.
    """
    return f"<br>{here / elsewhere:.2g} times as much" if here > 0 and elsewhere > 0 else ""


def _value_axis(title: str, values: Sequence[Floats], spreads: Sequence[Floats]) -> dict[str, Any]:
    """Return an axis with room for zero and all error bars."""
    ends = [
        end
        for value, spread in zip(values, spreads, strict=True)
        for end in (value + np.nan_to_num(spread), value - np.nan_to_num(spread))
    ]
    known = np.concatenate([[0.0], *(end[np.isfinite(end)] for end in ends)])
    low, high = float(known.min()), float(known.max())
    pad = 0.04 * (high - low) or 0.05
    return {
        "title": {"text": title, "standoff": 8},
        "range": [low - pad if low < 0 else 0.0, high + pad],
        "zeroline": low < 0,
        "fixedrange": True,
        "automargin": True,
        "nticks": 8,
    }
