"""Parquet: a file opened, and its sizes checked before it is read.

A few bytes may stand for millions of rows, or for the same long text in every row: the first is told by the metadata,
the second by reading texts as dictionaries.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deem_core.errors import InputError
from deem_core.readers.bounds import BYTES_PER_CELL, Packed
from deem_core.readers.parse import MAX_COLUMNS
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
            texts = _texts(parquet.schema_arrow)
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
    return [field.name for field in schema if not pa.types.is_nested(field.type)]


def check_rows(parquet: pq.ParquetFile, packed: Packed) -> None:
    """Refuse a file whose metadata tells more cells than may be read."""
    metadata, schema = parquet.metadata, parquet.schema_arrow
    rows, columns = max(metadata.num_rows, 0), len(plain_columns(schema))
    wide = sum(field.type.byte_width for field in schema if pa.types.is_fixed_size_binary(field.type))
    # Pages are unpacked one by one, but a text page is held whole beside the texts made of it.
    pages = sum(max(metadata.row_group(group).total_byte_size, 0) for group in range(metadata.num_row_groups))
    packed.check_cells(rows * columns, wide * rows + pages, rows=rows)


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


def _texts(schema: pa.Schema) -> list[str]:
    return [field.name for field in schema if _is_text(field.type)]


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )
