"""Objects: the records of a JSON text, one at a time.

A list is read through a window, because the whole tree of a large file would take many times its size.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from deem_core.errors import InputError
from deem_core.text import clip, size

LONGEST_RECORD = 1 << 24
"""Bytes of one record; its objects take many times as much."""

WRAPPERS = frozenset({"data", "rows", "records", "items", "examples", "instances"})
"""Names of the one field of an object that holds all records."""

_START = re.compile(rb"\s*(?:\{\s*[\"}]|\[\s*[\[{\]])")
_WRAPPED = re.compile(rb'\{\s*"([^"\\]{1,40})"\s*:\s*\[')
_SPACE = re.compile(r"[ \t\r\n]+")
_NEARLY = 64  # letters before a window's end where what is cut off looks broken


def is_json(data: bytes) -> bool:
    """Tell JSON records from a table by how the text begins."""
    return _START.match(data[:4096]) is not None


class Number(str):
    """A number, spelled as in the file."""

    __slots__ = ()


def objects(name: str, data: bytes) -> tuple[Iterator[tuple[str, Any]], bool]:
    """Return the records with their places, and whether each has a line."""
    begin = len(data) - len(data.lstrip())
    end = len(data.rstrip())
    newline = data.find(b"\n", begin, end)
    by_line = newline >= 0 and newline - begin <= LONGEST_RECORD and _is_whole(data[begin:newline])
    if by_line:
        return _of_lines(name, data), True
    if data[begin : begin + 1] == b"[":
        return _of_array(name, data, begin + 1), False
    wrapped = _WRAPPED.match(data, begin, begin + 4096)
    if wrapped and wrapped[1].decode("utf-8", errors="replace").casefold() in WRAPPERS:
        return _of_array(name, data, wrapped.end(), wrapped[1].decode()), False
    return iter([("record 1", _load(name, data, begin, end, "record 1"))]), False


def members(name: str, data: bytes) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values of one large object."""
    at, seen = data.index(b"{") + 1, set[str]()
    after = False
    while True:
        window, is_last = _window(data, at)
        place = 0
        while (start := _skip(window, place)) < len(window):
            if window[start] == "}":
                if data[at + len(window[: start + 1].encode()) :].strip():
                    raise _invalid(name, data, at, window[: start + 1], "Extra data")
                return
            if after:
                if window[start] != ",":
                    raise _invalid(name, data, at, window[:start], "Expecting ',' delimiter")
                place, after = start + 1, False
                continue
            found = _member(name, data, at, window, start, is_last=is_last)
            if found is None:
                break
            key, value, place = found
            if key in seen:
                raise _repeated(name, "The object", _RepeatedError(key))
            seen.add(key)
            after = True
            yield key, value
        if is_last:
            raise _invalid(name, data, at, window, "Expecting '}'")
        if not place:
            raise _too_long(name, f"row {len(seen) + 1:,}")
        at += len(window[:place].encode())


def _member(name: str, data: bytes, at: int, window: str, start: int, *, is_last: bool) -> tuple[str, Any, int] | None:
    """Return the key and value at a place, and their end.

    None if they may go on behind the window.
    """
    try:
        key, end = _DECODER.raw_decode(window, start)
        if not isinstance(key, str) or isinstance(key, Number):
            raise json.JSONDecodeError("Expecting property name enclosed in double quotes", window, start)
        colon = _skip(window, end)
        if window[colon : colon + 1] != ":":
            raise json.JSONDecodeError("Expecting ':' delimiter", window, colon)
        value, end = _DECODER.raw_decode(window, _skip(window, colon + 1))
    except json.JSONDecodeError as error:
        if not is_last and (start or _is_cut(error, window)):
            return None
        raise _invalid(name, data, at, window[: error.pos], error.msg) from None
    except _RepeatedError as error:
        raise _repeated(name, "An object", error) from None
    return None if end == len(window) and not is_last else (key, value, end)


def _of_lines(name: str, data: bytes) -> Iterator[tuple[str, Any]]:
    start, number = 0, 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        number += 1
        if data[start:end].strip():
            yield f"line {number:,}", _load(name, data, start, end, f"line {number:,}")
        start = end + 1


