"""Files of a request of the HTTP interface, in their own folder."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message, Receive
from streamlit import config

FILE_PARTS = ("file", "truth-file", "gold-file", "labels", "model")
"""Files that a form may hold."""

_BETWEEN = 65_536  # bytes between the parts of a form
_NAMES = {
    "json": "votes.json",
    "x-ndjson": "votes.jsonl",
    "tab-separated-values": "votes.tsv",
    "parquet": "votes.parquet",
}
_UNSAFE = re.compile(r"[^\w .,()+=@#-]")


class Refusal(Exception):  # noqa: N818  # it is an answer
    """A request that is answered with a sentence and a status."""

    def __init__(self, status: int, sentence: str, **headers: str) -> None:
        super().__init__(sentence)
        self.status, self.headers = status, {name.replace("_", "-"): value for name, value in headers.items()}


class Folder:
    """Files of one request, gone when it is answered."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="deem-", ignore_cleanup_errors=True)
        self.path = Path(self._folder.name)
        self.kept = False
        """Whether the answer itself still needs it, and will remove it."""

    def remove(self) -> None:
        """Delete it with all that is in it."""
        self._folder.cleanup()


def most_bytes() -> int:
    """Return the limit of the app's uploads, which holds here too."""
    return int(config.get_option("server.maxUploadSize")) * 1024 * 1024


def bounded(receive: Receive) -> Receive:
    """Return what receives no more than a request may have."""
    most, seen = most_bytes() + _BETWEEN, 0

    async def next_message() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            raise _too_large()
        return message

    return next_message


def _too_large() -> Refusal:
    megabytes = most_bytes() // 1024**2
    return Refusal(413, f"This is more than the {megabytes:,} MB that the server takes (server.maxUploadSize).")


async def received(
    asked: Request, folder: Folder, parts: tuple[str, ...], needed: tuple[str, ...] = ("file",)
) -> dict[str, tuple[Path, str]]:
    """Write the files of a request to disk; return place and name of each."""
    told = asked.headers.get("content-length", "")
    if told.isdecimal() and int(told) > most_bytes() + _BETWEEN:
        raise _too_large()
    kind = asked.headers.get("content-type", "").partition(";")[0].strip().casefold()
    if kind == "multipart/form-data":
        found = await _form(asked, folder, parts)
    else:
        found = {"file": await _body(asked, folder, kind)}
    for name in needed:
        if name not in found:
            raise Refusal(400, f"The form has no file named {name}: send {' and '.join(needed)} in a form.")
    return found


async def _form(asked: Request, folder: Folder, parts: tuple[str, ...]) -> dict[str, tuple[Path, str]]:
    found = {}
    try:
        async with asked.form(max_files=len(FILE_PARTS), max_fields=1) as form:
            for name, part in form.multi_items():
                if name not in parts or not isinstance(part, UploadFile) or name in found:
                    wanted = ", ".join(parts)
                    raise Refusal(400, f"A form has the files {wanted}, once each; options are part of the address.")
                found[name] = await run_in_threadpool(_keep, folder, name, part.filename or "", part.file)
    except HTTPException as error:
        raise Refusal(400, f"The form cannot be read: {error.detail}") from None
    return found


def _keep(folder: Folder, part: str, name: str, content: Any) -> tuple[Path, str]:
    path, called = _place(folder, part, name)
    with path.open("xb") as stream:
        while block := content.read(1 << 20):
            stream.write(block)
    return path, called


async def _body(asked: Request, folder: Folder, kind: str) -> tuple[Path, str]:
    usual = next((name for word, name in _NAMES.items() if kind.endswith(word)), "votes.csv")
    path, called = _place(folder, "file", usual)
    size = 0
    with path.open("xb") as stream:
        async for block in asked.stream():
            size += len(block)
            await run_in_threadpool(stream.write, block)
    if not size:
        raise Refusal(400, "There is no file: send it as the body of the request, or in a form as the part named file.")
    return path, called


def _place(folder: Folder, part: str, name: str) -> tuple[Path, str]:
    """Return where a file goes, and its name for people."""
    called = safe_name(name) or f"{part}.csv"
    home = folder.path / part
    home.mkdir(exist_ok=True)
    return home / called, called


def safe_name(name: str) -> str:
    """Return the last part of a name, fit for a file."""
    return _UNSAFE.sub("_", name.replace("\\", "/").rpartition("/")[2]).strip(". ")[-120:]
