"""Parsing: delimited text to a table of text cells."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from deem_core.errors import InputError
from deem_core.readers.bounds import Packed
from deem_core.text import count

DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "pipe"}
"""Delimiters in the order in which a tie is decided."""

MAX_COLUMNS = 5_000

LONGEST_CELL = 1 << 24
"""Letters of a cell that Python's reader takes, which holds many times their size; one with more is an open quote."""

REPEATS_FROM = 50
"""Cells; with fewer it is too early to tell whether a column repeats itself."""


def delimiter_of(wish: str) -> str:
    """Return a delimiter from itself or its name.

    Raises
    ------
    InputError
        If it is none of `DELIMITERS`.
    """
    named = {name: sign for sign, name in DELIMITERS.items()}
    sign = wish if wish in DELIMITERS else named.get(wish)
    if sign is None:
        raise InputError(f"{wish[:20]!r} is not a delimiter; it is one of {', '.join(named)}.")
    return sign


_SAMPLE_BYTES = 1 << 18
_SAMPLE_RECORDS = 500
_BLOCK = 1 << 22
_BLANK_END = re.compile(rb"[\r\n]+[ \x1a]*\Z")  # Ctrl-Z ended files once
_MOST_TITLES = 10
"""Lines of text above a table that are told from it."""
_SEPARATOR_LINE = re.compile(rb"\"?sep=(.)\"?\r?\n", re.IGNORECASE)  # Excel's way to name the delimiter


@dataclass(frozen=True)
class Body:
    """What is left of a file without the lines around the table.

    Attributes
    ----------
    name : str
    data : bytes
    lines_before : int
        Lines of the file that were cut off before ``data``.
    end : int
        Where the last line ends; line breaks may follow.
    """

    name: str
    data: bytes
    lines_before: int
    end: int

    @cached_property
    def newline(self) -> bytes:
        """What ends the lines."""
        return b"\n" if b"\n" in self.data else b"\r"

    @cached_property
    def has_quotes(self) -> bool:
        """Whether any cell is quoted."""
        return b'"' in self.data


@dataclass(frozen=True)
class TextTable:
    """A table of text cells.

    Attributes
    ----------
    header : tuple of str
        Names as they were spelled.
    columns : list of string arrays, one per name
        Dictionary-encoded where cells repeat, which halves time and memory for columns of labels.
    delimiter : str
    n_blank_lines, n_above : int
        Empty lines, and lines above the table, that were skipped.
    suspect_rows : tuple of int
        Positions of rows with a quoted cell that holds what looks like whole lines of the table.
    """

    header: tuple[str, ...]
    columns: list[pa.ChunkedArray]
    delimiter: str
    n_blank_lines: int
    n_above: int
    suspect_rows: tuple[int, ...]


def parse(name: str, data: bytes, delimiter: str | None = None, *, packed: int = 0) -> TextTable:
    """Read UTF-8 text into a table; every cell stays text.

    ``packed`` is the size of the file that the text came in.
    """
    if not data or data.isspace():
        raise InputError(f"{name} is blank: it holds only white space. Upload a file with a header and rows.")
    try:
        return _parse(name, data, delimiter, Packed(name, packed))
    except _LongCellError as error:
        raise InputError(
            f"A cell of {name} that begins about line {error.line:,} is longer than {LONGEST_CELL:,} letters: a quote "
            "is probably opened and not closed. Close it, or double the quotes that are part of the text."
        ) from None


def _parse(name: str, data: bytes, delimiter: str | None, packed: Packed) -> TextTable:
    top = find_top(name, data, delimiter)
    body, delimiter = top.body, top.delimiter
    rows = data.count(body.newline)
    packed.check_cells(data.count(delimiter.encode()) + rows, len(data), rows=rows)
    table, n_spaced = _read_or_explain(body, delimiter, _column_types(top.header, top.first))
    n_blank = _count_blank_lines(body, delimiter, table.num_rows) + n_spaced
    n_blank += body.lines_before - top.n_above - top.names_delimiter
    suspects = _suspect_rows(body, table, delimiter)
    return TextTable(top.header, table.columns, delimiter, n_blank, top.n_above, suspects)


