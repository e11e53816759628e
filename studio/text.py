"""Numbers and foreign words as text that people read the same way on every page."""

from __future__ import annotations

import math
import re

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&^=])")
_LIVE = re.compile(r"(:(?=//|material/|[\w+-]+:)|www(?=\.)|@)", re.IGNORECASE)
_JOINER = "\u2060"  # takes no room and allows no break


def plain(words: str) -> str:
    """Return foreign text (file contents, the address) so that Markdown shows it as it is.

    Links, mail addresses, icons and emoji codes are found after escapes are resolved, so an invisible character
    keeps them from coming to life.
    """
    return _MARKDOWN.sub(r"\\\1", _LIVE.sub(rf"\1{_JOINER}", " ".join(words.split())))


def count(number: int, noun: str = "", many: str = "") -> str:
    """Return "1,000", or with a noun "1 row", "1,000 rows"."""
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def percent(share: float) -> str:
    """Return a share as a percentage with one decimal; only none and all go without."""
    if math.isnan(share):  # there was nothing to take a share of
        return "–"
    if share in {0, 1}:
        return f"{share:.0%}".replace("%", " %")
    return f"{min(max(100 * share, 0.1), 99.9):.1f} %"  # nearly none is not none, nearly all is not all


def duration(seconds: float) -> str:
    """Return a span of time in the two largest units: "42 s", "3 min 5 s", "2 h 10 min"."""
    whole = max(round(seconds), 0)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        minutes, rest = divmod(whole, 60)
        return f"{minutes} min {rest} s" if rest and minutes < 10 else f"{minutes} min"
    hours, rest = divmod(whole // 60, 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def size(bytes: int) -> str:
    """Return a number of bytes: "12 kB", "3.4 GB"."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if bytes >= scale:
            amount = bytes / scale
            return f"{amount:.0f} {unit}" if amount >= 10 else f"{amount:.1f} {unit}"
    return f"{bytes} bytes"


def ago(seconds: float) -> str:
    """Return how long ago something was: "just now", "5 min ago", "3 days ago"."""
    if seconds < 60:
        return "just now"
    for unit, scale in (("day", 86400), ("hour", 3600), ("min", 60)):
        if seconds >= scale:
            number = int(seconds // scale)
            return f"{number} {unit}{'s' if number > 1 and unit != 'min' else ''} ago"
    return "just now"
