"""Memory: whether a file is read whole or in parts."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from deem_core.readers.bounds import free_memory
from deem_core.readers.stream import HEAD_BYTES, Stream, is_read_whole, open_stream

BYTES_PER_CELL = 60
"""Peak of reading and fusing a file whole, per cell of it (benchmarks/bench_large.py measures it)."""

MOST_BYTES = 4_000_000_000
"""A file that takes more than this whole is read in parts, however much memory there is."""

FREE_SHARE = 0.5
"""Share of the free memory that a file read whole may take."""

_GZIP_RATIO = 8  # how much larger a table of labels is, unpacked; a guess


def needs_parts(path: str | os.PathLike[str], *, delimiter: str | None = None, encoding: str | None = None) -> bool:
    """Tell whether a file is too large to be read whole.

    By its size in cells: more than `MOST_BYTES`, or `FREE_SHARE` of the free memory.
    """
    size = os.path.getsize(path) if os.path.isfile(path) else 0
    least = min(MOST_BYTES, FREE_SHARE * free_memory())
    if size * BYTES_PER_CELL * _GZIP_RATIO < least and not _is_parquet(path):  # each cell takes a byte at least
        return False
    if is_read_whole(path):  # JSON, say
        return False
    return BYTES_PER_CELL * cells(open_stream(path, delimiter=delimiter, encoding=encoding)) > least


def _is_parquet(path: str | os.PathLike[str]) -> bool:
    try:
        with Path(path).open("rb") as file:
            return file.read(4) == b"PAR1"
    except OSError:  # the reader says what is wrong
        return False


def cells(stream: Stream) -> int:
    """Return the cells of a file.

    Of Parquet as it says, of text by the length of its first lines.
    """
    if stream.delimiter is None:
        return int(pq.read_metadata(stream.path).num_rows) * len(stream.columns)
    with pa.input_stream(str(stream.path), compression=stream.compression) as file:
        head = file.read(HEAD_BYTES)
    lines = max(head.count(b"\n"), 1)
    size = stream.path.stat().st_size * (_GZIP_RATIO if stream.compression else 1)
    return int(size / len(head) * lines) * len(stream.columns)
