"""Numbers and foreign text, formatted alike on every page."""

from __future__ import annotations

import re

from deem_core import text
from deem_core.text import ago, count, duration, interval, listing, nearly, size

__all__ = ["ago", "count", "duration", "interval", "listing", "nearly", "percent", "plain", "size"]

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&^=])")
_LIVE = re.compile(r"(:(?=//|material/|[\w+-]+:)|www(?=\.)|@)", re.IGNORECASE)
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # turn the direction of what follows
_JOINER = "\u2060"  # takes no room and allows no break


def plain(words: str) -> str:
    """Escape foreign text so that Markdown shows it literally.

    Links, mail addresses, icons and emoji codes are found after escapes are resolved, so an invisible character
    keeps them from coming to life. Marks that turn the direction of writing are left out: they would turn our words,
    too, and letters of languages that run from right to left need none.
    """
    return _MARKDOWN.sub(r"\\\1", _LIVE.sub(rf"\1{_JOINER}", _TURNING.sub("", " ".join(words.split()))))


def percent(share: float, digits: int = 1) -> str:
    """Return a share as a percentage.

    On pages nearly none is not none, and nearly all is not all.
    """
    return text.percent(share, digits, careful=True)
