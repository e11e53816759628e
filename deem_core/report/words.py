"""Numbers in words, as all sections spell them."""

from __future__ import annotations

import time


def percent(share: float | None, digits: int = 1) -> str:
    """Return a share as a percentage, a dash where there is none."""
    return "–" if share is None else f"{100 * share:.{digits}f} %"


def number(value: float | None) -> str:
    """Return a number with three digits that count, a dash where there is none."""
    return "–" if value is None else f"{value:.3g}"


def moment(seconds: float | None) -> str:
    """Return a time, in UTC so that it means the same everywhere."""
    return "–" if seconds is None else time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))
