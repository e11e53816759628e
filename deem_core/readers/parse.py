"""Text to table: finds the delimiter, reads every cell as text, and says on which line a file breaks."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.csv as pacsv

from deem_core.errors import InputError

DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "pipe"}
"""Delimiters in the order in which a tie is decided."""

_SAMPLE_BYTES = 1 << 18
_SAMPLE_RECORDS = 500
_REPEATS_FROM = 50  # cells; with fewer it is too early to tell whether a column repeats itself
_BLOCK = 1 << 22


@dataclass(frozen=True)
class Parsed:
    """A table of text cells.

    Attributes
    ----------
    header : tuple of str
        Names as they were spelled.
    columns : list of string arrays, one per name
        Dictionary-encoded where cells repeat, which halves time and memory for columns of labels.
    delimiter : str
    n_blank_lines : int
        Empty lines that were skipped.
    """

    header: tuple[str, ...]
    columns: list[pa.ChunkedArray]
    delimiter: str
    n_blank_lines: int


def parse(name: str, data: bytes) -> Parsed:
    """Read delimited UTF-8 text; every cell stays text."""
    if data[:1] in (b"\r", b"\n"):
        data = data.lstrip(b"\r\n")
    if not data or data.isspace():
        raise InputError(f"{name} is blank: it holds only white space. Bring a file with a header and rows.")
    delimiter = find_delimiter(data)
    header, *first = [cells for _, cells in itertools.islice(_records(_head(data), delimiter), _SAMPLE_RECORDS)]
    _refuse_open_quote(name, data, delimiter)
    table = _read(name, data, delimiter, _column_types(header, first))
    return Parsed(tuple(header), table.columns, delimiter, _count_blank_lines(data, delimiter, table.num_rows))


def find_delimiter(data: bytes) -> str:
    """Return the delimiter under which most records have as many cells as the header has."""
    sample = _head(data)
    best, best_score = ",", (0.0, 0)
    for delimiter in DELIMITERS:
        widths = [len(cells) for _, cells in itertools.islice(_records(sample, delimiter), _SAMPLE_RECORDS)]
        if not widths or widths[0] < 2:
            continue
        regular = sum(width == widths[0] for width in widths) / len(widths)
        if (regular, widths[0]) > best_score:
            best, best_score = delimiter, (regular, widths[0])
    return best


def _head(data: bytes) -> bytes:
    """Return the beginning of a file, cut after a whole line."""
    head = data[:_SAMPLE_BYTES]
    return head[: head.rindex(b"\n")] if len(head) < len(data) and b"\n" in head else head


def _column_types(header: list[str], first: list[list[str]]) -> list[pa.DataType]:
    """Return text for every column, dictionary-encoded if its first cells repeat."""
    types = []
    for position in range(len(header)):
        cells = [cells[position] for cells in first if position < len(cells)]
        repeats = len(cells) >= _REPEATS_FROM and len(set(cells)) <= len(cells) / 2
        types.append(pa.dictionary(pa.int32(), pa.string()) if repeats else pa.string())
    return types


def _records(data: bytes, delimiter: str, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Yield (last line number, cells) of every record that is not blank, by Python's slow and exact reader."""
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="replace", newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=strict)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            if strict:
                raise
            return
        if cells:
            yield reader.line_num, cells


def _read(name: str, data: bytes, delimiter: str, types: list[pa.DataType], block_size: int = _BLOCK) -> pa.Table:
    names = [str(position) for position in range(len(types))]  # header names may repeat, positions do not
    try:
        return pacsv.read_csv(
            pa.BufferReader(data),
            read_options=pacsv.ReadOptions(column_names=names, skip_rows_after_names=1, block_size=block_size),
            parse_options=pacsv.ParseOptions(delimiter=delimiter, newlines_in_values=b'"' in data),
            convert_options=pacsv.ConvertOptions(
                column_types=dict(zip(names, types, strict=True)), strings_can_be_null=False, check_utf8=False
            ),
        )
    except pa.ArrowInvalid as error:
        if "straddling" in str(error) and block_size < len(data):  # a cell longer than a block
            return _read(name, data, delimiter, types, block_size=len(data) + 1)
        raise InputError(_why_broken(name, data, delimiter, len(types))) from error


def _why_broken(name: str, data: bytes, delimiter: str, width: int) -> str:
    for line, cells in _records(data, delimiter):
        if len(cells) != width:
            found = "1 cell" if len(cells) == 1 else f"{len(cells):,} cells"
            return (
                f"Line {line:,} of {name} has {found} but the header has {width:,} "
                f"(delimiter: {DELIMITERS[delimiter]}). Mend that line, or quote the cells that hold the delimiter."
            )
    return f"{name} cannot be read as a table with the delimiter {DELIMITERS[delimiter]}. Export it again as CSV."


def _refuse_open_quote(name: str, data: bytes, delimiter: str) -> None:
    """Refuse a quote that is never closed: it would swallow all rows after it."""
    if data.count(b'"') % 2 == 0:
        return
    last = 0
    try:
        for line, _ in _records(data, delimiter, strict=True):
            last = line
    except csv.Error as error:
        if "end of data" in str(error) or "limit" in str(error):
            raise InputError(
                f"A quoted cell that begins on line {last + 1:,} of {name} is never closed. "
                'Add the missing ", or double the quotes that are part of the text.'
            ) from None


def _count_blank_lines(data: bytes, delimiter: str, n_rows: int) -> int:
    """Return the empty lines between rows: lines that are neither header, row, nor part of a quoted cell."""
    end = len(data)
    while data[end - 1 : end] in (b"\r", b"\n"):
        end -= 1
    newline = b"\n" if b"\n" in data else b"\r"
    surplus = data.count(newline, 0, end) - n_rows  # the header's own line ends the count even
    if surplus <= 0 or b'"' not in data:
        return max(surplus, 0)
    text = io.TextIOWrapper(io.BytesIO(data[:end]), encoding="utf-8", newline="")
    return sum(not cells for cells in csv.reader(text, delimiter=delimiter))
