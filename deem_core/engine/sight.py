"""Sight: files that pieces of work may see where they run.

A piece may name a file instead of holding what is in it. Where its machine does not see that very file, it comes back
undone, and goes out again with what it needs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from deem_core.control import Control
from deem_core.engine.contract import Crew, Done, Work


@dataclass(frozen=True)
class Sight:
    """A file as one machine sees it.

    Attributes
    ----------
    path : str
        From the root.
    size : int
        In bytes.
    changed : int
        When it was written last, in nanoseconds.
    """

    path: str
    size: int
    changed: int

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Sight:
        """Look at a file."""
        status = os.stat(path)
        return cls(os.path.abspath(path), status.st_size, status.st_mtime_ns)

    @property
    def clear(self) -> bool:
        """Whether this machine sees the very same file."""
        try:
            return Sight.of(self.path) == self
        except OSError:
            return False


def run_seeing(
    crew: Crew,
    work: Work,
    pieces: Iterable[Any],
    shared: Any,
    *,
    loaded: Callable[[Any], Any],
    control: Control,
    live: int | None = None,
) -> Iterator[tuple[Any, Any]]:
    """Yield pieces with their results, as they come.

    Parameters
    ----------
    crew : Crew
    work : callable
        Returns None for a piece whose file its machine does not see; news are not passed on.
    pieces : iterable
    shared : Any
    loaded : callable
        The same piece with what is in its file. Once a piece has come back undone, all others go out so.
    control, live
        Of `Crew.run`.
    """
    handed: list[Any] = []
    undone: list[Any] = []

    def first() -> Iterator[Any]:
        for piece in pieces:
            handed.append(piece)
            yield loaded(piece) if undone else piece

    def again() -> Iterator[Any]:
        return map(loaded, undone)

    for arrival in crew.run(work, first(), shared, control=control, live=live):
        if isinstance(arrival, Done):
            piece = handed[arrival.at]
            if arrival.value is None:
                undone.append(piece)
            else:
                yield piece, arrival.value
    if undone and not control.stopped():
        for arrival in crew.run(work, again(), shared, control=control, live=live):
            if isinstance(arrival, Done):
                yield undone[arrival.at], arrival.value
