"""Digest: the cells of a stream, counted in one pass."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from deem_core.control import NO_CONTROL, Control
from deem_core.engine import Engine, engine_of
from deem_core.errors import InputError
from deem_core.readers.shares import Share, in_order, run_shares
from deem_core.readers.source import Source, look_like_names
from deem_core.readers.stream import Stream
from deem_core.votes.labels import MAX_SPELLINGS, LabelColumn

BATCH_ROWS = 1 << 17
"""Rows that are counted at once."""

SPECIAL = '"\r\n;\t,|'
"""Characters for which a text file may have to quote its cells."""


@dataclass
class Tally:
    """Cells per spelling of a column, in order of first appearance.

    Attributes
    ----------
    counts : dict, optional
        None once there are more than `MAX_SPELLINGS`.
    repeats : bool
        Whether a batch held a cell twice.
    special : set of str
        Those of `SPECIAL` that occur.
    """

    counts: dict[str, int] | None = field(default_factory=dict)
    repeats: bool = False
    special: set[str] = field(default_factory=set)

    def add(self, cells: pa.ChunkedArray) -> None:
        """Count the cells of a batch."""
        if self.counts is None:
            self._look_for_special(cells)
            return
        found = pc.value_counts(cells)
        values = found.field("values")
        self._look_for_special(values)
        repeats = len(values) < len(cells)
        if len(values) > MAX_SPELLINGS:
            self._count(None, repeats)
        else:
            self._count(dict(zip(values.to_pylist(), found.field("counts").to_pylist(), strict=True)), repeats)

    def merge(self, other: Tally) -> None:
        """Count a batch that was counted elsewhere; batches come in their order."""
        self.special |= other.special
        if self.counts is not None:
            self._count(other.counts, other.repeats)

    def _count(self, counts: dict[str, int] | None, repeats: bool) -> None:
        """Take the cells of a batch, None for too many.

        Until there are too many in all.
        """
        self.repeats |= repeats
        if self.counts is None or counts is None:
            self.counts = None
            return
        for spelling, n in counts.items():
            self.counts[spelling] = self.counts.get(spelling, 0) + n
        if len(self.counts) > MAX_SPELLINGS:
            self.counts = None

    def _look_for_special(self, cells: pa.Array | pa.ChunkedArray) -> None:
        unseen = "".join(sign for sign in SPECIAL if sign not in self.special)
        if unseen and pc.any(pc.match_substring_regex(cells, f"[{unseen}]")).as_py():
            self.special |= {sign for sign in unseen if pc.any(pc.match_substring(cells, sign)).as_py()}


@dataclass(frozen=True)
class Digest(Source):
    """A source of which only counts are at hand.

    Its table has the columns and no rows.

    Attributes
    ----------
    rows : int
    tallies : dict of str to Tally
    """

    rows: int = 0
    tallies: dict[str, Tally] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Rows of the file, without the header."""
        return self.rows

    @property
    def special(self) -> frozenset[str]:
        """Those of `SPECIAL` that occur in any cell."""
        return frozenset().union(*(tally.special for tally in self.tallies.values()))

    def label_column(self, column: str) -> LabelColumn:
        """Return the cells per spelling of a column, without indices."""
        return LabelColumn.from_counts(column, self.tallies[column].counts)

    def holds_names(self, column: str) -> bool:
        """Tell whether cells look like names of rows."""
        counts = self.tallies[column].counts
        return bool(counts) and look_like_names(pa.chunked_array([pa.array(list(counts or ()), pa.string())]))

    def names_rows(self, column: str) -> bool:
        """Tell whether every cell of a column is different.

        Of more than `MAX_SPELLINGS`, whether no batch of `BATCH_ROWS` rows repeats one.
        """
        tally = self.tallies[column]
        return not tally.repeats if tally.counts is None else len(tally.counts) == self.rows


def digest(stream: Stream, control: Control = NO_CONTROL, *, on: str | Engine | None = None) -> Digest:
    """Count the cells of all columns of a stream.

    Parameters
    ----------
    stream : Stream
    control : Control
        Asked after each batch whether to go on.
    on : str or Engine, optional
        Where Parquet is counted; text is counted where it is parsed, as its cells would travel longer than that takes.
    """
    tallies = {name: Tally() for name in stream.columns}
    rows = 0

    def given_up(start: int, stop: int) -> frozenset[str]:
        return frozenset(name for name, tally in tallies.items() if tally.counts is None)

    found = run_shares(stream, engine_of(on), _tallied, stream, BATCH_ROWS, control=control, more=given_up, send=False)
    for share, counted in in_order(found):
        for name, tally in tallies.items():
            tally.merge(counted[name])
        rows += share.stop - share.start
        control.check()
        control.tell(f"Counting cells: {rows:,} rows", 0.0)
    control.check()
    if not rows:
        raise InputError(f"{stream.name} has a header but no rows below it. Upload a file with at least one row.")
    table = pa.table({name: pa.array([], pa.string()) for name in stream.columns})
    return Digest(
        stream.name,
        table,
        stream.header,
        stream.encoding,
        stream.delimiter,
        stream.compression,
        rows=rows,
        tallies=tallies,
    )


def _tallied(stream: Stream, share: Share, control: Control) -> Generator[None, None, dict[str, Tally] | None]:
    """Count the cells of a batch.

    Of columns that were given up, the special characters alone.
    """
    yield from ()  # there is no news
    table = share.rows(stream)
    if table is None:
        return None
    found = {name: Tally(None if name in share.more else {}) for name in stream.columns}
    for name, tally in found.items():
        tally.add(table[name])
    return found
