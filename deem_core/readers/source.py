"""The source table: a file's original cells as text, with clean column names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deem_core.errors import InputError
from deem_core.labels import is_whole_number
from deem_core.readers import decode, parse
from deem_core.readers.report import Notebook, listing, plural

UNNAMED = "(unnamed)"
"""Stands for the empty header cell that pandas writes above its index."""


@dataclass(frozen=True)
class Source:
    """A file as it came.

    Attributes
    ----------
    name : str
        File name, for messages.
    table : pyarrow.Table
        Every cell as text exactly as it was spelled; columns of labels are dictionary-encoded.
    header : tuple of str
        The header cells as they were spelled (names in ``table`` are trimmed).
    encoding, delimiter, compression : str or None
    """

    name: str
    table: pa.Table
    header: tuple[str, ...]
    encoding: str
    delimiter: str | None
    compression: str | None

    @property
    def columns(self) -> list[str]:
        """The column names, trimmed."""
        return list(self.table.column_names)

    def text(self, column: str) -> pa.ChunkedArray:
        """Return a column's cells as plain text."""
        return plain_text(self.table[column])


def plain_text(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Undo the dictionary encoding of a column, if it has one."""
    return cells.cast(pa.string()) if pa.types.is_dictionary(cells.type) else cells


def open_source(file: Any, notebook: Notebook) -> Source:
    """Read a file into a table of text and check its header."""
    raw = decode.load(file)
    if raw.is_parquet:
        source = _from_parquet(raw, notebook)
    else:
        text = decode.decode(raw)
        parsed = parse.parse(raw.name, text.data)
        names, columns = _clean_header(raw.name, parsed.header, parsed.columns, notebook)
        source = Source(
            raw.name, pa.table(columns, names=names), parsed.header, text.encoding, parsed.delimiter, raw.compression
        )
        _note_text(text, parsed, notebook)
    if not source.table.num_columns or not source.table.num_rows:
        raise InputError(
            f"{source.name} has a header but no rows below it. Bring a file with at least one row of votes."
        )
    return source


def _note_text(text: decode.Text, parsed: parse.Parsed, notebook: Notebook) -> None:
    if text.doubt:
        notebook.add("warning", text.doubt)
    if parsed.n_blank_lines:
        notebook.add("changed", f"Skipped {plural(parsed.n_blank_lines, 'blank line')}.", count=parsed.n_blank_lines)


def _clean_header(
    name: str, header: tuple[str, ...], columns: list[pa.ChunkedArray], notebook: Notebook
) -> tuple[list[str], list[pa.ChunkedArray]]:
    """Trim the names; refuse repeated ones; drop nameless columns that are empty."""
    names, kept = [], []
    for position, (cell, column) in enumerate(zip(header, columns, strict=True)):
        trimmed = cell.strip()
        if not trimmed and position > 0:
            if pc.all(pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(plain_text(column))), 0)).as_py() is not False:
                notebook.add("left out", f"Column {position + 1} has no name and no values; it was left out.", count=1)
                continue
            trimmed = f"column {position + 1}"
        names.append(trimmed or UNNAMED)
        kept.append(column)
    _refuse_repeated(name, names)
    return names, kept


def _refuse_repeated(file: str, names: list[str]) -> None:
    seen: dict[str, int] = {}
    for position, name in enumerate(names):
        if name in seen:
            hint = " Is the header line missing?" if all(is_whole_number(other) for other in names) else ""
            raise InputError(
                f"{file} has two columns named {name!r} (columns {seen[name] + 1} and {position + 1}). "
                f"Rename one of them.{hint}"
            )
        seen[name] = position


def _from_parquet(raw: decode.Raw, notebook: Notebook) -> Source:
    try:
        table = pq.read_table(pa.BufferReader(raw.data), use_pandas_metadata=False)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{raw.name} is a damaged Parquet file. Write it again. ({_first_line(error)})") from None
    columns, names, nested = [], [], []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_nested(column.type):
            nested.append(name)
        else:
            columns.append(_as_text(column))
            names.append(name)
    for name in nested:
        notebook.leave_out(name, "its cells are lists or records, not labels.")
    if not names:
        raise InputError(f"{raw.name} has no plain columns; its columns {listing(nested)} hold lists or records.")
    cleaned, kept = _clean_header(raw.name, tuple(names), columns, notebook)
    return Source(raw.name, pa.table(kept, names=cleaned), tuple(names), "parquet", None, raw.compression)


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a typed column as text: null as the empty cell, booleans as Python spells them."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_boolean(column.type):
        column = pc.if_else(column, "True", "False")
    elif pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        column = column.cast(pa.large_binary())
    try:
        text = column.cast(pa.string())
    except pa.ArrowException as error:
        raise InputError(f"A column of type {column.type} cannot be read as text. ({_first_line(error)})") from None
    return pc.fill_null(text, "")


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