@dataclass(frozen=True)
class Top:
    """What the beginning of a file tells of its table.

    Attributes
    ----------
    header : tuple of str
        Names as they were spelled.
    first : list of lists of str
        Cells of the first records below it.
    delimiter : str
    body : Body
    names_delimiter : bool
        Whether a line before the header names the delimiter.
    n_above : int
        Lines of text above the header, and empty ones between.
    """

    header: tuple[str, ...]
    first: list[list[str]]
    delimiter: str
    body: Body
    names_delimiter: bool
    n_above: int


def find_top(name: str, data: bytes, delimiter: str | None = None) -> Top:
    """Find the header and the delimiter of UTF-8 text.

    It may be cut after a line.
    """
    body, excel_delimiter = _cut(name, data)
    if not body.end:
        raise InputError(f"{name} is blank: it holds no header. Upload a file with a header and rows.")
    body, n_above = _without_titles(body, delimiter or excel_delimiter)
    delimiter = delimiter or excel_delimiter or find_delimiter(body.data)
    records = [cells for _, cells in itertools.islice(_records(_head(body.data), delimiter), _SAMPLE_RECORDS)]
    header, *first = records or [next(_records(body.data, delimiter))[1]]
    if len(header) > MAX_COLUMNS:
        end = body.data.find(body.newline)  # the sample may end within the header
        width = max(len(header), body.data.count(delimiter.encode(), 0, end) + 1)
        raise InputError(f"{name} has {width:,} columns; at most {MAX_COLUMNS:,} can be read.")
    return Top(tuple(header), first, delimiter, body, bool(excel_delimiter), n_above)


def find_delimiter(data: bytes) -> str:
    """Return the delimiter that makes records as wide as the header."""
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


def _without_titles(body: Body, delimiter: str | None) -> tuple[Body, int]:
    """Cut off lines of text above the table; return their number."""
    head = _head(body.data)
    plain = delimiter or find_delimiter(head)
    widths = {len(cells) for _, cells in itertools.islice(_records(head, plain), _SAMPLE_RECORDS)}
    known = delimiter is not None or len(widths) == 1 < max(widths)  # else another one may fit below the titles
    n_lines = max(_lines_above(head, sign) for sign in ([plain] if known else DELIMITERS))
    if not n_lines:
        return body, 0
    start = len(head) - len(head.split(body.newline, n_lines)[-1])
    return Body(body.name, body.data[start:], body.lines_before + n_lines, body.end - start), n_lines


def _lines_above(head: bytes, delimiter: str) -> int:
    """Return how many lines stand above the table.

    They have at most two cells, or nothing in all cells but one; the header below them has names that do not recur, as
    labels would.
    """
    records = list(itertools.islice(_records(head, delimiter), _SAMPLE_RECORDS))
    width = len(records[-1][1]) if records else 0
    filled = [sum(bool(cell.strip()) for cell in cells) for _, cells in records]
    at = next((at for at, (_, cells) in enumerate(records) if len(cells) == width and filled[at] > 1), 0)
    header, *rows = (cells for _, cells in records[at:]) if records else ([],)
    titled = all(filled[title] < 2 or len(cells) < min(width, 3) for title, (_, cells) in enumerate(records[:at]))
    if not (0 < at <= _MOST_TITLES and titled and rows) or any(len(row) != width for row in rows):
        return 0
    named = len(set(header)) == filled[at] == width and not any(set(header) & set(row) for row in rows)
    return records[at][0] - 1 if named else 0


