"""Stream: a file's cells as text, batch by batch.

The beginning of the file tells header, delimiter and encoding; every batch is checked against it. A stream can be read
any number of times, and holds one batch at a time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv

from deem_core.errors import InputError
from deem_core.readers import decode, parquet, parse
from deem_core.readers.bounds import Packed
from deem_core.readers.formats.argilla_parquet import is_argilla
from deem_core.readers.formats.arrow import class_names, note_names, with_names
from deem_core.readers.formats.content import as_text, told_type
from deem_core.readers.formats.foreign import is_binary
from deem_core.readers.notes import Notebook
from deem_core.readers.objects import is_json
from deem_core.readers.parquet import first_line
from deem_core.readers.source import clean_header, note_above, refuse_repeated
from deem_core.text import clip, count

HEAD_BYTES = 1 << 20
"""Bytes at the beginning from which header, delimiter and encoding are told."""

_BLOCK = 1 << 22  # bytes of text that Arrow parses at once
_MOST_LINES = 100  # of a cell; one with more is an open quote
_OFFSETS = 4  # bytes that Arrow keeps beside the letters of each cell
_PARQUET_ROWS = 1 << 16
_FIRST_ROWS = 1_000  # by which columns of Parquet are told that are no text
_CODECS = {"UTF-8": "utf8", decode.MARKED: "utf8", decode.WINDOWS: "cp1252"}


class WholeOnlyError(InputError):
    """A file that can be read whole, but not in parts."""


@dataclass(frozen=True)
class Stream:
    """A file to be read batch by batch.

    Attributes
    ----------
    path : Path
    header : tuple of str
        The header cells as they were spelled.
    columns : tuple of str
        The column names, trimmed; the batches have them.
    encoding : str
    delimiter : str, optional
        None for a Parquet file.
    compression : "gzip" or None
    lines_before : int
        Lines of a text file before its header.
    named : mapping
        Column of a dataset → the names of its classes.
    """

    path: Path
    header: tuple[str, ...]
    columns: tuple[str, ...]
    encoding: str
    delimiter: str | None
    compression: str | None
    lines_before: int = 0
    named: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The file's name, for messages."""
        return self.path.name

    @property
    def packed(self) -> Packed:
        """The file by its size."""
        return Packed(self.name, os.path.getsize(self.path))

    def batches(self, rows: int) -> Iterator[pa.Table]:
        """Yield all rows as text, ``rows`` at a time.

        The last batch may have fewer.
        """
        pieces = self._parquet_pieces() if self.delimiter is None else self._text_pieces()
        return _regular(pieces, rows)

    def groups(self) -> tuple[int, ...]:
        """Return the rows of each row group of a Parquet file."""
        with parquet.opened(self.name, self.path) as file:
            return tuple(file.metadata.row_group(group).num_rows for group in range(file.num_row_groups))

    def span(self, start: int, stop: int) -> pa.Table:
        """Return some rows of a Parquet file as text.

        Only the row groups that hold them are read, and these not beyond them.
        """
        groups, before, first = [], 0, 0
        for group, n in enumerate(self.groups()):
            if before + n <= start:
                first = before + n
            elif before < stop:
                groups.append(group)
            before += n
        return pa.concat_tables(self._parquet_pieces(groups, first, start, stop))

    def _parquet_pieces(
        self, groups: Sequence[int] | None = None, first: int = 0, start: int = 0, stop: int | None = None
    ) -> Iterator[pa.Table]:
        """Yield the rows of a Parquet file as text.

        ``groups`` are the row groups to read, by default all; ``first`` is the row that they begin with, and the rows
        from ``start`` to ``stop`` are given back.
        """
        done, packed = first, self.packed
        with parquet.opened(self.name, self.path) as file:
            for read in file.iter_batches(_PARQUET_ROWS, row_groups=groups, columns=list(self.header)):
                low, high = max(start - done, 0), read.num_rows if stop is None else min(stop - done, read.num_rows)
                batch, row = read.slice(low, max(high - low, 0)), done + low
                done += read.num_rows
                if batch.num_rows:
                    yield self._texts(batch, row, packed)
                if stop is not None and done >= stop:
                    return

    def _texts(self, batch: pa.RecordBatch, row: int, packed: Packed) -> pa.Table:
        """Return cells of Parquet as text.

        ``row`` is the place of the first one in the file.
        """
        texts = []
        for told, name, cells in zip(self.header, self.columns, batch.columns, strict=True):
            column = pa.chunked_array([cells])
            parquet.check_texts(column, packed)
            text = as_text(column)
            if text is None:
                raise InputError(
                    f"Column {name!r} of {self.name} holds cells that are not text between rows "
                    f"{row + 1:,} and {row + batch.num_rows:,}. Fix them, or write the file without it."
                )
            texts.append(with_names(text, self.named.get(told)))
        return pa.table(texts, names=list(self.columns))

    def _text_pieces(self) -> Iterator[pa.Table]:
        spaced, packed, read = _SpacedLines(), self.packed, 0
        try:
            for batch in self._text_reader(spaced):
                read += batch.nbytes - _OFFSETS * batch.num_rows * batch.num_columns
                if self.compression:
                    packed.check_ratio(read)
                yield pa.table(batch.columns, names=list(self.columns))
        except pa.ArrowInvalid as error:
            raise InputError(self._why_broken(error)) from error
        except (OSError, UnicodeError) as error:
            raise InputError(f"{self.name} cannot be read to its end: {first_line(error)}.") from None

    def _text_reader(self, handler: Any, *, threads: bool = True) -> pacsv.CSVStreamingReader:
        names = [str(position) for position in range(len(self.columns))]
        stream = pa.input_stream(str(self.path), compression=self.compression)
        return pacsv.open_csv(
            stream,
            read_options=pacsv.ReadOptions(
                column_names=names,
                skip_rows=self.lines_before,
                skip_rows_after_names=1,
                block_size=_BLOCK,
                encoding=_CODECS.get(self.encoding, self.encoding.lower()),
                use_threads=threads,
            ),
            parse_options=pacsv.ParseOptions(
                delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=handler
            ),
            convert_options=pacsv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )

    def _why_broken(self, error: pa.ArrowInvalid) -> str:
        """Say where a text file breaks.

        Numbers of rows need a second reading.
        """
        text = first_line(error)
        if "UTF8" in text:
            return (
                f"{self.name} is not {self.encoding} text throughout ({text}). Set the encoding, such as --encoding "
                "cp1252, or export it again as CSV (UTF-8)."
            )
        if "straddling" in text:
            return (
                f"A cell of {self.name} is longer than {_BLOCK >> 20} MB: a quote is probably opened and not closed. "
                "Close it, or double the quotes that are part of the text."
            )
        broken = _BrokenRow()
        try:
            for _ in self._text_reader(broken, threads=False):
                pass
        except pa.ArrowInvalid:
            pass
        if broken.row is None:
            return f"{self.name} cannot be read as a table ({text}). Export it again as CSV."
        if broken.row.text.count("\n") > _MOST_LINES:
            return (
                f"A quoted cell that begins on line {broken.row.number or 0:,} of {self.name} is never closed. "
                'Add the missing ", or double the quotes that are part of the text.'
            )
        where = "A row" if broken.row.number is None else f"Line {broken.row.number:,}"
        return (
            f"{where} of {self.name} has {count(broken.row.actual_columns, 'cell')} but the header has "
            f"{broken.row.expected_columns:,} ({clip(broken.row.text, 40)!r}). Fix it, or quote the cells that hold "
            "the delimiter."
        )


