"""Extract of a large file: facts, patterns with counts, a sample.

One pass over the parts makes all three. Methods are fitted on them, since the rows themselves stay on disk.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deem_core.control import NO_CONTROL, Control
from deem_core.readers.large import LargeFile
from deem_core.text import count
from deem_core.typing import Codes, Integers, Mask
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.arrays import distinct_rows, spread_rows
from deem_core.votes.describe import Facts, FactsTally
from deem_core.votes.patterns import Table

SAMPLE_ROWS = 1_000_000
"""Rows of the sample, unless another number is asked for."""

MOST_CELLS = 30_000_000
"""Votes of the sample, and of all patterns, at most: fitting takes some 50 bytes for each."""

_LEAST_MERGED = 1 << 18  # patterns that wait before they are merged


@dataclass(frozen=True, eq=False)
class Extract:
    """What methods are fitted on in place of all rows.

    Attributes
    ----------
    n_rows : int
        Of the file.
    facts : Facts
        Of all rows.
    sample : Votes
        Rows at even distances, with their truth for evaluation; all rows if they are few.
    table : Table
        Distinct rows of votes with their counts.
    complete : bool
        Whether ``table`` counts all rows; of the sample alone otherwise.
    """

    n_rows: int
    facts: Facts
    sample: Votes
    table: Table
    complete: bool

    @property
    def whole(self) -> bool:
        """Whether the sample is the file."""
        return self.sample.n_rows == self.n_rows

    @property
    def sample_words(self) -> str:
        """The size of the sample in words."""
        if self.whole:
            return f"all {count(self.n_rows, 'row')}"
        return f"{self.sample.n_rows:,} of {self.n_rows:,} rows, evenly drawn"

    @property
    def table_words(self) -> str:
        """What the patterns stand for, in words."""
        if not self.complete:
            return self.sample_words
        return f"all {count(self.n_rows, 'row')}, which hold {len(self.table.codes):,} different rows of votes"


def make_extract(large: LargeFile, sample_rows: int = SAMPLE_ROWS, *, control: Control = NO_CONTROL) -> Extract:
    """Make the extract of a file in one pass.

    Parameters
    ----------
    large : LargeFile
    sample_rows : int
        At most so many, and no more than `MOST_CELLS` votes.
    control : Control
        Asked after each part whether to go on.
    """
    n, d, K = large.n_rows, len(large.learners), len(large.classes)
    wanted = spread_rows(n, max(min(sample_rows, MOST_CELLS // d), 1))
    patterns, tally, drawn, done = Patterns(d, K), FactsTally(large.learners, K), list[Votes](), 0
    for reading in large.parts():
        votes = reading.votes
        first, last = np.searchsorted(wanted, [done, done + votes.n_rows])
        drawn.append(votes.select_rows(wanted[first:last] - done))
        tally.add(votes)
        patterns.add(votes.codes)
        done += votes.n_rows
        control.check()
        control.tell(f"Counting patterns: {done:,} rows", done / n)
    sample = _joined(large, drawn)
    table = patterns.table()
    return Extract(
        n_rows=n,
        facts=tally.facts(),
        sample=sample,
        table=Table.of(sample.codes, K) if table is None else table,
        complete=table is not None or sample.n_rows == n,
    )


def _joined(large: LargeFile, parts: list[Votes]) -> Votes:
    return Votes(
        codes=np.concatenate([part.codes for part in parts]),
        classes=large.classes,
        learners=large.learners,
        truth=None if large.truth is None else np.concatenate([part.truth for part in parts if part.truth is not None]),
        truth_only=large.truth_only,
        ordered=large.ordered,
    )


class Patterns:
    """Distinct rows of votes with counts, gathered part by part.

    They are kept in order of first appearance, one byte a vote where the classes allow it.

    Parameters
    ----------
    n_learners, n_classes : int
    most_cells : int
        Patterns are given up when they hold more votes than this.
    """

    def __init__(self, n_learners: int, n_classes: int, most_cells: int = MOST_CELLS) -> None:
        self.n_classes = n_classes
        self._most = most_cells // n_learners
        self._dtype = np.min_scalar_type(-n_classes - 1)
        self._codes: list[NDArray[np.signedinteger]] = [np.empty((0, n_learners), self._dtype)]
        self._counts: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        self._waiting = 0
        self.given_up = False

    def add(self, codes: Integers) -> None:
        """Count the rows of a part, those without votes left out."""
        if self.given_up:
            return
        voted: Mask = (codes != NO_VOTE).any(axis=1)
        found = distinct_rows(codes[voted])
        self._codes.append(found.codes.astype(self._dtype))
        self._counts.append(found.counts)
        self._waiting += len(found.codes)
        if self._waiting > max(_LEAST_MERGED, len(self._codes[0])):
            self._merge()

    def _merge(self) -> None:
        found = distinct_rows(np.concatenate(self._codes))
        weights = np.bincount(found.of_row, np.concatenate(self._counts), minlength=len(found.codes))
        self._codes, self._counts = [found.codes.astype(self._dtype)], [weights.astype(np.int64)]
        self._waiting = 0
        if len(found.codes) > self._most:
            self.given_up = True
            self._codes, self._counts = self._codes[:0], self._counts[:0]

    def table(self) -> Table | None:
        """Return the patterns with their counts; None if they were too many."""
        if not self.given_up:
            self._merge()
        if self.given_up:
            return None
        codes: Codes = self._codes[0].astype(np.int32)
        return Table(codes, self._counts[0].astype(np.float64), self.n_classes)
