"""Plain text for terminals: aligned tables, sizes and shares."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from deem_core.votes import Votes


def table(header: Sequence[str], rows: Sequence[Sequence[str]], total: int) -> Iterable[str]:
    """Yield an aligned table: text to the left, numbers to the right."""
    lines = [[clipped(on_one_line(cell)) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[column]) for row in lines) for column in range(len(header))]
    for row in lines:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        yield f"  {'   '.join(cells)}".rstrip()
    if total > len(rows):
        yield f"  … and {total - len(rows):,} more (all of them with --json)"


def two_columns(lines: Sequence[tuple[str, str]]) -> Iterable[str]:
    """Return lines of a name and a value, aligned."""
    width = max(len(name) for name, _ in lines)
    return (f"  {name.ljust(width)}   {on_one_line(value)}" for name, value in lines)


def shortened(names: Sequence[str], most: int = 5) -> str:
    """Return names as text, cut after a few."""
    shown = "; ".join(clipped(name, 60) for name in names[:most])
    return f"{shown}; … and {len(names) - most:,} more" if len(names) > most else shown or "none"


def on_one_line(text: str) -> str:
    """Return text with line breaks and other control characters spelled out."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def clipped(text: str, most: int = 40) -> str:
    """Return text cut to a width."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def size(votes: Votes) -> str:
    """Return rows × learners × classes in words."""
    return f"{votes.n_rows:,} rows × {votes.n_learners:,} learners × {votes.n_classes:,} classes"


def percent(share: float) -> str:
    """Return a share as a percentage, a dash for NaN."""
    return "–" if math.isnan(share) else f"{100 * share:.1f} %"


def megabytes(size: int) -> str:
    """Return bytes as MB or kB."""
    return f"{size / 1e6:,.0f} MB" if size >= 1e6 else f"{size / 1e3:,.0f} kB"
