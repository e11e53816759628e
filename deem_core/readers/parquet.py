"""Parquet: a file opened, and its sizes checked before it is read.

A few bytes may stand for millions of rows, or for the same long text in every row: the first is told by the metadata,
the second by reading texts as dictionaries.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deem_core.errors import InputError
from deem_core.readers.bounds import BYTES_PER_CELL, Packed
from deem_core.readers.parse import MAX_COLUMNS
from deem_core.readers.records import BYTES_PER_CELL as BYTES_PER_VALUE
from deem_core.text import count

_BUFFER = 1 << 20  # bytes read at once from a path: row groups may be larger than memory


@contextmanager
def opened(name: str, file: bytes | os.PathLike[str]) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file whose texts come as dictionaries.

    Whatever goes wrong while it is open is told as damage.

    Raises
    ------
    InputError
        If it is damaged, has too many columns, or a name that is no text.
    """
    try:
        path = None if isinstance(file, bytes) else file
        source = file if path is not None else pa.BufferReader(file)
        options = {} if path is None else {"buffer_size": _BUFFER, "pre_buffer": False}
        with pq.ParquetFile(source, **options) as parquet:
            metadata = parquet.metadata
            if metadata.num_columns > MAX_COLUMNS:
                raise InputError(f"{name} has {metadata.num_columns:,} columns; at most {MAX_COLUMNS:,} can be read.")
            texts = _texts(parquet)
            if not texts:
                yield parquet
                return
        source = file if path is not None else pa.BufferReader(file)
        with pq.ParquetFile(source, read_dictionary=texts, metadata=metadata, **options) as parquet:
            yield parquet
    except UnicodeDecodeError:
        raise InputError(
            f"{name} has a column name that is not UTF-8 text, so it is damaged or was written by a faulty program. "
            "Rename its columns and write it again."
        ) from None
    except (pa.ArrowException, OSError, OverflowError, MemoryError) as error:
        raise InputError(f"{name} is a damaged Parquet file. Write it again. ({first_line(error)})") from None


def plain_columns(schema: pa.Schema) -> list[str]:
    """Return the columns that are neither lists nor objects."""
    return [field.name for field in schema if not pa.types.is_nested(_stored(field.type))]


def check_rows(parquet: pq.ParquetFile, packed: Packed) -> None:
    """Refuse a file whose metadata tells more cells than may be read."""
    metadata, schema = parquet.metadata, parquet.schema_arrow
    rows, columns = max(metadata.num_rows, 0), len(plain_columns(schema))
    wide = sum(field.type.byte_width for field in schema if pa.types.is_fixed_size_binary(field.type))
    # Pages are unpacked one by one, but a text page is held whole beside the texts made of it.
    pages = sum(max(metadata.row_group(group).total_byte_size, 0) for group in range(metadata.num_row_groups))
    packed.check_cells(rows * columns, wide * rows + pages, rows=rows)


def check_lists(parquet: pq.ParquetFile, packed: Packed, columns: Collection[str]) -> None:
    """Refuse lists of which the metadata tells too many values."""
    metadata, total = parquet.metadata, 0
    places = [place for name, leaves in _leaves(parquet.schema_arrow) if name in columns for place in leaves]
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        total += sum(max(group.column(place).num_values, 0) for place in places)
    what = f"{count(total, 'value')} in lists"
    packed.check_growth(total * BYTES_PER_VALUE, what)
    packed.check_memory(total * BYTES_PER_VALUE, what)


def read_lists(parquet: pq.ParquetFile, packed: Packed, columns: Sequence[str]) -> pa.Table:
    """Return columns of labels, or of lists of labels, within bounds.

    Raises
    ------
    InputError
        If they take more memory than they may.
    """
    check_lists(parquet, packed, columns)
    table = parquet.read(list(columns), use_pandas_metadata=False).select(list(columns))
    table.validate(full=True)
    for column in table.columns:
        inner = column
        while _is_list(inner.type):
            inner = pa.chunked_array([chunk.flatten() for chunk in inner.chunks], inner.type.value_type)
        check_texts(inner, packed)
    return table


def list_columns(schema: pa.Schema) -> list[str]:
    """Return the columns that are lists of labels, however deep."""
    return [field.name for field in schema if _is_list(field.type) and not pa.types.is_nested(_innermost(field.type))]


def check_suspicious_rows(parquet: pq.ParquetFile, packed: Packed) -> None:
    """Refuse more rows in each byte than tables have.

    For files that are read in parts, which may hold more than memory does.
    """
    rows = max(parquet.metadata.num_rows, 0)
    cells = rows * len(plain_columns(parquet.schema_arrow))
    packed.check_growth(cells * BYTES_PER_CELL, f"{count(rows, 'row')} with {count(cells, 'cell')}")


def check_texts(column: pa.ChunkedArray, packed: Packed) -> None:
    """Refuse texts that are much longer, written out, than their file."""
    if not pa.types.is_dictionary(column.type):
        return
    total = 0
    for chunk in column.chunks:
        if not _is_text(chunk.type.value_type):
            return
        lengths = pc.fill_null(pc.binary_length(chunk.dictionary), 0).to_numpy(zero_copy_only=False).astype(np.int64)
        used = chunk.indices.drop_null().to_numpy(zero_copy_only=False)
        if len(used) and not (used.min() >= 0 and used.max() < len(lengths)):
            raise pa.ArrowInvalid("a cell points beyond the texts of its column")
        total += int(np.bincount(used, minlength=len(lengths)) @ lengths) if len(used) else 0
    packed.check_growth(2 * total, "long texts")
    packed.check_memory(2 * total, "long texts")


def first_line(error: Exception) -> str:
    """Return the first line of what Arrow says of an error."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _texts(parquet: pq.ParquetFile) -> list[str]:
    """Return the paths of all columns of text, in lists too."""
    schema = parquet.schema_arrow
    texts = {field.name for field in schema if _is_text(_innermost(field.type))}
    return [parquet.schema.column(place).path for name, leaves in _leaves(schema) if name in texts for place in leaves]


def _leaves(schema: pa.Schema) -> Iterator[tuple[str, range]]:
    """Yield columns with the places of their leaves in the file.

    A list has one, an object has several.
    """
    start = 0
    for field in schema:
        end = start + _n_leaves(field.type)
        yield field.name, range(start, end)
        start = end


def _n_leaves(kind: pa.DataType) -> int:
    kind = _stored(kind)
    if not pa.types.is_nested(kind):
        return 1
    return sum(_n_leaves(kind.field(at).type) for at in range(kind.num_fields))


def _stored(kind: pa.DataType) -> pa.DataType:
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def _innermost(kind: pa.DataType) -> pa.DataType:
    while _is_list(kind):
        kind = kind.value_type
    return kind


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )
