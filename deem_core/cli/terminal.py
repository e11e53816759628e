"""Terminal output: aligned tables, sizes, shares and the progress bar."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any, Self, TextIO, cast

from deem_core.control import Control, ProgressRecord
from deem_core.errors import InputError
from deem_core.text import clip


def table(header: Sequence[str], rows: Sequence[Sequence[str]], total: int) -> Iterable[str]:
    """Yield an aligned table: text to the left, numbers to the right."""
    lines = [[clip(on_one_line(cell)) for cell in row] for row in [header, *rows]]
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
    shown = "; ".join(clip(name, 60) for name in names[:most])
    return f"{shown}; … and {len(names) - most:,} more" if len(names) > most else shown or "none"


def on_one_line(text: str) -> str:
    """Return text with line breaks and other control characters spelled out."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def spelled(text: str) -> str:
    """Return text with the characters spelled out that steer a terminal.

    A name from a file may hold them: they would colour, delete or turn round what is printed.
    """
    return _STEERING.sub(lambda found: repr(found[0])[1:-1], text)


class _Calm:
    """A stream whose texts steer no terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(spelled(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def calm() -> Iterator[None]:
    """Let nothing that is printed steer the terminal."""
    with redirect_stdout(cast(TextIO, _Calm(sys.stdout))):
        yield


WIDTH = 30
"""Characters of the bar."""

_WORDS = 50  # characters of the words beside it


class Bar(Control):
    """Progress bar on a terminal while a ``with`` block lasts; nothing elsewhere."""

    def __init__(self) -> None:
        self.shown = sys.stderr.isatty()
        self.drawn = False
        self.begun = time.monotonic()
        self.notes: list[str] = []

    def __enter__(self) -> Self:
        return self

    def tell(self, step: str, share: float, record: ProgressRecord | None = None) -> None:
        """Draw the share, the step and the time left."""
        if not self.shown:
            return
        self.drawn = True
        left = f": about {(time.monotonic() - self.begun) * (1 - share) / share:.0f} s left" if share > 0 else ""
        words = f"{clip(spelled(step), _WORDS - len(left))}{left}"
        bar = "█" * int(WIDTH * share)
        print(f"\r  {bar:<{WIDTH}} {share:4.0%}  {words:<{_WORDS}}", end="", file=sys.stderr, flush=True)

    def note(self, sentence: str) -> None:
        """Print a sentence, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)
            self._wipe()
            print(spelled(sentence), file=sys.stderr)

    def _wipe(self) -> None:
        if self.drawn:
            print("\r" + " " * (WIDTH + _WORDS + 10) + "\r", end="", file=sys.stderr)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Wipe the bar away."""
        self._wipe()
        if isinstance(error, RuntimeError) and "out of memory" in str(error):
            raise InputError("There is not enough memory on the device: try --batch 256 or --device cpu.") from None
