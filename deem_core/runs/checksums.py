"""Checksums of inputs and results: written once, checked when opened.

A file that was checked is not read again by this process until its size or time changes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from deem_core.files.seals import sealed
from deem_core.runs.private import open_to_read, read_json, write_private_json

FILE = "checksums.json"
"""Of a run that is done: its results with size and SHA-256."""

_CHUNK = 1 << 20
_MOST_KNOWN = 20_000
_known: dict[str, tuple[tuple[int, int, int], str]] = {}  # path → what the file looked like, and its SHA-256


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, 64 hexadecimal digits.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    known = _known_digest(path)
    if known is not None:
        return known
    total = hashlib.sha256()
    with open_to_read(path) as stream:
        look = _look(os.fstat(stream.fileno()))
        while chunk := stream.read(_CHUNK):
            total.update(chunk)
    digest = total.hexdigest()
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    _known[str(path)] = (look, digest)
    return digest


def write_checksums(folder: Path, names: Iterable[str]) -> None:
    """Write the checksums of a run's results."""
    files = {name: [(folder / name).lstat().st_size, digest_of(folder / name)] for name in sorted(names)}
    write_private_json(sealed({"files": files}), folder / FILE, durable=True)


def damaged(folder: Path, names: Iterable[str] | None = None, *, thorough: bool = True) -> list[str]:
    """Return which results of a run are not what was written.

    Parameters
    ----------
    folder : Path
    names : iterable of str, optional
        By default all.
    thorough : bool
        Whether to read what was not read yet. If not, files are looked at for their size alone.
    """
    if not os.path.lexists(folder / FILE):  # the run is of an earlier version
        return []
    files = (read_json(folder / FILE) or {}).get("files")
    if not isinstance(files, dict):
        return [FILE]
    chosen = files if names is None else names
    return [name for name in chosen if not _is_whole(folder / name, files.get(name), thorough)]


def _is_whole(path: Path, written: object, thorough: bool) -> bool:
    if not isinstance(written, list) or len(written) != 2:
        return False
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size != written[0]:
            return False
        digest = digest_of(path) if thorough else _known_digest(path)
    except OSError:
        return False
    return digest is None or digest == written[1]


def _known_digest(path: Path) -> str | None:
    look, digest = _known.get(str(path), (None, ""))
    return digest if look is not None and look == _look(path.stat()) else None


def _look(told: os.stat_result) -> tuple[int, int, int]:
    return told.st_ino, told.st_size, told.st_mtime_ns
