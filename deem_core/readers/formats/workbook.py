"""Workbooks: a sheet of .xlsx or .ods as columns."""

from __future__ import annotations

import datetime
import io
import math
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import python_calamine as calamine

from deem_core.errors import InputError
from deem_core.readers.bounds import Packed
from deem_core.readers.formats import sheet_size
from deem_core.readers.formats.content import Choice, Content, UndecidedError, choose, text_column
from deem_core.readers.formats.zipped import Archive, damaged
from deem_core.readers.notes import Note
from deem_core.readers.parse import MAX_COLUMNS
from deem_core.text import clip, count, quoted

EXACT = 10**15
"""Whole numbers beyond it have more digits than a spreadsheet keeps."""

_SHEETS = "xl/worksheets/"
_TITLES = {"xlsx": "Excel workbook", "ods": "OpenDocument spreadsheet"}
_CELLS_FROM = ("xml", "rels")  # endings of the entries that hold cells; pictures and macros are not unpacked
_UNCOMPUTED = re.compile(
    rb"<((?:[A-Za-z_][\w.-]*+:)?)c(?=[\s>])([^<>]*+)>\s*+"
    rb"<\1f(?:[\s/][^<>]*+)?(?:(?<=/)>|(?<!/)>[^<]*+</\1f\s*+>)\s*+(?:<\1v\s*+(?:/>|>\s*+</\1v\s*+>)\s*+)?</\1c\s*+>"
)
"""A cell of a formula whose value was not saved, as programs write it that do not compute."""
_PLACE = re.compile(rb"(?<!\S)r\s*=\s*[\"'][A-Za-z]{1,3}\d{1,7}[\"']")
_MARK = "\ue000"
"""What stands in such a cell while it is read: a sign of nobody's."""
_NAMED = "Name one with --sheet, or under “Columns and reading”."


def kind_of(archive: Archive) -> str | None:
    """Tell a workbook by its entries: "xlsx", "ods", or none."""
    if any(name.startswith("xl/") for name in archive.entries):
        return "xlsx"
    if "content.xml" in archive.entries and "mimetype" in archive.entries:
        return "ods"
    return None


def read_workbook(archive: Archive, kind: str, sheet: str | None) -> Content:
    """Return a sheet as columns of text.

    Without ``sheet`` it is the first that holds anything.

    Raises
    ------
    InputError
        If the workbook is damaged, protected or too large, or there is no such sheet.
    """
    name = archive.name
    if "xl/workbook.bin" in archive.entries:
        raise InputError(f"{name} is a binary Excel workbook (.xlsb). Save it as .xlsx.")
    plain = _measured(archive, kind)
    with _told(name), calamine.CalamineWorkbook.from_filelike(io.BytesIO(plain)) as book:
        names = tuple(each.name for each in book.sheets_metadata if each.typ == calamine.SheetTypeEnum.WorkSheet)
        if not names:
            raise InputError(f"{name} has no sheet of cells. Save the table as a sheet of its own.")
        chosen, rows, skipped = _rows(book, name, Choice("sheet", "Sheet", names), sheet)
    title = f"{_TITLES[kind]}, sheet {chosen!r}"
    notes = [Note("understood", f"{count(len(names), 'sheet')}: {quoted(names)}.")] if len(names) > 1 else []
    if skipped:
        notes.append(
            Note(
                "changed",
                f"{quoted(skipped)} {'is' if len(skipped) == 1 else 'are'} empty; read was the first sheet with cells.",
            )
        )
    columns, more = _columns(name, chosen, rows)
    return Content(columns, kind, title, kind, choice=Choice("sheet", "Sheet", names, chosen), notes=(*notes, *more))


def _measured(archive: Archive, kind: str) -> bytes:
    """Return the archive with its entries unpacked, checked for their size.

    Whoever reads this reads just the bytes that were measured.
    """
    packed, stored = Packed(archive.name, len(archive.data)), io.BytesIO()
    texts: dict[str, bytes] = {}
    for name in archive.entries:
        if name.rpartition(".")[2] in _CELLS_FROM or name == "mimetype":
            texts[name] = archive.read(name)
            if name.startswith(_SHEETS):
                texts[name] = _UNCOMPUTED.sub(_marked, texts[name])
    if b"encryption-data" in texts.get("META-INF/manifest.xml", b""):
        raise _protected(archive.name)
    sheet_size.check(packed, kind, texts)
    with zipfile.ZipFile(stored, "w", zipfile.ZIP_STORED) as plain:
        for name, text in texts.items():
            plain.writestr(zipfile.ZipInfo(name), text)
    return stored.getvalue()


def _marked(cell: re.Match[bytes]) -> bytes:
    place = _PLACE.search(cell[2])
    at = b"" if place is None else b" " + place[0]
    return b'<%bc%b t="str"><%bv>%b</%bv></%bc>' % (cell[1], at, cell[1], _MARK.encode(), cell[1], cell[1])


