"""Truth files: a second file of task and true label, for votes of any layout; for evaluation only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from deem_core.errors import InputError
from deem_core.labels import MissingRule, canonical, canonical_name
from deem_core.readers import roles
from deem_core.readers.long import Names, encode_names
from deem_core.readers.report import Notebook, listing, plural
from deem_core.readers.source import Source, open_source
from deem_core.readers.wide import code_truth_texts


def read_truth_file(
    file: Any, ids: pd.Index, class_keys: Sequence[str], rule: MissingRule, notebook: Notebook
) -> tuple[NDArray[np.int32] | None, NDArray[np.object_]]:
    """Return truth codes (n,) for rows named ``ids`` from a second file of task and truth."""
    own = Notebook()
    source = open_source(file, own)
    notebook.notes.extend(note for note in own.notes if note.kind in ("warning", "changed"))
    columns = source.columns
    if len(columns) < 2:
        raise InputError(f"{source.name} needs two columns, the task and its true label; it has {listing(columns)}.")
    task = next(iter(roles.matches(columns, roles.TASK_NAMES)), columns[0])
    rest = [name for name in columns if name != task]
    label = next(iter(roles.matches(rest, (*roles.TRUTH_NAMES, *roles.LABEL_NAMES))), rest[0])
    tasks = encode_names(source.table[task])
    column = _last_truth_per_task(source, tasks, task, label)
    keys = canonical_name(pa.array(ids.astype(str), pa.string()))
    at = pc.index_in(keys, value_set=tasks.keys)
    matched = pc.fill_null(at, -1).to_numpy(zero_copy_only=False)
    texts = pa.chunked_array([pc.fill_null(column.take(at), "")])
    known_rows = int((matched >= 0).sum())
    if known_rows == 0:
        raise InputError(
            f"None of the tasks in {source.name} (column {task!r}) is among the tasks of the votes. "
            "Is it the right file, and are the ids spelled alike?"
        )
    unused = len(tasks.keys) - len(np.unique(matched[matched >= 0]))
    notebook.add(
        "understood",
        f"The truth of {known_rows:,} of {plural(len(ids), 'row')} comes from column {label!r} of {source.name}; "
        "it is for evaluation only and never used in training.",
        count=known_rows,
    )
    if unused:
        text = f"Left out {plural(unused, 'task')} of {source.name} that nobody voted on."
        notebook.add("left out", text, count=unused)
    return code_truth_texts(label, texts, class_keys, rule, notebook)


def _last_truth_per_task(source: Source, tasks: Names, task: str, label: str) -> pa.Array:
    """Return the true label of each distinct task; two different ones for a task are refused."""
    labels = pa.concat_arrays(source.text(label).chunks)
    keys = canonical(labels).dictionary_encode().indices.to_numpy(zero_copy_only=False)
    named = np.flatnonzero(tasks.codes >= 0)
    row_of = np.full(len(tasks.names), -1, np.int64)
    row_of[tasks.codes[named]] = named
    differs = keys[row_of[tasks.codes[named]]] != keys[named]
    if differs.any():
        at = int(named[np.argmax(differs)])
        raise InputError(
            f"{source.name} gives two different true labels for the task {source.table[task][at].as_py()!r} "
            f"(one in row {at + 1:,}). Keep one of them."
        )
    return labels.take(pa.array(row_of, mask=row_of < 0))
