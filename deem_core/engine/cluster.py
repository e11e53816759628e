"""Cluster engine: pieces run as plain tasks of Ray.

Ray carries functions and data between machines, restarts nothing by itself and keeps no files: who owns the pieces
does both, so that a run's folder is the same wherever its pieces were worked on.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

import ray
from ray import exceptions

from deem_core.control import Control
from deem_core.engine import membership
from deem_core.engine.contract import Crew, Done, Node, Told, Work, everything, no_keys, still_wanted
from deem_core.engine.desk import Desk, Errand, Message, carry_out
from deem_core.engine.membership import MACHINE_LOST, PROBE_SECONDS, EngineError

LOOK_SECONDS = 0.2
"""How often the owner looks for results, messages and a wish to stop."""

PATIENCE_SECONDS = 3.0
"""How long pieces may take to end by themselves once they were asked to."""

TRIES = 4
"""How often a piece is begun whose machine is lost each time."""

LOST = "A process of the cluster was lost, and its piece of the work was done again."
"""Told as a mishap."""

GPU_SHARE = 0.25
"""Share of a GPU that a piece takes: its updates are small, and four of them keep a GPU busier than one."""

_QUEUED = 2  # pieces handed out for each core: the next one waits where it will run, and no more data than that
_log = logging.getLogger(__name__)


class Cluster:
    """A Ray cluster.

    Parameters
    ----------
    wish : str
        "ray" for the cluster that this machine belongs to, else one that is started here; "ray://HOST:PORT" for
        another one, whose client server listens there.

    Raises
    ------
    EngineError
        If it does not answer, or has other versions than this machine.
    """

    remote = True

    def __init__(self, wish: str) -> None:
        self.wish = wish
        self.started = membership.join(wish)
        membership.check_versions(wish)

    @property
    def gpus(self) -> float:
        """GPUs of the cluster."""
        return float(ray.cluster_resources().get("GPU", 0.0))

    @contextmanager
    def crew(self, *, gpu: bool = False) -> Iterator[Crew]:
        """Yield a crew that uses all cores of the cluster."""
        crew = Tasks(GPU_SHARE if gpu and self.gpus else 0.0)
        try:
            yield crew
        finally:
            crew.close()

    def nodes(self) -> list[Node]:
        """Return the machines that are alive."""
        return membership.nodes(self.wish)


@dataclass
class _Piece:
    """A piece that is handed out, or will be."""

    at: int
    piece: Any
    tries: int = 1


class Tasks:
    """A crew of Ray tasks.

    Parameters
    ----------
    gpu_share : float
        Of each piece.
    """

    def __init__(self, gpu_share: float) -> None:
        self.task = ray.remote(num_cpus=1, num_gpus=gpu_share, max_retries=0)(carry_out)
        self.desk = ray.remote(num_cpus=0, max_restarts=-1)(Desk).remote()
        self.runs = count()

    def close(self) -> None:
        """Give up the desk."""
        with suppress(exceptions.RayError):
            ray.kill(self.desk)

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
        waiting = (_Piece(at, piece) for at, piece in still_wanted(pieces, control, wanted))
        return _Turns(self, ray.put((work, shared)), waiting, control, keys).run()


class _Turns:
    """Pieces handed out and watched; again where a machine is lost."""

    def __init__(
        self,
        crew: Tasks,
        cargo: Any,
        waiting: Iterator[_Piece],
        control: Control,
        keys: Callable[[Any], Iterable[str]],
    ) -> None:
        self.task, self.desk, self.number = crew.task, crew.desk, next(crew.runs)
        self.cargo, self.waiting, self.control, self.keys = cargo, waiting, control, keys
        self.under_way: dict[Any, _Piece] = {}
        self.ending = False

    def run(self) -> Iterator[Told | Done]:
        """Hand out pieces until all are done or the control says stop."""
        try:
            while not self.control.stopped() and (self._hand_out() or self.under_way):
                yield from self._arrived(num_returns=1)
            if self.control.stopped():
                yield from self._end()
        finally:
            try:
                for _ in self._end():  # to nobody
                    pass
            except Exception:  # what ended the others comes first, or nobody waits for it
                _log.exception("A piece failed while it was ended.")

    def _hand_out(self) -> bool:
        """Hand out pieces; return whether any were left."""
        room = _QUEUED * max(1, int(ray.cluster_resources().get("CPU", 1))) - len(self.under_way)
        pieces = list(islice(self.waiting, max(room, 0)))
        for own in pieces:
            self._submit(own)
        return bool(pieces)

    def _submit(self, own: _Piece) -> None:
        saved = {key: found for key in self.keys(own.piece) if (found := self.control.load(key)) is not None}
        ref = self.task.remote(self.cargo, self.desk, Errand(self.number, own.at, own.piece, saved, self.control.keeps))
        self.under_way[ref] = own

    def _arrived(self, num_returns: int) -> Iterator[Told | Done]:
        """Wait a moment, and yield the news and results that came."""
        ready, _ = ray.wait(list(self.under_way), num_returns=num_returns, timeout=LOOK_SECONDS)
        yield from self._news()  # all that a piece told arrived before its result
        for ref in ready:
            own = self.under_way.pop(ref)
            try:
                yield Done(own.at, ray.get(ref))
            except exceptions.RayTaskError as error:
                raise (error.cause if isinstance(error.cause, Exception) else error) from None
            except MACHINE_LOST as error:
                self._again(own, error)

    def _again(self, own: _Piece, error: Exception) -> None:
        """Hand out a piece once more whose machine or process was lost.

        Unless all are being ended.
        """
        _log.warning("A piece was lost: %s", error)
        if self.ending:
            return
        if own.tries >= TRIES:
            raise EngineError(
                f"A piece of the work was lost {TRIES} times with the process that worked on it "
                f"({type(error).__name__}). Most likely the machines have too little memory for it."
            ) from error
        own.tries += 1
        self.control.mishap(LOST)
        self._submit(own)

    def _news(self) -> Iterator[Told]:
        """Pass on what pieces left at the desk, and yield their news."""
        try:
            messages: list[Message] = ray.get(self.desk.collect.remote(self.number), timeout=PROBE_SECONDS)
        except exceptions.RayError:  # lost with its machine, and begun anew by Ray
            return
        control = self.control
        takers: dict[str, Callable[..., None]] = {"tell": control.tell, "note": control.note, "save": control.save}
        for kind, *rest in messages:
            if kind == "news":
                yield Told(*rest)
            else:
                takers[kind](*rest)

    def _end(self) -> Iterator[Told | Done]:
        """End the pieces that are under way: politely, then by force."""
        self.ending = True
        until = time.monotonic() + PATIENCE_SECONDS
        try:
            while self.under_way and time.monotonic() < until:
                with suppress(exceptions.RayError):
                    ray.get(self.desk.halt.remote(self.number), timeout=LOOK_SECONDS)
                yield from self._arrived(num_returns=len(self.under_way))
        finally:
            for ref in self.under_way:
                with suppress(exceptions.RayError, ValueError):
                    ray.cancel(ref, force=True)
            self.under_way.clear()
