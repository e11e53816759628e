"""Source: a file's original cells as text, with clean column names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from deem_core.errors import InputError
from deem_core.readers import decode, parquet, parse, records
from deem_core.readers.bounds import Packed
from deem_core.readers.formats import argilla, argilla_parquet, arrow, exports, folders, foreign, frames
from deem_core.readers.formats.content import Choice, Content, as_text, told_type
from deem_core.readers.formats.foreign import Wish
from deem_core.readers.notes import Notebook
from deem_core.readers.objects import is_json
from deem_core.readers.roles import UNNAMED
from deem_core.text import clip, count
from deem_core.votes.frames import is_frame
from deem_core.votes.labels import LabelColumn, encode, is_number

LONGEST_NAME = 64
"""Characters; a longer cell is a text, not a name of a row."""


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
        Parquet has the encoding "parquet" and no delimiter; JSON records have no delimiter.
    votes : tuple of str
        Columns that the file itself calls votes, as JSON records can.
    bytes : int
        Size of the file as it came, 0 if unknown.
    format, title : str
        A word for the format, and words for people: "xlsx", "Excel workbook, sheet 'Votes'".
    roles : mapping
        Column → role, as the format tells; see `Content`.
    choice : Choice, optional
        Which of several tables or questions of the file this is.
    """

    name: str
    table: pa.Table
    header: tuple[str, ...]
    encoding: str
    delimiter: str | None
    compression: str | None
    votes: tuple[str, ...] = ()
    bytes: int = 0
    format: str = "text"
    title: str = ""
    roles: Mapping[str, str] = field(default_factory=dict)
    choice: Choice | None = None

    @property
    def packed(self) -> Packed:
        """The file by its size, for what is made of it."""
        return Packed(self.name, self.bytes)

    @property
    def tells_learners(self) -> bool:
        """Whether the format itself says who voted."""
        return "learner" in self.roles.values()

    @property
    def columns(self) -> list[str]:
        """The column names, trimmed."""
        return list(self.table.column_names)

    @property
    def n_rows(self) -> int:
        """Rows of the file, without the header."""
        return int(self.table.num_rows)

    def names_rows(self, column: str) -> bool:
        """Tell whether every cell of a column is different."""
        return len(encode(self.table[column]).dictionary) == self.n_rows

    def holds_names(self, column: str) -> bool:
        """Tell whether cells look like names of rows."""
        return look_like_names(plain_text(self.table[column]))

    def label_column(self, column: str) -> LabelColumn:
        """Return a column's cells as indices into its distinct ones."""
        return LabelColumn.from_text(column, self.table[column])

    def text(self, column: str) -> pa.ChunkedArray:
        """Return a column's cells as plain text."""
        return plain_text(self.table[column])


def look_like_names(cells: pa.ChunkedArray) -> bool:
    """Tell names of rows from texts and measurements."""
    texts = pc.utf8_trim_whitespace(cells)
    length = pc.min_max(pc.utf8_length(texts))
    if length["min"].as_py() == 0 or length["max"].as_py() > LONGEST_NAME:
        return False
    if pc.any(pc.greater(pc.count_substring(texts, " "), 2)).as_py():
        return False
    if not pc.any(pc.match_substring_regex(texts, "[^0-9.,eE+-]")).as_py():
        try:
            numbers = pc.cast(texts, pa.int64()).to_numpy()
        except pa.ArrowInvalid:
            return False
        return bool((numbers[1:] > numbers[:-1]).all())
    return True


