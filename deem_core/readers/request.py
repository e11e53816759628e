"""A reading in progress: the table, what the caller asked for, and the notebook that becomes the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deem_core.labels import MissingRule
from deem_core.readers.report import Notebook
from deem_core.readers.source import Source


@dataclass(frozen=True)
class Request:
    """What to read and how; see `read` for the options.

    ``truth_was_named`` tells a truth column that the caller named from one found by its name.
    """

    source: Source
    id: str | None
    truth: str | None
    learners: Sequence[str] | None
    ignore: Sequence[str]
    rule: MissingRule
    notebook: Notebook
    truth_was_named: bool = False
    worker: str | None = None
    label: str | None = None
    classes: Sequence[str] = ()

    @property
    def n_rows(self) -> int:
        """Rows of the file, without the header."""
        return int(self.source.table.num_rows)
