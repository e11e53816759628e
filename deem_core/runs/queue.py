"""Queue of each device, and lanes of short and of shared-out runs.

One run at a time in each, first come first served. Runs of seconds, such as an answer or labels for new rows, have a
lane of their own: one of them works beside a long run, so that nobody waits for hours behind a comparison. So have
runs that share out their work to other machines, whose lane is called `CLUSTER`.

A ticket is a file whose number says the order and whose content says which process holds it. It is this process's
turn when no living process holds a lower number of the same device; tickets of the dead count for nothing. The lock
is held for moments only, never while a run works, and the system frees it when its holder dies.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from deem_core.engine import CLUSTER, LOCAL, check_wish
from deem_core.errors import InputError
from deem_core.runs.private import disk, is_plain, make_folder, read_json, refuse_links, write_private_json
from deem_core.runs.process import Worker
from deem_core.runs.space import queue_root

POLL_SECONDS = 0.2
"""How often a waiting worker looks up."""

SHORT = "short"
"""Name of the lane of short runs; they all compute on the processor."""

SHORT_KINDS = ("apply", "inspect", "fuse", "ask")
"""Kinds of runs that take seconds."""

SHARED_KINDS = ("sweep", "train", "compare", "apply")
"""Runs that share out their work where an engine is named; the others stay on this machine."""

_LOCK_SECONDS = 0.01  # between two tries for the lock
_TICKET = re.compile(r"(\d{12})-([0-9a-f]{32})\.json")


@dataclass(frozen=True)
class Ticket:
    """Place in a queue.

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
        """Whether its holder is alive."""
        holder = self.holder
        return holder is not None and holder.alive

    def give_back(self) -> None:
        """Leave the queue."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


class Queue:
    """Queues of a workspace: of each device, and of short runs.

    Their names are those of `queue_of`.

    Parameters
    ----------
    folder : Path
        Where the queues are.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def of(cls, root: Path) -> Queue:
        """Return the queues of a workspace; spaces share those around them.

        Only here it is said where they are.
        """
        return cls(queue_root(root) / "queue")

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the lock of the workspace, for a moment."""
        path = make_folder(self.folder) / "lock"
        refuse_links(path)
        # A soft lock, where the system has no other, would outlive a holder that dies.
        lock = FileLock(path, mode=0o600, poll_interval=_LOCK_SECONDS, fallback_to_soft=False)
        with disk("The workspace cannot be written"):
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def take(self, queue: str, run: str, holder: Worker) -> Ticket:
        """Take the last place in the queue, under the lock.

        A holder that has a place for this run already keeps it.
        """
        folder = make_folder(self.folder / _folder_name(queue))
        tickets = self.tickets(queue)
        for ticket in tickets:
            if ticket.run == run and holder.is_same(ticket.holder):
                return ticket
        number = max((ticket.number for ticket in tickets), default=0) + 1
        path = folder / f"{number:012d}-{run}.json"
        write_private_json(holder.to_dict(), path)
        return Ticket(path, number, run)

    def tickets(self, queue: str) -> list[Ticket]:
        """Return all tickets of a queue in order, dead holders included."""
        return _tickets(self.folder / _folder_name(queue))

    def held(self, run: str, holder: Worker) -> Ticket | None:
        """Return the ticket that a process holds for a run, if any."""
        folders = sorted(self.folder.iterdir())
        tickets = (ticket for folder in folders for ticket in _tickets(folder) if ticket.run == run)
        return next((ticket for ticket in tickets if holder.is_same(ticket.holder)), None)

    def before(self, ticket: Ticket) -> int:
        """Count the living holders before a ticket.

        Tickets of the dead among them are removed.
        """
        earlier = [other for other in _tickets(ticket.path.parent) if other.number < ticket.number]
        waiting = 0
        for other in earlier:
            if other.counts:
                waiting += 1
                continue
            with self.lock():  # its number may have been given anew meanwhile
                if not other.counts:
                    other.give_back()
        return waiting

    def wait(self, ticket: Ticket, pause: Callable[[int], None]) -> None:
        """Wait for a ticket's turn.

        Until then ``pause`` is called with the number of those before it.
        """
        while waiting := self.before(ticket):
            pause(waiting)


def _tickets(folder: Path) -> list[Ticket]:
    if not is_plain(folder):
        return []
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    matches = ((name, _TICKET.fullmatch(name)) for name in names)
    return [Ticket(folder / name, int(match[1]), match[2]) for name, match in matches if match]


# ---------------------------------------------------------------------- devices
# What is imported here is heavy, and a worker that waits holds its ticket already.


def queue_of(kind: str, config: Mapping[str, Any]) -> str:
    """Return the name of the queue in which a run waits.

    That of its device, or `SHORT`.
    """
    device = device_of(kind, config)
    return SHORT if kind in SHORT_KINDS and device != CLUSTER else device


def device_of(kind: str, config: Mapping[str, Any]) -> str:
    """Return the device on which a run computes.

    Torch, which takes memory and a second to import, is not asked.

    Returns
    -------
    str
        "cpu", "mps", "cuda" or "cuda:1"; "cluster" if the work is shared out.
    """
    elsewhere = check_wish(str(config.get("on") or LOCAL)) != LOCAL
    from deem_core.methods.registry import METHODS  # noqa: PLC0415
    from deem_core.model.devices import expected_device  # noqa: PLC0415

    method = METHODS.get(str(config.get("method")))
    exact = method is not None and method.trained and not method.tunable
    if elsewhere and kind in SHARED_KINDS and not exact:
        return CLUSTER
    if kind in SHORT_KINDS or exact:
        return "cpu"
    return expected_device(str(config.get("device") or "auto"))


def _folder_name(queue: str) -> str:
    from deem_core.model.devices import NAME  # noqa: PLC0415

    if queue not in (SHORT, CLUSTER) and not NAME.fullmatch(queue):
        raise InputError(f"There is no device {queue[:40]!r}.")
    return queue.replace(":", "-")
