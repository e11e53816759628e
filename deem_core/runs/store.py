"""Store of input files, each kept once under its SHA-256."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from deem_core.errors import InputError
from deem_core.files.atomic import draft
from deem_core.runs.checksums import digest_of
from deem_core.runs.private import checked_digest, is_plain, make_folder, make_private, refuse_links

Data: TypeAlias = BinaryIO | bytes | os.PathLike[str]

_CHUNK = 1 << 20


class Inputs:
    """Stored inputs of a workspace.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def store(self, source: Data) -> str:
        """Store a file, bytes or an open file; return its SHA-256.

        The hash is 64 hexadecimal digits.

        Raises
        ------
        InputError
            If it cannot be read or there is no room for it; then nothing is kept.
        """
        refuse_links(make_folder(self.folder))
        try:
            with draft(self.folder) as part, _open_stream(source) as stream:
                digest = _copy(stream, part.stream)
                target = self.folder / digest
                if not self._is_whole(target, digest):  # one that was damaged is replaced
                    part.target = target
        except OSError as error:
            raise InputError(f"The input could not be stored: {error.strerror or error}.") from error
        return digest

    def place(self, digest: str) -> Path:
        """Return where an input is, whether or not it is whole.

        Raises
        ------
        InputError
            If it is not a hash or nothing is stored under it.
        """
        path = self.folder / checked_digest(digest)
        if not (is_plain(path) and path.is_file()):
            raise InputError(f"The workspace has no input {digest[:12]}…: it was deleted. Upload the file again.")
        return path

    def path(self, digest: str) -> Path:
        """Return the path of an input that is what was stored.

        Raises
        ------
        InputError
            If it is not a hash, nothing is stored under it, or the content is another one by now.
        """
        path = self.place(digest)
        if not self._is_whole(path, digest):
            raise InputError(
                f"The stored input {digest[:12]}… is damaged: its content is not what was uploaded. "
                "Upload the file again to replace it."
            )
        return path

    def _is_whole(self, path: Path, digest: str) -> bool:
        try:
            return is_plain(path) and path.is_file() and digest_of(path) == digest
        except OSError:
            return False


def _copy(source: BinaryIO, target: BinaryIO) -> str:
    """Copy a stream to a private file, synced to disk.

    Return its SHA-256.
    """
    make_private(target)
    sha = hashlib.sha256()
    while chunk := source.read(_CHUNK):
        sha.update(chunk)
        target.write(chunk)
    target.flush()
    os.fsync(target.fileno())
    return sha.hexdigest()


@contextmanager
def _open_stream(source: Any) -> Iterator[BinaryIO]:
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