def plain_text(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Undo the dictionary encoding of a column, if it has one."""
    return cells.cast(pa.string()) if pa.types.is_dictionary(cells.type) else cells


def open_source(
    file: Any,
    notebook: Notebook | None = None,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    label: str | None = None,
) -> Source:
    """Read a file into a table of text and check its header.

    Parameters
    ----------
    file : path, bytes, open file, or a frame
    notebook : Notebook, optional
        Takes what was understood, changed and left out.
    delimiter, encoding : str, optional
        Of a text file; found by default.
    sheet, label : str, optional
        Which table, or question, of a file that has several.
    """
    notebook = Notebook() if notebook is None else notebook
    source = _open(file, notebook, delimiter=delimiter, encoding=encoding, wish=Wish(sheet, label))
    if sheet is not None and (source.choice is None or source.choice.option != "sheet"):
        raise InputError(f"{source.name} has no sheets. Leave the sheet ({clip(sheet, 40)!r}) out.")
    if not source.table.num_columns or not source.table.num_rows:
        raise InputError(
            f"{source.name} has a header but no rows below it. Upload a file with at least one row of votes."
        )
    return source


def _open(file: Any, notebook: Notebook, *, delimiter: str | None, encoding: str | None, wish: Wish) -> Source:
    if is_frame(file):
        name, frame = frames.read_frame(file, wish.label)
        return _from_content(name, frame, notebook)
    if isinstance(file, (str, os.PathLike)) and folders.split_folder(Path(file)) is not None:
        found = folders.read_folder(Path(file), wish.label, lambda path: _columns_of(path, notebook))
        if isinstance(found, Path):
            return _open(found, notebook, delimiter=delimiter, encoding=encoding, wish=wish)
        return replace(_from_content(Path(file).name, found[1], notebook), bytes=found[0])
    beside = Path(file) if isinstance(file, (str, os.PathLike)) else None
    return _open_bytes(decode.load(file), notebook, delimiter=delimiter, encoding=encoding, wish=wish, beside=beside)


def _open_bytes(
    raw: decode.Raw,
    notebook: Notebook,
    *,
    delimiter: str | None,
    encoding: str | None,
    wish: Wish,
    beside: Path | None,
) -> Source:
    if raw.is_parquet:
        return _from_parquet(raw, notebook, wish.label)
    content = foreign.read_binary(raw, wish)
    if content is not None:
        return _from_content(raw.name, content, notebook, packed=raw)
    text = decode.decode(raw, encoding)
    if delimiter is None and is_json(text.data):
        content = exports.read_export(Packed(raw.name, raw.packed), text.data, text.encoding, wish, beside)
        if content is None:
            return _from_records(raw, text, notebook)
        for doubt in filter(None, (raw.doubt, text.doubt)):
            notebook.add("warning", doubt)
        return _from_content(raw.name, content, notebook, packed=raw)
    parsed = parse.parse(raw.name, text.data, delimiter, packed=raw.packed)
    names = clean_header(raw.name, parsed.header, parsed.columns, notebook)
    table = pa.table(parsed.columns, names=names)
    _note_text(raw, text, parsed, notebook)
    return Source(raw.name, table, parsed.header, text.encoding, parsed.delimiter, raw.compression, bytes=raw.packed)


def _from_content(name: str, content: Content, notebook: Notebook, packed: decode.Raw | None = None) -> Source:
    """Return what a format holds as a table of text."""
    notebook.notes.extend(content.notes)
    kept = {}
    for column, cells in content.columns.items():
        if pc.any(pc.match_substring(cells, "\0")).as_py():
            notebook.leave_out(column, "its cells are not text.")
        else:
            kept[column] = coded(cells)
    if not kept:
        raise InputError(f"{name} has no column that can be read as labels. Write one column per learner.")
    header = tuple(kept)
    table = pa.table(list(kept.values()), names=clean_header(name, header, list(kept.values()), notebook))
    return Source(
        name,
        table,
        header,
        content.encoding,
        None,
        None if packed is None else packed.compression,
        bytes=0 if packed is None else packed.packed,
        format=content.format,
        title=content.title,
        roles=content.roles,
        choice=content.choice,
    )


def coded(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a long column of few different cells as a dictionary."""
    n = len(cells)
    repeats = n >= parse.REPEATS_FROM and pc.count_distinct(cells).as_py() <= n / 2
    return cells.dictionary_encode() if repeats else cells


def _from_records(raw: decode.Raw, text: decode.Text, notebook: Notebook) -> Source:
    """Return JSON records as a table of text."""
    found = records.parse_records(raw.name, text.data, packed=raw.packed)
    for doubt in (raw.doubt, text.doubt, *found.doubts):
        if doubt:
            notebook.add("warning", doubt)
    columns = {}
    for name, cells in found.columns.items():
        column = records.as_column(cells)
        if column is None:
            notebook.leave_out(name, "its cells are not text.")
        else:
            columns[name] = coded(column)
    if not columns:
        raise InputError(f"The records in {raw.name} have no field that can be read. Write one field per learner.")
    header = tuple(map(records.as_name, columns))
    names = clean_header(raw.name, header, list(columns.values()), notebook)
    table = pa.table(list(columns.values()), names=names)
    return Source(
        raw.name,
        table,
        header,
        text.encoding,
        None,
        raw.compression,
        tuple(map(records.as_name, found.votes)),
        bytes=raw.packed,
        format="json",
    )


def _note_text(raw: decode.Raw, text: decode.Text, parsed: parse.TextTable, notebook: Notebook) -> None:
    for doubt in filter(None, (raw.doubt, text.doubt)):
        notebook.add("warning", doubt)
    if parsed.n_blank_lines:
        notebook.add("changed", f"Skipped {count(parsed.n_blank_lines, 'blank line')}.", count=parsed.n_blank_lines)
    note_above(parsed.n_above, notebook)
    if parsed.suspect_rows:
        notebook.add(
            "warning",
            "A quoted cell holds what looks like whole lines of the table: check that its quotes are closed",
            count=len(parsed.suspect_rows),
            rows=parsed.suspect_rows,
        )


def note_above(n_lines: int, notebook: Notebook) -> None:
    """Say how many lines above the table were skipped."""
    if n_lines:
        notebook.add("changed", f"Skipped {count(n_lines, 'line')} above the table.", count=n_lines)


def clean_header(name: str, header: tuple[str, ...], columns: list[pa.ChunkedArray], notebook: Notebook) -> list[str]:
    """Return trimmed column names; refuse repeated ones.

    Columns without a name get one; ``columns`` are their cells, empty where these are not at hand.
    """
    names = [cell.strip("\ufeff").strip() for cell in header]
    refuse_repeated(name, names)
    for position, trimmed in enumerate(names):
        if trimmed:
            continue
        if position == 0:
            names[0] = UNNAMED
            continue
        names[position] = _free_name(f"column {position + 1}", names)
        if columns and _is_blank(columns[position]):
            notebook.leave_out(names[position], "it has no name and no values.")
        else:
            text = f"Column {position + 1} has no name; it is called {names[position]!r} here."
            notebook.add("changed", text, count=1, column=names[position])
    return names


def _free_name(wish: str, taken: list[str]) -> str:
    while wish in taken:
        wish += "'"
    return wish


def _is_blank(column: pa.ChunkedArray) -> bool:
    return not pc.any(pc.not_equal(pc.utf8_trim_whitespace(plain_text(column)), "")).as_py()


def refuse_repeated(file: str, names: list[str]) -> None:
    """Refuse two columns of the same name."""
    seen: dict[str, int] = {}
    for position, name in enumerate(names):
        if name in seen:
            repeats = len(names) - len(set(names))
            hint = " Is the header line missing?" if repeats > 1 or all(is_number(other) for other in names) else ""
            raise InputError(
                f"{file} has two columns named {name!r} (columns {seen[name] + 1} and {position + 1}). "
                f"Rename one of them.{hint}"
            )
        if name:
            seen[name] = position


def _columns_of(path: Path, notebook: Notebook) -> dict[str, pa.ChunkedArray]:
    """Return the columns of one of several Parquet files."""
    table = _from_parquet(decode.load(path), notebook, None).table
    return {name: table[name] for name in table.column_names}


def _from_parquet(raw: decode.Raw, notebook: Notebook, question: str | None) -> Source:
    texts = {}
    packed = Packed(raw.name, raw.packed)
    with parquet.opened(raw.name, raw.data) as file:
        schema = file.schema_arrow
        if argilla.is_flat(schema.names):
            content = argilla_parquet.read_parts([(packed, file)], packed, question)
            return _from_content(raw.name, content, notebook, packed=raw)
        refuse_repeated(raw.name, [name.strip() for name in schema.names])
        parquet.check_rows(file, packed)
        plain, named = parquet.plain_columns(schema), arrow.class_names(schema.metadata)
        table = file.read(None if len(plain) == len(schema) else plain, use_pandas_metadata=False)
        for field in schema:
            column = table[field.name] if field.name in plain else None
            if column is not None:
                parquet.check_texts(column, packed)
            text = None if column is None else as_text(column)
            if text is None:
                notebook.leave_out(field.name, f"its cells ({told_type(field.type)}) are not labels.")
            else:
                texts[field.name] = arrow.with_names(text, named.get(field.name))
    if not texts:
        raise InputError(f"{raw.name} has no column that can be read as labels. Write one column per learner.")
    notebook.notes.extend(arrow.note_names(name for name in texts if name in named))
    header = tuple(texts)
    names = clean_header(raw.name, header, list(texts.values()), notebook)
    return Source(
        raw.name,
        pa.table(list(texts.values()), names=names),
        header,
        "parquet",
        None,
        raw.compression,
        bytes=raw.packed,
        format="parquet",
    )
