"""The few pictures that `deem_core.figures` has no need of: numbers of a table, as points or cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.colors import qualitative

from benchmarks.paper.methods import REFERENCES

PALETTE = qualitative.D3
SYMBOLS = ("circle", "square", "triangle-up")
Rows = list[dict[str, Any]]


def grouped_points(
    rows: Rows, along: str, value: str, spread: str = "", *, group: str = "set", title: str = "", log: bool = False
) -> go.Figure:
    """Draw a number of every row over what it belongs to, a colour for each group, its spread as error bars.

    The paper's numbers are crosses of the same colour.
    """
    figure = go.Figure()
    for at, name in enumerate(dict.fromkeys(row[group] for row in rows)):
        colour = PALETTE[at % len(PALETTE)]
        own = [row for row in rows if row[group] == name and row[value] is not None]
        bars = {"type": "data", "array": [row.get(spread) or 0 for row in own]} if spread else None
        figure.add_trace(
            go.Scatter(
                x=[str(row[along]) for row in own],
                y=[row[value] for row in own],
                error_y=bars,
                mode="markers",
                name=str(name),
                marker={"size": 9, "color": colour},
            )
        )
        paper = f"paper {value}"
        theirs = [row for row in own if row.get(paper) is not None]
        if theirs:
            x, y = [str(row[along]) for row in theirs], [row[paper] for row in theirs]
            cross = {"size": 9, "symbol": "x-thin-open", "color": colour}
            figure.add_trace(go.Scatter(x=x, y=y, mode="markers", name=f"{name}, paper", marker=cross))
    figure.update_xaxes(title=along)
    figure.update_yaxes(title=title, type="log" if log else "linear")
    return figure.update_layout(height=480, margin={"t": 30}, template="plotly_white")


def gains(rows: Rows, over: str = "mv") -> go.Figure:
    """Draw every method's accuracy minus that of the majority vote on the same set, the paper's as crosses."""
    base = {row["set"]: row for row in rows if row["key"] == over}
    made = []
    for row in rows:
        gain = {name: _minus(row, base[row["set"]], name) for name in ("accuracy", "paper accuracy")}
        if row["key"] not in (*REFERENCES, over):
            made.append({**row, "gain": gain["accuracy"], "paper gain": gain["paper accuracy"]})
    figure = grouped_points(made, "method", "gain", "sd", title="accuracy minus majority vote (points)")
    return figure.add_hline(y=0, line={"color": "gray", "dash": "dot"})


def _minus(row: dict[str, Any], other: dict[str, Any], name: str) -> float | None:
    mine, theirs = row.get(name), other.get(name)
    return None if mine is None or theirs is None else mine - theirs


def paired(rows: Rows, means: Rows, along: str, *, title: str) -> go.Figure:
    """Draw a number of every set over the values of a setting, and its mean over the sets with the standard error."""
    figure = go.Figure()
    values = list(dict.fromkeys(row[along] for row in rows))
    for at, name in enumerate(dict.fromkeys(row["set"] for row in rows)):
        own = [row for row in rows if row["set"] == name]
        side = [
            values.index(row[along]) + 0.4 * (at % 15) / 15 - 0.2 for row in own
        ]  # so that sets do not cover others
        marker = {"size": 7, "color": PALETTE[at % len(PALETTE)], "symbol": SYMBOLS[at // len(PALETTE)]}
        y, bars = [row["difference"] for row in own], {"type": "data", "array": [row["sd"] or 0 for row in own]}
        figure.add_trace(go.Scatter(x=side, y=y, error_y=bars, mode="markers", name=str(name), marker=marker))
    x = [values.index(row[along]) + 0.3 for row in means]
    bars = {"type": "data", "array": [row["standard error"] or 0 for row in means], "thickness": 3}
    black = {"size": 13, "color": "black", "symbol": "diamond"}
    y = [row["difference"] for row in means]
    figure.add_trace(go.Scatter(x=x, y=y, error_y=bars, mode="markers", name="mean ± standard error", marker=black))
    figure.update_xaxes(title=along, tickvals=list(range(len(values))), ticktext=[str(value) for value in values])
    figure.update_yaxes(title=title)
    figure.add_hline(y=0, line={"color": "gray", "dash": "dot"})
    return figure.update_layout(height=480, margin={"t": 30}, template="plotly_white")


def learner_bars(accuracies: Sequence[float], learners: Sequence[str], experts: Sequence[str]) -> go.Figure:
    """Draw the accuracy of every learner, experts in red."""
    colours = ["#d62728" if name in experts else "#7f7f7f" for name in learners]
    figure = go.Figure(go.Bar(x=list(learners), y=list(accuracies), marker={"color": colours}))
    figure.update_xaxes(title="learner (experts in red)", type="category")
    figure.update_yaxes(title="accuracy on all rows (%)", range=[0, 100])
    return figure.update_layout(height=380, margin={"t": 30}, template="plotly_white")


def cells(rows: Rows, x: str, y: str, value: str, *, title: str) -> go.Figure:
    """Draw a number over two others as a heatmap with the numbers written on it."""
    across, down = (sorted({row[name] for row in rows}) for name in (x, y))
    known = {(row[x], row[y]): row[value] for row in rows}
    z = [[known.get((a, b)) for a in across] for b in down]
    texts = [["" if cell is None else f"{cell:.1f}" for cell in line] for line in z]
    drawn = go.Heatmap(x=[str(a) for a in across], y=[str(b) for b in down], z=z, text=texts, texttemplate="%{text}")
    figure = go.Figure(drawn.update(colorbar={"title": {"text": title}}, colorscale="Viridis"))
    figure.update_xaxes(title=x, type="category")
    figure.update_yaxes(title=y, type="category")
    return figure.update_layout(height=440, margin={"t": 30}, template="plotly_white")
