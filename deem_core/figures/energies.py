"""Drawing of energies while training: data, samples and difference."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import plotly.graph_objects as go

from deem_core.figures._axes import dashed_line, legend_below, line_axis, panels, picture_of_nothing
from deem_core.figures._names import safe, short
from deem_core.figures._symlog import fitting_unit, symlog, symlog_ticks
from deem_core.figures._theme import Theme, theme_of
from deem_core.model.records import Record, by_restart
from deem_core.training.guidance import smooth
from deem_core.training.health import Restart
from deem_core.typing import Floats

if TYPE_CHECKING:
    from deem_core.training.sweep import Sweep

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
    """Draw positive energy, negative energy and difference side by side.

    There is one line per curve.

    Every point carries the key of its curve as ``customdata``, so that a click names the curve.

    Parameters
    ----------
    curves : sequence of Curve
        In order of their rank: the first is the faintest.
    selected : optional
        Key of the curve to stand out.
    smoothing : float in [0, 1)
        Weight of the past in the moving average (`deem_core.training.guidance.smooth`); raw curves stay faintly behind.
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
    """A curve in one panel: raw and smoothed values, origin of ``log``."""

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
        """Return the span of the steady curves without a few outliers.

        The selected curve is never cut.
        """
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
    """Return line and markers of a curve.

    The selected one stands out; a rejected one is dotted and steps back.
    """
    colour = theme.selected if chosen else colour
    return {
        "line": {"color": colour, "width": 3.2 if chosen else 1.6, "dash": "dot" if curve.rejected else "solid"},
        "marker": {"color": colour, "size": 7 if chosen else 4},
        "opacity": DIMMED if curve.rejected and not chosen else 1.0,
    }


def _legend_words(names: Sequence[str]) -> tuple[str, list[str]]:
    """Return the common beginning of all names, and the rest of each."""
    heads = {name.rpartition(" ")[0] for name in names}
    if len(heads) == 1 and (head := heads.pop()):
        return safe(head), [short(name.rpartition(" ")[2]) for name in names]
    return "", [short(name) for name in names]


def _span(values: Floats) -> tuple[float, float] | None:
    known = values[np.isfinite(values)]
    return (float(known.min()), float(known.max())) if len(known) else None


Along = Literal["epoch", "update"]


@dataclass(frozen=True, eq=False)
class Curve:
    """The energies of one training.

    Attributes
    ----------
    key : float, int or str
        What a click on the curve gives back.
    name : str
        Such as "learning rate 0.3".
    x : (T,)
        Epochs or updates.
    positive, negative, difference : (T,)
        NaN where nothing was recorded.
    verdict : str
        In a word or a sentence, for the hover text.
    rejected : bool
        Whether it must not be used; such curves step back.
    """

    key: float | int | str
    name: str
    x: Floats
    positive: Floats
    negative: Floats
    difference: Floats
    verdict: str = ""
    rejected: bool = False


def curves_of_sweep(sweep: Sweep, *, x: Along = "epoch") -> list[Curve]:
    """Return a curve per candidate.

    Its key is the learning rate, or the number of layers if depths were swept.
    """
    along = np.asarray(sweep.epochs if x == "epoch" else sweep.updates, np.float64)
    curves = []
    for r, verdict in enumerate(sweep.verdicts):
        rate, layers = float(sweep.rates[r]), int(sweep.n_layers[r])
        curves.append(
            Curve(
                key=layers if sweep.by_depth else rate,
                name=f"layers {layers}" if sweep.by_depth else f"learning rate {rate:.3g}",
                x=along,
                positive=sweep.positive[r],
                negative=sweep.negative[r],
                difference=sweep.difference[r],
                verdict=verdict.words,
                rejected=verdict.rejected,
            )
        )
    return curves


def curves_of_records(
    records: Sequence[Record], *, restarts: Sequence[Restart] = (), x: Along = "epoch"
) -> list[Curve]:
    """Return a curve per restart, with its number from 0 as key.

    Parameters
    ----------
    records : sequence of Record
        As `DEEM.history_` has them, or as many as there are so far.
    restarts : sequence of Restart
        One that was not kept is marked as rejected, with its reason. Empty while the training runs.
    x : "epoch" or "update"
    """
    curves = []
    for at, own in enumerate(by_restart(records)):
        verdict = restarts[at] if at < len(restarts) else None
        curves.append(
            Curve(
                key=at,
                name=f"restart {at + 1}",
                x=column(own, x),
                positive=column(own, "positive"),
                negative=column(own, "negative"),
                difference=column(own, "difference"),
                verdict="" if verdict is None else verdict.reason,
                rejected=verdict is not None and not verdict.kept,
            )
        )
    return curves


def column(records: Sequence[Record], name: str) -> Floats:
    """Return one number of every record, (T,)."""
    return np.array([getattr(record, name) for record in records], np.float64)
