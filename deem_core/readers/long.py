"""Long files: one answer per row (task, worker, label)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from deem_core.errors import InputError
from deem_core.readers import roles
from deem_core.readers.columns import (
    Names,
    Request,
    encode_names,
    note_coding,
    refuse_hopeless,
    refuse_too_few,
    text_index,
)
from deem_core.readers.notes import Notebook
from deem_core.readers.source import Source
from deem_core.readers.truth import code_truth_labels
from deem_core.text import count, quoted
from deem_core.typing import Codes
from deem_core.votes import Votes
from deem_core.votes.coding import as_label_array
from deem_core.votes.labels import LabelColumn, canonical_name, code_columns, is_whole_number
from deem_core.votes.orders import spread

MAX_CELLS = 1_200_000_000
"""Largest tasks × workers table that is built (5 GB of codes)."""


@dataclass(frozen=True)
class LongColumns:
    """The columns of a long file by role."""

    task: str
    worker: str
    label: str
    truth: str | None


def find_columns(
    columns: Sequence[str],
    id: str | None,
    truth: str | None,
    worker: str | None = None,
    label: str | None = None,
) -> LongColumns | None:
    """Return the columns of a long file by role.

    None unless all are there.

    Where both `prediction` and `label` are there, the one whose name may mean the truth is the truth.
    """

    def first(usual: Sequence[str], taken: set[str | None]) -> str | None:
        return next(iter(roles.matches((name for name in columns if name not in taken), usual)), None)

    task = id or first(roles.TASK_NAMES, {truth, worker, label})
    worker = worker or first(roles.WORKER_NAMES, {task, truth, label})
    answers = roles.matches((name for name in columns if name not in {task, worker, truth}), roles.LABEL_NAMES)
    plain = [name for name in answers if roles.simple(name) not in roles.TRUTH_NAMES]
    label = label or next(iter(plain + answers), None)
    if task is None or worker is None or label is None:
        return None
    return LongColumns(task, worker, label, truth or first(roles.TRUTH_NAMES, {task, worker, label}))


def looks_long(source: Source, columns: LongColumns | None, gold: str | None = None) -> bool:
    """Tell a long file from a wide one.

    A wide file may have a learner named like a worker, such as `model` or `judge`.

    In a long file tasks come up again and again, and workers are not named like labels.
    """
    if columns is None:
        return False
    rest = set(source.columns) - {columns.task, columns.worker, columns.label, columns.truth, gold}
    if source.names_rows(columns.task) and rest:
        return False
    labels = set(LabelColumn.from_text(columns.label, source.table[columns.label]).keys)
    if not _shares_labels(source, columns.worker, labels):
        return True
    may_be_named_alike = roles.simple(columns.worker) in roles.CLEAR_WORKER_NAMES or all(map(is_whole_number, labels))
    return may_be_named_alike and not any(_shares_labels(source, name, labels) for name in rest)


def _shares_labels(source: Source, name: str, labels: set[str]) -> bool:
    """Tell whether most cells of a column are among these labels."""
    column = LabelColumn.from_text(name, source.table[name])
    shared = sum(int(count) for key, count in zip(column.keys, column.counts, strict=True) if key in labels)
    return shared > int(source.table.num_rows) / 2


def read_long(request: Request, columns: LongColumns) -> Votes:
    """Return the votes of a long file, one row per task.

    Tasks are in order of first appearance.
    """
    source, notebook = request.source, request.notebook
    _note_columns(request, columns)
    tasks, workers = encode_names(source.table[columns.task]), encode_names(source.table[columns.worker])
    _note_merged(tasks, "task", notebook)
    _note_merged(workers, "worker", notebook)
    chosen = _choose_workers(request, workers)
    worker_of = chosen[workers.codes]  # -1 where the worker is empty or left out
    asked = pa.array(np.where(worker_of >= 0, 1, 0).astype(bool))
    labels = pc.if_else(asked, source.text(columns.label), "")  # what ignored workers say makes no class
    column = request.labels.column(LabelColumn.from_text(columns.label, labels))
    if column.too_many:
        raise InputError(
            f"The label column {columns.label!r} holds {column.n_spellings:,} different values; "
            "it is not a column of labels."
        )
    coding = code_columns([column], request.rule, extra=request.classes, labels=request.labels)
    note_coding(request, [column], coding)
    _note_nameless(tasks, workers, notebook)
    # A task whose answers are all missing is still a row, so that it comes back when labels are exported.
    rows = _rows_of_tasks(tasks.codes)
    names = [name for name, keep in zip(workers.names.to_pylist(), chosen[:-1] >= 0, strict=True) if keep]
    refuse_too_few(source, names, notebook)
    _refuse_hopeless_size(request, columns, len(coding.classes), len(rows.task_at), len(names))
    refuse_hopeless(request, [], coding)
    answered = (tasks.codes >= 0) & (worker_of >= 0) & (coding.codes[:, 0] >= 0)
    codes = np.full((len(rows.task_at), len(names)), -1, np.int32)
    _fill_last(codes, rows.row_of[answered], worker_of[answered], coding.codes[answered, 0], notebook)
    truth, only = _truth_of_tasks(request, columns, rows, coding.keys)
    return Votes(
        codes=codes,
        classes=as_label_array(coding.classes),
        learners=tuple(names),
        ids=text_index(tasks.names.take(pa.array(rows.task_at))),
        truth=truth,
        truth_only=only,
    )


def _note_columns(request: Request, columns: LongColumns) -> None:
    notebook = request.notebook
    for role, column in (
        ("id", columns.task),
        ("worker", columns.worker),
        ("label", columns.label),
        ("truth", columns.truth),
    ):
        if column is not None:
            notebook.roles[column] = role
    notebook.add(
        "understood",
        f"Each row is one answer: task in {columns.task!r}, worker in {columns.worker!r}, label in {columns.label!r}.",
    )
    for name in request.source.columns:
        if name not in notebook.roles:
            notebook.leave_out(name, "a long file needs only task, worker, label, truth and gold.")


def _refuse_hopeless_size(request: Request, columns: LongColumns, n_classes: int, n_tasks: int, n_workers: int) -> None:
    if n_tasks * n_workers > MAX_CELLS:
        raise InputError(
            f"{n_tasks:,} tasks × {n_workers:,} workers are too many cells to fuse at once. "
            "Split the file, or leave out workers with few answers."
        )
    size = f"{n_tasks:,} tasks × {n_workers:,} workers"
    request.source.packed.check_growth(4 * n_tasks * n_workers, size)
    request.source.packed.check_memory(4 * n_tasks * n_workers, size)
    if n_classes > n_tasks and not request.classes and request.labels.sets is None:
        raise InputError(
            f"{request.source.name} has more classes ({n_classes:,}) than tasks ({n_tasks:,}): "
            f"column {columns.label!r} is probably an id or a text, not labels."
        )


def _note_merged(names: Names, what: str, notebook: Notebook) -> None:
    if names.n_merged:
        text = f"{count(names.n_merged, what)} spelled both as a whole number and with .0 (1 and 1.0) are one."
        notebook.add("changed", text, count=names.n_merged)


def _choose_workers(request: Request, workers: Names) -> Codes:
    """Return the learner index of each worker, (names + 1,).

    It is -1 for those left out; the last entry serves code -1.
    """
    names = workers.names.to_pylist()
    keys = workers.keys.to_pylist()
    wished = None if request.learners is None else _keys(spread(request.learners, names))
    ignored = _keys(spread(request.ignore, names))
    for key in [*(wished or ()), *(ignored - set(request.source.columns))]:
        if key not in keys:
            raise InputError(f"There is no worker {key!r} in the file; its workers are {quoted(names)}.")
    wanted = [bool(key) and (wished is None or key in wished) and key not in ignored for key in keys]
    left_out = [name for name, keep in zip(names, wanted, strict=True) if name and not keep]
    if left_out:
        verb = "was" if len(left_out) == 1 else "were"
        text = f"{count(len(left_out), 'worker')} ({quoted(left_out)}) {verb} left out, as requested."
        request.notebook.add("left out", text, count=len(left_out))
    index = np.full(len(names) + 1, -1, np.int32)
    index[:-1][wanted] = np.arange(sum(wanted))
    return index


def _keys(names: Sequence[str]) -> set[str]:
    return set(canonical_name(pa.array(list(names), pa.string())).to_pylist())


@dataclass(frozen=True)
class _Rows:
    row_of: NDArray[np.int64]  # (m,) row of each answer's task, -1 for an empty task
    task_at: NDArray[np.int64]  # (n,) task code of each row
    first: NDArray[np.int64]  # (n,) first answer of each row


def _rows_of_tasks(task_codes: Codes) -> _Rows:
    seen, first = np.unique(task_codes, return_index=True)
    seen, first = seen[seen >= 0], first[seen >= 0]
    order = np.argsort(first)
    row_of_task = np.full(int(task_codes.max(initial=-1)) + 2, -1, np.int64)
    row_of_task[seen[order]] = np.arange(len(seen))
    return _Rows(row_of_task[task_codes], seen[order].astype(np.int64), first[order].astype(np.int64))


def _note_nameless(tasks: Names, workers: Names, notebook: Notebook) -> None:
    nameless = (tasks.codes < 0) | (workers.codes < 0)
    if nameless.any():
        notebook.add(
            "left out",
            f"Left out {count(int(nameless.sum()), 'answer')} without a task or worker",
            count=int(nameless.sum()),
            rows=np.flatnonzero(nameless),
        )


def _fill_last(
    codes: Codes,
    rows: NDArray[np.int64],
    workers: Codes,
    labels: Codes,
    notebook: Notebook,
) -> None:
    """Write answers into (n, d) codes.

    Of several by one worker on one task, the last one counts.
    """
    flat = codes.reshape(-1)
    cells = rows * codes.shape[1] + workers
    distinct, last = np.unique(cells[::-1], return_index=True)
    flat[distinct] = labels[::-1][last]
    repeated = len(cells) - len(distinct)
    if repeated:
        changed = int((flat[cells] != labels).sum())
        notebook.add(
            "changed",
            f"Dropped {count(repeated, 'repeated answer')} of a worker on a task: the last one counts "
            f"({changed:,} of those dropped differ from it).",
            count=repeated,
        )


def _truth_of_tasks(
    request: Request, columns: LongColumns, rows: _Rows, class_keys: Sequence[str]
) -> tuple[Codes | None, NDArray[np.object_]]:
    """Return the truth of every task from a repeated column."""
    if columns.truth is None:
        return None, np.empty(0, object)
    source, notebook = request.source, request.notebook
    quiet = Notebook()  # its notes would count answers, not tasks
    column = request.label_column(columns.truth)
    coding = code_truth_labels(column, class_keys, request.rule, quiet, request.labels)
    codes, only = coding.codes(column), coding.only
    if codes is None:
        notebook.notes.extend(quiet.notes)
        return None, only
    known = (codes >= 0) & (rows.row_of >= 0)
    truth = np.full(len(rows.task_at), -1, np.int32)
    truth[rows.row_of[known]] = codes[known]
    conflict = known & (truth[np.maximum(rows.row_of, 0)] != codes)
    if conflict.any():
        at = int(np.argmax(conflict))
        raise InputError(
            f"The truth column {columns.truth!r} gives two different labels for the task in row {at + 1:,} of "
            f"{source.name} ({source.table[columns.task][at].as_py()!r}). Fix it, or ignore the column."
        )
    notebook.add(
        "understood",
        f"Column {columns.truth!r} is taken as the truth of {count(int((truth >= 0).sum()), 'task')}; "
        "it is for evaluation only and never used in training.",
        column=columns.truth,
    )
    return truth, only
