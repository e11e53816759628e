"""Gold labels from a column, a second file or a returned queue."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from deem_core.errors import InputError
from deem_core.files.spreadsheet import as_typed
from deem_core.files.tables import id_texts
from deem_core.readers import roles
from deem_core.readers.columns import Request
from deem_core.readers.notes import Note, Notebook
from deem_core.readers.source import Source, open_source
from deem_core.readers.truth import Role, class_keys, labels_of_rows, task_and_label
from deem_core.text import count, quoted
from deem_core.typing import Codes, Mask
from deem_core.votes import NO_VOTE, Gold, Votes
from deem_core.votes.label_map import AS_SPELLED, LabelMap
from deem_core.votes.labels import (
    DEFAULT,
    MAX_CLASSES,
    LabelColumn,
    MissingRule,
    code_columns,
    codes_of_spellings,
    truth_codes,
)

ROW, ASKED = "row", "asked"
"""Columns of a queue that comes back: the number of the row, from 1, and why it was asked."""
ANSWER, REVIEWED = "gold_label", "reviewed_label"
"""Columns of a queue that hold the answer."""
GOLD_NAMES = (*(name for name in roles.TRUTH_NAMES if "gold" in name), REVIEWED, "reviewed")
"""Names of columns that speak of gold."""
USED = Role("gold label", "gold", "it is used in fusing, so that nothing is evaluated on its rows")


@dataclass(frozen=True)
class GoldReading:
    """Gold labels of votes, with notes of what was understood."""

    gold: Gold
    notes: tuple[Note, ...]


def read_gold(
    file: Any,
    votes: Votes,
    missing: MissingRule | Collection[str] = DEFAULT,
    labels: LabelMap = AS_SPELLED,
) -> GoldReading:
    """Read a file of gold labels.

    A queue (columns ``row`` and ``gold_label``) is matched by the number of the row, and so needs no ids; any other
    file of task and label by id.

    Parameters
    ----------
    file : path, bytes or open file
    votes : Votes
    missing : MissingRule or spellings
    labels : LabelMap
        Of the votes.

    Raises
    ------
    InputError
        If the file cannot be read, names no row of the votes, holds no label, or gives two labels for one row.
    """
    notebook = Notebook()
    source = open_source(file, notebook)
    notebook.notes[:] = [note for note in notebook.notes if note.kind in ("warning", "changed")]
    answer, absent = queue_answer(source), 0
    if answer is not None:
        numbers = row_numbers(source, votes)
        texts = labels_by_row(source, answer, numbers, votes)
        asked = _asked(source, numbers, votes.n_rows)
        known = sum(bool(text) for text in texts)
        notebook.add("understood", f"{count(known, 'gold label')} from {source.name}; they are used in fusing.")
        column = LabelColumn.from_text(answer, pa.chunked_array([pa.array(texts, pa.string())]))
    else:
        if isinstance(votes.ids, pd.RangeIndex):
            raise InputError(
                f"{source.name} has no columns {ROW} and {ANSWER}, and the votes have no ids to match it by. Set the "
                "id column, or number the rows from 1 in a column row."
            )
        task, label = _columns(source, votes)
        texts = labels_of_rows(source, task, label, votes.ids, notebook, USED, labels)
        asked = None
        absent = sum(note.count or 0 for note in notebook.notes if note.kind == "left out")
        column = LabelColumn.from_text(label, texts)
    codes, only = _coded(column, votes, MissingRule.of(missing), notebook, labels)
    if not (codes != NO_VOTE).any():
        raise InputError(f"{source.name} holds no gold label. Fill in the column {column.name!r} and try again.")
    return GoldReading(Gold(codes, only, asked, absent), tuple(notebook.notes))


def _columns(source: Source, votes: Votes) -> tuple[str, str]:
    """Return the columns of rows and gold labels.

    In a file of more columns the right one must be plain by its name, and where the votes stand beside it, as in the
    file of votes itself, only a name that speaks of gold is: the truth does not become gold by a mix-up of files.
    """
    task, _ = task_and_label(source, "gold label")
    rest = [name for name in source.columns if name != task]
    named = roles.matches(rest, GOLD_NAMES)
    if named or len(rest) == 1:
        return task, (named or rest)[0]
    learners = set(votes.learners)
    beside = [name for name in rest if name in learners or name.rsplit(":", 1)[0] in learners]
    if beside:
        raise InputError(
            f"{source.name} holds votes, those of {quoted(beside, 3)}, and no column {ANSWER}. Is it the file of "
            f"votes? Call its column of known labels {ANSWER}, or choose that column of the votes as gold."
        )
    usual = roles.matches(rest, (*roles.TRUTH_NAMES, *roles.LABEL_NAMES))
    if len(usual) != 1:
        which = f"{quoted(usual)} could all be the gold labels" if usual else f"none of {quoted(rest)} is called so"
        raise InputError(
            f"It is not clear which column of {source.name} holds the gold labels: {which}. Call it {ANSWER}."
        )
    return task, usual[0]


def column_gold(request: Request, name: str, votes: Votes, task: str | None) -> GoldReading:
    """Return the gold labels in a column of the file of votes.

    ``task`` is the column of a long file that names the rows; None where each line is a row.
    """
    notebook, source, labels = Notebook(), request.source, request.labels
    if task is not None:
        texts = labels_of_rows(source, task, name, votes.ids, notebook, USED, labels)
        column = LabelColumn.from_text(name, texts)
    else:
        column = source.label_column(name)
    codes, only = _coded(column, votes, request.rule, notebook, labels)
    if not (codes != NO_VOTE).any():
        raise InputError(f"The gold column {name!r} holds no label. Name another one, or leave it out.")
    if task is None:
        known = count(int((codes != NO_VOTE).sum()), "gold label")
        notebook.add("understood", f"Column {name!r} gives {known}; they are used in fusing.", column=name)
    return GoldReading(Gold(codes, only), tuple(notebook.notes))


# ---------------------------------------------------------------------- queues that came back


def queue_answer(source: Source) -> str | None:
    """Return the column of a queue's answers; None without one."""
    if ROW not in source.columns:
        return None
    return next((name for name in (ANSWER, REVIEWED) if name in source.columns), None)


