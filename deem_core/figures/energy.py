"""The picture of energies while training: of the data, of the model's samples, and their difference."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from deem_core.figures.curves import Along, Curve, Floats
from deem_core.figures.names import safe, short
from deem_core.figures.panels import dashed_line, legend_below, line_axis, panels, picture_of_nothing
from deem_core.figures.symlog import fitting_unit, symlog, symlog_ticks
from deem_core.figures.theme import Theme, theme_of
from deem_core.guidance import smooth

TITLES = {"positive": "Positive energy", "negative": "Negative energy", "difference": "Difference"}
"""Panels from left to right."""

UNITS = {
    "positive": "free energy of the data (nats per row)",
    "negative": "free energy of samples (nats per row)",
    "difference": "positive − negative (nats per row)",
}
"""What the vertical axes show; it stands above them, where it cannot run into their numbers."""

LOG_UNITS = {
    "positive": "change since the start (nats, log both ways)",
    "negative": "change since the start (nats, log both ways)",
    "difference": "positive − negative (nats, log both ways)",
}
"""The same with ``log``: an energy has no natural zero, so that its way from the start is shown."""

NOTHING = "No curves yet. The energies will be drawn here as soon as training begins."
ALL_HIDDEN = "All curves are hidden. Pick one to see it."

HEIGHT = 430
DIMMED = 0.42
"""Opacity of curves that were rejected."""
RAW = 0.28
"""Opacity of a raw curve behind its smoothed one."""
CLIPPED = 0.005
"""Share of the values at either end that ``zoom`` may cut off."""


def energy_panels(
    curves: Sequence[Curve],
    *,
    selected: float | int | str | None = None,
    smoothing: float = 0.0,
    x: Along = "epoch",
    log: bool = False,
    zoom: bool = False,
    hidden: Collection[float | int | str] = (),
    theme: str | None = "light",
) -> go.Figure:
    """Draw positive energy, negative energy and their difference side by side, one line per curve.

    Every point carries the key of its curve as ``customdata``, so that a click names the curve.

    Parameters
    ----------
    curves : sequence of Curve
        In order of their rank: the first is the faintest.
    selected : optional
        Key of the curve to stand out.
    smoothing : float in [0, 1)
        Weight of the past in the moving average (`deem_core.guidance.smooth`); raw curves stay faintly behind.
    x : "epoch" or "update"
        What the curves' ``x`` are.
    log : bool
        Draw log₁₀(1 + |v|/unit) with the sign of v, where v is the difference, or the change of an energy since
        the start of its curve.
    zoom : bool
        Let the vertical axes follow the curves that were not rejected; others may leave the picture.
    hidden : collection
        Keys of curves that are not drawn; colours of the others stay.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    shown = [(rank, curve) for rank, curve in enumerate(curves) if curve.key not in hidden]
    if not shown:
        return picture_of_nothing(colours, ALL_HIDDEN if len(curves) else NOTHING, HEIGHT)
    palette = colours.line_colours(len(curves))
    title, labels = _legend_words([curve.name for curve in curves])
    # What matters most is drawn last and so lies on top.
    shown.sort(key=lambda item: (item[1].key == selected, not item[1].rejected))
    figure = panels(colours, [_panel_title(what, log) for what in TITLES], height=HEIGHT)
    for at, what in enumerate(TITLES, start=1):
        panel = _Panel(what, at, x, [_line(curve, what, smoothing) for _, curve in shown], log=log)
        if smoothing > 0:
            for (rank, _), line in zip(shown, panel.lines, strict=True):
                figure.add_trace(panel.raw(line, palette[rank], line.curve.key == selected, colours), row=1, col=at)
        for (rank, _), line in zip(shown, panel.lines, strict=True):
            style = _style(line.curve, palette[rank], line.curve.key == selected, colours)
            figure.add_trace(
                panel.main(line, style).update(name=labels[rank], legendrank=rank + 1, showlegend=at == 1),
                row=1,
                col=at,
            )
        figure.update_yaxes(panel.axis(zoom=zoom, selected=selected), row=1, col=at)
    figure.update_xaxes(line_axis(x, matches="x", showgrid=False))
    dashed_line(figure, 0.0, colours, column=len(TITLES))
    return figure.update_layout(
        legend={**legend_below(title, HEIGHT), "tracegroupgap": 4, "itemclick": False, "itemdoubleclick": False},
        showlegend=len(curves) > 1,
        dragmode="zoom",  # into all three panels at once, as far as the horizontal axis goes
    )


@dataclass(frozen=True)
class _Line:
    """One curve in one panel: raw and smoothed values, and from where ``log`` counts."""

    curve: Curve
    raw: Floats
    smoothed: Floats
    origin: float


