"""Numbers, names and times as text, spelled the same by every room."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Literal

DASH = "–"
"""Stands for a number that is not there."""

MOMENT = "%Y-%m-%d %H:%M UTC"
"""How a time is written."""

_SENTENCE_LETTERS = 500  # of an error or a note; those without names from files are shorter
_QUOTED_LETTERS = 60  # of a name in quotation marks, so that a sentence stays one


# ---------------------------------------------------------------------- numbers


def count(number: int, noun: str = "", many: str = "") -> str:
    """Return "1,000", or with a noun "1 row", "1,000 rows".

    ``many`` is an irregular plural.
    """
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def dimensions(n_rows: int, n_learners: int, n_classes: int) -> str:
    """Return the size of a table of votes in words."""
    sizes = ((n_rows, "row", ""), (n_learners, "learner", ""), (n_classes, "class", "classes"))
    return " × ".join(count(*each) for each in sizes)


def percent(share: float | None, digits: int = 1, *, careful: bool = False) -> str:
    """Return a share as a percentage, a dash where there is none.

    Parameters
    ----------
    share : float, optional
        NaN where there was nothing to take a share of.
    digits : int
        Decimals.
    careful : bool
        Whether only none and all are "0%" and "100%", whatever the rounding says of nearly none and nearly all.
    """
    if share is None or math.isnan(share):
        return DASH
    if not careful:
        return f"{100 * share:.{digits}f}%"
    if share in {0, 1}:
        return f"{100 * share:.0f}%"
    least = 10.0**-digits
    return f"{min(max(100 * share, least), 100 - least):.{digits}f}%"


def interval(low: float, high: float, digits: int = 1) -> str:
    """Return the ends of an interval of shares: "93.9% to 100.0%".

    Rounded outwards, so that a narrow one is never printed without width.
    """
    low, high = _outwards(low, high, digits)
    return f"{percent(low, digits)} to {percent(high, digits)}"


def nearly(share: float) -> str:
    """Return a percentage that differs from 100% where the share does: "99.9987%"."""
    if share >= 1:
        return "100%"
    return percent(share, max(1, math.ceil(-math.log10(1 - share)) - 1))


def points(middle: float, low: float, high: float) -> str:
    """Return a difference of shares with its 95% interval, in points.

    Rounded outwards like an `interval`.
    """
    texts = (f"{100 * value:+.1f}".replace("-0.0", "+0.0") for value in (middle, *_outwards(low, high, 1)))
    gain, below, above = (text.replace("-", "−") for text in texts)
    return f"{gain} points (95% interval {below} to {above})"


def _outwards(low: float, high: float, digits: int) -> tuple[float, float]:
    if math.isnan(low) or math.isnan(high):
        return low, high
    scale = 100 * 10.0**digits
    return math.floor(low * scale + 1e-6) / scale, math.ceil(high * scale - 1e-6) / scale


def number(value: float | None) -> str:
    """Return a number with three significant digits.

    A dash where there is none.
    """
    return DASH if value is None else f"{value:.3g}"


def size(bytes: int) -> str:
    """Return a number of bytes: "12 kB", "3.4 GB"."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if bytes >= scale:
            amount = bytes / scale
            return f"{amount:,.0f} {unit}" if amount >= 10 else f"{amount:.1f} {unit}"
    return f"{bytes} bytes"


# ---------------------------------------------------------------------- names


def sentence(words: str) -> str:
    """Return a sentence of bounded length.

    However long the names in it are. What is cut out is the middle, so that what is wrong and what to do stay.
    """
    if len(words) <= _SENTENCE_LETTERS:
        return words
    end = _SENTENCE_LETTERS // 3
    return f"{words[: _SENTENCE_LETTERS - end - 3]} … {words[-end:]}"


def clip(words: str, most: int = 40) -> str:
    """Return text cut to ``most`` letters, the last of them an ellipsis."""
    return words if len(words) <= most else f"{words[: most - 1]}…"


def listing(names: Iterable[str], most: int = 8, *, rest: Literal["more", "others"] = "more") -> str:
    """Return names with commas, cut after a few.

    "a, b and 14 more".

    Parameters
    ----------
    names : iterable of str
    most : int
        Names up to which all are listed.
    rest : "more" or "others"
        What the rest is called; "others" take the place of a name.
    """
    names = list(names)
    if len(names) <= most:
        return ", ".join(names)
    shown = most if rest == "more" else most - 1
    return f"{', '.join(names[:shown])} and {len(names) - shown:,} {rest}"


def quoted(names: Iterable[str], most: int = 8) -> str:
    """Return a listing in quotation marks, long names clipped.

    As cells and columns of files are named.
    """
    return listing([repr(clip(name, _QUOTED_LETTERS)) for name in names], most)


# ---------------------------------------------------------------------- times


def duration(seconds: float) -> str:
    """Return a span of time in its two largest units.

    "42 s", "3 min 5 s", "2 h 10 min".
    """
    whole = max(round(seconds), 0)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        minutes, rest = divmod(whole, 60)
        return f"{minutes} min {rest} s" if rest and minutes < 10 else f"{minutes} min"
    hours, rest = divmod(whole // 60, 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def age(seconds: float) -> str:
    """Return an age in its largest unit, short enough for a column.

    "3 d", "5 min".
    """
    for unit, scale in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= scale:
            return f"{seconds // scale:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def ago(seconds: float) -> str:
    """Return how long ago something was.

    "just now", "5 min ago", "3 days ago".
    """
    for unit, scale in (("day", 86400), ("hour", 3600), ("min", 60)):
        if seconds >= scale:
            whole = int(seconds // scale)
            return f"{whole} {unit} ago" if unit == "min" else f"{count(whole, unit)} ago"
    return "just now"


def moment(seconds: float | None) -> str:
    """Return a time in UTC, so that it means the same everywhere.

    A dash where there is none.
    """
    return DASH if seconds is None else time.strftime(MOMENT, time.gmtime(seconds))