def _cut(name: str, data: bytes) -> tuple[Body, str | None]:
    """Cut off blank lines, and Excel's line that names the delimiter."""
    excel_delimiter = None
    start = len(data) - len(data.lstrip(b"\r\n")) if data[:1] in (b"\r", b"\n") else 0
    if match := _SEPARATOR_LINE.match(data, start):
        separator = match.group(1).decode("latin-1")
        excel_delimiter, start = separator if separator in DELIMITERS else None, match.end()
    end = len(data)
    while blank := _BLANK_END.search(data, max(end - 1000, start), end):
        end = blank.start()
    newline = b"\n" if b"\n" in data else b"\r"
    lines_before = data.count(newline, 0, start)
    if start == 0 and not data[end:].strip(b"\r\n"):  # spares a copy of a large file
        return Body(name, data, lines_before, end), excel_delimiter
    return Body(name, data[start:end], lines_before, end - start), excel_delimiter


def _head(data: bytes) -> bytes:
    """Return the beginning of a file, cut after a whole line."""
    head = data[:_SAMPLE_BYTES]
    return head[: head.rindex(b"\n")] if len(head) < len(data) and b"\n" in head else head


def _column_types(header: tuple[str, ...], first: list[list[str]]) -> list[pa.DataType]:
    """Return text for every column, dictionary-encoded if its first cells repeat."""
    types = []
    for position in range(len(header)):
        cells = [cells[position] for cells in first if position < len(cells)]
        repeats = len(cells) >= REPEATS_FROM and len(set(cells)) <= len(cells) / 2
        types.append(pa.dictionary(pa.int32(), pa.string()) if repeats else pa.string())
    return types