def row_numbers(source: Source, votes: Votes) -> Codes:
    """Return the position of the row that each line is about.

    Raises
    ------
    InputError
        If a number is none of the votes' rows, or the ids beside it are those of other votes.
    """
    numbers = pd.to_numeric(pd.Series(source.text(ROW).to_pylist(), dtype=object), errors="coerce").to_numpy(float)
    wrong = ~((numbers >= 1) & (numbers <= votes.n_rows) & (numbers == np.floor(numbers)))
    if wrong.any():
        at = int(wrong.argmax())
        raise InputError(
            f"{source.name} has the row number {source.text(ROW)[at].as_py()!r} (row {at + 1:,} of the file); "
            f"the votes have rows 1 to {votes.n_rows:,}. Is it the review queue of these votes?"
        )
    rows = numbers.astype(np.int32) - 1
    if "id" in source.columns and not isinstance(votes.ids, pd.RangeIndex):
        theirs, ours = source.text("id").to_pylist(), id_texts(votes.ids[rows]).to_pylist()
        alike = [_same(*pair) for pair in zip(theirs, ours, strict=True)]
        if not any(alike):
            raise InputError(f"The ids in {source.name} are not those of these rows. Is it the queue of other votes?")
        if not all(alike):
            at = alike.index(False)
            raise InputError(
                f"{source.name} calls row {rows[at] + 1:,} {theirs[at]!r} (row {at + 1:,} of the file); the votes call "
                f"it {ours[at]!r}. Correct the id or the number, or delete the column id to match by numbers alone."
            )
    return rows


def labels_by_row(source: Source, label: str, rows: Codes, votes: Votes) -> list[str]:
    """Return the label of every row, empty without one, (n,).

    Two different labels for a row are refused.
    """
    labels = np.full(votes.n_rows, "", object)
    for at, (row, text) in enumerate(zip(rows.tolist(), source.text(label).to_pylist(), strict=True)):
        given = as_typed((text or "").strip())
        if labels[row] and given and labels[row] != given:
            raise InputError(
                f"{source.name} gives two different labels for row {row + 1:,}, {labels[row]!r} and {given!r} "
                f"(row {at + 1:,} of the file). Keep one of them."
            )
        labels[row] = given or labels[row]
    return list(labels)


def _asked(source: Source, rows: Codes, n_rows: int) -> Mask | None:
    """Return the rows that `ask` chose, (n,), None if unknown."""
    if ASKED not in source.columns:
        return None
    asked = np.zeros(n_rows, bool)
    asked[rows[[bool((text or "").strip()) for text in source.text(ASKED).to_pylist()]]] = True
    return asked


def _same(theirs: str | None, ours: str) -> bool:
    """Return whether two ids are the same.

    A spreadsheet may have taken leading zeros away.
    """
    theirs = as_typed((theirs or "").strip())
    return theirs == ours.strip() or theirs == ours.strip().lstrip("0")


def _coded(
    column: LabelColumn, votes: Votes, rule: MissingRule, notebook: Notebook, labels: LabelMap
) -> tuple[Codes, Any]:
    """Return gold codes (n,) and the labels that no learner votes for."""
    column = labels.column(column)
    if column.too_many or len(set(column.keys)) > MAX_CLASSES:
        raise InputError(f"The gold column {column.name!r} holds {column.variety} values; they are not labels.")
    keys = class_keys(votes, labels)
    coding = code_columns([column], replace(rule, minus_one=False), labels=labels)
    lookup, only = truth_codes(coding, keys, rule)
    codes = lookup[codes_of_spellings(column, coding.keys)][column.indices].astype(np.int32)
    unheard = codes >= len(keys)
    if unheard.any():
        n = int(unheard.sum())
        if n == int((codes != NO_VOTE).sum()):
            raise InputError(
                f"The gold column {column.name!r} holds no label that a learner votes for, only {quoted(only, 3)}. "
                "Is it the right column, and are its labels spelled like the votes?"
            )
        notebook.add(
            "warning",
            f"{count(n, 'gold label')} of class {quoted(only, 3)}: no learner votes for it, so every answer is wrong "
            "there. Is it spelled like the votes?",
            count=n,
            rows=np.flatnonzero(unheard),
            column=column.name,
        )
    return codes, np.asarray(only, object)
