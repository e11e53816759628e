"""Zip archives: every entry measured while it is unpacked.

What an archive says of its sizes need not be true, so nothing is believed: entries are unpacked piece by piece and
refused as soon as they grow beyond the bounds of gzip.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from dataclasses import dataclass, field

from deem_core.errors import InputError
from deem_core.readers.bounds import PIECE, Packed

MOST_ENTRIES = 10_000
_LOCAL = struct.Struct("<4s5HIIIHH")  # header in front of each entry


@dataclass
class Archive:
    """A zip archive in memory.

    Attributes
    ----------
    name : str
        Of the file, for messages.
    data : bytes
    entries : dict of str to ZipInfo
    unpacked : int
        Bytes that were unpacked so far.
    """

    name: str
    data: bytes
    entries: dict[str, zipfile.ZipInfo]
    unpacked: int = field(default=0)

    @classmethod
    def of(cls, name: str, data: bytes) -> Archive:
        """Open an archive by its list of entries."""
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                entries = {entry.filename: entry for entry in archive.infolist()}
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, struct.error, UnicodeError):
            raise damaged(name) from None
        if len(entries) > MOST_ENTRIES:
            raise InputError(f"{name} is a zip archive of {len(entries):,} files, not a table.")
        return cls(name, data, entries)

    def read(self, entry_name: str) -> bytes:
        """Return the contents of an entry, within the bounds."""
        entry, out = self.entries[entry_name], io.BytesIO()
        if entry.flag_bits & 1:
            raise InputError(f"{self.name} is protected by a password. Save it without one.")
        packed = self._packed(entry)
        if entry.compress_type == zipfile.ZIP_STORED:
            self._count(len(packed))
            return packed
        if entry.compress_type != zipfile.ZIP_DEFLATED:
            raise InputError(f"{self.name} is packed in a way that is not read here. Save it again.")
        member, waiting = zlib.decompressobj(wbits=-15), packed
        try:
            while not member.eof and waiting:
                piece = member.decompress(waiting, PIECE)
                waiting = member.unconsumed_tail
                self._count(len(piece))
                out.write(piece)
        except zlib.error:
            raise damaged(self.name) from None
        if not member.eof:
            raise damaged(self.name)
        return out.getvalue()

    def _count(self, more: int) -> None:
        self.unpacked += more
        Packed(self.name, len(self.data)).check_unpacked(self.unpacked, len(self.data), kind="zip archive")

    def _packed(self, entry: zipfile.ZipInfo) -> bytes:
        """Return the packed bytes of an entry."""
        start = entry.header_offset
        header = self.data[start : start + _LOCAL.size]
        if start < 0 or len(header) < _LOCAL.size or header[:4] != b"PK\x03\x04":
            raise damaged(self.name)
        fields = _LOCAL.unpack(header)
        begin = start + _LOCAL.size + fields[-2] + fields[-1]
        packed = self.data[begin : begin + entry.compress_size]
        if len(packed) < entry.compress_size:
            raise damaged(self.name)
        return packed


def damaged(name: str) -> InputError:
    """Return the sentence about an archive that cannot be unpacked."""
    return InputError(
        f"{name} is damaged: it begins like a workbook or archive, and cannot be unpacked. Save it again."
    )
