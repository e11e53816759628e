"""Tables of text: votes in the readers' layouts, and writing to files.

Everything is text and a missing vote is an empty cell, so that a label like ``01`` survives the trip. Cells
are looked up in Arrow by class code, never formatted one by one.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from deem_core.errors import InputError
from deem_core.files.atomic import check_target, whole_file
from deem_core.files.json_lines import write_lines
from deem_core.typing import Integers
from deem_core.votes import NO_VOTE, Votes

DECIMALS = 6
"""Digits kept of a probability."""

DIGITS, FINEST = 6, 12
"""Significant digits of numbers in a fused text file, and most decimals."""

Respelling = Callable[[pa.Array], pa.Array]
"""Texts in, as many texts out; nulls stay nulls."""

_BATCH = 1 << 16  # rows that Arrow turns into text at a time
_ROW_GROUP = 1 << 18  # rows of a Parquet file that are stored together
_GZIP_LEVEL = 6  # level 9 takes several times as long for a few per cent


def wide_table(votes: Votes) -> pa.Table:
    """Return a row per row, a column per learner.

    ``id`` comes first, and ``label`` last, with the truth where it is known.
    """
    labels = class_texts(votes)
    columns = {name: look_up(votes.codes[:, j], labels) for j, name in enumerate(votes.learners)}
    return _with_id_and_truth(votes, columns)


def long_table(votes: Votes) -> pa.Table:
    """Return a row per vote cast: ``task``, ``worker``, ``label``.

    Row by row, learners in their order.

    Rows without votes leave no trace, and the truth goes into a table of its own (`truth_table`).
    """
    _check_unique(votes.ids)
    rows, learners = np.nonzero(votes.codes != NO_VOTE)
    return pa.table(
        {
            "task": id_texts(votes.ids).take(pa.array(rows)),
            "worker": look_up(learners, votes.learners),
            "label": look_up(votes.codes[rows, learners], class_texts(votes)),
        }
    )


def truth_table(votes: Votes) -> pa.Table:
    """Return a row per row whose truth is known: ``task``, ``truth``."""
    if votes.truth is None:
        raise InputError("These votes come without a truth, so there is no table of true labels to make.")
    _check_unique(votes.ids)
    known = np.flatnonzero(votes.truth != NO_VOTE)
    truth = look_up(votes.truth[known], _truth_texts(votes))
    return pa.table({"task": id_texts(votes.ids).take(pa.array(known)), "truth": truth})


def soft_table(votes: Votes) -> pa.Table:
    """Return a row per row, a column per probability.

    Columns are ``id``, then ``<learner>:<class>``, then ``label`` with the truth.

    Probabilities are rounded to `DECIMALS` digits; the K cells of a missing vote are empty.
    """
    if votes.soft is None:
        raise InputError("These votes carry no probabilities: write them in the wide or the long layout.")
    labels, columns = class_texts(votes), dict[str, pa.Array]()
    for j, name in enumerate(votes.learners):
        absent = votes.codes[:, j] == NO_VOTE
        for k, label in enumerate(labels):
            values = votes.soft[:, j, k].astype(np.float64).round(DECIMALS)
            column = f"{name}:{label}"
            if column in columns:
                raise InputError(f"Two probabilities would share the column {column!r}; rename a learner or a class.")
            columns[column] = pa.array(values, mask=absent).cast(pa.string())
    return _with_id_and_truth(votes, columns)


def write(table: pa.Table, path: str | os.PathLike[str], *, respell: Respelling | None = None) -> None:
    """Write a table in the format of its name.

    That is .csv, .tsv, .jsonl, any of them with .gz, or .parquet.

    The file appears complete or not at all. Text files are UTF-8 with line feeds, and cells are quoted
    only if at least one of them has to be (RFC 4180) or holds a semicolon or tab, at which some spreadsheets
    would split it. Dictionary-encoded columns are written as the text they stand for. Rows are converted
    piece by piece: there is never a second table in memory.

    Parameters
    ----------
    table : pyarrow.Table
    path : path
    respell : function, optional
        Applied to every cell of text and to the header of text files; Parquet is never altered. It may add
        no quotes, delimiters or line breaks.

    Raises
    ------
    InputError
        If the name has another ending or the file cannot be written.
    """
    write_parts([table], path, texts=table, respell=respell)


def write_parts(
    parts: Iterable[pa.Table],
    path: str | os.PathLike[str],
    *,
    texts: pa.Table,
    respell: Respelling | None = None,
    form: Format | None = None,
) -> None:
    """Write tables of the same columns as one file; see `write`.

    Parameters
    ----------
    parts : iterable of pyarrow.Table
        At least one; each is let go before the next is asked for.
    path : path
    texts : pyarrow.Table
        All rows of every column of text, by which to know whether cells must be quoted.
    respell : function, optional
    form : Format, optional
        By default that of the name.
    """
    form = form or format_of(path)
    with whole_file(path) as stream:
        form.write(parts, stream, quoted=_must_quote(texts, form.special), respell=respell)


def check_name(path: str | os.PathLike[str]) -> None:
    """Refuse a name that `write` would refuse."""
    format_of(path)
    check_target(path)


# ---------------------------------------------------------------------- columns


def _with_id_and_truth(votes: Votes, columns: dict[str, pa.Array]) -> pa.Table:
    for name in ("id", "label"):
        if name in columns:
            raise InputError(f"A learner is named {name!r}, which is the name of another column; rename the learner.")
    table = {"id": id_texts(votes.ids), **columns}
    if votes.truth is not None:
        table["label"] = look_up(votes.truth, _truth_texts(votes))
    return pa.table(table)


def look_up(codes: Integers, texts: Iterable[str]) -> pa.Array:
    """Return ``texts[code]`` for every code, null where it is -1."""
    dictionary = pa.array(list(texts), pa.string())
    return dictionary.take(pa.array(codes, pa.int32(), mask=codes == NO_VOTE))


def class_texts(votes: Votes) -> list[str]:
    """Return the classes as they are spelled in tables, in their order."""
    return [str(label) for label in votes.classes.tolist()]


def _truth_texts(votes: Votes) -> list[str]:
    return class_texts(votes) + [str(label) for label in votes.truth_only.tolist()]


def id_texts(ids: pd.Index) -> pa.Array:
    """Return the names of rows as they are spelled in tables."""
    values = ids.to_numpy()
    if values.dtype.kind in "iu":
        return pa.array(values).cast(pa.string())
    return pa.array(ids.astype(str).to_numpy(dtype=object), pa.string())


def row_names(votes: Votes, rows: Integers | None = None) -> pa.Array:
    """Return what people call rows: their ids, else numbers from 1."""
    names = votes.ids if votes.has_ids else votes.ids + 1
    return id_texts(names if rows is None else names[rows])


def _check_unique(ids: pd.Index) -> None:
    if not ids.is_unique:
        repeated = ids[ids.duplicated()][0]
        raise InputError(
            f"The id {str(repeated)!r} names several rows; the long layout needs a different id for each row."
        )


# ---------------------------------------------------------------------- files


@dataclass(frozen=True)
class Format:
    """How a table is written.

    Attributes
    ----------
    delimiter : str, optional
        Of a text file; None for Parquet and JSON lines.
    zipped : bool
    codec : str
        Encoding of a text file, as Python names it.
    mark : bool
        Whether a text file begins with a byte order mark.
    digits : int, optional
        Significant digits of numbers in a text file, no more than `FINEST` of them decimals; all by default.
    lines : bool
        Whether rows are JSON objects, a line each.
    """

    delimiter: str | None
    zipped: bool = False
    codec: str = "utf-8"
    mark: bool = False
    digits: int | None = None
    lines: bool = False

    @property
    def is_parquet(self) -> bool:
        """Whether it is no text."""
        return self.delimiter is None and not self.lines

    @property
    def special(self) -> str:
        """Characters for which cells of text are quoted.

        None in Parquet and JSON lines.

        Some spreadsheets split a .csv at commas, others at semicolons, whatever its delimiter is.
        """
        if self.delimiter is None:
            return ""
        return '"\r\n;\t' if self.delimiter == "\t" else "".join(dict.fromkeys(f'"\r\n;\t,{self.delimiter}'))

    def write(
        self,
        parts: Iterable[pa.Table],
        stream: BinaryIO,
        *,
        quoted: bool,
        header: bool = True,
        respell: Respelling | None = None,
    ) -> None:
        """Write tables of the same columns to an open file; see `write_parts`.

        Parameters
        ----------
        parts : iterable of pyarrow.Table
        stream : binary file
        quoted : bool
            Whether cells of text are quoted.
        header : bool
            Whether a text file begins with one.
        respell : function, optional
        """
        if self.is_parquet:
            _write_parquet(parts, stream)
        elif self.zipped:
            # Neither name nor time go into the file: equal tables make equal files.
            with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0, compresslevel=_GZIP_LEVEL) as packed:
                self._write_text(parts, packed, quoted, header, respell)
        else:
            self._write_text(parts, stream, quoted, header, respell)

    def join(self, files: Sequence[Path], stream: BinaryIO) -> None:
        """Write the files of consecutive parts as one file.

        Text is put end to end, and so are members of gzip.
        """
        if self.is_parquet:
            _write_parquet((pyarrow.parquet.read_table(file) for file in files), stream)
            return
        for file in files:
            with file.open("rb") as part:
                shutil.copyfileobj(part, stream, 1 << 20)

    def _write_text(
        self,
        parts: Iterable[pa.Table],
        stream: BinaryIO | gzip.GzipFile,
        quoted: bool,
        header: bool,
        respell: Respelling | None,
    ) -> None:
        if self.lines:  # no spreadsheet opens these
            pieces = (piece for part in parts for piece in _pieces(part, _BATCH))
            write_lines((_rounded(piece, self.digits) for piece in pieces), stream)
            return
        pieces = (piece for part in parts for piece in _pieces(part, _BATCH, respell))
        target: Any = stream if self.codec == "utf-8" else _Recoded(stream, self.codec)
        if header and self.mark:
            target.write("\ufeff".encode())
        for at, piece in enumerate(pieces):
            names = pa.array(piece.column_names, pa.string())
            plain_header = not pc.any(pc.match_substring_regex(names, f"[{self.special}]")).as_py()
            options = pyarrow.csv.WriteOptions(
                include_header=header and at == 0,
                delimiter=self.delimiter,
                batch_size=_BATCH,
                quoting_style="needed" if quoted else "none",  # Arrow's "needed" quotes every text, needed or not
                quoting_header="none" if plain_header else "needed",
            )
            respelled = (names if respell is None else respell(names)).to_pylist()
            pyarrow.csv.write_csv(_rounded(piece, self.digits).rename_columns(respelled), target, options)


class _Recoded(io.RawIOBase):
    """UTF-8 in, text of another encoding out."""

    def __init__(self, stream: Any, codec: str) -> None:
        super().__init__()
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._encoder = codecs.getincrementalencoder(codec)()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._stream.write(self._encoder.encode(self._decoder.decode(bytes(data))))
        return len(data)


def _rounded(table: pa.Table, digits: int | None) -> pa.Table:
    """Return a table whose numbers have so many significant digits."""
    if digits is None:
        return table
    columns = [
        pa.chunked_array([_rounded_numbers(chunk, digits) for chunk in column.chunks], column.type)
        if pa.types.is_floating(column.type)
        else column
        for column in table.columns
    ]
    return pa.table(columns, names=table.column_names)


def _rounded_numbers(numbers: pa.Array, digits: int) -> pa.Array:
    values = numbers.to_numpy(zero_copy_only=False).astype(np.float64)
    size = np.abs(np.nan_to_num(values, posinf=0.0, neginf=0.0))
    exponent = np.floor(np.log10(np.where(size > 0, size, 1.0)))
    scale = 10.0 ** np.clip(digits - 1 - exponent, -300, FINEST)  # exact, so that the quotient has few digits
    return pa.array(np.rint(values * scale) / scale, mask=numbers.is_null().to_numpy(zero_copy_only=False))


def _must_quote(texts: pa.Table, special: str) -> bool:
    """Tell whether any cell of text holds one of some characters."""
    columns = (column for column in texts.columns if _is_text(column.type))
    return bool(special) and any(_holds(column, f"[{special}]") for column in columns)


def _write_parquet(parts: Iterable[pa.Table], stream: BinaryIO) -> None:
    writer = None
    try:
        for part in parts:
            for piece in _pieces(part, _ROW_GROUP):
                writer = writer or pyarrow.parquet.ParquetWriter(stream, piece.schema)
                writer.write_table(piece)
    finally:
        if writer is not None:
            writer.close()


def _pieces(table: pa.Table, size: int, respell: Respelling | None = None) -> Iterator[pa.Table]:
    """Yield the rows piece by piece, texts decoded and respelled.

    An empty table is one piece.
    """
    for start in range(0, max(table.num_rows, 1), size):
        piece = table.slice(start, size)
        columns = [_respelled_column(column, respell) if _is_text(column.type) else column for column in piece.columns]
        yield pa.table(columns, names=table.column_names)


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _respelled_column(column: pa.ChunkedArray, respell: Respelling | None) -> pa.ChunkedArray:
    chunks = [chunk.dictionary_decode() if pa.types.is_dictionary(chunk.type) else chunk for chunk in column.chunks]
    chunks = [chunk.cast(pa.string()) for chunk in chunks]  # of a frame they may be large texts
    return pa.chunked_array(chunks if respell is None else map(respell, chunks), pa.string())


def _holds(column: pa.ChunkedArray, pattern: str) -> bool:
    """Tell whether any cell matches a pattern.

    Of dictionary-encoded cells only the distinct ones are looked at.
    """
    distinct = (chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk for chunk in column.chunks)
    return any(pc.any(pc.match_substring_regex(texts, pattern)).as_py() for texts in distinct)


_FORMATS = {
    ".csv": Format(","),
    ".tsv": Format("\t"),
    ".csv.gz": Format(",", zipped=True),
    ".tsv.gz": Format("\t", zipped=True),
    ".parquet": Format(None),
    ".jsonl": Format(None, lines=True),
    ".jsonl.gz": Format(None, lines=True, zipped=True),
}


def format_of(path: str | os.PathLike[str]) -> Format:
    """Return the format that a file's name says.

    Raises
    ------
    InputError
        If it says none.
    """
    name = Path(path).name
    form = next((form for suffix, form in _FORMATS.items() if name.lower().endswith(suffix)), None)
    if form is None:
        raise InputError(f"{name!r} does not say how to write it: end the name with {either(_FORMATS)}.")
    return form


def either(choices: Iterable[str]) -> str:
    """Return choices as text: "a, b or c"."""
    *most, last = choices
    return f"{', '.join(most)} or {last}" if most else last
