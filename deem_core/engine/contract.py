"""Contract between those who share out work and those who run it.

A piece of work is a function of three things: what all pieces share, what the piece itself is, and a `Control`. It is a
generator: what it yields is news on the way, what it returns is its result.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from deem_core.control import Control

Work = Callable[[Any, Any, Control], Generator[Any, None, Any]]
"""(shared, piece, control) → a generator; a function at the top of a module, so that another machine can find it.

Its result must follow from ``shared`` and ``piece`` alone, wherever it runs. It asks its control whether to stop, and
may keep checkpoints there; a piece whose machine was lost begins again, from its last checkpoint if there is one.
"""


@dataclass(frozen=True)
class Told:
    """News of a piece: something that it yielded.

    It is for watching only. A piece that is done again tells the same news again, and news may be lost with a machine;
    what counts is in `Done`.

    Attributes
    ----------
    at : int
        Which piece, counted from 0.
    news : Any
    """

    at: int
    news: Any


@dataclass(frozen=True)
class Done:
    """Result of a piece.

    Attributes
    ----------
    at : int
        Which piece, counted from 0.
    value : Any
    """

    at: int
    value: Any


@dataclass(frozen=True)
class Node:
    """A machine of an engine.

    Attributes
    ----------
    name : str
        Its address.
    cores, gpus : float
        What it offers.
    free_cores, free_gpus : float, optional
        What nobody uses now, where that is known.
    memory : int, optional
        Bytes.
    here : bool
        Whether it is this machine.
    """

    name: str
    cores: float
    gpus: float
    free_cores: float | None = None
    free_gpus: float | None = None
    memory: int | None = None
    here: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Survey:
    """What an engine offers now.

    Attributes
    ----------
    engine : str
        How ``--on`` spells it.
    nodes : tuple of Node
        Its machines.
    running : bool
        False for a cluster that does not run yet, which a run would start here for itself.
    waiting : int, optional
        Pieces of anybody's work that wait for room, where that is known.
    """

    engine: str
    nodes: tuple[Node, ...]
    running: bool = True
    waiting: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def everything(at: int) -> bool:
    """Return True: every piece is wanted."""
    return True


def no_keys(piece: Any) -> tuple[str, ...]:
    """Return nothing: the piece keeps no checkpoints."""
    return ()


def still_wanted(pieces: Iterable[Any], control: Control, wanted: Callable[[int], bool]) -> Iterator[tuple[int, Any]]:
    """Yield pieces that are wanted with their numbers, until somebody says stop."""
    for at, piece in enumerate(pieces):
        if control.stopped():
            return
        if wanted(at):
            yield at, piece


class Crew(Protocol):
    """Those who run pieces, for as long as a ``with`` block lasts."""

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
        """Yield news and results of pieces as they come.

        Whoever stops iterating stops the pieces that are under way. When the control says stop, no more are begun and
        those under way end as they see fit: the control tells whether all was done.

        Parameters
        ----------
        work : Work
        pieces : iterable
            Taken one by one, shortly before each is run.
        shared : Any
            Goes to every machine once.
        control : Control
            Of all pieces, from several threads at once: asked whether to stop, told what pieces tell, and keeper of
            their checkpoints.
        live : int, optional
            On this machine, how many pieces may be begun and not done. Where these are more than the threads, pieces
            advance in turns, from news to news. 1 runs them one after the other in the caller's thread. By default
            as many as there are threads.
        wanted : callable
            Asked before a piece begins; a piece that is no longer wanted is passed over.
        keys : callable
            Keys of the checkpoints that a piece looks for.

        Raises
        ------
        Exception
            Whatever a piece raises; the others are stopped.
        """


class Engine(Protocol):
    """A place to run pieces: this machine or a cluster."""

    @property
    def wish(self) -> str:
        """How ``--on`` spells it."""

    @property
    def remote(self) -> bool:
        """Whether pieces leave this process."""

    @property
    def gpus(self) -> float:
        """GPUs of other machines.

        Those of this one are for `deem_core.model.devices` to find.
        """

    def crew(self, *, gpu: bool = False) -> AbstractContextManager[Crew]:
        """Return a crew.

        With ``gpu`` each piece gets a share of a GPU; on this machine that means one piece at a time.
        """

    def nodes(self) -> list[Node]:
        """Return the machines."""