class _Panel:
    """What the lines of one panel have in common."""

    def __init__(self, what: str, at: int, x: Along, lines: Sequence[_Line], *, log: bool) -> None:
        self.what, self.at, self.x, self.lines, self.log = what, at, x, lines, log
        steady = [line for line in lines if not line.curve.rejected] or lines
        self.unit = fitting_unit(np.concatenate([line.smoothed - line.origin for line in steady]))

    def drawn(self, values: Floats, line: _Line) -> Floats:
        return symlog(values - line.origin, self.unit) if self.log else values

    def main(self, line: _Line, style: dict[str, Any]) -> go.Scatter:
        curve, value = line.curve, TITLES[self.what].lower()
        smoothed = not np.array_equal(line.raw, line.smoothed, equal_nan=True)
        text = [
            f"{now:,.4g} nats smoothed ({raw:,.4g} raw)" if smoothed else f"{now:,.4g} nats"
            for now, raw in zip(line.smoothed.tolist(), line.raw.tolist(), strict=True)
        ]
        verdict = f"<br>{short(curve.verdict, 90)}" if curve.verdict else ""
        return go.Scatter(
            x=curve.x,
            y=self.drawn(line.smoothed, line),
            mode="lines+markers",  # points without markers cannot be picked
            customdata=[curve.key] * len(curve.x),
            hovertext=text,
            hovertemplate=f"<b>{safe(curve.name)}</b><br>{self.x} %{{x:.4~g}}<br>{value} %{{hovertext}}{verdict}"
            "<extra></extra>",
            legendgroup=str(curve.key),
            # A page that listens to clicks would fade everything else.
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 1}},
            **style,
        )

    def raw(self, line: _Line, colour: str, chosen: bool, theme: Theme) -> go.Scatter:
        return go.Scatter(
            x=line.curve.x,
            y=self.drawn(line.raw, line),
            mode="lines",
            customdata=[line.curve.key] * len(line.curve.x),
            line={"color": theme.selected if chosen else colour, "width": 1.2},
            opacity=RAW * (DIMMED if line.curve.rejected and not chosen else 1),
            hoverinfo="skip",
            legendgroup=str(line.curve.key),
            showlegend=False,
        )

    def axis(self, *, zoom: bool, selected: float | int | str | None) -> dict[str, Any]:
        axis = line_axis("")
        values = np.concatenate([self.drawn(line.smoothed, line) for line in self.lines])
        span = self._zoomed(selected) if zoom else _span(values)
        if zoom and span:
            axis["range"] = [span[0] - 0.06 * (span[1] - span[0]), span[1] + 0.06 * (span[1] - span[0])]
        if self.log and span:
            axis.update(symlog_ticks(span[0], span[1], self.unit))
        return axis

    def _zoomed(self, selected: float | int | str | None) -> tuple[float, float] | None:
        """Return what the steady curves span but for a few outliers; the selected one is never cut."""
        steady = [line for line in self.lines if not line.curve.rejected] or self.lines
        values = np.concatenate([self.drawn(line.smoothed, line) for line in steady])
        values = values[np.isfinite(values)]
        if not len(values):
            return None
        ends = [*np.quantile(values, [CLIPPED, 1 - CLIPPED])]
        for line in steady:
            if line.curve.key == selected:
                ends += _span(self.drawn(line.smoothed, line)) or ()
        if self.what == "difference":
            ends.append(0.0)
        low, high = float(min(ends)), float(max(ends))
        return (low, high) if high > low else (low - 0.5, high + 0.5)


def _panel_title(what: str, log: bool) -> str:
    unit = (LOG_UNITS if log else UNITS)[what]
    return f"{TITLES[what]}</b><br><span style='font-size:12px'>{unit}</span><b>"


def _line(curve: Curve, what: str, smoothing: float) -> _Line:
    raw = np.asarray(getattr(curve, what), np.float64)
    known = raw[np.isfinite(raw)]
    origin = 0.0 if what == "difference" or not len(known) else float(known[0])
    return _Line(curve, raw, smooth(raw, smoothing), origin)


def _style(curve: Curve, colour: str, chosen: bool, theme: Theme) -> dict[str, Any]:
    """Return line and markers: the chosen one stands out, a rejected one steps back, and dots say so too."""
    colour = theme.selected if chosen else colour
    return {
        "line": {"color": colour, "width": 3.2 if chosen else 1.6, "dash": "dot" if curve.rejected else "solid"},
        "marker": {"color": colour, "size": 7 if chosen else 4},
        "opacity": DIMMED if curve.rejected and not chosen else 1.0,
    }


def _legend_words(names: Sequence[str]) -> tuple[str, list[str]]:
    """Return what all names begin with, as the legend's title, and what is left of each."""
    heads = {name.rpartition(" ")[0] for name in names}
    if len(heads) == 1 and (head := heads.pop()):
        return safe(head), [short(name.rpartition(" ")[2]) for name in names]
    return "", [short(name) for name in names]


def _span(values: Floats) -> tuple[float, float] | None:
    known = values[np.isfinite(values)]
    return (float(known.min()), float(known.max())) if len(known) else None
