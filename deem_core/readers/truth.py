"""True labels from a column or a second file; for evaluation only."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from deem_core.errors import InputError
from deem_core.readers import roles
from deem_core.readers.columns import Names, Request, encode_names
from deem_core.readers.notes import Note, Notebook
from deem_core.readers.source import Source, open_source
from deem_core.text import count, quoted
from deem_core.typing import Codes
from deem_core.votes import Votes
from deem_core.votes.coding import as_label_array
from deem_core.votes.label_map import AS_SPELLED, LabelMap
from deem_core.votes.labels import (
    DEFAULT,
    MAX_CLASSES,
    LabelColumn,
    MissingRule,
    canonical,
    canonical_name,
    code_columns,
    codes_of_spellings,
    truth_codes,
)


@dataclass(frozen=True)
class Role:
    """Words for known labels: their name and their fate."""

    name: str
    adjective: str
    fate: str


EVALUATION_ONLY = Role("truth", "true", "it is for evaluation only and never used in training")
"""The role of true labels."""


@dataclass(frozen=True)
class Truth:
    """True labels of the rows of some votes.

    Attributes
    ----------
    codes : (n,) int32, optional
        Over the classes of the votes, -1 where unknown; None if there is no label at all.
    truth_only : array
        Labels that no learner votes for; the j-th has the code K + j.
    notes : tuple of Note
        What was understood, changed and left out.
    """

    codes: Codes | None
    truth_only: NDArray[np.object_]
    notes: tuple[Note, ...]


def read_truth(
    file: Any,
    votes: Votes,
    missing: MissingRule | Collection[str] = DEFAULT,
    labels: LabelMap = AS_SPELLED,
) -> Truth:
    """Read a file of task and true label for votes with ids.

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
        If the file cannot be read, names no row of the votes, or gives two labels for one.
    """
    notebook = Notebook()
    source = open_source(file, notebook)
    notebook.notes[:] = [note for note in notebook.notes if note.kind in ("warning", "changed")]
    task, label = task_and_label(source, "true label")
    texts = labels_of_rows(source, task, label, votes.ids, notebook, EVALUATION_ONLY, labels)
    column = labels.column(LabelColumn.from_text(label, texts))
    truth = code_truth_labels(column, class_keys(votes, labels), MissingRule.of(missing), notebook, labels)
    return Truth(truth.codes(column), truth.only, tuple(notebook.notes))


def label_truth(
    name: str,
    texts: Iterable[str],
    votes: Votes,
    missing: MissingRule | Collection[str] = DEFAULT,
    labels: LabelMap = AS_SPELLED,
) -> Truth:
    """Return one true label per row of the votes as truth.

    ``name`` is what notes call them.
    """
    notebook = Notebook()
    cells = pa.chunked_array([pa.array(texts, pa.string())])
    column = labels.column(LabelColumn.from_text(name, cells))
    truth = code_truth_labels(column, class_keys(votes, labels), MissingRule.of(missing), notebook, labels)
    return Truth(truth.codes(column), truth.only, tuple(notebook.notes))


@dataclass(frozen=True)
class TruthCoding:
    """Codes of the spellings of a column of true labels.

    Attributes
    ----------
    of_spelling : (spellings,) int32, optional
        Over the classes of the votes, as in `Truth`; None if the column is no truth.
    only : array
        Labels that no learner votes for.
    """

    of_spelling: Codes | None
    only: NDArray[np.object_]

    @classmethod
    def none(cls) -> TruthCoding:
        """Return that there is no truth."""
        return cls(None, np.empty(0, object))

    def codes(self, column: LabelColumn) -> Codes | None:
        """Return the code of each row, (n,)."""
        return None if self.of_spelling is None else self.of_spelling[column.indices]


def read_truth_column(request: Request, class_keys: Sequence[str]) -> tuple[Codes | None, NDArray[np.object_]]:
    """Return truth codes (n,) and the labels that only truth has."""
    if request.truth is None:
        return None, np.empty(0, object)
    column = request.label_column(request.truth)
    truth = code_truth_column(request, column, class_keys)
    return truth.codes(column), truth.only


def code_truth_column(request: Request, column: LabelColumn, class_keys: Sequence[str]) -> TruthCoding:
    """Code the column of the file that plays the truth.

    One that was taken as the truth by its name alone, but shares nothing with the votes, is set aside.
    """
    name, notebook = column.name, request.notebook
    truth = code_truth_labels(column, class_keys, request.rule, notebook, request.labels)
    found = truth.of_spelling
    if found is None or request.truth_was_named or ((found >= 0) & (found < len(class_keys))).any():
        return truth
    notebook.notes[:] = [note for note in notebook.notes if note.column != name]
    notebook.leave_out(name, "it is named like the truth, but none of its values is a label of the votes.")
    return TruthCoding.none()


def code_truth_labels(
    column: LabelColumn,
    class_keys: Sequence[str],
    rule: MissingRule,
    notebook: Notebook,
    labels: LabelMap = AS_SPELLED,
) -> TruthCoding:
    """Code a column of true labels over the classes of the votes.

    The column was mapped by ``labels``.
    """
    name = column.name
    if column.too_many or len(set(column.keys)) > MAX_CLASSES:
        notebook.notes[:] = [note for note in notebook.notes if note.column != name]
        notebook.leave_out(name, f"it is named as the truth, but its {column.variety} values are not labels.")
        return TruthCoding.none()
    coding = code_columns([column], replace(rule, minus_one=False), labels=labels)
    lookup, only = truth_codes(coding, class_keys, rule)
    codes = lookup[codes_of_spellings(column, coding.keys)]
    known, total = int(column.counts[codes >= 0].sum()), int(column.counts.sum())
    if known == 0:
        notebook.add("warning", f"The truth column {name!r} holds no label.", count=0, column=name)
        return TruthCoding.none()
    unheard = codes >= len(class_keys)
    if unheard.any():
        cells = int(column.counts[unheard].sum())
        notebook.add(
            "warning",
            f"{count(cells, 'true label')} of class {quoted(only, 3)} can never be matched: no learner votes for it",
            count=cells,
            rows=np.flatnonzero(unheard[column.indices]),
            column=name,
        )
    if known < total:
        notebook.add("understood", f"The truth is known for {known:,} of {total:,} rows.", count=known, column=name)
    return TruthCoding(codes, as_label_array(only).astype(object))


def class_keys(votes: Votes, labels: LabelMap = AS_SPELLED) -> list[str]:
    """Return the classes of votes as they are compared."""
    return [labels.key(str(label)) for label in votes.classes]


def task_and_label(source: Source, what: str) -> tuple[str, str]:
    """Return the columns of known labels, by name or position."""
    columns = source.columns
    if len(columns) < 2:
        raise InputError(f"{source.name} needs two columns, the task and its {what}; it has {quoted(columns)}.")
    task = next(iter(roles.matches(columns, roles.TASK_NAMES)), columns[0])
    rest = [name for name in columns if name != task]
    return task, next(iter(roles.matches(rest, (*roles.TRUTH_NAMES, *roles.LABEL_NAMES))), rest[0])


def labels_of_rows(  # noqa: PLR0917  # all of them belong to one file
    source: Source,
    task: str,
    label: str,
    ids: pd.Index,
    notebook: Notebook,
    role: Role,
    label_map: LabelMap = AS_SPELLED,
) -> pa.ChunkedArray:
    """Return the known label of each row, matched by id.

    It is empty where the file has none.
    """
    tasks = encode_names(source.table[task])
    labels = _label_per_task(source, tasks, task, label, role=role, label_map=label_map)
    keys = canonical_name(pa.array(ids.astype(str), pa.string()))
    at = pc.index_in(keys, value_set=tasks.keys)
    matched = pc.fill_null(at, -1).to_numpy(zero_copy_only=False)
    if not (matched >= 0).any():
        raise InputError(
            f"None of the tasks in {source.name} (column {task!r}) is among the tasks of the votes. "
            "Is it the right file, and are the ids spelled alike?"
        )
    unused = len(tasks.keys) - len(np.unique(matched[matched >= 0]))
    found = pc.fill_null(labels.take(at), "")
    known_rows = pc.sum(pc.not_equal(found, "")).as_py()
    notebook.add(
        "understood",
        f"The {role.name} of {known_rows:,} of {count(len(ids), 'row')} comes from column {label!r} of {source.name}; "
        f"{role.fate}.",
        count=known_rows,
    )
    if unused:
        text = f"Left out {count(unused, 'task')} of {source.name} without any vote."
        notebook.add("left out", text, count=unused)
    return pa.chunked_array([found])


def _label_per_task(
    source: Source, tasks: Names, task: str, label: str, *, role: Role, label_map: LabelMap
) -> pa.Array:
    """Return the known label of each distinct task.

    Two different ones for a task are refused; an empty cell is none.
    """
    labels = pa.concat_arrays(source.text(label).chunks)
    empty_cells = pc.equal(canonical(labels), "")
    coded = label_map.cells(labels).dictionary_encode()
    keys = coded.indices.to_numpy(zero_copy_only=False)
    named = np.flatnonzero((tasks.codes >= 0) & ~empty_cells.to_numpy(zero_copy_only=False))
    row_of = np.full(len(tasks.names), -1, np.int64)
    row_of[tasks.codes[named]] = named
    differs = keys[row_of[tasks.codes[named]]] != keys[named]
    if differs.any():
        at = int(named[np.argmax(differs)])
        raise InputError(
            f"{source.name} gives two different {role.adjective} labels for the task "
            f"{source.table[task][at].as_py()!r} (one in row {at + 1:,}). Keep one of them."
        )
    return labels.take(pa.array(row_of, mask=row_of < 0))
