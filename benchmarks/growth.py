"""Picture of how a cost grows with the rows, with learners and classes, and with layers."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from benchmarks.paper.drawing import PALETTE, Rows
from benchmarks.paper.pictures import photograph

SHAPE = ("rows", "d", "K", "layers", "batch")
"""Columns that say what was timed; the first row of a table is the base that one of them at a time departs from."""


@dataclass(frozen=True)
class Panel:
    """One way to grow.

    Attributes
    ----------
    title : str
    free : tuple of str
        Columns that may differ from the base, one at a time.
    x : callable
        What a row is drawn over.
    log : bool
        Whether both axes are logarithmic.
    """

    title: str
    free: tuple[str, ...]
    x: Callable[[dict[str, Any]], int]
    log: bool


PANELS = (
    Panel("rows", ("rows",), lambda row: int(row["rows"]), True),
    Panel("learners × classes", ("d", "K"), lambda row: int(row["d"] * row["K"]), True),
    Panel("layers", ("layers",), lambda row: int(row["layers"]), False),
)
SYMBOLS = ("circle", "diamond-open")


def growth(rows: Rows, columns: Sequence[str], unit: str) -> go.Figure:
    """Draw columns of a table of timings, a panel for each way to grow and a colour for each column.

    Parameters
    ----------
    rows : list of dict
        With the columns of `SHAPE`, and a number (None if it was not measured) for each of ``columns``.
    columns : sequence of str
    unit : str
        Of the numbers.
    """
    figure = make_subplots(1, len(PANELS), horizontal_spacing=0.08)
    for at, panel in enumerate(PANELS, start=1):
        for colour, column in zip(PALETTE, columns, strict=False):
            for symbol, name in zip(SYMBOLS, panel.free, strict=False):
                line = _along(rows, panel, name, column)
                if len(line) < 2:
                    continue
                label = f"{column}, {name} grows" if len(panel.free) > 1 else column
                x, y = zip(*line, strict=True)
                marker = {"symbol": symbol, "size": 8}
                trace = go.Scatter(x=x, y=y, name=label, mode="lines+markers", line={"color": colour}, marker=marker)
                figure.add_trace(trace.update(showlegend=at == 2), 1, at)  # its names are those of all panels
            if panel.log and (line := _proportional(rows, panel, column)):
                dots = go.Scatter(x=line[0], y=line[1], mode="lines", line={"color": colour, "dash": "dot", "width": 1})
                figure.add_trace(dots.update(name=f"{column}, if proportional", showlegend=at == 2), 1, at)
        kind = "log" if panel.log else "linear"
        figure.update_xaxes(title=panel.title, type=kind, dtick=1, row=1, col=at)
        figure.update_yaxes(type=kind, rangemode="tozero", row=1, col=at)
    figure.update_yaxes(title=unit, row=1, col=1)
    return figure.update_layout(
        height=420, margin={"t": 30}, template="plotly_white", legend={"orientation": "h", "y": -0.25}
    )


def store(figure: go.Figure, path: Path) -> bool:
    """Write a figure as a PNG and return whether it could be: it takes a Chromium."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        figure.write_html(page, include_plotlyjs=True)
        made = photograph(page)
        if made:
            path.write_bytes(made[0].read_bytes())
    return bool(made)


def _along(rows: Rows, panel: Panel, name: str, column: str) -> list[tuple[int, float]]:
    """Return the points of the rows that differ from the base in one column only."""
    base = rows[0]
    same = [key for key in SHAPE if key != name]
    own = [row for row in rows if all(row[key] == base[key] for key in same) and row[column] is not None]
    return sorted((panel.x(row), float(row[column])) for row in own)


def _proportional(rows: Rows, panel: Panel, column: str) -> tuple[list[float], list[float]] | None:
    """Return the line on which a cost would lie that grows as fast as what it is drawn over."""
    points = [point for name in panel.free for point in _along(rows, panel, name, column)]
    if len(points) < 2 or rows[0][column] is None:
        return None
    start, first = panel.x(rows[0]), float(rows[0][column])
    end = max(x for x, _ in points)
    return [start, end], [first, first * end / start]
