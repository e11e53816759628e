"""Drawing of a scorecard: a dot and an interval for each learner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from deem_core.diagnostics.reliability import Reliability
from deem_core.diagnostics.scorecards import GRAVE, Scorecard
from deem_core.figures._axes import MOST_LEARNERS, bar_layout, line_axis, picture_layout, picture_of_nothing
from deem_core.figures._names import bar_names, hover_names
from deem_core.figures._theme import Theme, theme_of
from deem_core.text import percent
from deem_core.typing import Floats

HEIGHT = 430
"""Of the picture of many learners, in pixels."""

SOURCES = {"estimated": "estimated", "gold": "on gold rows", "real": "true accuracy (evaluation)"}
"""What the marks of each source are called."""

_FLAGGED, _EXPERT, _PLAIN = "flagged", "expert", "no flag"
_LOWEST = 0.06  # share of the axis that is kept free at its low end


def scorecard_dots(
    card: Scorecard, order: Sequence[int] | NDArray[Any] | None = None, *, theme: str | None = "light"
) -> go.Figure:
    """Draw the accuracy of each learner with its interval.

    Up to `MOST_LEARNERS` have a line each with their name; more stand side by side by rank, named on hover.

    Parameters
    ----------
    card : Scorecard
    order : sequence of int, optional
        Learners from the first to the last; by default `Scorecard.ranked`. Those without votes are not drawn.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    chosen = np.asarray(card.ranked() if order is None else order, np.intp)
    chosen = chosen[np.isfinite(card.estimated.accuracy[chosen])]
    if not len(chosen):
        return picture_of_nothing(colours, "No learner to show here has voted.")
    few = len(chosen) <= MOST_LEARNERS
    figure = go.Figure()
    places = np.array(bar_names(card.learners), object)[chosen] if few else np.arange(1, len(chosen) + 1)
    told = np.array(_told(card), object)[chosen]
    kinds = np.array([_kind(card, name) for name in card.learners], object)[chosen]
    looks = {_PLAIN: colours.accent, _FLAGGED: colours.bad, _EXPERT: colours.good}
    for kind, colour in looks.items():
        own = kinds == kind
        if own.any():
            drawn = _Drawn(chosen[own], places[own], told[own].tolist(), few)
            figure.add_trace(_dots(card.estimated, drawn, colour, kind))
    for source, symbol in ((card.gold, "diamond"), (card.real, "diamond-open")):
        if source is not None:
            figure.add_trace(_marks(source, _Drawn(chosen, places, told.tolist(), few), symbol, colours))
    shares = line_axis("accuracy (share of its votes)", range=_range(card, chosen), tickformat=".0%", fixedrange=True)
    legend = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom", "traceorder": "normal"}
    if few:
        layout = bar_layout(colours, len(chosen), "learner")
        layout["yaxis"] = {**layout["yaxis"], "categoryorder": "array", "categoryarray": list(places), "showgrid": True}
        return figure.update_layout(layout, xaxis=shares, legend=legend, showlegend=True)
    rank = line_axis(f"{len(chosen):,} learners, one beside the other", showgrid=False, fixedrange=True)
    return figure.update_layout(
        picture_layout(colours, HEIGHT), xaxis=rank, yaxis=shares, legend=legend, showlegend=True
    )


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Learners of one mark: places, hover texts, whether few."""

    at: NDArray[Any]
    places: NDArray[Any]
    texts: list[str]
    few: bool

    def along(self, shares: Floats) -> dict[str, Any]:
        return {"x": shares, "y": self.places} if self.few else {"x": self.places, "y": shares}


def _dots(of: Reliability, drawn: _Drawn, colour: str, name: str) -> go.Scatter:
    """Return dots with the intervals of their accuracies."""
    middle = of.accuracy[drawn.at]
    error = {
        "type": "data",
        "symmetric": False,
        "array": of.high[drawn.at] - middle,
        "arrayminus": middle - of.low[drawn.at],
        "thickness": 2 if drawn.few else 1,
        "width": 0,
        "color": colour,
    }
    return go.Scatter(
        **drawn.along(middle),
        **{"error_x" if drawn.few else "error_y": error},
        name=name,
        mode="markers",
        marker={"color": colour, "size": 10 if drawn.few else 5},
        customdata=drawn.texts,
        hovertemplate="%{customdata}<extra></extra>",
        cliponaxis=False,
    )


def _marks(of: Reliability, drawn: _Drawn, symbol: str, colours: Theme) -> go.Scatter:
    """Return marks of another source beside the dots."""
    size, line = (9, 2) if drawn.few else (5, 1)
    return go.Scatter(
        **drawn.along(of.accuracy[drawn.at]),
        name=SOURCES[of.source],
        mode="markers",
        marker={"symbol": symbol, "color": colours.selected, "size": size, "line": {"width": line}},
        customdata=drawn.texts,
        hovertemplate="%{customdata}<extra></extra>",
        cliponaxis=False,
    )


def _kind(card: Scorecard, name: str) -> str:
    kinds = {flag.kind for flag in card.flags_of(name)}
    return _FLAGGED if kinds & GRAVE else _EXPERT if "expert" in kinds else _PLAIN


def _told(card: Scorecard) -> list[str]:
    """Return the hover text of each learner."""
    names, flags = hover_names(card.learners), card.words()
    texts = []
    for j, name in enumerate(names):
        lines = [f"<b>{name}</b>", f"{int(card.votes[j]):,} votes ({percent(card.coverage[j])} of the rows)"]
        for source in (card.estimated, card.gold, card.real):
            if source is not None and np.isfinite(source.accuracy[j]):
                between = f"{percent(source.low[j]).rstrip(' %')}–{percent(source.high[j])}"
                lines.append(f"{SOURCES[source.source]}: {percent(source.accuracy[j])} ({between})")
        lines += hover_names([flags[j]]) if flags[j] else []
        texts.append("<br>".join(lines))
    return texts


def _range(card: Scorecard, at: NDArray[Any]) -> list[float]:
    """Return the ends of the axis of shares."""
    known = [card.estimated.low[at], *(each.accuracy[at] for each in (card.gold, card.real) if each is not None)]
    low = float(np.nanmin(np.concatenate(known)))
    return [max(low - _LOWEST, -0.02), 1.02]