class _SpacedLines:
    """Skips lines of spaces."""

    def __call__(self, row: pacsv.InvalidRow) -> str:
        return "skip" if not row.text.strip() else "error"


class _BrokenRow:
    """Keeps the first row of another width."""

    row: pacsv.InvalidRow | None = None

    def __call__(self, row: pacsv.InvalidRow) -> str:
        if not row.text.strip():
            return "skip"
        self.row = row
        return "error"


def open_stream(
    path: str | os.PathLike[str],
    notebook: Notebook | None = None,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
) -> Stream:
    """Open a file and check its header; see `deem_core.readers.source.open_source`."""
    notebook = Notebook() if notebook is None else notebook
    head = _read_head(Path(path))
    if head.is_parquet and is_argilla(path):
        raise WholeOnlyError(f"{head.name} is a dataset of Argilla, which is read whole only: leave --stream out.")
    if head.is_parquet:
        return _open_parquet(Path(path), notebook)
    if is_binary(head.data):
        raise WholeOnlyError(f"{head.name} is no text and no Parquet, so it is read whole only: leave --stream out.")
    text = decode.decode(head, encoding)
    if delimiter is None and is_json(text.data):
        raise WholeOnlyError(
            f"{head.name} holds JSON records, which are read whole only: leave --stream out, or save it as CSV."
        )
    top = parse.find_top(head.name, text.data, delimiter)
    note_above(top.n_above, notebook)
    names = clean_header(head.name, top.header, [], notebook)
    if text.doubt:
        notebook.add("warning", text.doubt)
    return Stream(
        Path(path), top.header, tuple(names), text.encoding, top.delimiter, head.compression, top.body.lines_before
    )


