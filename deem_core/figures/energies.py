"""Drawing of energies while training: data, samples and difference."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from deem_core.figures._arrangements import ABOVE, BELOW, arrangements, legend_under_panels
from deem_core.figures._axes import dashed_line, line_axis, panels, picture_of_nothing
from deem_core.figures._ends import ROOM, names_at_ends
from deem_core.figures._names import safe, short
from deem_core.figures._symlog import fitting_unit, symlog, symlog_ticks
from deem_core.figures._theme import Theme, theme_of
from deem_core.figures.curves import Along, Curve
from deem_core.training.guidance import smooth
from deem_core.typing import Floats

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

HEIGHT = 400
DIMMED = 0.42
"""Opacity of curves that were rejected."""
RAW = 0.28
"""Opacity of a raw curve behind its smoothed one."""
CLIPPED = 0.005
"""Share of the values at either end that ``zoom`` may cut off."""

AXES: dict[Along, str] = {"epoch": "epochs", "update": "updates", "second": "seconds"}


def energy_panels(
    curves: Sequence[Curve],
    *,
    selected: float | int | str | None = None,
    recommended: float | int | str | None = None,
    ordered: bool = True,
    palette: Sequence[str] = (),
    smoothing: float = 0.0,
    x: Along = "epoch",
    until: float | None = None,
    log: bool = False,
    zoom: bool = False,
    hidden: Collection[float | int | str] = (),
    theme: str | None = "light",
) -> go.Figure:
    """Draw positive energy, negative energy and difference side by side.

    There is one line per curve, named at its right end.

    Every point carries the key of its curve as ``customdata``, so that a click names the curve. In narrow places the
    difference comes first (``layout.meta["arrangements"]``).

    Parameters
    ----------
    curves : sequence of Curve
        In order of their rank: the first is the faintest.
    selected : optional
        Key of the curve to stand out.
    recommended : optional
        Key of the curve that gets a star, and a colour of its own.
    ordered : bool
        Whether the order of the curves means something, as that of learning rates does. Others share one colour, and
        rejected ones are dashed in red.
    palette : sequence of str
        A colour per curve, for a few that have no order and are told apart by colour; empty for those above.
    smoothing : float in [0, 1)
        Weight of the past in the moving average (`deem_core.training.guidance.smooth`); raw curves stay faintly behind.
    x : "epoch", "update" or "second"
        What the curves' ``x`` are.
    until : float, optional
        Where the horizontal axis ends, so that it stays as it is while curves grow.
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
    styles = _Styles(curves, selected, recommended, ordered, colours, palette=palette)
    title, labels = _legend_words([curve.name for curve in curves])
    # What matters most is drawn last and so lies on top.
    shown.sort(key=lambda item: (*styles.weight(item[1]), not item[1].rejected))
    figure = panels(colours, [_panel_title(what, log) for what in TITLES], height=HEIGHT, spacing=0.07)
    span = _horizontal([curve for _, curve in shown], until)
    for at, what in enumerate(TITLES, start=1):
        panel = _Panel(what, at, x, [_line(curve, what, smoothing) for _, curve in shown], log=log)
        if smoothing > 0:
            for (rank, _), line in zip(shown, panel.lines, strict=True):
                figure.add_trace(panel.raw(line, styles.of(rank)), row=1, col=at)
        for (rank, _), line in zip(shown, panel.lines, strict=True):
            name = f"{labels[rank]} ★" if line.curve.key == recommended else labels[rank]
            figure.add_trace(
                panel.main(line, styles.of(rank)).update(name=labels[rank], legendrank=rank + 1, showlegend=at == 1),
                row=1,
                col=at,
            )
            panel.name(line, name, styles.word(rank))
        axis = panel.axis(zoom=zoom, selected=selected)
        figure.update_yaxes({**axis, "uirevision": f"{log} {zoom}"}, row=1, col=at)
        if len(curves) > 1 and not palette and "range" in axis:  # colours tell them apart already
            for note in names_at_ends(panel.ends, at, axis["range"], height=HEIGHT - ABOVE - BELOW):
                figure.add_annotation(note)
    figure.update_xaxes(line_axis(AXES[x], matches="x", showgrid=False, range=span, uirevision=x))
    dashed_line(figure, 0.0, colours, column=len(TITLES))
    return figure.update_layout(
        legend={**legend_under_panels(HEIGHT, BELOW), "title": {"text": title, "side": "left", "font": {"size": 13}}},
        margin={"t": ABOVE, "b": BELOW},
        showlegend=len(curves) > 1,
        dragmode="zoom",  # into all three panels at once, as far as the horizontal axis goes
        uirevision="kept",
        meta={"arrangements": arrangements("positive", "negative", "difference")},
    )


