"""Private files of a workspace: owner only, atomic, never behind a link."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO

from deem_core.errors import InputError
from deem_core.files.atomic import whole_file
from deem_core.files.seals import parse_object

MARK = "workspace.json"
"""File that makes a folder a workspace."""
FORMAT = "deem-studio-workspace"

_RUN_ID = re.compile(r"[0-9a-f]{32}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def checked_id(text: object, what: str) -> str:
    """Return the id of a run or dataset; refuse any other text.

    It is 32 hexadecimal digits, checked before it touches the disk.
    """
    if isinstance(text, str) and _RUN_ID.fullmatch(text):
        return text
    raise InputError(f"{str(text)[:80]!r} is not the id of a {what}: that is 32 digits of 0–9 and a–f.")


def is_id(text: str) -> bool:
    """Tell whether a text could be an id."""
    return _RUN_ID.fullmatch(text) is not None


def checked_digest(text: object) -> str:
    """Return the SHA-256 of an input; refuse any other text."""
    if isinstance(text, str) and _DIGEST.fullmatch(text):
        return text
    raise InputError(f"{str(text)[:80]!r} is not the content hash of an input: that is 64 digits of 0–9 and a–f.")


def is_plain(path: Path) -> bool:
    """Tell whether no part of an absolute path is a link."""
    return os.path.realpath(path) == str(path)


def make_folder(path: Path) -> Path:
    """Make a folder of mode 0700, and its parents; return it."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        raise InputError(f"{str(path)!r} is in the way: a folder is needed there. Move it elsewhere.") from None
    except OSError as error:
        raise InputError(f"The folder {str(path)!r} cannot be made: {error.strerror or error}.") from None
    return path


@contextmanager
def private_file(path: Path, *, durable: bool = False) -> Iterator[BinaryIO]:
    """Open a file of mode 0600, named only once it is whole.

    Parameters
    ----------
    path : Path
    durable : bool
        Whether it must survive a power cut from the moment it has its name.

    Raises
    ------
    InputError
        If the disk refuses, or the path leads through a link.
    """
    refuse_links(path)
    with whole_file(path) as stream:
        make_private(stream)
        yield stream
        stream.flush()
        if durable:
            os.fsync(stream.fileno())


def make_private(stream: BinaryIO) -> None:
    """Give an open file the mode 0600."""
    if sys.platform != "win32":
        os.fchmod(stream.fileno(), 0o600)


def write_private_json(content: Any, path: Path, *, durable: bool = False) -> None:
    """Write plain, finite values as JSON."""
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    with private_file(path, durable=durable) as stream:
        stream.write(f"{text}\n".encode(errors="backslashreplace"))


def open_private(path: Path, flags: int) -> int:
    """Open or create a file of mode 0600; return its descriptor.

    Links are not followed.

    Raises
    ------
    InputError
        If the disk refuses, or the path leads through a link.
    """
    refuse_links(path)
    with disk(f"{str(path)!r} could not be written"):
        return os.open(path, flags | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0), 0o600)


@contextmanager
def disk(problem: str) -> Iterator[None]:
    """Turn what the disk refuses into an `InputError`."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{problem}: {error.strerror or error}.") from error


def remove(path: Path) -> None:
    """Remove a file, folder or link, if there is one.

    What a link leads to stays.

    Raises
    ------
    InputError
        If the disk refuses.
    """
    with disk(f"{str(path)!r} cannot be deleted"), suppress(FileNotFoundError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def read_private(path: Path) -> bytes:
    """Return the content of a file that is not behind a link.

    Raises
    ------
    OSError
        If there is none.
    """
    with open_to_read(path) as stream:
        return stream.read()


def open_to_read(path: Path) -> IO[bytes]:
    """Open a file that is not behind a link."""
    if not is_plain(path):
        raise OSError(errno.ELOOP, "A link leads elsewhere", str(path))
    return path.open("rb")


def read_json(path: Path) -> dict[str, Any] | None:
    """Return the object in a JSON file, without its seal.

    None if it is missing or damaged.
    """
    try:
        return parse_object(read_private(path))
    except OSError:
        return None


def is_workspace(root: Path) -> bool:
    """Tell whether a folder is a workspace."""
    return (read_json(root / MARK) or {}).get("format") == FORMAT


def refuse_links(path: Path) -> None:
    """Refuse a path that leads through a link.

    Nothing outside the workspace is written on behalf of an id.
    """
    if not is_plain(path):
        raise InputError(f"{str(path)!r} leads elsewhere by a link; the workspace holds no links. Remove it.")


def no_room(error: BaseException) -> bool:
    """Tell whether an error comes from a full disk or quota."""
    full = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in full:
            return True
        cause = cause.__cause__ or cause.__context__
    return False
