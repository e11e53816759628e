"""Notes of a reading, and the report they make."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from deem_core.text import sentence
from deem_core.votes.orders import PositionBias

Kind = Literal["understood", "changed", "left out", "warning"]

ROWS_SHOWN = 5
"""How many row numbers a note carries at the most."""


@dataclass(frozen=True)
class Note:
    """One plain sentence about the file.

    Attributes
    ----------
    kind : "understood", "changed", "left out" or "warning"
    text : str
    count : int, optional
        Cells, rows or columns concerned.
    rows : tuple of int
        The first rows concerned, counted from 1 below the header.
    column : str, optional
    """

    kind: Kind
    text: str
    count: int | None = None
    rows: tuple[int, ...] = ()
    column: str | None = None


@dataclass(frozen=True)
class Report:
    """What a reading understood, changed and left out.

    Attributes
    ----------
    layout : "wide", "long" or "soft"
    encoding : str
        How the bytes were read; "parquet" for a Parquet file.
    delimiter : str, optional
        None for a Parquet file.
    compression : "gzip" or None
    n_rows, n_learners, n_classes : int
    roles : dict
        Column → "id", "learner", "truth", "worker", "label" or "ignored".
    notes : tuple of Note
    held_bytes : int
        Memory that the votes and the source table hold.
    peak_bytes : int, optional
        The most memory the process has ever held, after reading; None where the system does not tell.
    unused_probabilities : tuple of str
        Columns that look like probabilities and are not read as any.
    format : str
        "text", "json", "parquet", "xlsx", …
    sheet : str, optional
        Of a workbook.
    position_bias : tuple of PositionBias
        Of judges that were asked in both orders.
    """

    layout: str
    encoding: str
    delimiter: str | None
    compression: str | None
    n_rows: int
    n_learners: int
    n_classes: int
    roles: dict[str, str]
    notes: tuple[Note, ...]
    held_bytes: int
    peak_bytes: int | None
    unused_probabilities: tuple[str, ...] = ()
    format: str = "text"
    sheet: str | None = None
    position_bias: tuple[PositionBias, ...] = ()

    def sentences(self, kind: Kind | None = None) -> list[str]:
        """Return the notes as plain sentences, of one kind or all."""
        return [note.text for note in self.notes if kind in (None, note.kind)]

    def column(self, role: str) -> str | None:
        """Return the first column that plays a role, if any."""
        return next((name for name, played in self.roles.items() if played == role), None)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return {
            "layout": self.layout,
            "encoding": self.encoding,
            "delimiter": self.delimiter,
            "compression": self.compression,
            "format": self.format,
            "sheet": self.sheet,
            "position_bias": [bias.to_dict() for bias in self.position_bias],
            "n_rows": self.n_rows,
            "n_learners": self.n_learners,
            "n_classes": self.n_classes,
            "roles": self.roles,
            "unused_probabilities": list(self.unused_probabilities),
            "held_bytes": self.held_bytes,
            "peak_bytes": self.peak_bytes,
            "notes": self.sentences(),
            "details": [vars(note) | {"rows": list(note.rows)} for note in self.notes],
        }


@dataclass
class Notebook:
    """Collects notes and column roles while a file is read."""

    notes: list[Note] = field(default_factory=list)
    roles: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    """Column → why it was left out, without advice."""

    def add(
        self, kind: Kind, text: str, *, count: int | None = None, rows: Iterable[int] = (), column: str | None = None
    ) -> None:
        """Add a note; ``rows`` are positions, kept as numbers from 1."""
        places = [int(row) + 1 for _, row in zip(range(ROWS_SHOWN + 1), rows, strict=False)]
        first = tuple(places[:ROWS_SHOWN])
        if first:
            text = f"{text} ({_rows_text(first, len(places) > ROWS_SHOWN)})."
        elif not text.endswith("."):  # a sentence that waits for rows, of a file whose rows are not at hand
            text += "."
        self.notes.append(Note(kind, sentence(text), count, first, column))

    def leave_out(self, column: str, reason: str = "", advice: str = "") -> None:
        """Note that a column is not used, and why.

        Without a reason it was the user's wish.
        """
        self.roles[column] = "ignored"
        self.reasons[column] = reason
        why = f": {reason} {advice}".rstrip() if reason else " at your request."
        text = f"Column {column!r} was left out{why}"
        self.add("left out", text, count=1, column=column)

    def forget(self, column: str) -> None:
        """Undo what was noted of a column."""
        self.notes[:] = [note for note in self.notes if note.column != column]
        self.roles.pop(column, None)
        self.reasons.pop(column, None)


def _rows_text(rows: Sequence[int], are_more: bool) -> str:
    more = ", …" if are_more else ""
    return f"row{'s' if len(rows) > 1 else ''} {', '.join(f'{row:,}' for row in rows)}{more}"


def peak_bytes() -> int | None:
    """Return the peak memory of this process; None if unknown.

    Linux is asked through ``/proc``, because ``ru_maxrss`` there starts from the parent's peak.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource  # noqa: PLC0415  # not there on Windows
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)
