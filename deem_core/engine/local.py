"""Local engine: pieces run in threads of this process."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from queue import SimpleQueue
from threading import Event
from typing import Any

from deem_core.control import Control, Halting
from deem_core.engine.contract import Crew, Done, Node, Told, Work, everything, no_keys, still_wanted
from deem_core.errors import InputError

Task = Generator[Any, None, Any]
Begin = Callable[[Any, Control], Task]


def cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def threads() -> int:
    """Return how many threads to compute with.

    One per core, unless DEEM_THREADS says fewer.

    Raises
    ------
    InputError
        If it is no number.
    """
    wished = os.environ.get("DEEM_THREADS", "").strip()
    if wished and not wished.isdecimal():
        raise InputError(f"DEEM_THREADS is {wished[:40]!r}; it must be a whole number, such as 2.")
    return max(1, min(cores(), int(wished or cores())))


class Local:
    """The engine of this machine.

    What computes here (torch, NumPy, the compiled kernel) works outside the interpreter lock, so that threads keep all
    cores busy and share the data.
    """

    wish = "local"
    remote = False
    gpus = 0.0

    @contextmanager
    def crew(self, *, gpu: bool = False) -> Iterator[Crew]:
        """Yield a crew of one thread per core, or per GPU."""
        many = 1 if gpu else threads()
        with ThreadPoolExecutor(many, "piece") as pool:
            yield Threads(pool, many)

    def nodes(self) -> list[Node]:
        """Return this machine."""
        return [Node("this machine", cores=cores(), gpus=0, here=True)]


class Threads:
    """A crew of threads.

    Parameters
    ----------
    pool : Executor
    threads : int
        How many it has.
    """

    def __init__(self, pool: Executor, threads: int) -> None:
        self.pool, self.threads = pool, threads

    def run(
        self,
        work: Work,
        pieces: Iterable[Any],
        shared: Any = None,
        *,
        control: Control,
        live: int | None = None,
        wanted: Callable[[int], bool] = everything,
        keys: Callable[[Any], Iterable[str]] = no_keys,
    ) -> Iterator[Told | Done]:
        """Yield news and results of pieces as they come; see `Crew.run`."""
        waiting = still_wanted(pieces, control, wanted)
        begin = partial(work, shared)
        if live == 1:
            return _one_by_one(begin, waiting, control)
        return _Turns(self.pool, begin, waiting, control).run(live or self.threads)


def _one_by_one(begin: Begin, waiting: Iterator[tuple[int, Any]], control: Control) -> Iterator[Told | Done]:
    """Run pieces one after the other in the caller's thread."""
    for at, piece in waiting:
        yield Done(at, (yield from _told(at, begin(piece, control))))  # in no name: the next piece needs the memory


def _told(at: int, task: Task) -> Generator[Told, None, Any]:
    """Yield the news of a piece and return its result."""
    try:
        while True:
            try:
                news = next(task)
            except StopIteration as end:
                return end.value
            yield Told(at, news)
    finally:
        task.close()


@dataclass(frozen=True)
class _Failure:
    """What a piece raised, on its way to whoever iterates."""

    error: BaseException


class _Turns:
    """Pieces that advance in turns, each from news to news."""

    def __init__(self, pool: Executor, begin: Begin, waiting: Iterator[tuple[int, Any]], control: Control) -> None:
        self.pool, self.begin, self.waiting = pool, begin, waiting
        self.halted = Event()
        self.control = Halting(control, self.halted)
        self.arrived: SimpleQueue[Told | Done | _Failure] = SimpleQueue()
        self.under_way = 0

    def run(self, live: int) -> Iterator[Told | Done]:
        """Begin so many pieces, and another one whenever one is done."""
        try:
            for at, piece in islice(self.waiting, live):
                self._begin(at, piece)
            while self.under_way:
                arrival = self.arrived.get()
                self.under_way -= not isinstance(arrival, Told)
                if isinstance(arrival, _Failure):
                    raise arrival.error
                if isinstance(arrival, Done):
                    for at, piece in islice(self.waiting, 1):
                        self._begin(at, piece)
                yield arrival
        finally:
            self.halted.set()
            while self.under_way:  # the turns under way end by themselves: their control says stop
                self.under_way -= not isinstance(self.arrived.get(), Told)

    def _begin(self, at: int, piece: Any) -> None:
        self.under_way += 1
        self.pool.submit(self._turn, at, piece, None)

    def _turn(self, at: int, piece: Any, task: Task | None) -> None:
        """Advance a piece to its next news."""
        try:
            if self.halted.is_set():
                if task is not None:
                    task.close()
                self.arrived.put(Done(at, None))  # nobody waits for it
                return
            task = self.begin(piece, self.control) if task is None else task
            news = next(task)
        except StopIteration as end:
            self.arrived.put(Done(at, end.value))
        except BaseException as error:  # handed to whoever iterates
            self.arrived.put(_Failure(error))
        else:
            self.arrived.put(Told(at, news))
            self.pool.submit(self._turn, at, piece, task)
