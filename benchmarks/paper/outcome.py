"""What an experiment hands back: tables of plain values, figures and sentences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

NOTE = "note"
PAPER = "paper"


@dataclass(frozen=True)
class Pivot:
    """A table as the paper lays it out: one column's values down, another's across, a number and spread in the cell."""

    title: str
    down: str
    across: str
    value: str
    spread: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of plain values with the same keys; the last is ``note``.

    A number that is not known is None, and then the note says why. Columns whose name begins with "paper" are the
    paper's own, empty where it printed nothing; those of a spread ("sd") are empty where there was one run.
    """

    name: str
    title: str
    rows: list[dict[str, Any]]
    pivots: tuple[Pivot, ...] = ()

    def without_reason(self) -> list[dict[str, Any]]:
        """Return the rows that lack a number of ours and do not say why."""
        ours = [name for name in self.rows[0] if not name.startswith(PAPER) and "sd" not in name.split()]
        return [row for row in self.rows if not row[NOTE] and any(row[name] is None for name in ours)]


@dataclass(frozen=True)
class Outcome:
    """The result of one experiment.

    Attributes
    ----------
    tables : list of Table
    figures : dict
        Heading → plotly Figure.
    notes : list of str
        Sentences about data, reading of the paper and limits.
    findings : list of str
        What came out, in sentences made from the numbers; they stand in the overview too.
    """

    tables: list[Table]
    figures: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)


def mean(values: list[float]) -> float | None:
    """Return the mean, None of nothing."""
    return float(np.mean(values)) if values else None


def spread(values: list[float]) -> float | None:
    """Return the standard deviation (of these runs, not an estimate beyond them); None of fewer than two."""
    return float(np.std(values)) if len(values) > 1 else None


def joined(notes: list[str]) -> str:
    """Return sentences one after the other, each once."""
    return " ".join(dict.fromkeys(note for note in notes if note))
