"""Files are written whole or not at all, and what goes wrong is said in a sentence."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its name only once everything is in it; links are followed.

    Raises
    ------
    InputError
        If `check_target` or the disk refuses.
    """
    check_target(path)
    target = Path(os.path.realpath(path))
    part = target.with_name(f".{secrets.token_hex(8)}.part")  # same folder, so that the move is atomic
    try:
        with part.open("xb") as stream:
            yield stream
        part.replace(target)
    except OSError as error:
        raise InputError(f"{str(path)!r} could not be written: {error.strerror or error}.") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def write_json(content: Any, path: str | os.PathLike[str]) -> None:
    """Write plain values as JSON; numbers that are not finite become null."""
    text = json.dumps(plain_values(content), indent=2, ensure_ascii=False, allow_nan=False)
    with whole_file(path) as stream:
        stream.write(f"{text}\n".encode(errors="backslashreplace"))  # half a surrogate pair, spelled as JSON does


def plain_values(value: Any) -> Any:
    """Return a value as JSON knows it: arrays as lists, numbers that are not finite as None."""
    if isinstance(value, dict):
        return {str(key): plain_values(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_values(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy arrays and scalars
        return plain_values(value.tolist())
    if isinstance(value, float) and value - value != 0:
        return None
    return value
