"""Frames: pandas, Polars and Arrow tables as votes.

Any object with the Arrow C stream interface is a frame. Labels keep their types: whole numbers beside missing ones stay
whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from deem_core.errors import InputError
from deem_core.text import clip
from deem_core.votes.table import Votes

LONG = frozenset({"task", "worker", "label"})
"""Columns of a long frame, as crowd-kit has them; others beside them are left out."""

IDS = ("id",)
TRUTHS = frozenset({"truth", "ground_truth", "gold", "label", "labels", "y_true", "true_label"})
"""Columns that may be the truth; of a frame without an index they are not taken for a learner."""


def is_frame(X: Any) -> bool:
    """Tell frames from arrays, lists and Votes.

    Raises
    ------
    InputError
        If it is a frame whose rows are not there yet.
    """
    if type(X).__name__ == "LazyFrame" and hasattr(X, "collect"):
        raise InputError("A LazyFrame holds no rows yet. Pass what its collect() returns.")
    return isinstance(X, pd.DataFrame) or hasattr(X, "__arrow_c_stream__")


def frame_votes(X: Any, *, classes: Sequence[Any] | None = None) -> Votes:
    """Return the votes of a frame.

    Parameters
    ----------
    X : frame
        With a column per learner, or with the columns task, worker and label, of which pandas may have task as its
        index. The index of pandas, or the column
        ``id`` of others, names the rows.
    classes : sequence, optional

    Raises
    ------
    InputError
        If it has no labels, or a column that may be the truth.
    """
    if isinstance(X, pd.DataFrame):
        if X.index.name == "task" and "task" not in X.columns:
            long = X.reset_index()
            X = long if set(map(str, long.columns)) >= LONG else X
        if {str(name) for name in X.columns} >= LONG and X.columns.is_unique:
            X = X.rename(columns=str)[sorted(LONG)]
            columns = {str(name): X[name].astype(object).where(X[name].notna(), None).to_numpy() for name in X.columns}
            return _long(columns, classes)
        return Votes.from_frame(X, classes=classes)
    table = as_table(X)
    names = table.column_names
    if set(names) >= LONG and len(set(names)) == len(names):
        return _long({name: _values(name, table[name]) for name in LONG}, classes)
    row_id = next((name for name in names if name in IDS), None)
    truth = next((name for name in names if name.casefold() in TRUTHS), None)
    if truth is not None:
        raise InputError(
            f"Column {truth!r} of the frame may be the truth. Leave it out, or use read_votes(frame), which tells "
            "columns apart."
        )
    learners = [name for name in names if name != row_id]
    if len(set(names)) < len(names):
        raise InputError("The frame has two columns of the same name. Rename one of them.")
    if not learners:
        raise InputError("The frame has no column of votes.")
    labels = np.empty((table.num_rows, len(learners)), object)
    for j, name in enumerate(learners):
        labels[:, j] = _values(name, table[name])
    ids = None if row_id is None else _values(row_id, table[row_id]).tolist()
    return Votes.from_labels(labels, learners=learners, ids=ids, classes=classes)


def as_table(X: Any) -> pa.Table:
    """Return a frame as an Arrow table."""
    try:
        return X if isinstance(X, pa.Table) else pa.table(X)
    except (pa.ArrowException, TypeError, ValueError) as error:
        told = clip(str(error).splitlines()[0] if str(error) else type(error).__name__, 120)
        raise InputError(f"The {type(X).__name__} cannot be read as a table ({told}).") from None


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without the layouts that few functions know."""
    if pa.types.is_run_end_encoded(column.type):
        return plain(pa.chunked_array([pc.run_end_decode(chunk) for chunk in column.chunks], column.type.value_type))
    if pa.types.is_dictionary(column.type):
        if not _is_view(column.type.value_type):
            return pa.chunked_array([chunk.dictionary_decode() for chunk in column.chunks], column.type.value_type)
        chunks = [chunk.dictionary.cast(pa.large_string()).take(chunk.indices) for chunk in column.chunks]
        return pa.chunked_array(chunks, pa.large_string())
    return column.cast(pa.large_string()) if _is_view(column.type) else column


def _is_view(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string_view(kind) or pa.types.is_binary_view(kind))


def _values(name: str, column: pa.ChunkedArray) -> NDArray[Any]:
    """Return a column as Python values, each distinct one made once, (n,)."""
    try:
        encoded = plain(column).combine_chunks().dictionary_encode()
        values = [*encoded.dictionary.to_pylist(), None]
    except (pa.ArrowException, NotImplementedError):
        raise InputError(f"Column {name!r} of the frame ({clip(str(column.type), 60)}) holds no labels.") from None
    distinct = np.empty(len(values), object)
    distinct[:] = values
    found: NDArray[Any] = distinct[encoded.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False)]
    return found


def _long(columns: dict[str, NDArray[Any]], classes: Sequence[Any] | None) -> Votes:
    """Return votes of one answer per row; a worker's last answer counts."""
    tasks, ids = pd.factorize(columns["task"])
    workers, names = pd.factorize(columns["worker"])
    labels = np.full((len(ids), len(names)), None, object)
    named = (tasks >= 0) & (workers >= 0)
    labels[tasks[named], workers[named]] = columns["label"][named]
    return Votes.from_labels(labels, learners=[str(name) for name in names], ids=list(ids), classes=classes)
