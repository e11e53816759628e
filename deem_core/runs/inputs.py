"""Inputs: files of the user, each stored once under the hash of its content."""

from __future__ import annotations

import hashlib
import io
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from deem_core.errors import InputError
from deem_core.runs.private import checked_digest, is_plain, make_folder, open_private

Data: TypeAlias = BinaryIO | bytes | os.PathLike[str]

_CHUNK = 1 << 20


class Inputs:
    """The stored inputs of a workspace.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def store(self, source: Data) -> str:
        """Keep a file, bytes or the rest of an open file; return the SHA-256 of its content, 64 hex digits.

        Raises
        ------
        InputError
            If it cannot be read or there is no room for it; then nothing is kept.
        """
        part = make_folder(self.folder) / f".{secrets.token_hex(8)}.part"
        try:
            with _opened(source) as stream:
                digest = _copy(stream, part)
            target = self.folder / digest
            if not (is_plain(target) and target.is_file()):
                part.replace(target)
        except OSError as error:
            raise InputError(f"The input could not be stored: {error.strerror or error}.") from error
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)
        return digest

    def path(self, digest: str) -> Path:
        """Return where an input is.

        Raises
        ------
        InputError
            If it is not a hash or nothing is stored under it.
        """
        path = self.folder / checked_digest(digest)
        if not (is_plain(path) and path.is_file()):
            raise InputError(f"The workspace has no input {digest[:12]}…: it was deleted. Bring the file again.")
        return path


def _copy(stream: BinaryIO, part: Path) -> str:
    """Copy a stream to a new file, safe on the disk, and return the hash of what was in it."""
    sha = hashlib.sha256()
    with os.fdopen(open_private(part, os.O_WRONLY | os.O_EXCL), "wb") as kept:
        while chunk := stream.read(_CHUNK):
            sha.update(chunk)
            kept.write(chunk)
        kept.flush()
        os.fsync(kept.fileno())
    return sha.hexdigest()


@contextmanager
def _opened(source: Any) -> Iterator[BinaryIO]:
    if isinstance(source, (bytes, bytearray, memoryview)):
        yield io.BytesIO(source)
    elif isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as stream:
            yield stream
    else:
        if isinstance(source, io.TextIOBase):
            raise InputError("The input is open as text; open it as bytes (mode 'rb').")
        if source.seekable():
            source.seek(0)
        yield source
