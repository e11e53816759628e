"""Decoding: files and buffers as UTF-8 text, gzip unpacked."""

from __future__ import annotations

import codecs
import io
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from deem_core.errors import InputError
from deem_core.readers.bounds import MOST_RATIO, PIECE, SMALL, SMALL_UNPACKED, Packed, told

_RECODING = 6  # bytes held for each byte of a text that is read from another encoding
BEGINNING = SMALL_UNPACKED // MOST_RATIO
"""Bytes of a gzip file that tell whether it grows too much."""

_SLICE = 1 << 20  # bytes of a packed file that are handed over at once
_SIGNATURES = (  # how files begin that are not tables, and what to do with them
    (b"\xd0\xcf\x11\xe0", "an old Excel or Office file", "Open it and save it as .xlsx or CSV (UTF-8)."),
    (b"%PDF", "a PDF document", "Export the table as CSV."),
    (b"BZh91AY&SY", "compressed with bzip2", "Unpack it, or compress it with gzip."),
    (b"\xfd7zXZ", "compressed with xz", "Unpack it, or compress it with gzip."),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "Unpack it, or compress it with gzip."),
    (b"7z\xbc\xaf", "a 7-Zip archive", "Unpack it and upload the CSV inside."),
    (b"SQLite format 3", "an SQLite database", "Export the table as CSV."),
    (b"\x89PNG", "a picture", "Upload a CSV, TSV, JSON or Parquet file."),
    (b"FEA1", "an old Feather file", "Write it again with a newer pandas or Arrow."),
)
MARKED = "UTF-8 with byte order mark"
WINDOWS = "Windows-1252 (Latin-1)"
_CODECS = {  # how encodings are named here that Python names otherwise → its name, and whether a mark comes first
    MARKED: ("utf-8", True),
    "UTF-8-SIG": ("utf-8", True),
    WINDOWS: ("cp1252", False),
    "UTF-16": ("utf-16-le", True),
    "UTF-32": ("utf-32-le", True),
}
_CONTROL = re.compile(rb"[\x01-\x08\x0b\x0e-\x1f\x7f]")
_MARKUP = re.compile(rb"\s*<(?:!doctype html|html|\?xml)", re.IGNORECASE)


@dataclass(frozen=True)
class Raw:
    """A file's bytes, unpacked.

    Attributes
    ----------
    name : str
    data : bytes
    compression : "gzip" or None
    packed : int
        Bytes of the file as it came.
    doubt : str
        A sentence about bytes that were left aside, else empty.
    """

    name: str
    data: bytes
    compression: str | None
    packed: int
    doubt: str = ""

    @property
    def is_parquet(self) -> bool:
        """Whether this is a Parquet file, whatever it is called."""
        return self.data[:4] == b"PAR1"


@dataclass(frozen=True)
class Text:
    """A file's text as UTF-8 bytes without byte order mark.

    Attributes
    ----------
    data : bytes
    encoding : str
        What it was.
    doubt : str
        A sentence if the encoding is a guess, else empty.
    """

    data: bytes
    encoding: str
    doubt: str = ""


def load(source: Any) -> Raw:
    """Read a path, bytes or a buffer, and unpack gzip."""
    name, data = _read_all(source)
    if not data:
        raise InputError(f"{name} is empty (0 bytes). Upload a CSV, TSV, JSON or Parquet file with a header.")
    if data[:2] == b"\x1f\x8b":
        unpacked, rest = _gunzip(name, data)
        doubt = f"{name} goes on after its gzip data; the last {rest:,} bytes were not read." if rest else ""
        return Raw(name, unpacked, "gzip", len(data), doubt)
    return Raw(name, data, None, len(data))


def decode(raw: Raw, encoding: str | None = None) -> Text:
    """Return the text of a file in UTF-8; refuse other files.

    The encoding is found where none is given.
    """
    _refuse_foreign(raw)
    if encoding is not None:
        return _from_named(raw, encoding)
    data = raw.data
    for mark, marked in _MARKS:
        if data.startswith(mark):
            return Text(_transcode(raw, marked), marked.upper())
    if data.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
        name = MARKED
    else:
        name = "UTF-8"
    if b"\0" in data:
        wide = _unmarked_utf16(data)
        if wide is None:
            raise InputError(_nul_sentence(raw.name, data))
        return Text(_transcode(raw, wide), wide.upper(), "The file has no byte order mark; UTF-16 was guessed.")
    _refuse_binary(raw.name, data)
    bad = _first_invalid_utf8(data)
    if bad is None:
        return Text(data, name)
    _check_recoding(raw)
    return _as_latin(data, line_at(data, bad))


