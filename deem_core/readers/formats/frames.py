"""Frames of Python as columns of text."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa

from deem_core.errors import InputError
from deem_core.readers.bounds import Packed
from deem_core.readers.formats.arrow import table_content
from deem_core.readers.formats.content import Content
from deem_core.votes.frames import as_table


def read_frame(X: Any, wish: str | None) -> tuple[str, Content]:
    """Return what a frame is called, and its columns of text.

    The index of pandas becomes a column unless it only counts the rows.
    """
    name = type(X).__name__
    table = _of_pandas(X) if isinstance(X, pd.DataFrame) else as_table(X)
    title = f"{type(X).__module__.partition('.')[0]} {type(X).__name__}"
    content = table_content(Packed(name, 0), table, wish, title=title)
    return name, Content(content.columns, "frame", title, "frame", content.roles, content.choice, content.notes)


def _of_pandas(frame: pd.DataFrame) -> pa.Table:
    names = [str(name) for name in frame.columns]
    columns = [_column(frame.iloc[:, position]) for position in range(frame.shape[1])]
    index = frame.index
    counts = isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1
    if isinstance(index, pd.MultiIndex):
        raise InputError("The frame has an index of several levels. Use frame.reset_index() first.")
    if not counts:
        name = str(index.name) if index.name is not None and str(index.name) not in names else "id"
        if name not in names:
            names.insert(0, name)
            columns.insert(0, _column(pd.Series(index)))
    return pa.Table.from_arrays(columns, names=names)


def _column(values: pd.Series) -> pa.ChunkedArray:
    """Return a column, as text where its types are mixed.

    So are spans, of which Arrow spells the number only.
    """
    try:
        if _is_span(values):
            raise TypeError
        array = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        texts = ["" if missing else str(value) for value, missing in zip(values, values.isna(), strict=True)]
        array = pa.array(texts, pa.string())
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def _is_span(values: pd.Series) -> bool:
    """Tell months, bins and spans of time, also as categories."""
    kind = values.dtype
    kind = kind.categories.dtype if isinstance(kind, pd.CategoricalDtype) else kind
    return isinstance(kind, (pd.PeriodDtype, pd.IntervalDtype)) or kind.kind == "m"
