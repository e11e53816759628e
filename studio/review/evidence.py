"""Evidence about a row: what the file says beside the votes.

Never the truth: neither its column nor gold, no column that was either of them in another reading, none whose name
speaks of the truth, and none that holds labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from deem_core.readers import class_keys, encode_names, speaks_of_truth
from deem_core.votes import NO_VOTE, Votes
from studio import text
from studio.data.datasets import Opened
from studio.review import images
from studio.workspace import workspace

LABEL_SHARE = 0.9
"""Share of a column's cells that are labels from which it is taken for one."""
SHORT_ID = 40
"""Letters of an id that stands in the heading; a longer one is a text."""
MOST_LETTERS = 3_000
"""Letters of a text that are shown at once."""


@dataclass(frozen=True)
class Evidence:
    """Columns that may be shown, and their lines in the file.

    Attributes
    ----------
    columns : tuple of str
        Without the id.
    id : str, optional
        The column that names the rows, which may be an image or a text itself.
    lines : (n,) int, optional
        Line of the file for each row; None where they are the same.
    """

    columns: tuple[str, ...]
    id: str | None
    lines: NDArray[np.int64] | None

    def cells(self, opened: Opened, row: int) -> dict[str, str]:
        """Return the cells of a row by column, without empty ones."""
        table, line = opened.reading.source.table, row if self.lines is None else int(self.lines[row])
        names = self.columns if self.id is None else (self.id, *self.columns)
        cells = {name: str(table[name][line].as_py() or "") for name in names}
        return {
            name: cell
            for name, cell in cells.items()
            if cell.strip() and (name != self.id or len(cell) > SHORT_ID or images.is_image(cell))
        }


def of(opened: Opened) -> Evidence:
    """Return what may be shown of a file, found once."""
    return _of(opened.mark, opened)


@st.cache_resource(max_entries=6, show_spinner=False)
def _of(mark: str, _opened: Opened) -> Evidence:
    lines = _lines(_opened) if _opened.reading.report.layout == "long" else None
    if lines is not None and len(lines) != _opened.reading.votes.n_rows:
        return Evidence((), None, None)
    return Evidence(tuple(_columns(_opened)), _opened.reading.report.column("id"), lines)


def _columns(opened: Opened) -> Iterator[str]:
    """Yield the columns that may be shown."""
    reading = opened.reading
    same = [dataset.reading for dataset in workspace().datasets() if dataset.data == opened.dataset.data]
    labelled = {options.get(role) for options in same for role in ("truth", "gold", "label")}
    named = {name for options in same for name in options.get("learners", ())}
    keys = set(class_keys(reading.votes, reading.labels))
    for name, role in reading.report.roles.items():
        hidden = role != "ignored" or name in labelled or name in named or speaks_of_truth(name)
        if not hidden and not _holds_labels(opened, name, keys):
            yield name


def _holds_labels(opened: Opened, name: str, keys: set[str]) -> bool:
    """Tell whether a column holds labels, as a renamed truth would."""
    column = opened.reading.labels.column(opened.reading.source.label_column(name))
    if column.too_many:
        return False
    told = [(key, int(count)) for key, count in zip(column.keys, column.counts, strict=True) if key]
    total = sum(count for _, count in told)
    return total > 0 and sum(count for key, count in told if key in keys) >= LABEL_SHARE * total


def _lines(opened: Opened) -> NDArray[np.int64]:
    """Return the first line of each task of a long file."""
    task = opened.reading.report.column("id")
    codes = encode_names(opened.reading.source.table[task]).codes
    named = np.flatnonzero(codes != NO_VOTE)
    _, first = np.unique(codes[named], return_index=True)
    return named[np.sort(first)].astype(np.int64)


# ---------------------------------------------------------------------- on screen


def show(opened: Opened, row: int) -> None:
    """Show the cells of a row, images as images."""
    cells = of(opened).cells(opened, row)
    if not cells:
        st.caption(
            "The file has only votes for this row. Look the row up by its id or number, or upload a file that also "
            "has a column of text or images."
        )
        return
    for at, (name, cell) in enumerate(cells.items()):
        with st.container(gap="xxsmall"):
            st.caption(text.plain(name))
            if images.is_image(cell):
                images.show(cell, f"{row}_{at}")
            else:
                _show_text(cell)


def _show_text(cell: str) -> None:
    st.markdown(_lines_of(cell[:MOST_LETTERS]) + (" …" if len(cell) > MOST_LETTERS else ""))
    if len(cell) > MOST_LETTERS:
        with st.expander(f"The whole text, {text.count(len(cell), 'letter')}"):
            st.markdown(_lines_of(cell))


def _lines_of(cell: str) -> str:
    """Return foreign text as Markdown that keeps its line breaks."""
    return "  \n".join(text.plain(line) or "\u00a0" for line in cell.strip().splitlines())


# ---------------------------------------------------------------------- votes


def votes_of(votes: Votes, row: int) -> dict[int, list[str]]:
    """Return learners by the class they vote for, most votes first."""
    said: dict[int, list[str]] = {}
    for learner, code in zip(votes.learners, votes.codes[row].tolist(), strict=True):
        if code != NO_VOTE:
            said.setdefault(code, []).append(learner)
    return dict(sorted(said.items(), key=lambda item: (-len(item[1]), item[0])))
