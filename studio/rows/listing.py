"""Rows as a table on the page, and as a file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from deem_core.diagnostics import RowFilter, RowTable
from deem_core.diagnostics.rows import Column, Is, Pair
from deem_core.files.tables import id_texts
from deem_core.text import clip
from deem_core.typing import Integers
from deem_core.votes import NO_VOTE
from studio.review import evidence
from studio.rows.sources import Source

PAGE = 50
"""Rows of the table at a time."""
MOST_LEARNERS = 12
"""Learners up to which each has a column; the votes of more are counted by label."""
MOST_LETTERS = 160
"""Letters of a text in the table; the row itself has all."""
AGAINST = {"light": "#c2410c", "dark": "#ff922b"}
"""Colour of votes against the label of their row, legible on a table of either theme."""
REVIEWED = "reviewed_label"
"""Empty column of the file, to be filled in and brought back."""


def frame(source: Source, rows: Integers, chosen: RowFilter) -> pd.DataFrame:
    """Return rows as people read them: numbers from 1, texts cut, few columns.

    Parameters
    ----------
    source : Source
    rows : (m,) array of int
    chosen : RowFilter
        The votes and methods that it names have columns, however many others there are.
    """
    table, votes = source.table, source.table.votes
    columns = head_columns(source, rows) | _labels(table, rows)
    columns |= {
        name: [clip(cell, MOST_LETTERS) for cell in cells] for name, cells in text_columns(source, rows).items()
    }
    if "confidence" in columns:
        columns["confidence"] = 100 * columns["confidence"]
    for column in named(chosen):
        if column.kind == "label" or (column.kind == "vote" and votes.n_learners > MOST_LEARNERS):
            columns[free(columns, column.words)] = table.names[table.column(column)[rows]]
    if votes.n_learners <= MOST_LEARNERS:
        columns |= vote_columns(table, rows, columns)
    else:
        columns["votes"] = [counted(table, row) for row in rows.tolist()]
    return pd.DataFrame(columns)


def file(source: Source, rows: Integers) -> pd.DataFrame:
    """Return rows with all there is, to be written to a file."""
    columns = head_columns(source, rows) | _labels(source.table, rows)
    columns |= text_columns(source, rows)
    columns[REVIEWED] = np.full(len(rows), "", object)
    return pd.DataFrame(columns | vote_columns(source.table, rows, columns))


def named(chosen: RowFilter) -> list[Column]:
    """Return the columns that a filter names, once each."""
    found: list[Column] = []
    for one in chosen.conditions:
        found += [one.column] if isinstance(one, Is) else [one.first, one.second] if isinstance(one, Pair) else []
    return list(dict.fromkeys(found))


def counted(table: RowTable, row: int, most: int = 4) -> str:
    """Return the votes of a row by label: "cat ×7 · dog ×2"."""
    said = [(table.names[code], len(who)) for code, who in evidence.votes_of(table.votes, row).items()]
    more = sum(number for _, number in said[most:])
    return " · ".join([f"{name} ×{number}" for name, number in said[:most]] + ([f"others ×{more}"] if more else []))


def head_columns(source: Source, rows: Integers) -> dict[str, Any]:
    """Return the number and, where rows have names, the id."""
    votes = source.table.votes
    columns: dict[str, Any] = {"row": rows + 1}
    if votes.has_ids:
        columns["id"] = id_texts(votes.ids[rows]).to_pylist()
    return columns


def clipped(cells: Sequence[str]) -> list[str]:
    """Return texts as short as they stand in tables."""
    return [clip(cell, MOST_LETTERS) for cell in cells]


def text_columns(source: Source, rows: Integers) -> dict[str, list[str]]:
    """Return the texts beside the votes, by column."""
    names, at = evidence.of(source.opened).columns, pa.array(rows)
    texts = zip(names, source.table.texts, strict=True)
    return {name: [str(cell or "") for cell in column.take(at).to_pylist()] for name, column in texts}


def _labels(table: RowTable, rows: Integers) -> dict[str, Any]:
    """Return what the answer and the truth say of rows."""
    columns: dict[str, Any] = {}
    if table.fused is not None:
        columns["fused_label"] = table.names[table.fused[rows]]
    if table.confidence is not None:
        silent = table.votes.votes_per_row[rows] == 0
        columns["confidence"] = np.where(silent, np.nan, np.asarray(table.confidence, np.float64)[rows].round(6))
    columns["majority_vote"] = table.names[table.majority[rows]]
    if table.votes.gold is not None:
        gold = table.votes.gold
        names = np.array([*map(str, table.votes.classes), *map(str, gold.only), ""], object)
        columns["gold_label"] = names[gold.codes[rows]]
    if table.votes.truth is not None:
        columns["true_label"] = table.names[table.votes.truth[rows]]
    return columns


def vote_columns(table: RowTable, rows: Integers, taken: dict[str, Any]) -> dict[str, Any]:
    """Return the votes by learner, under names that are not taken."""
    columns: dict[str, Any] = {}
    for at, learner in enumerate(table.votes.learners):
        columns[free({**taken, **columns}, learner)] = table.names[table.votes.codes[rows, at]]
    return columns


def free(columns: dict[str, Any], name: str) -> str:
    """Return a name that no column has yet."""
    while name in columns:
        name = f"{name} (vote)"
    return name


def styled(source: Source, rows: Integers, chosen: RowFilter, theme: str | None) -> Any:
    """Return the table, votes against their row's label in colour.

    Where learners have no columns of their own it is the plain table.
    """
    shown, table = frame(source, rows, chosen), source.table
    if table.votes.n_learners > MOST_LEARNERS:
        return shown
    label, votes = (table.majority if table.fused is None else table.fused)[rows], table.votes.codes[rows]
    against = (votes != label[:, None]) & (votes != NO_VOTE)
    colours = np.full(shown.shape, "", object)
    colours[:, -table.votes.n_learners :][against] = f"color: {AGAINST['dark' if theme == 'dark' else 'light']}"
    return shown.style.apply(lambda _: colours, axis=None)


def mark(source: Source, chosen: RowFilter, order: str) -> str:
    """Return what identifies this list of rows, for keys."""
    run = "" if source.run is None else source.run.id
    told = " ".join((source.opened.mark, run, source.method, chosen.text, order))
    return hashlib.sha256(told.encode()).hexdigest()[:12]