def is_read_whole(path: str | os.PathLike[str]) -> bool:
    """Tell formats that are read whole only."""
    head = _read_head(Path(path))
    return is_json(head.data) or is_binary(head.data) or (head.is_parquet and is_argilla(path))


def _read_head(path: Path) -> decode.Raw:
    """Return the beginning of a file, unpacked and cut after a line."""
    try:
        with path.open("rb") as file:
            beginning = file.read(decode.BEGINNING)
        packed = beginning[:2] == b"\x1f\x8b"
        if packed:
            decode.check_beginning(path.name, beginning, path.stat().st_size)
        with pa.input_stream(str(path), compression="gzip" if packed else None) as stream:
            head = stream.read(HEAD_BYTES)
    except FileNotFoundError:
        raise InputError(f"There is no file {str(path)!r}. Check the path.") from None
    except IsADirectoryError:
        raise WholeOnlyError(f"{str(path)!r} is a folder, which is read whole only: leave --stream out.") from None
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)!r} cannot be read: {first_line(error)}.") from None
    if not head:
        raise InputError(f"{path.name} is empty (0 bytes). Upload a CSV or Parquet file with a header.")
    if len(head) == HEAD_BYTES and b"\0" not in head and b"\n" in head:  # two-byte encodings are cut by the byte
        head = head[: head.rindex(b"\n") + 1]
    return decode.Raw(path.name, head, "gzip" if packed else None, path.stat().st_size)


def _open_parquet(path: Path, notebook: Notebook) -> Stream:
    header = []
    packed = Packed(path.name, path.stat().st_size)
    with parquet.opened(path.name, path) as file:
        schema = file.schema_arrow
        refuse_repeated(path.name, [name.strip() for name in schema.names])
        parquet.check_suspicious_rows(file, packed)
        plain, named = parquet.plain_columns(schema), class_names(schema.metadata)
        first = pa.Table.from_batches(
            islice(file.iter_batches(_FIRST_ROWS, columns=plain), 1), pa.schema([schema.field(name) for name in plain])
        )
        for each in schema:  # a type does not tell: bytes are text or images
            if each.name in plain:
                parquet.check_texts(first[each.name], packed)
            if each.name not in plain or as_text(first[each.name]) is None:
                notebook.leave_out(each.name, f"its cells ({told_type(each.type)}) are not labels.")
            else:
                header.append(each.name)
    if not header:
        raise InputError(f"{path.name} has no column that can be read as labels. Write one column per learner.")
    names = clean_header(path.name, tuple(header), [], notebook)
    notebook.notes.extend(note_names(name for name in header if name in named))
    return Stream(path, tuple(header), tuple(names), "parquet", None, None, named=named)


def _regular(pieces: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """Yield the same rows in batches of one size."""
    held: list[pa.Table] = []
    waiting = 0
    for piece in pieces:
        held.append(piece)
        waiting += piece.num_rows
        while waiting >= rows:
            table = pa.concat_tables(held)
            yield table.slice(0, rows)
            held, waiting = [table.slice(rows)], waiting - rows
    if waiting:
        yield pa.concat_tables(held)
