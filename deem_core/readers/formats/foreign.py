"""Foreign files: formats of other programs, told by how they begin."""

from __future__ import annotations

from dataclasses import dataclass

from deem_core.errors import InputError
from deem_core.readers import decode
from deem_core.readers.formats import arrow, matrices
from deem_core.readers.formats.content import Content
from deem_core.text import clip, quoted

TEXTS = frozenset({"text", "json", "label studio", "argilla", "wrench"})
"""Formats that are text, with an encoding."""

ZIP = b"PK\x03\x04"
EMPTY_ZIP = b"PK\x05\x06"
OLD_OFFICE = b"\xd0\xcf\x11\xe0"


@dataclass(frozen=True)
class Wish:
    """Which of several tables or questions is to be read.

    Attributes
    ----------
    sheet, label : str, optional
        The options of `deem_core.read` of these names.
    """

    sheet: str | None = None
    label: str | None = None


def is_binary(data: bytes) -> bool:
    """Tell whether `read_binary` knows files that begin like this."""
    return data.startswith((ZIP, EMPTY_ZIP, matrices.NPY)) or arrow.is_arrow(data)


def read_binary(raw: decode.Raw, wish: Wish) -> Content | None:
    """Return what a binary file holds; None if it is another file.

    Raises
    ------
    InputError
        If it is damaged, too large, or holds no table.
    """
    data = raw.data
    if data.startswith((ZIP, EMPTY_ZIP)):
        return _read_zip(raw, wish)
    if data.startswith(matrices.NPY):
        return matrices.read_npy(raw.name, data, raw.packed)
    if arrow.is_arrow(data):
        return arrow.read_arrow(raw.name, data, raw.packed, wish.label)
    if data.startswith(OLD_OFFICE) and "EncryptedPackage".encode("utf-16-le") in data[: 1 << 22]:
        raise InputError(f"{raw.name} is an Excel workbook protected by a password. Save it without one.")
    return None


def _read_zip(raw: decode.Raw, wish: Wish) -> Content:
    from deem_core.readers.formats import workbook, zipped  # noqa: PLC0415  # few files need them

    archive = zipped.Archive.of(raw.name, raw.data)
    if matrices.is_npz(archive):
        return matrices.read_npz(archive, wish.sheet)
    kind = workbook.kind_of(archive)
    if kind is not None:
        return workbook.read_workbook(archive, kind, wish.sheet)
    inside = quoted([clip(name, 60) for name in archive.entries if not name.endswith("/")])
    if not inside:
        raise InputError(f"{raw.name} is an empty archive: there is nothing in it. Save it again.")
    raise InputError(f"{raw.name} is a zip archive. Unpack it and use the table inside; it holds {inside}.")
