"""Argilla as Parquet: a dataset in flat columns, its answers in lists.

How many values its lists hold is told by the metadata, and texts are read as dictionaries; so both are bounded before
anything is unpacked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from deem_core.errors import InputError
from deem_core.readers import parquet
from deem_core.readers.bounds import Packed
from deem_core.readers.formats import argilla
from deem_core.readers.formats.arrow import class_names, rows_of, with_names
from deem_core.readers.formats.content import Content, as_text
from deem_core.readers.notes import Note
from deem_core.text import count, quoted

Part = tuple[Packed, pq.ParquetFile]
"""A file that is open."""


def is_argilla(path: str | os.PathLike[str]) -> bool:
    """Tell whether a Parquet file is a dataset of Argilla."""
    try:
        return argilla.is_flat(pq.read_schema(path).names)
    except (pa.ArrowException, OSError, UnicodeDecodeError):  # whoever reads it says what is wrong
        return False


def read_parts(parts: Sequence[Part], packed: Packed, wish: str | None) -> Content:
    """Return the responses in files of the same columns.

    Parameters
    ----------
    parts : sequence of (Packed, ParquetFile)
    packed : Packed
        All of them together.
    wish : str, optional
        Of several questions, the one to be read.

    Raises
    ------
    InputError
        If the columns differ, or they take more memory than they may.
    """
    schema = parts[0][1].schema_arrow
    if any(file.schema_arrow.names != schema.names for _, file in parts[1:]):
        raise InputError(f"The Parquet files of {packed.name!r} have different columns.")
    kept = _kept(schema)
    left = [name for name in schema.names if name not in kept]
    content = argilla.read_flat(_rows(parts, kept), packed, "parquet", wish)
    if not left:
        return content
    told = f"Left out {count(len(left), 'column')} of lists or objects that hold no answers: {quoted(left)}."
    return Content(
        **{**vars(content), "notes": (*content.notes, Note("left out", told, len(left)))},
    )


def _kept(schema: pa.Schema) -> list[str]:
    """Return columns that are plain, or lists of answers."""
    answers = {name for name in argilla.question_columns(schema.names) if name in parquet.list_columns(schema)}
    plain = set(parquet.plain_columns(schema))
    return [name for name in schema.names if name in plain or name in answers]


def _rows(parts: Sequence[Part], kept: Sequence[str]) -> Iterator[dict[str, Any]]:
    for packed, file in parts:
        parquet.check_rows(file, packed)
        yield from rows_of(_data_as_text(parquet.read_lists(file, packed, kept)))


def _data_as_text(table: pa.Table) -> pa.Table:
    """Return a table whose data are text; what cannot be is empty."""
    answers, names = set(argilla.question_columns(table.column_names)), class_names(table.schema.metadata)
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        text = None if name in answers else as_text(column)
        columns.append(column if name in answers else _empty(len(column)) if text is None else text)
        if name in names and text is not None:
            columns[-1] = with_names(text, names[name])
    return pa.table(columns, names=table.column_names)


def _empty(n: int) -> pa.ChunkedArray:
    return pa.chunked_array([pa.nulls(n, pa.string())])
