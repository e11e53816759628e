"""Sizes of sheets, told from their XML before cells are built.

A sheet is built as a whole rectangle, and a cell can repeat a long text or stand for a million others: a few bytes may
ask for more memory than there is. What is counted here is never less than what will be built.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from deem_core.errors import InputError
from deem_core.readers.bounds import Packed
from deem_core.text import count

BYTES_PER_CELL = 100
"""Peak of a cell of the rectangle: as the workbook's reader holds it, and as text."""

MOST_ROWS, MOST_COLUMNS = 1 << 20, 1 << 14

_PREFIX = rb"<(?:[A-Za-z_][\w.-]*+:)?"
_ATTRIBUTES = rb"((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+)>"
_CELL = re.compile(_PREFIX + rb"c(?=[\s/>])" + _ATTRIBUTES + rb"(?:\s*+" + _PREFIX + rb"v\s*+>\s*+(\d{1,9})\s*+<)?")
_CELL_BEGINS = re.compile(_PREFIX + rb"c(?=[\s/>])")
_PLACE = re.compile(rb"(?:^|\s)r\s*=\s*[\"']([A-Za-z]{1,3})(\d{1,7})[\"']")
_SHARED = re.compile(rb"(?:^|\s)t\s*=\s*[\"']s[\"']")
_ITEM = re.compile(_PREFIX + rb"si(?=[\s/>])")
_ROW = re.compile(_PREFIX + rb"row(?=[\s/>])([^>]*+)")
_ROW_NUMBER = re.compile(rb"(?:^|\s)r\s*=\s*[\"'](\d{1,9})[\"']")
_ODS_ROW = re.compile(_PREFIX + rb"table-row(?=[\s/>])")
_ODS_CELL = re.compile(_PREFIX + rb"(?:covered-)?table-cell(?=[\s/>])" + _ATTRIBUTES)
_ODS_CELL_BEGINS = re.compile(_PREFIX + rb"(?:covered-)?table-cell(?=[\s/>])")
_REPEATED = re.compile(rb"number-(?:rows|columns)-repeated\s*=\s*[\"']\s*(\d+)")


def check(packed: Packed, kind: str, texts: Mapping[str, bytes]) -> None:
    """Refuse a workbook with a sheet that takes too much memory.

    Parameters
    ----------
    packed : Packed
    kind : "xlsx" or "ods"
    texts : mapping
        Entry → contents.
    """
    if kind == "ods":
        cells, more = _ods(packed.name, texts.get("content.xml", b""))
        _refuse(packed, cells, more)
        return
    shared = [lengths for text in texts.values() if (lengths := _shared_lengths(text))]
    longest = max(map(max, shared), default=0)
    for text in texts.values():
        _refuse(packed, *_xlsx(packed.name, text, shared[0] if len(shared) == 1 else [], longest))


def _refuse(packed: Packed, cells: int, more: int) -> None:
    need, what = cells * BYTES_PER_CELL + more, f"a sheet of {count(cells, 'cell')}"
    packed.check_growth(need, what)
    packed.check_memory(need, what)


def _shared_lengths(text: bytes) -> list[int]:
    """Return the bytes of each shared text, markup included."""
    places = [found.start() for found in _ITEM.finditer(text)]
    return [end - start for start, end in zip(places, [*places[1:], len(text)], strict=False)]


def _xlsx(name: str, text: bytes, lengths: list[int], longest: int) -> tuple[int, int]:
    """Return a sheet's cells as a rectangle, and its shared bytes."""
    first_row = first_column = last_row = last_column = more = matched = unplaced = 0
    for found in _CELL.finditer(text):
        matched += 1
        attributes = found[1]
        if attributes.endswith(b"/"):  # a format without a value
            continue
        place = _PLACE.search(attributes)
        if place is None:
            unplaced += 1
        else:
            row, column = int(place[2]), _number(place[1])
            if not 1 <= row <= MOST_ROWS or column > MOST_COLUMNS:
                raise InputError(f"{name} is damaged: it has a cell {(place[1] + place[2]).decode()}. Save it again.")
            first_row, last_row = min(first_row or row, row), max(last_row, row)
            first_column, last_column = min(first_column or column, column), max(last_column, column)
        if _SHARED.search(attributes):
            at = int(found[2]) if found[2] else -1
            more += lengths[at] if 0 <= at < len(lengths) else longest
    if matched != sum(1 for _ in _CELL_BEGINS.finditer(text)):
        raise _invalid(name)
    if unplaced:  # counted on from the cell before
        rows = list(_ROW.finditer(text))
        ends = [*(row.start() for row in rows[1:]), len(text)]
        told = [int(number[1]) for row in rows if (number := _ROW_NUMBER.search(row[1]))]
        widest = [text.count(b"c", row.start(), end) for row, end in zip(rows, ends, strict=False)]
        first_row = first_column = 1
        last_row = max(last_row, len(rows), *told, unplaced if not rows else 0)
        last_column += min(max(widest, default=0), unplaced)
    return (last_row - first_row + 1) * (last_column - first_column + 1) if last_row else 0, more


def _number(letters: bytes) -> int:
    """Return the number of a column, A being 1."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - 64
    return number


def _ods(name: str, text: bytes) -> tuple[int, int]:
    """Return the cells of all sheets, and bytes of texts."""
    if sum(1 for _ in _ODS_CELL.finditer(text)) != sum(1 for _ in _ODS_CELL_BEGINS.finditer(text)):
        raise _invalid(name)
    starts = [found.start() for found in _ODS_ROW.finditer(text)]
    height = waiting = width = more = 0
    for start, end in zip(starts, [*starts[1:], len(text)], strict=False):
        row = text[start:end]
        waiting += (times := _repeats(row[: row.find(b">")]))
        cells = [(found[1], _repeats(found[1])) for found in _ODS_CELL.finditer(row)]
        filled = [at for at, (told, _) in enumerate(cells) if not told.endswith(b"/") or b"value" in told]
        if filled:  # empty rows below the last one are not built
            used = [n for _, n in cells[: filled[-1] + 1]]
            height, waiting, width = height + waiting, 0, max(width, sum(used))
            more += times * len(row) * max(used)
    return height * width, more


def _repeats(attributes: bytes) -> int:
    found = _REPEATED.search(attributes)
    return 1 if found is None else max(int(found[1][:18]), 1)


def _invalid(name: str) -> InputError:
    return InputError(f"{name} is damaged: a sheet of it is no valid XML. Save it again.")