def _horizontal(curves: Sequence[Curve], until: float | None) -> list[float] | None:
    """Return the range of the horizontal axis, with room for names."""
    spans = [span for curve in curves if (span := _span(np.asarray(curve.x, np.float64)))]
    if not spans:
        return None
    low, high = min(span[0] for span in spans), max(span[1] for span in spans)
    high = max(high, until or 0.0)
    wide = (high - low) or 1.0
    return [low - 0.02 * wide, high + ROOM * wide]


# ---------------------------------------------------------------------- lines


class _Styles:
    """Looks of curves: a ramp by rank, two colours for two curves."""

    def __init__(
        self,
        curves: Sequence[Curve],
        selected: float | int | str | None,
        recommended: float | int | str | None,
        ordered: bool,
        theme: Theme,
        *,
        palette: Sequence[str],
    ) -> None:
        self.curves, self.selected, self.recommended, self.ordered, self.theme = (
            curves,
            selected,
            recommended,
            ordered,
            theme,
        )
        usual = theme.line_colours(len(curves)) if ordered else [theme.accent] * len(curves)
        self.palette = list(palette) or usual

    def weight(self, curve: Curve) -> tuple[bool, bool]:
        """Return what sorts curves by how much they matter."""
        return curve.key == self.selected, curve.key == self.recommended

    def word(self, rank: int) -> str:
        """Return the colour of a curve's name, darker than the ramp."""
        colour: str = self.of(rank)["line"]["color"]
        return self.theme.text if colour == self.palette[rank] else colour

    def of(self, rank: int) -> dict[str, Any]:
        """Return line, marker and opacity of a curve.

        One that was rejected is dotted and steps back, unless it was chosen.
        """
        curve = self.curves[rank]
        chosen, best = self.weight(curve)
        lost = curve.rejected and not self.ordered
        colour = self.theme.rejected if lost else self.palette[rank]
        colour = self.theme.recommended if best else self.theme.selected if chosen else colour
        width = 3.2 if chosen else 2.4 if best else 1.6
        dash = "dash" if lost else "dot" if curve.rejected else "solid"
        fades = curve.rejected and not chosen and self.ordered
        return {
            "line": {"color": colour, "width": width, "dash": dash},
            "marker": {"color": colour, "size": 7 if chosen else 4},
            "opacity": DIMMED if fades else 1.0,
        }


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
        self.ends: list[tuple[str, str, float, float, str]] = []
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
            uid=f"{curve.key}-{self.what}",  # who it is when curves are drawn in another order
            legendgroup=str(curve.key),
            # A page that listens to clicks would fade everything else.
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 1}},
            **style,
        )

    def raw(self, line: _Line, style: dict[str, Any]) -> go.Scatter:
        return go.Scatter(
            x=line.curve.x,
            y=self.drawn(line.raw, line),
            mode="lines",
            customdata=[line.curve.key] * len(line.curve.x),
            line={"color": style["line"]["color"], "width": 1.2},
            opacity=RAW * style["opacity"],
            hoverinfo="skip",
            uid=f"{line.curve.key}-{self.what}-raw",
            legendgroup=str(line.curve.key),
            showlegend=False,
        )

    def name(self, line: _Line, name: str, colour: str) -> None:
        """Remember where a curve ends."""
        drawn = self.drawn(line.smoothed, line)
        known = np.flatnonzero(np.isfinite(drawn))
        if len(known):
            end = float(np.asarray(line.curve.x, np.float64)[known[-1]]), float(drawn[known[-1]])
            self.ends.append((str(line.curve.key), name, *end, colour))

    def axis(self, *, zoom: bool, selected: float | int | str | None) -> dict[str, Any]:
        axis = line_axis("")
        values = np.concatenate([self.drawn(line.smoothed, line) for line in self.lines])
        span = self._zoomed(selected) if zoom else _span(values)
        if span:
            if span[0] == span[1]:
                span = span[0] - 0.5, span[1] + 0.5
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


def _legend_words(names: Sequence[str]) -> tuple[str, list[str]]:
    """Return the common beginning of all names, and the rest of each."""
    heads = {name.rpartition(" ")[0] for name in names}
    if len(heads) == 1 and (head := heads.pop()):
        return safe(head), [short(name.rpartition(" ")[2]) for name in names]
    return "", [short(name) for name in names]


def _span(values: Floats) -> tuple[float, float] | None:
    known = values[np.isfinite(values)]
    return (float(known.min()), float(known.max())) if len(known) else None
