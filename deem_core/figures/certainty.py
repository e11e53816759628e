"""Drawings of certainty where truth is known: selective accuracy, calibration, recovery."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from deem_core.figures._axes import line_axis, picture_layout, picture_of_nothing
from deem_core.figures._names import hover_names, short
from deem_core.figures._theme import Theme, theme_of
from deem_core.text import count
from deem_core.typing import Floats

if TYPE_CHECKING:
    from deem_core.diagnostics.calibration import ReliabilityCurve, SelectiveAccuracy


HEIGHT = 380

MOST_POINTS = 4_000
"""Points of a scatter that a page draws at once without delay."""

NO_TRUTH = "This needs rows with known truth."


def selective_accuracy_curve(
    curves: SelectiveAccuracy | Mapping[str, SelectiveAccuracy],
    *,
    baseline: float | None = None,
    theme: str | None = "light",
) -> go.Figure:
    """Draw the accuracy of the surest rows (evaluation only).

    There may be several ways to order them.

    Parameters
    ----------
    curves : SelectiveAccuracy, or a mapping from names to them
        Such as by confidence and by review score; the first has its 95% interval shaded.
    baseline : float, optional
        Accuracy of the majority vote on all rows, dashed.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    if not isinstance(curves, Mapping):
        curves = {"most certain first": curves}
    if not any(len(curve.share) for curve in curves.values()):
        return picture_of_nothing(colours, NO_TRUTH, HEIGHT)
    figure = go.Figure()
    first = next(iter(curves.values()))
    figure.add_scatter(
        x=np.concatenate([first.share, first.share[::-1]]),
        y=np.concatenate([first.high, first.low[::-1]]),
        fill="toself",
        fillcolor=colours.accent,
        line={"width": 0},
        mode="lines",
        opacity=0.16,
        hoverinfo="skip",
        showlegend=False,
    )
    palette = (colours.accent, colours.selected, *colours.classes[2:])
    for number, (name, curve) in enumerate(curves.items()):
        figure.add_scatter(
            name=short(name, 40),
            x=curve.share,
            y=curve.accuracy,
            mode="lines",
            cliponaxis=False,  # a line along 100% keeps its width
            line={"color": palette[number % len(palette)], "width": 2.4, "dash": "solid" if number == 0 else "dashdot"},
            customdata=[
                f"<b>{short(name, 60)}</b><br>the most certain {share:.0%} of the rows: {right:.2%} right"
                f"<br>95% interval {low:.1%} to {high:.1%}"
                for share, right, low, high in zip(curve.share, curve.accuracy, curve.low, curve.high, strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
        )
    # The intervals of the first few rows are wide: they may leave the picture.
    values = np.concatenate([*(curve.accuracy for curve in curves.values()), first.low[first.share >= 0.1]])
    if baseline is not None and np.isfinite(baseline):
        values = np.append(values, baseline)
        _level(figure, baseline, f"majority vote, all rows {baseline:.1%}", colours)
    low = float(np.nanmin(values))
    return figure.update_layout(
        picture_layout(colours, HEIGHT + 20),
        legend=_legend_above(),
        showlegend=len(curves) > 1,
        xaxis=line_axis("share of the rows, most certain first", tickformat=".0%", range=[0, 1], fixedrange=True),
        yaxis=line_axis(
            "accuracy (share of these rows that is right)",
            tickformat=".0%",
            range=[max(low - 0.12 * (1.01 - low), 0.0), 1.0],
            fixedrange=True,
        ),
    )


def reliability_curve_figure(
    before: ReliabilityCurve,
    after: ReliabilityCurve | None = None,
    *,
    temperature: float | None = None,
    theme: str | None = "light",
) -> go.Figure:
    """Draw accuracy against confidence (evaluation only).

    On the diagonal confidence is calibrated.

    Parameters
    ----------
    before : ReliabilityCurve
    after : ReliabilityCurve, optional
        With a temperature fitted on rows with truth.
    temperature : float, optional
        That temperature, for the legend.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    if not int(np.sum(before.rows)):
        return picture_of_nothing(colours, NO_TRUTH, HEIGHT)
    figure = go.Figure(_diagonal([0, 1], colours, "perfect calibration"))
    note = f" T = {temperature:.2f}" if temperature is not None else ""
    named = [("as trained", before, colours.accent, "circle")]
    if after is not None:
        named.append((f"with temperature{note}", after, colours.selected, "diamond"))
    for name, curve, colour, symbol in named:
        figure.add_trace(_reliability_line(name, curve, colour, symbol))
    errors = "<br>".join(f"{name}: <b>{curve.error:.3f}</b>" for name, curve, _, _ in named)
    figure.add_annotation(
        text=f"calibration error (ECE)<br>{errors}",
        align="right",
        xref="paper",
        yref="paper",
        x=0.98,
        y=0.03,
        xanchor="right",
        yanchor="bottom",
        showarrow=False,
        bgcolor=colours.background,
        borderpad=6,
        font={"size": 12, "color": colours.text},
    )
    axis: dict[str, Any] = {"tickformat": ".0%", "range": [-0.01, 1.02], "fixedrange": True}
    return figure.update_layout(
        picture_layout(colours, HEIGHT + 20),
        legend=_legend_above(),
        xaxis=line_axis("confidence (probability of the fused label)", **axis),
        yaxis=line_axis("accuracy (share of rows that is right)", **axis),
    )


def recovery_scatter(
    true: ArrayLike,
    found: ArrayLike,
    *,
    kind: Literal["ψ", "π"] = "ψ",
    learners: Sequence[str] = (),
    classes: Sequence[Any] = (),
    theme: str | None = "light",
) -> go.Figure:
    """Draw recovered against true parameters of a simulated ensemble (paper, recovery graph).

    Parameters
    ----------
    true, found : (d, K, K) array for ψ, (K,) for π
        `Recovery.true_psi` and so on, classes matched; NaN is not drawn.
    kind : "ψ" or "π"
    learners, classes : sequences, optional
        Names for the hover text.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    real, estimate = np.asarray(true, np.float64), np.asarray(found, np.float64)
    known = np.argwhere(np.isfinite(real) & np.isfinite(estimate))
    if not len(known):
        return picture_of_nothing(colours, "This needs an ensemble whose true parameters are known.", HEIGHT)
    error = float(np.nanmax(np.abs(real - estimate)))
    places = known[:: max(1, -(-len(known) // MOST_POINTS))]
    x, y = real[tuple(places.T)], estimate[tuple(places.T)]
    who, what = hover_names(learners), hover_names([str(label) for label in classes])
    texts = [
        f"{_parameter(at, kind, who, what)}<br>true {a:.3f}, recovered {b:.3f}"
        for at, a, b in zip(places.tolist(), x, y, strict=True)
    ]
    ends = [-0.03, 1.04] if kind == "ψ" else _ends(np.append(x, y))
    figure = go.Figure(_diagonal(ends, colours, "perfect recovery"))
    figure.add_scatter(
        x=x,
        y=y,
        mode="markers",
        marker={
            "size": 7 if len(x) <= 400 else 5,
            "color": colours.accent,
            "opacity": 0.7,
            "line": {"width": 0.5, "color": colours.background},
        },
        customdata=texts,
        hovertemplate="%{customdata}<extra></extra>",
    )
    shown = f"<br>{len(x):,} of {len(known):,} shown" if len(x) < len(known) else ""
    figure.add_annotation(
        text=f"largest error <b>{error:.3f}</b>{shown}",
        align="left",
        xref="x domain",
        yref="y domain",
        x=0.02,
        y=0.98,
        xanchor="left",
        yanchor="top",
        showarrow=False,
        font={"size": 12, "color": colours.text},
    )
    unit = "Pr(vote | label)" if kind == "ψ" else "share of the label"
    axis: dict[str, Any] = {"range": ends, "fixedrange": True, "tickformat": ".3~f"}
    return figure.update_layout(
        picture_layout(colours, HEIGHT + 20),
        showlegend=False,
        xaxis=line_axis(f"true {kind}, {unit}", constrain="domain", **axis),
        yaxis=line_axis(f"recovered {kind}, {unit}", scaleanchor="x", constrain="domain", **axis),
    )


def _reliability_line(name: str, curve: ReliabilityCurve, colour: str, symbol: str) -> go.Scatter:
    """Return the bins with rows; larger marks stand for more of them."""
    used = np.flatnonzero(np.asarray(curve.rows) > 0)
    rows, right, sure = (np.asarray(values)[used] for values in (curve.rows, curve.accuracy, curve.confidence))
    low, high = np.asarray(curve.low)[used], np.asarray(curve.high)[used]
    return go.Scatter(
        name=name,
        x=sure,
        y=right,
        mode="lines+markers",
        line={"color": colour, "width": 2},
        marker={"size": 6 + 10 * np.sqrt(rows / rows.max()), "symbol": symbol, "color": colour, "opacity": 1},
        error_y={
            "type": "data",
            "array": np.nan_to_num(high - right),
            "arrayminus": np.nan_to_num(right - low),
            "color": colour,
            "thickness": 1.2,
            "width": 3,
        },
        customdata=[
            f"<b>{name}</b><br>{count(n, 'row')}, {c:.1%} sure on average<br>"
            f"{r:.1%} right (95% interval {a:.1%} to {b:.1%})"
            for n, c, r, a, b in zip(rows, sure, right, low, high, strict=True)
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _diagonal(ends: list[float], colours: Theme, name: str) -> go.Scatter:
    line = {"color": colours.text, "width": 1.3, "dash": "dash"}
    return go.Scatter(name=name, x=ends, y=ends, mode="lines", line=line, opacity=0.7, hoverinfo="skip")


def _ends(values: Floats) -> list[float]:
    """Return the ends of an axis around some values."""
    low, high = float(values.min()), float(values.max())
    pad = max(0.15 * (high - low), 0.01)
    return [low - pad, high + pad]


def _level(figure: go.Figure, y: float, text: str, colours: Theme) -> None:
    figure.add_hline(
        y=y,
        line={"color": colours.text, "width": 1.3, "dash": "dash"},
        opacity=0.8,
        annotation={"text": text, "font": {"size": 12, "color": colours.text}, "xanchor": "left", "x": 0.01},
        annotation_position="bottom left",
    )


def _legend_above() -> dict[str, Any]:
    return {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "traceorder": "normal"}


def _parameter(at: Sequence[int], kind: str, learners: Sequence[str], classes: Sequence[str]) -> str:
    """Return in words what a parameter is."""
    label = [classes[k] if k < len(classes) else f"class {k + 1}" for k in at[-2:]]
    if kind == "π":
        return f"share of <b>{label[-1]}</b>"
    who = learners[at[0]] if at[0] < len(learners) else f"learner {at[0] + 1}"
    return f"when the label is <b>{label[1]}</b>,<br><b>{who}</b> says <b>{label[0]}</b>"