def _of_array(name: str, data: bytes, at: int, key: str | None = None) -> Iterator[tuple[str, Any]]:
    """Yield the elements of a list, window by window.

    ``at`` is the position behind the bracket that opens it, ``key`` the field of the object that holds it.
    """
    number, after_element = 0, False
    while True:
        window, is_last = _window(data, at)
        place = 0
        while (place := _skip(window, place)) < len(window):
            sign = window[place]
            if sign == "]":
                if not number:
                    raise InputError(f"{name} is an empty list. Upload a file with at least one record.")
                _check_end(name, data, at + len(window[: place + 1].encode()), key)
                return
            if after_element:
                if sign != ",":
                    raise _invalid(name, data, at, window[:place], "Expecting ',' delimiter")
                place, after_element = place + 1, False
                continue
            found = _element(name, data, at, window, place, is_last=is_last, number=number + 1)
            if found is None:
                break
            record, end = found
            number, after_element, place = number + 1, True, end
            yield f"record {number:,}", record
        if is_last:
            raise _invalid(name, data, at, window, "Expecting ']'")
        if not place:
            raise _too_long(name, f"record {number + 1:,}")
        at += len(window[:place].encode())


def _element(
    name: str, data: bytes, at: int, window: str, place: int, *, is_last: bool, number: int
) -> tuple[Any, int] | None:
    """Return the element at a place of a window, and its end.

    None if it may go on behind the window.
    """
    try:
        record, end = _DECODER.raw_decode(window, place)
    except json.JSONDecodeError as error:
        if not is_last and place:
            return None
        if not is_last and _is_cut(error, window):
            raise _too_long(name, f"record {number:,}") from None
        raise _invalid(name, data, at, window[: error.pos], error.msg) from None
    except _RepeatedError as error:
        raise _repeated(name, f"Record {number:,}", error) from None
    return None if end == len(window) and place and not is_last else (record, end)


def _window(data: bytes, at: int) -> tuple[str, bool]:
    """Return the text from a position, and whether it is the last."""
    end = at + LONGEST_RECORD
    while end < len(data) and data[end] & 0xC0 == 0x80:  # inside a character
        end -= 1
    return data[at:end].decode("utf-8", errors="replace"), end >= len(data)


def _skip(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _check_end(name: str, data: bytes, at: int, key: str | None) -> None:
    """Refuse what follows a list of records."""
    rest = data[at:].strip()
    if key is not None and rest[:1] == b",":
        raise InputError(f"{name} has other fields beside {key!r}, which holds the records. Keep that one alone.")
    if rest != (b"" if key is None else b"}"):
        raise _invalid(name, data, at, "", "Extra data" if key is None else "Expecting '}'")


def _is_cut(error: json.JSONDecodeError, text: str) -> bool:
    """Tell whether JSON breaks because its text was cut off."""
    return error.pos >= len(text) - _NEARLY or error.msg.startswith("Unterminated string")


def _too_long(name: str, place: str) -> InputError:
    return InputError(
        f"{place.capitalize()} of {name} is longer than {size(LONGEST_RECORD)}. Write one small object per row."
    )


def _repeated(name: str, place: str, error: _RepeatedError) -> InputError:
    return InputError(f"{place} of {name} has {clip(error.key, 60)!r} twice in one object. Keep one of them.")


def _invalid(name: str, data: bytes, at: int, before: str, why: str) -> InputError:
    """Return the sentence about JSON that breaks behind a text."""
    place = at + len(before.encode())
    line = 1 + data.count(b"\n", 0, place)
    column = 1 + len(data[data.rfind(b"\n", 0, place) + 1 : place].decode("utf-8", errors="replace"))
    return InputError(
        f"Line {line:,} of {name} is not valid JSON ({why}, column {column:,}). "
        "Fix that line: one object per line, or one list of objects."
    )


def _is_whole(text: bytes) -> bool:
    try:
        json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return False
    return True


def _load(name: str, data: bytes, start: int, end: int, place: str) -> Any:
    """Return the value of a JSON text between two positions.

    Numbers stay as they are spelled.
    """
    text = data[start : min(end, start + LONGEST_RECORD)].decode("utf-8", errors="replace")
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        if end - start > LONGEST_RECORD and _is_cut(error, text):
            raise _too_long(name, place) from None
        raise _invalid(name, data, start, text[: error.pos], error.msg) from None
    except _RepeatedError as error:
        raise _repeated(name, place.capitalize(), error) from None


class _RepeatedError(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise _RepeatedError(next(key for key, n in counts.items() if n > 1))
    return made


_DECODER = json.JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=Number, object_pairs_hook=_object)
