"""Drawings of a training: sampler health and class shares over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from deem_core.figures._axes import legend_below, line_axis, panels, picture_layout, picture_of_nothing
from deem_core.figures._names import hover_names, short
from deem_core.figures._theme import MOST_CLASSES, Theme, theme_of
from deem_core.figures.curves import Along, column
from deem_core.model.records import Record, by_restart
from deem_core.training.health import ALARM, DROP, MIN_ROWS
from deem_core.typing import Floats

ACCEPTANCE_BAND = (0.5, 1.0)
"""Acceptance of chains that get on; near 1 is as it should be for short, local chains (docs/method.md)."""

MOVED_BAND = (0.01, 0.3)
"""Share of votes that a healthy chain changes: 1 to 6 in a hundred per step, over five steps."""

NO_RECORDS = "Nothing recorded yet. This will be drawn here as soon as training begins."

MOST_LINES = 8
"""Classes with a line of their own, if there are more than colours."""

LIKE_BAD = 1
"""Which of the classes' colours is too much like that of a warning."""

HIGHEST_RATIO = 2.5
"""Ratios beyond this leave the picture: it is about classes that shrink."""


def sampler_health(
    records: Sequence[Record],
    *,
    x: Along = "update",
    acceptance_band: tuple[float, float] = ACCEPTANCE_BAND,
    moved_band: tuple[float, float] = MOVED_BAND,
    theme: str | None = "light",
) -> go.Figure:
    """Draw acceptance and moves of the chains, one line per restart.

    Parameters
    ----------
    records : sequence of Record
    x : "update" or "epoch"
    acceptance_band, moved_band : pair of float
        What is healthy; shaded.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    own = by_restart(records)
    if not own:
        return picture_of_nothing(colours, NO_RECORDS)
    drawn = (
        ("acceptance", "Acceptance", "proposals accepted (share)", "proposals accepted", acceptance_band),
        ("moved", "Moved votes", "votes changed by the chain (share)", "votes changed", moved_band),
    )
    palette = colours.line_colours(len(own))
    figure = panels(colours, [title for _, title, *_ in drawn], height=340, spacing=0.1)
    for at, (name, _, axis_title, said, band) in enumerate(drawn, start=1):
        healthy = f"healthy: {band[0]:.0%} to {band[1]:.0%}"
        highest = band[1]
        for r, restart in enumerate(own):
            values = column(restart, name)
            highest = max(highest, float(np.nanmax(values, initial=0.0)))
            figure.add_scatter(
                x=column(restart, x),
                y=values,
                mode="lines+markers",
                marker={"size": 3},
                line={"color": palette[r], "width": 1.5},
                customdata=[_verdict(value, band) for value in values.tolist()],
                hovertemplate=f"<b>restart {r + 1}</b><br>{x} %{{x:,.4~g}}<br>%{{y:.1%}} of {said}"
                f"<br>%{{customdata}} ({healthy})<extra></extra>",
                showlegend=False,
                row=1,
                col=at,
            )
        figure.add_hrect(
            y0=band[0], y1=band[1], fillcolor=colours.good, opacity=0.11, line_width=0, layer="below", row=1, col=at
        )
        figure.add_annotation(
            text="healthy",
            x=0.99,
            xref="x domain" if at == 1 else "x2 domain",
            y=band[0],
            yref="y" if at == 1 else "y2",
            xanchor="right",
            yanchor="bottom",
            showarrow=False,
            font={"size": 12, "color": colours.good},
        )
        top = min(max(1.08 * highest, 1.25 * band[1]), 1.03)
        figure.update_yaxes(line_axis(axis_title, tickformat=".0%", range=[0, top]), row=1, col=at)
    return figure.update_xaxes(line_axis(x, matches="x", showgrid=False))


def shares_over_time(
    records: Sequence[Record],
    classes: Sequence[Any],
    majority_shares: ArrayLike,
    *,
    rows: int | None = None,
    x: Along = "epoch",
    max_classes: int = MOST_CLASSES,
    theme: str | None = "light",
) -> go.Figure:
    """Draw class shares over majority-vote shares while training.

    Lines are means over the restarts.

    The class that loses most in any restart is drawn for every restart, too. A class that falls below the lowest
    line has died, and the picture says so.

    Parameters
    ----------
    records : sequence of Record
    classes : sequence of K labels
    majority_shares : (K,) array
        Class shares by majority vote; classes without any are left out.
    rows : int, optional
        Rows that the shares were measured on: classes with too few of them are left out if there are others.
    x : "epoch" or "update"
    max_classes : int
        Of more classes only those that shrink most get a line, and a band tells of the others.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    own = by_restart(records)
    judged = _judged(np.asarray(majority_shares, np.float64), rows)
    if not own or not len(judged):
        return picture_of_nothing(colours, NO_RECORDS)
    ratios = _ratios(own, np.asarray(majority_shares, np.float64), judged)  # (R, T, classes judged)
    along = column(max(own, key=len), x)
    latest = np.stack([_latest(ratio) for ratio in ratios])  # (R, classes judged)
    worst = int(np.nanmin(latest, axis=0).argmin()) if np.isfinite(latest).any() else 0
    mean = _mean(ratios)
    order = np.argsort(_latest(mean), kind="stable")
    order = np.concatenate([[worst], order[order != worst]])
    drawn = order if len(order) <= max_classes else order[: min(MOST_LINES, max_classes)]
    others = order[len(drawn) :]
    names = hover_names([str(classes[k]) for k in judged])
    height = 380
    figure = go.Figure()
    _draw_others(figure, along, mean[:, others], colours)
    dying = bool(np.nanmin(latest[:, worst], initial=1.0) < DROP)
    palette = _palette(drawn.tolist(), worst if dying else None, colours)
    for k in drawn[::-1].tolist():  # the worst one last, on top
        if k == worst and len(own) > 1:
            _draw_restarts(figure, along, ratios[:, :, k], names[k], palette[k])
        figure.add_scatter(
            x=along,
            y=mean[:, k],
            mode="lines",
            name=short(str(classes[judged[k]])),
            legendrank=int(judged[k]) + 1,
            line={"color": palette[k], "width": 3.2 if k == worst else 1.8},
            opacity=0.6 if dying and k != worst else 1.0,
            hovertemplate=f"<b>class {names[k]}</b><br>{x} %{{x:,.4~g}}<br>%{{y:.0%}} of its majority-vote share"
            + (f"<br>mean of {len(own)} restarts" if len(own) > 1 else "")
            + "<extra></extra>",
        )
    top = float(np.clip(1.08 * np.nanmax(mean[:, drawn], initial=1.0), 1.5, HIGHEST_RATIO))
    _draw_levels(figure, colours)
    if dying:
        _name_dying(figure, along, latest[:, worst], short(str(classes[judged[worst]])), colours)
    return figure.update_layout(
        picture_layout(colours, height),
        margin={"r": 104},  # room for the names of the levels
        xaxis=line_axis(x, showgrid=False),
        yaxis=line_axis("predicted share ÷ majority-vote share", tickformat=".0%", range=[-0.03, top]),
        legend=legend_below("class", height),
        showlegend=True,
    )


