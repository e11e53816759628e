"""Marks of a figure as a table of numbers, one line each."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from deem_core.figures._cells import SIDES

MOST_MARKS = 5000
"""Lines of a table of numbers; a figure with more marks loses the last ones."""

SERIES, WORDS = "series", "in words"
_LOW, _HIGH = "interval from", "interval to"

_TAG = re.compile(r"<[^<>]*>")
_SECRET = re.compile(r"<extra>.*?</extra>", re.DOTALL)
_FIELD = re.compile(r"%\{([a-z]+)((?:\[\d+\])*)(?::([^}]*))?\}")
_FIRST_LINE = re.compile(r"<b>([^%]*?)</b>")


def has_numbers(figure: go.Figure) -> bool:
    """Return whether a figure has marks that stand for numbers.

    Those that say nothing to a pointer are decoration: noise bands, guides, numbers written on cells.
    """
    return any(trace.hoverinfo != "skip" for trace in figure.data)


def numbers(figure: go.Figure) -> pd.DataFrame:
    """Return what a figure shows as a table.

    For people who cannot see it, or want to go on with its numbers.

    Each mark is a line: its series, its place on the axes in their own words, its interval, and what a pointer on it
    would say. Columns that hold nothing are left out.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure

    Returns
    -------
    DataFrame
        At most `MOST_MARKS` lines.
    """
    marks: list[_Mark] = []
    for trace in figure.data:
        if trace.hoverinfo != "skip":
            marks += _marks(figure, trace, MOST_MARKS - len(marks))
    columns: dict[str, list[Any]] = {SERIES: [mark.series for mark in marks]}
    numeric: dict[str, list[Any]] = {}
    for axis in "yxz":
        values = [mark.places.get(axis) for mark in marks]
        named = any(isinstance(value, str) for value in values)
        name = _title({mark.titles[axis] for mark in marks}, axis, named=named)
        while name in columns or name in numeric:
            name = f"other {name}"
        (columns if named else numeric)[name] = values
    columns |= dict(reversed(numeric.items())) | {
        _LOW: [mark.low for mark in marks],
        _HIGH: [mark.high for mark in marks],
        WORDS: [mark.words for mark in marks],
    }
    return pd.DataFrame(
        {name: told for name, told in columns.items() if any(value not in (None, "") for value in told)}
    )


@dataclass(frozen=True)
class _Mark:
    """One bar, point or cell."""

    series: str
    titles: Mapping[str, str]
    places: Mapping[str, Any]
    low: float | None
    high: float | None
    words: str = field(repr=False)


def _marks(figure: go.Figure, trace: Any, most: int) -> list[_Mark]:
    axes = {axis: _axis(figure, trace, axis) for axis in "xy"}
    titles = {axis: _plain(axes[axis].title.text or "") for axis in "xy"} | {"z": ""}
    names = {axis: _ticks(axes[axis]) for axis in "xy"}
    hidden = {axis for axis in "xy" if axes[axis].visible is False}
    if trace.type == "heatmap":
        shared = figure.layout[trace.coloraxis].colorbar if trace.coloraxis else trace.colorbar
        bar = shared.title.text
        titles["z"] = _plain(bar) if bar else "value"
        titles |= dict(zip("yx", (figure.layout.meta or {}).get(SIDES, ()), strict=False))
    found: list[_Mark] = []
    for values, at in _values(trace):
        if len(found) >= most:
            break
        places = {axis: _cell(names.get(axis, {}).get(value, value)) for axis, value in values.items()}
        low, high = _interval(trace, values, at)
        words = _hover(trace, values, at)
        series = trace.name or _first_line(trace, at)
        shown = {axis: place for axis, place in places.items() if axis not in hidden}
        found.append(_Mark(_plain(series), titles, shown, low, high, words))
    return found


def _values(trace: Any) -> Iterator[tuple[dict[str, Any], tuple[int, ...]]]:
    """Yield coordinates and position of every mark that is drawn."""
    if trace.type == "heatmap":
        z = np.asarray(trace.z, np.float64)
        down = range(len(z)) if trace.y is None else trace.y
        across = range(z.shape[1] if z.ndim == 2 else 0) if trace.x is None else trace.x
        for row, column in np.argwhere(np.isfinite(z)).tolist():
            yield {"y": down[row], "x": across[column], "z": float(z[row, column])}, (row, column)
        return
    if trace.x is None or trace.y is None:
        return
    for at, (x, y) in enumerate(zip(trace.x, trace.y, strict=False)):
        if not any(value is None or (isinstance(value, float) and np.isnan(value)) for value in (x, y)):
            yield {"y": y, "x": x}, (at,)


def _axis(figure: go.Figure, trace: Any, axis: str) -> Any:
    number = str(getattr(trace, f"{axis}axis", None) or axis)[1:]
    return figure.layout[f"{axis}axis{number}"]


def _ticks(axis: Any) -> dict[Any, str]:
    """Return what an axis writes at its places."""
    if axis.tickvals is None or axis.ticktext is None or len(axis.tickvals) != len(axis.ticktext):
        return {}
    return {value: str(text) for value, text in zip(axis.tickvals, axis.ticktext, strict=True) if text}


def _interval(trace: Any, values: Mapping[str, Any], at: tuple[int, ...]) -> tuple[float | None, float | None]:
    for axis in "xy":
        error = getattr(trace, f"error_{axis}", None)
        if error is None or error.array is None or error.visible is False or error.array[at[0]] is None:
            continue
        up = float(error.array[at[0]])
        down = up if error.arrayminus is None else float(error.arrayminus[at[0]])
        if np.isfinite(up + down):
            return _cell(float(values[axis]) - down), _cell(float(values[axis]) + up)
    return None, None


def _hover(trace: Any, values: Mapping[str, Any], at: tuple[int, ...]) -> str:
    """Return what a pointer on a mark would say, in one line."""
    template = _of(trace.hovertemplate, at)
    if not template:
        return ""

    def filled(match: re.Match[str]) -> str:
        name, places, spelled = match.groups()
        value = values[name] if name in values else _of(getattr(trace, name, None), at)
        for place in re.findall(r"\d+", places):
            value = value[int(place)]
        if not spelled or spelled == ",":
            return _written(value, spelled or "")
        return format(value, spelled.replace("~", ""))  # Python's g drops zeros as d3's ~ does

    text = _FIELD.sub(filled, _SECRET.sub("", template))
    return _plain(re.sub(r"<br\s*/?>", "; ", text)).replace(",; ", ", ").strip("; ")


def _first_line(trace: Any, at: tuple[int, ...]) -> str:
    """Return the name that begins all hover texts of a trace."""
    found = _FIRST_LINE.match(str(_of(trace.hovertemplate, at) or ""))
    return found.group(1) if found else ""


def _of(value: Any, at: tuple[int, ...]) -> Any:
    """Return what a trace says of one mark."""
    if value is None or isinstance(value, str):
        return value
    for place in at:
        value = value[place]
    return value


def _title(titles: Collection[str], axis: str, *, named: bool) -> str:
    """Return the title that all marks share, else what the axis is.

    How names are ordered, as in "learner, best first", is not said: a table can be sorted.
    """
    title = next(iter(titles)) if len(titles) == 1 else ""
    if named:
        return title.partition(", ")[0] or {"x": "across", "y": "down"}[axis]
    return title or {"x": "x", "y": "value", "z": "value"}[axis]


def _cell(value: Any) -> Any:
    """Return a plain value, a number with six significant digits."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.6g}")
    return _plain(value) if isinstance(value, str) else value


def _written(value: Any, grouped: str = "") -> str:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"{value:.6g}" if isinstance(value, float) else format(value, grouped) if grouped else str(value)


def _plain(text: str) -> str:
    """Return text without markup."""
    return html.unescape(_TAG.sub("", re.sub(r"<br\s*/?>", " ", text))).strip()
