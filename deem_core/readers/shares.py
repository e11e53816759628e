"""Shares: consecutive rows of a stream, worked on by any machine.

A machine that sees the very file reads its rows of Parquet itself. Text is parsed here, because nobody knows where its
rows begin, and travels as a table; so does Parquet that other machines do not see.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from deem_core.control import Control
from deem_core.engine import Done, Engine, Local, Work
from deem_core.engine.sight import Sight, run_seeing
from deem_core.readers.stream import Stream

MOST_WASTE = 4
"""Rows that may be unpacked for each row of a share: those before it in a row group are unpacked, too."""

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Share:
    """Consecutive rows of a stream.

    Attributes
    ----------
    at : int
        Which share, counted from 0.
    start, stop : int
        Its first row, and the one after its last.
    sight : Sight, optional
        The file, where the machine that works on these rows is to read them itself.
    table : pyarrow.Table, optional
        The rows, where they come along.
    more : Any
        What else the piece of work is told.
    """

    at: int
    start: int
    stop: int
    sight: Sight | None = None
    table: pa.Table | None = None
    more: Any = None

    @property
    def words(self) -> str:
        """Which rows, in words."""
        return f"rows {self.start + 1:,} to {self.stop:,}"

    def rows(self, stream: Stream) -> pa.Table | None:
        """Return the rows as text.

        None if this machine does not see the file.
        """
        if self.table is not None:
            return self.table
        if self.sight is None or not self.sight.clear:
            return None
        return self.loaded(replace(stream, path=Path(self.sight.path))).table  # from the root: folders of work differ

    def loaded(self, stream: Stream) -> Share:
        """Return the same share with its rows, read here."""
        return replace(self, table=stream.span(self.start, self.stop))


def run_shares(
    stream: Stream,
    engine: Engine,
    work: Work,
    shared: Any,
    rows: int,
    *,
    control: Control,
    done: Collection[int] = (),
    more: Callable[[int, int], Any] | None = None,
    send: bool = True,
) -> Iterator[tuple[Share, Any]]:
    """Yield shares with their results, as they come.

    On this machine one after the other, so that one share is in memory. On a cluster in any order; twice as many are
    under way as it has cores, and no more are read here.

    Parameters
    ----------
    stream : Stream
    engine : Engine
    work : callable
        A piece of work on a `Share`; it returns None where `Share.rows` does.
    shared : Any
    rows : int
        Of a share; the last one may have fewer.
    control : Control
    done : collection of int
        Shares to leave out.
    more : callable, optional
        Number of the first row and of the one after the last → what else a share is told; asked shortly before it is
        handed out.
    send : bool
        Whether rows that are read here are worked on by others; else they stay here.
    """

    def told(share: Share) -> Share:
        return share if more is None else replace(share, more=more(share.start, share.stop))

    if engine.remote and stream.delimiter is None:
        groups = stream.groups()
        if waste(groups, rows) <= MOST_WASTE:
            sight = Sight.of(stream.path)
            far = (told(replace(share, sight=sight)) for share in spans(sum(groups), rows) if share.at not in done)
            with engine.crew() as crew:
                yield from run_seeing(
                    crew, work, far, shared, loaded=lambda share: share.loaded(stream), control=control
                )
            return
    handed: dict[int, Share] = {}

    def near() -> Iterator[Share]:
        start = 0
        for at, table in enumerate(stream.batches(rows)):
            share = Share(at, start, start + table.num_rows)
            start = share.stop
            if at not in done:
                handed[len(handed)] = share
                yield told(replace(share, table=table))

    with (engine if send else Local()).crew() as crew:
        for arrival in crew.run(work, near(), shared, control=control, live=1):
            if isinstance(arrival, Done):
                yield handed[arrival.at], arrival.value


def in_order(found: Iterable[tuple[Share, Value]]) -> Iterator[tuple[Share, Value]]:
    """Yield results in the order of their rows.

    Those that came too early wait.
    """
    waiting: dict[int, tuple[Share, Value]] = {}
    following = 0
    for share, value in found:
        waiting[share.at] = share, value
        while following in waiting:
            yield waiting.pop(following)
            following += 1


def spans(n: int, rows: int) -> Iterator[Share]:
    """Yield the shares of n rows, without their rows."""
    return (Share(at, start, min(start + rows, n)) for at, start in enumerate(range(0, n, rows)))


def waste(groups: Collection[int], rows: int) -> float:
    """Return how many rows are unpacked for each row.

    If shares are read one by one.
    """
    n, unpacked, bounds = sum(groups), 0, [0]
    for group in groups:
        bounds.append(bounds[-1] + group)
    at = 0
    for share in spans(n, rows):
        while bounds[at + 1] <= share.start:
            at += 1
        unpacked += share.stop - bounds[at]
    return unpacked / max(n, 1)