def _rows(
    book: calamine.CalamineWorkbook, file: str, choice: Choice, wish: str | None
) -> tuple[str, list[list[str]], list[str]]:
    """Return the sheet, its rows, and the empty sheets before it."""
    skipped: list[str] = []
    for name in choice.names if wish is None else [choose(file, choice, wish)]:
        rows = [[_spelled(cell) for cell in row] for row in book.get_sheet_by_name(name).iter_rows()]
        if any(any(row) for row in rows):
            return name, rows, skipped
        skipped.append(name)
    if wish is None:
        raise InputError(f"{file} holds only empty sheets ({quoted(skipped)}). Write the votes into one of them.")
    raise UndecidedError(
        f"Sheet {clip(skipped[0], 60)!r} of {file} is empty; its sheets are {quoted(choice.names)}. {_NAMED}", choice
    )


def _spelled(cell: Any) -> str:
    """Return a cell as text; whole numbers without decimals."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"  # as spreadsheets spell them
    if isinstance(cell, float):
        return str(int(cell)) if math.isfinite(cell) and cell.is_integer() and abs(cell) < 1e21 else repr(cell)
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(sep=" ") if cell.time() != datetime.time() else cell.date().isoformat()
    return str(cell)


def _columns(file: str, sheet: str, rows: list[list[str]]) -> tuple[dict[str, pa.ChunkedArray], list[Note]]:
    """Return the columns of a sheet, below its header."""
    width = max(len(row) for row in rows)
    if width > MAX_COLUMNS:
        raise InputError(f"Sheet {sheet!r} of {file} has {width:,} columns; at most {MAX_COLUMNS:,} can be read.")
    top = next((at for at, row in enumerate(rows) if sum(map(bool, row)) >= min(width, 2)), None)
    if top is None:
        raise InputError(f"Sheet {sheet!r} of {file} holds no table: no row has two cells. {_NAMED}")
    below = [row for row in rows[top + 1 :] if any(row)]
    header, notes = [_emptied(cell) for cell in rows[top]], _uncomputed(rows[top], below)
    above, blank = sum(any(row) for row in rows[:top]), len(rows) - top - 1 - len(below)
    if above:
        notes.append(Note("changed", f"Skipped {count(above, 'line')} above the table.", above))
    if blank:
        notes.append(Note("changed", f"Skipped {count(blank, 'blank line')}.", blank))
    if not below:
        raise InputError(f"Sheet {sheet!r} of {file} has a header but no rows below it. {_NAMED}")
    cells = [tuple(map(_emptied, column)) for column in zip(*below, strict=True)]
    return _named(header, cells), [*notes, *_rounded(header, cells)]


def _emptied(cell: str) -> str:
    return "" if cell == _MARK else cell


def _uncomputed(header: Sequence[str], below: Sequence[Sequence[str]]) -> list[Note]:
    """Warn of columns with formulas whose values are missing."""
    notes = []
    for at, name in enumerate(header):
        marked = [number for number, row in enumerate(below, start=1) if row[at] == _MARK]
        if marked:
            cells = (
                f"{count(len(marked), 'formula')} whose {'value was' if len(marked) == 1 else 'values were'} not saved"
            )
            text = f"Column {clip(name, 60)!r} has {cells}: read as empty. Open the workbook in a spreadsheet program, save it, and use that file."  # noqa: E501
            notes.append(Note("warning", text, len(marked), column=name))
    return notes


def _named(header: Sequence[str], cells: Sequence[Sequence[str]]) -> dict[str, pa.ChunkedArray]:
    """Return columns by their names as spelled.

    Repeated names get through with a mark that `clean_header` trims, and so are refused there.
    """
    columns: dict[str, pa.ChunkedArray] = {}
    for name, column in zip(header, cells, strict=True):
        while name in columns:
            name += " "  # noqa: PLW2901
        columns[name] = text_column(column)
    return columns


def _rounded(header: Sequence[str], cells: Sequence[Sequence[str]]) -> Iterator[Note]:
    """Warn of whole numbers with more digits than spreadsheets keep."""
    for name, column in zip(header, cells, strict=True):
        long = [row for row, cell in enumerate(column) if len(cell) > 15 and cell.lstrip("-").isdecimal()]
        if any(abs(int(column[row][:25])) >= EXACT for row in long[:100]):
            text = f"Column {name!r} has whole numbers of 16 digits or more, which spreadsheets round unless they are stored as text."  # noqa: E501
            yield Note("warning", text, len(long), column=name)


@contextmanager
def _told(file: str) -> Iterator[None]:
    """Turn what the reader of workbooks raises into a sentence."""
    try:
        yield
    except InputError:
        raise
    except calamine.PasswordError:
        raise _protected(file) from None
    except (calamine.CalamineError, OSError, ValueError, OverflowError, MemoryError):
        raise damaged(file) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # how Rust gives up; it is no Exception
            raise
        raise damaged(file) from None


def _protected(file: str) -> InputError:
    return InputError(f"{file} is protected by a password. Save it without one.")