@contextmanager
def _long_cells() -> Iterator[None]:
    """Raise the limit that Python's csv module sets for a cell."""
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _records(data: bytes, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (first line, cells) of every record that is not blank.

    Python's reader is slow and exact.
    """
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="replace", newline="")
    reader = csv.reader(text, delimiter=delimiter)
    before = 0
    try:
        with _long_cells():
            for cells in reader:
                if cells:
                    yield before + 1, cells
                before = reader.line_num
    except csv.Error:  # a cell beyond the limit
        raise _LongCellError(before + 1) from None


class _LongCellError(Exception):
    """A cell longer than `LONGEST_CELL`, in the record that begins on a line."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


def _read_or_explain(body: Body, delimiter: str, types: list[pa.DataType]) -> tuple[pa.Table, int]:
    """Return the table and the number of lines of spaces.

    A broken file is refused with the line where it breaks.
    """
    if body.data.find(body.newline, 0, body.end) < 0:  # a header and nothing else
        return pa.table([pa.array([], kind) for kind in types], names=[str(at) for at in range(len(types))]), 0
    try:
        table = _read(body, delimiter, types)
    except pa.ArrowInvalid as error:
        _refuse_open_quote(body, delimiter)
        tidy, n_spaced = (body.data, 0) if body.has_quotes else _without_spaces(body)
        if not n_spaced:
            raise InputError(_why_broken(body, delimiter, len(types))) from error
        return _read_or_explain(Body(body.name, tidy, body.lines_before, len(tidy)), delimiter, types)[0], n_spaced
    if body.has_quotes and _ends_in_a_long_cell(table):
        _refuse_open_quote(body, delimiter)
    return table, 0


def _read(body: Body, delimiter: str, types: list[pa.DataType], block_size: int = _BLOCK) -> pa.Table:
    names = [str(position) for position in range(len(types))]  # header names may repeat, positions do not
    try:
        return pacsv.read_csv(
            pa.BufferReader(body.data),
            read_options=pacsv.ReadOptions(column_names=names, skip_rows_after_names=1, block_size=block_size),
            parse_options=pacsv.ParseOptions(delimiter=delimiter, newlines_in_values=body.has_quotes),
            convert_options=pacsv.ConvertOptions(
                column_types=dict(zip(names, types, strict=True)), strings_can_be_null=False, check_utf8=False
            ),
        )
    except pa.ArrowInvalid as error:
        if "straddling" in str(error) and block_size <= len(body.data):  # a cell longer than a block
            return _read(body, delimiter, types, block_size=len(body.data) + 1)
        raise


def _without_spaces(body: Body) -> tuple[bytes, int]:
    return re.subn(rb"(?m)^[ \t]+(?:\r?\n|\r|\Z)", b"", body.data)


def _why_broken(body: Body, delimiter: str, width: int) -> str:
    for line, cells in _records(body.data, delimiter):
        if len(cells) != width:
            return (
                f"Line {line + body.lines_before:,} of {body.name} has {count(len(cells), 'cell')} but the header has "
                f"{width:,} (delimiter: {DELIMITERS[delimiter]}). Fix that line, or quote the cells that hold the "
                "delimiter."
            )
    return f"{body.name} cannot be read as a table with the delimiter {DELIMITERS[delimiter]}. Export it again as CSV."


def _ends_in_a_long_cell(table: pa.Table) -> bool:
    """Tell whether the last row holds a line break.

    It does if a quote is never closed.
    """
    last = table.slice(max(table.num_rows - 1, 0))
    return any("\n" in cell or "\r" in cell for column in last.columns for cell in column.to_pylist())


def _refuse_open_quote(body: Body, delimiter: str) -> None:
    """Refuse a quote that is never closed.

    It swallows all rows after it.
    """
    if not body.has_quotes:
        return
    start = 1
    for line, _ in _records(body.data, delimiter):
        start = line
    text = io.TextIOWrapper(io.BytesIO(body.data), encoding="utf-8", errors="replace", newline="")
    try:
        with _long_cells():
            for _ in csv.reader(itertools.islice(text, start - 1, None), delimiter=delimiter, strict=True):
                pass
    except csv.Error as error:
        if "end of data" in str(error):
            raise InputError(
                f"A quoted cell that begins on line {start + body.lines_before:,} of {body.name} is never closed. "
                'Add the missing ", or double the quotes that are part of the text.'
            ) from None


def _suspect_rows(body: Body, table: pa.Table, delimiter: str) -> tuple[int, ...]:
    """Return rows with a cell that holds a line of the table."""
    if not body.has_quotes or table.num_columns < 2:
        return ()
    sign = re.escape(delimiter)
    line = rf"[\r\n](?:[^{sign}\r\n]*{sign}){{{min(table.num_columns - 1, 900)}}}[^{sign}\r\n]*(?:[\r\n]|$)"
    rows: set[int] = set()
    for column in table.columns:
        if pa.types.is_dictionary(column.type):
            hits = _suspect_cells(column.unify_dictionaries(), line)
        else:
            hits = pc.match_substring_regex(column, line)
        if pc.any(hits).as_py():
            rows.update(pc.indices_nonzero(hits).to_pylist())
    return tuple(sorted(rows))


def _suspect_cells(column: pa.ChunkedArray, pattern: str) -> pa.ChunkedArray:
    """Match a dictionary-encoded column by its distinct cells."""
    matched = [pc.take(pc.match_substring_regex(chunk.dictionary, pattern), chunk.indices) for chunk in column.chunks]
    return pa.chunked_array(matched, pa.bool_())


def _count_blank_lines(body: Body, delimiter: str, n_rows: int) -> int:
    """Count the empty lines between rows.

    They are neither header, row, nor part of a quoted cell.
    """
    surplus = (
        body.data.count(body.newline, 0, body.end) - n_rows
    )  # no line ends the last row, and none is left for the header
    if surplus <= 0 or not body.has_quotes:
        return max(surplus, 0)
    text = io.TextIOWrapper(io.BytesIO(body.data[: body.end]), encoding="utf-8", errors="replace", newline="")
    reader = csv.reader(text, delimiter=delimiter)
    try:
        with _long_cells():
            return sum(not cells for cells in reader)
    except csv.Error:
        raise _LongCellError(reader.line_num) from None
