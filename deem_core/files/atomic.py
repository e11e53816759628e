"""Atomic files: written whole or not at all."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from deem_core.errors import InputError


def check_target(path: str | os.PathLike[str]) -> None:
    """Refuse the name of a file that cannot be written.

    Raises
    ------
    InputError
        If the folder is not there or the name belongs to something that is not a file.
    """
    target = Path(path)
    if not os.path.isdir(target.parent):  # os.path, unlike Path, takes a name too long or a closed folder as a no
        raise InputError(f"The folder {str(target.parent)!r} does not exist; create it first.")
    if os.path.isdir(target):
        raise InputError(f"{str(target)!r} is a folder; give the name of a file.")
    if os.path.exists(target) and not os.path.isfile(target):
        raise InputError(f"{str(target)!r} is not an ordinary file; give another name.")


@dataclass
class Draft:
    """A file in the making, which vanishes unless it gets a name.

    Attributes
    ----------
    stream : binary file
        Open for writing.
    target : Path, optional
        Name that it takes at the end, in the same folder.
    """

    stream: BinaryIO
    target: Path | None = None


@contextmanager
def draft(folder: Path) -> Iterator[Draft]:
    """Open a new file whose name may depend on its content."""
    part = folder / f".{secrets.token_hex(8)}.part"  # in the same folder, so that the move is atomic
    try:
        with part.open("xb") as stream:
            file = Draft(stream)
            yield file
        if file.target is not None:
            part.replace(file.target)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that takes its name only once everything is written.

    Links are followed.

    Raises
    ------
    InputError
        If `check_target` or the disk refuses.
    """
    check_target(path)
    target = Path(os.path.realpath(path))
    try:
        with draft(target.parent) as part:
            yield part.stream
            part.target = target
    except OSError as error:
        raise InputError(f"{str(path)!r} could not be written: {error.strerror or error}.") from error


def write_json(content: Any, path: str | os.PathLike[str]) -> None:
    """Write plain values or dataclasses as JSON.

    Numbers that are not finite become null.
    """
    from deem_core.files.plain import to_plain  # noqa: PLC0415  # NumPy, which a waiting worker does without

    text = json.dumps(to_plain(content), indent=2, ensure_ascii=False, allow_nan=False)
    with whole_file(path) as stream:
        stream.write(f"{text}\n".encode(errors="backslashreplace"))  # a lone surrogate, spelled as JSON does