def _verdict(value: float, band: tuple[float, float]) -> str:
    if not np.isfinite(value):
        return "unknown"
    return "low" if value < band[0] else "high" if value > band[1] else "good"


def _judged(shares: Floats, rows: int | None) -> NDArray[np.intp]:
    """Return the classes with enough rows, else those with any."""
    present = np.flatnonzero(shares > 0)
    large = np.flatnonzero(shares * (rows or 0) >= MIN_ROWS)
    return large if 2 * len(large) >= len(present) else present


def _ratios(own: Sequence[Sequence[Record]], majority: Floats, judged: NDArray[np.intp]) -> Floats:
    """Return share ÷ majority-vote share, (R, T, classes judged).

    NaN after a restart has ended.
    """
    length = max(len(restart) for restart in own)
    ratios = np.full((len(own), length, len(judged)), np.nan)
    for r, restart in enumerate(own):
        shares = np.stack([np.asarray(record.shares, np.float64) for record in restart])
        ratios[r, : len(restart)] = shares[:, judged] / majority[judged]
    return ratios


def _mean(ratios: Floats) -> Floats:
    """Return the mean over running restarts, (T, classes judged)."""
    known = np.isfinite(ratios)
    count = known.sum(axis=0)
    total = np.where(known, ratios, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _latest(ratios: Floats) -> Floats:
    """Return the last known value of each class, (classes judged,)."""
    known = np.isfinite(ratios)
    last = len(ratios) - 1 - known[::-1].argmax(axis=0)
    return np.where(known.any(axis=0), ratios[last, np.arange(ratios.shape[1])], np.nan)


def _palette(drawn: Sequence[int], dying: int | None, theme: Theme) -> dict[int, str]:
    """Return a colour per class.

    The warning colour belongs to a dying class alone, so its neighbour gives way.
    """
    palette = dict(zip(sorted(drawn), theme.classes * (1 + len(drawn) // MOST_CLASSES), strict=False))
    if dying is not None:
        own = palette[dying]
        palette = {k: own if colour == theme.classes[LIKE_BAD] else colour for k, colour in palette.items()}
        palette[dying] = theme.bad
    return palette


def _draw_restarts(figure: go.Figure, along: Floats, ratios: Floats, name: str, colour: str) -> None:
    """Draw a class in every restart, the lowest more strongly."""
    ends = _latest(ratios.T)
    least = int(np.nanargmin(ends)) if np.isfinite(ends).any() else -1
    for r, ratio in enumerate(ratios):
        figure.add_scatter(
            x=along,
            y=ratio,
            mode="lines",
            line={"color": colour, "width": 2 if r == least else 1},
            opacity=1.0 if r == least else 0.5,
            showlegend=False,
            hovertemplate=f"<b>class {name}, restart {r + 1}</b><br>%{{y:.0%}} of its majority-vote share"
            "<extra></extra>",
        )


def _draw_others(figure: go.Figure, along: Floats, mean: Floats, theme: Theme) -> None:
    """Draw the range of all classes without a line of their own."""
    if not mean.shape[1]:
        return
    low, high = np.nanquantile(mean, [0.05, 0.95], axis=1)
    band: dict[str, Any] = {"x": along, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    figure.add_scatter(**band, y=low, showlegend=False)
    figure.add_scatter(
        **band,
        y=high,
        fill="tonexty",
        fillcolor=theme.grid,
        name=f"nine in ten of {mean.shape[1]:,} others",
        legendrank=10**6,
    )


def _draw_levels(figure: go.Figure, theme: Theme) -> None:
    """Draw the levels of majority-vote size and of death."""
    figure.add_hrect(y0=-1, y1=ALARM, fillcolor=theme.bad, opacity=0.09, line_width=0, layer="below")
    figure.add_hline(y=1.0, line={"color": theme.text, "width": 1.3, "dash": "dash"}, opacity=0.8)
    for level, text, colour in ((1.0, "as by<br>majority vote", theme.text), (ALARM / 2, "a class dies", theme.bad)):
        figure.add_annotation(
            text=text,
            x=1.01,
            xref="x domain",
            y=level,
            xanchor="left",
            align="left",
            showarrow=False,
            font={"size": 12, "color": colour},
        )


def _name_dying(figure: go.Figure, along: Floats, latest: Floats, name: str, theme: Theme) -> None:
    r = int(np.nanargmin(latest))
    where = f" in restart {r + 1}" if len(latest) > 1 else ""
    word = "is dying" if latest[r] < ALARM else "shrinks"
    figure.add_annotation(
        text=f"<b>{name}</b> {word}{where}: {latest[r]:.0%} left",
        x=float(along[-1]),
        y=float(latest[r]),
        xanchor="right",
        ax=-24,
        ay=-36,
        arrowcolor=theme.bad,
        arrowwidth=1.5,
        font={"color": theme.bad, "size": 13},
        bgcolor=theme.background,
    )