def _from_named(raw: Raw, encoding: str) -> Text:
    """Return the text by a given encoding."""
    _check_recoding(raw)
    try:
        name = codecs.lookup(encoding).name
        text = raw.data.decode(name)
    except LookupError:
        raise InputError(
            f"There is no encoding {encoding[:40]!r}. Common ones are utf-8, cp1252, latin-1 and utf-16."
        ) from None
    except UnicodeError as error:
        at = f" (line {line_at(raw.data, error.start):,})" if isinstance(error, UnicodeDecodeError) else ""
        raise InputError(
            f"{raw.name} is not {encoding} text{at}. Choose another encoding, or have it detected."
        ) from None
    data = text.removeprefix("\ufeff").encode()
    if b"\0" in data:
        raise InputError(_nul_sentence(raw.name, data))
    _refuse_binary(raw.name, data)
    return Text(data, MARKED if name == "utf-8" and raw.data.startswith(codecs.BOM_UTF8) else name.upper())


def codec_of(encoding: str) -> tuple[str, bool]:
    """Return Python's name of an encoding, and whether a mark comes first."""
    known = _CODECS.get(encoding)
    return (codecs.lookup(encoding).name, False) if known is None else known


_MARKS = (  # the longer marks first: UTF-32 begins like UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def line_at(data: bytes, position: int) -> int:
    """Return the line of a byte, counted from 1."""
    newline = b"\n" if b"\n" in data else b"\r"
    return data.count(newline, 0, position) + 1


def _nul_sentence(name: str, data: bytes) -> str:
    return (
        f"{name} holds NUL bytes (first on line {line_at(data, data.index(0)):,}), so it is binary or damaged. "
        "Export it again as CSV (UTF-8)."
    )


def _read_all(source: Any) -> tuple[str, bytes]:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return "<bytes>", bytes(source)
    if not isinstance(source, (str, os.PathLike)):
        return _read_buffer(source)
    path = Path(source)
    try:
        return path.name, _read_path(path)
    except FileNotFoundError:
        raise InputError(f"There is no file {str(path)!r}. Check the path.") from None
    except IsADirectoryError:
        raise InputError(f"{str(path)!r} is a folder. Name a file in it.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{str(path)!r} cannot be read: {reason}.") from None


def _read_path(path: Path) -> bytes:
    """Return the bytes of a file or pipe that fit in memory."""
    packed = Packed(path.name, 0)
    with path.open("rb") as file:
        told_size = os.fstat(file.fileno())
        packed.check_memory(told_size.st_size, "bytes")
        if stat.S_ISREG(told_size.st_mode):
            return file.read()
        held = bytearray()  # of a pipe nobody knows the size
        while piece := file.read(PIECE):
            held += piece
            packed.check_memory(len(held), "bytes")
    return bytes(held)


def _read_buffer(buffer: IO[Any]) -> tuple[str, bytes]:
    if not hasattr(buffer, "read"):
        raise InputError(f"Cannot read from {type(buffer).__name__}: give a path, bytes or an open file.")
    name = getattr(buffer, "name", None)
    name = Path(name).name if isinstance(name, str) and name else "<buffer>"
    try:
        if hasattr(buffer, "seek") and (not hasattr(buffer, "seekable") or buffer.seekable()):
            buffer.seek(0)
        content = buffer.read()
        return name, content.encode() if isinstance(content, str) else bytes(content)
    except (OSError, ValueError, TypeError) as error:  # closed, not readable, or text that has no UTF-8
        raise InputError(
            f"{name} cannot be read: {str(error).rstrip('.')}. Give a path, bytes or a file opened for reading."
        ) from None


def _gunzip(name: str, data: bytes) -> tuple[bytes, int]:
    """Unpack gzip members; return the bytes, and how many follow.

    What could grow beyond memory is unpacked once to be measured, holding nothing.
    """
    packed, out, end = Packed(name, len(data)), io.BytesIO(), 0
    if len(data) * MOST_RATIO > SMALL or told() is not None:
        unpacked = 0
        for piece, consumed in _unpacked(name, data):
            unpacked += len(piece)
            packed.check_unpacked(unpacked, consumed)
    for piece, consumed in _unpacked(name, data):
        out.write(piece)
        packed.check_unpacked(out.tell(), consumed)
        end = consumed
    if not out.tell():
        raise InputError(f"{name} is empty: the gzip file holds no bytes.")
    return out.getvalue(), len(data[end:].strip(b"\0"))


def check_beginning(name: str, data: bytes, size: int) -> None:
    """Refuse gzip that begins like no table, by its first bytes.

    For files that are read in parts; ``size`` is that of the whole file.
    """
    packed, unpacked = Packed(name, size), 0
    with suppress(InputError):  # it ends too early
        for piece, _ in _unpacked(name, data[:BEGINNING]):
            unpacked += len(piece)
    packed.check_ratio(unpacked, min(len(data), BEGINNING))


def _unpacked(name: str, data: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield the contents of gzip members, and the bytes read so far."""
    at = 0
    while data[at : at + 2] == b"\x1f\x8b":
        member = zlib.decompressobj(wbits=31)
        waiting, over = b"", False
        while not over:
            if not waiting:
                waiting, at = data[at : at + _SLICE], min(at + _SLICE, len(data))
            try:
                piece = member.decompress(waiting, PIECE)
            except zlib.error:
                raise InputError(f"{name} is a damaged gzip file. Compress it again.") from None
            waiting, over = member.unconsumed_tail, member.eof
            if not (piece or waiting or over) and at >= len(data):
                raise InputError(f"{name} is a gzip file that ends too early. Copy or compress it again.")
            if over:
                at -= len(member.unused_data)
            yield piece, at - len(waiting)


def _refuse_foreign(raw: Raw) -> None:
    head = raw.data[:4096]
    if head[:4] == b"PK\x03\x04":
        if b"xl/" in raw.data or b"[Content_Types].xml" in head:
            raise InputError(f"{raw.name} is an Excel workbook, despite its name. Open it and save it as CSV (UTF-8).")
        raise InputError(f"{raw.name} is a zip archive. Unpack it and upload the CSV inside.")
    for signature, what, advice in _SIGNATURES:
        if head.startswith(signature):
            raise InputError(f"{raw.name} is {what}, not a table. {advice}")
    if _MARKUP.match(head):
        raise InputError(f"{raw.name} is a web page or XML, not a table. Download the CSV itself.")


def _refuse_binary(name: str, data: bytes) -> None:
    sample = data[: 1 << 20]
    controls = len(_CONTROL.findall(sample))
    if controls > 0.001 * len(sample) + 1:
        raise InputError(
            f"{name} is binary, not text ({controls:,} control characters near its start). "
            "Upload a CSV, TSV, JSON or Parquet file."
        )


def _first_invalid_utf8(data: bytes) -> int | None:
    """Return where UTF-8 breaks; Arrow looks whether it does, Python where."""
    whole = pa.LargeStringArray.from_buffers(1, pa.array([0, len(data)], pa.int64()).buffers()[1], pa.py_buffer(data))
    try:
        whole.validate(full=True)
    except pa.ArrowInvalid:
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            return error.start
    return None


def _unmarked_utf16(data: bytes) -> str | None:
    """Guess UTF-16 without a byte order mark.

    Mostly ASCII text has its zeros on one side of every pair.
    """
    sample = data[:4096]
    half = max(len(sample) // 2, 1)
    even, odd = sample[::2].count(0) / half, sample[1::2].count(0) / half
    if max(even, odd) > 0.4 and min(even, odd) < 0.1:
        return "utf-16-le" if odd > even else "utf-16-be"
    return None


def _check_recoding(raw: Raw) -> None:
    """Refuse text whose copy in another encoding would not fit."""
    Packed(raw.name, raw.packed).check_memory(_RECODING * len(raw.data), "text that is not UTF-8")


def _transcode(raw: Raw, encoding: str) -> bytes:
    _check_recoding(raw)
    try:
        data = raw.data.decode(encoding).encode()
    except UnicodeError:
        raise InputError(
            f"{raw.name} looks like {encoding.upper()} text but is damaged. Export it again as CSV (UTF-8)."
        ) from None
    if b"\0" in data:
        raise InputError(_nul_sentence(raw.name, data))
    return data


def _as_latin(data: bytes, line: int) -> Text:
    """Read text as Windows-1252, the last resort.

    It is Latin-1 with printable signs for its unused codes.
    """
    try:
        text, encoding = data.decode("cp1252"), WINDOWS
    except UnicodeDecodeError:
        text, encoding = data.decode("latin-1"), "Latin-1"
    doubt = f"The file is not valid UTF-8 (line {line:,}), so it was read as {encoding}: check the accented letters."
    return Text(text.encode(), encoding, doubt)
