"""Arrow: files, streams and tables as columns of text.

Feather files are Arrow files. What Hugging Face datasets say of a column's classes is found in the schema.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc

from deem_core.errors import InputError
from deem_core.readers.bounds import Packed
from deem_core.readers.formats import argilla
from deem_core.readers.formats.content import Content, as_text, told_type
from deem_core.readers.notes import Note
from deem_core.readers.parquet import check_texts, first_line
from deem_core.readers.parse import MAX_COLUMNS
from deem_core.text import count, quoted
from deem_core.votes.frames import plain

FILE, STREAM = b"ARROW1", b"\xff\xff\xff\xff"

_FRAMES = re.compile(rb"\x28\xb5\x2f\xfd|\x04\x22\x4d\x18")  # how zstd and lz4 begin
_UNPACKED = struct.Struct("<q")  # the size that stands before each packed buffer
_MOST_CLASSES = 1_000_000


def is_arrow(data: bytes) -> bool:
    """Tell an Arrow file or stream by how it begins."""
    return data.startswith((FILE, STREAM))


def read_arrow(name: str, data: bytes, size: int, wish: str | None = None) -> Content:
    """Return an Arrow file or stream as columns of text."""
    packed = Packed(name, size)
    return table_content(packed, open_table(packed, data), wish)


def open_table(packed: Packed, data: bytes) -> pa.Table:
    """Return the table of an Arrow file or stream, checked.

    Raises
    ------
    InputError
        If it is damaged, or unpacks to more than it may.
    """
    _check_packed(packed, data)
    try:
        with pa.ipc.open_file(data) if data.startswith(FILE) else pa.ipc.open_stream(data) as reader:
            schema = reader.schema
            if len(schema) > MAX_COLUMNS:
                raise InputError(f"{packed.name} has {len(schema):,} columns; at most {MAX_COLUMNS:,} can be read.")
            batches, rows = [], 0
            for batch in _batches(reader):
                rows += batch.num_rows
                packed.check_cells(rows * len(schema), rows=rows)
                batch.validate(full=True)
                batches.append(batch)
            return pa.Table.from_batches(batches, schema)
    except UnicodeDecodeError:
        raise InputError(
            f"{packed.name} has a column name that is not UTF-8 text. Rename it and write it again."
        ) from None
    except (pa.ArrowException, OSError, OverflowError, MemoryError, EOFError) as error:
        raise InputError(
            f"{packed.name} is a damaged Arrow file. Write it again. ({first_line(error)[:120]})"
        ) from None


def table_content(
    packed: Packed,
    table: pa.Table,
    wish: str | None,
    *,
    title: str = "Arrow",
    known: Mapping[str, Sequence[str]] | None = None,
) -> Content:
    """Return a table as columns of text.

    Parameters
    ----------
    packed : Packed
    table : pyarrow.Table
    wish : str, optional
        Of several questions of a dataset of Argilla, the one to be read.
    title : str
    known : mapping, optional
        Column → the names of its classes; by default what the schema says.
    """
    if argilla.is_flat(table.column_names):
        return argilla.read_flat(rows_of(table), packed, "arrow", wish)
    names = class_names(table.schema.metadata) if known is None else known
    columns: dict[str, pa.ChunkedArray] = {}
    notes: list[Note] = []
    for position, field in enumerate(table.schema):
        column = table.column(position)
        check_texts(column, packed)
        _check_views(column, packed)
        whole = pa.types.is_nested(field.type) and not pa.types.is_run_end_encoded(field.type)
        text = as_text(column if whole else plain(column))
        if text is None:
            why = f"its cells ({told_type(field.type)}) are not labels."
            notes.append(Note("left out", f"Column {field.name!r} was left out: {why}", 1, column=field.name))
        else:
            name = field.name
            while name in columns:  # refused by its name, later
                name += " "
            columns[name] = with_names(text, names.get(field.name))
    notes += note_names(name for name in columns if name in names)
    if not columns:
        raise InputError(f"{packed.name} has no column that can be read as labels. Write one column per learner.")
    return Content(columns, "arrow", title, "arrow", notes=tuple(notes))


def class_names(metadata: Mapping[bytes, bytes] | None) -> dict[str, list[str]]:
    """Return the class names that a Hugging Face schema tells, by column."""
    try:
        told = json.loads((metadata or {}).get(b"huggingface", b"{}"))
        return names_of_features(told["info"]["features"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


def names_of_features(features: Any) -> dict[str, list[str]]:
    """Return the names of the columns that are class labels."""
    if not isinstance(features, dict):
        return {}
    found = {}
    for column, feature in features.items():
        names = feature.get("names") if isinstance(feature, dict) and feature.get("_type") == "ClassLabel" else None
        if isinstance(names, list) and len(names) <= _MOST_CLASSES and all(isinstance(name, str) for name in names):
            found[column] = names
    return found


def with_names(text: pa.ChunkedArray, names: Sequence[str] | None) -> pa.ChunkedArray:
    """Return numbers of classes as their names; -1 is no class."""
    if not names:
        return text
    keys = pa.array([*map(str, range(len(names))), "-1"], pa.string())
    spelled = pa.array([*names, ""], pa.string())
    made = [pc.coalesce(spelled.take(pc.index_in(chunk, keys)), chunk) for chunk in text.chunks]
    return pa.chunked_array(made, pa.string())


def note_names(columns: Iterable[str]) -> list[Note]:
    """Note whose classes are named by the dataset."""
    used = list(columns)
    return [Note("understood", f"Class names of {quoted(used)} come from the dataset.", len(used))] if used else []


def rows_of(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield rows as Python values, a few made at a time."""
    for batch in table.to_batches(max_chunksize=1000):
        yield from batch.to_pylist()


def _batches(reader: Any) -> Iterator[pa.RecordBatch]:
    if hasattr(reader, "num_record_batches"):
        yield from (reader.get_batch(at) for at in range(reader.num_record_batches))
    else:
        yield from reader


def _check_packed(packed: Packed, data: bytes) -> None:
    """Refuse packed buffers by the sizes that stand before them."""
    total = 0
    for found in _FRAMES.finditer(data):
        if found.start() >= _UNPACKED.size:
            (size,) = _UNPACKED.unpack_from(data, found.start() - _UNPACKED.size)
            total += max(size, 0)
    what = f"{count(total, 'byte')}"
    packed.check_growth(total, what)
    packed.check_memory(total, what)


def _check_views(column: pa.ChunkedArray, packed: Packed) -> None:
    """Refuse views that share a text too long to write out."""
    if pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type):
        total = sum(map(_view_bytes, column.chunks))
        packed.check_growth(2 * total, "long texts")
        packed.check_memory(2 * total, "long texts")


def _view_bytes(chunk: pa.Array) -> int:
    """Return the letters of all views: the first number of each."""
    views = np.frombuffer(chunk.buffers()[1], np.int32).reshape(-1, 4)
    return int(views[chunk.offset : chunk.offset + len(chunk), 0].astype(np.int64).sum())
