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
