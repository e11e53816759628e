"""The queue: one run at a time on each device, the others in the order they came.

A ticket is a file whose number says the order and whose content says which process holds it. It is this process's
turn when no living process holds a lower number of the same device; tickets of the dead count for nothing. The lock
is held for moments only, never while a run works, and the system frees it when its holder dies.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deem_core.errors import InputError
from deem_core.runs.alive import Worker
from deem_core.runs.private import is_plain, make_folder, open_private, read_json, write_private_json

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

POLL_SECONDS = 0.2
"""How often a waiting worker looks up."""

_TICKET = re.compile(r"(\d{12})-([0-9a-f]{32})\.json")
_DEVICE = re.compile(r"(cpu|mps|cuda)(?::(\d{1,2}))?")


@dataclass(frozen=True)
class Ticket:
    """A place in the queue of a device.

    Attributes
    ----------
    path : Path
    number : int
        Lower ones come first.
    run : str
        Id of the run.
    """

    path: Path
    number: int
    run: str

    @property
    def holder(self) -> Worker | None:
        """The process that holds it, if its file can be read."""
        return Worker.from_dict(read_json(self.path))

    @property
    def counts(self) -> bool:
        """Whether its holder lives."""
        holder = self.holder
        return holder is not None and holder.alive

    def give_back(self) -> None:
        """Leave the queue."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


class Queue:
    """The queues of a workspace, one for each device.

    Parameters
    ----------
    folder : Path
        Of the workspace.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the lock of the workspace, for a moment."""
        descriptor = open_private(make_folder(self.folder) / "lock", os.O_RDWR)
        try:
            _lock(descriptor)
            yield
        finally:
            os.close(descriptor)  # which unlocks

    def take(self, device: str, run: str, holder: Worker) -> Ticket:
        """Take a place at the end, or the one that the holder has for this run already; call with the lock held."""
        folder = make_folder(self.folder / _folder_name(device))
        tickets = self.tickets(device)
        for ticket in tickets:
            if ticket.run == run and holder.is_same(ticket.holder):
                return ticket
        number = max((ticket.number for ticket in tickets), default=0) + 1
        path = folder / f"{number:012d}-{run}.json"
        write_private_json(holder.to_dict(), path)
        return Ticket(path, number, run)

    def tickets(self, device: str) -> list[Ticket]:
        """Return all tickets of a device in their order, those of the dead too."""
        folder = self.folder / _folder_name(device)
        if not is_plain(folder):
            return []
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            return []
        found = ((name, _TICKET.fullmatch(name)) for name in names)
        return [Ticket(folder / name, int(match[1]), match[2]) for name, match in found if match]

    def before(self, ticket: Ticket, device: str) -> int:
        """Return how many living processes come first, and clear away the tickets of the dead among them."""
        earlier = [other for other in self.tickets(device) if other.number < ticket.number]
        waiting = 0
        for other in earlier:
            if other.counts:
                waiting += 1
                continue
            with self.lock():  # its number may have been given anew meanwhile
                if not other.counts:
                    other.give_back()
        return waiting

    def wait(self, ticket: Ticket, device: str, pause: Callable[[int], None]) -> None:
        """Return when it is this ticket's turn; until then ``pause`` is called with the number of those before it."""
        while waiting := self.before(ticket, device):
            pause(waiting)


# ---------------------------------------------------------------------- devices


def device_of(kind: str, config: Mapping[str, Any]) -> str:
    """Return the device whose queue a run belongs to, found without torch, which takes memory and a second to import.

    Returns
    -------
    str
        "cpu", "mps", "cuda" or "cuda:1".
    """
    if kind in ("apply", "inspect") or config.get("method") == "irbm":
        return "cpu"
    wish = str(config.get("device") or "auto")
    if wish == "auto":
        wish = likely_device()
    if not _DEVICE.fullmatch(wish):
        raise InputError(f"There is no device {wish[:40]!r}; it is one of auto, cpu, cuda, cuda:1 and mps.")
    return "cuda" if wish == "cuda:0" else wish


def likely_device() -> str:
    """Return the device that torch will most likely choose.

    A wrong guess does no harm but to let a run wait in another queue than it should.
    """
    if platform.system() == "Darwin":
        return "mps" if platform.machine() == "arm64" else "cpu"
    try:
        build = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return "cpu"
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES", "all").strip() in ("", "-1")
    if hidden or build.endswith("+cpu"):
        return "cpu"
    return "cuda" if os.path.exists("/dev/nvidia0") or shutil.which("nvidia-smi") else "cpu"


def _folder_name(device: str) -> str:
    match = _DEVICE.fullmatch(device)
    if match is None:
        raise InputError(f"There is no device {device[:40]!r}.")
    return device.replace(":", "-")


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
