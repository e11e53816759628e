"""Extract of a large file: facts, patterns with counts, a sample.

One pass over the parts makes all three: what is counted in each part is added up in the order of the parts. Methods
are fitted on them, since the rows themselves stay on disk.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deem_core.control import NO_CONTROL, Control
from deem_core.engine import Engine, engine_of
from deem_core.large.patterns import Found, Kept, Patterns
from deem_core.readers.large import PART_ROWS, LargeFile
from deem_core.readers.shares import Share, in_order, run_shares
from deem_core.text import count
from deem_core.typing import Integers
from deem_core.votes import Votes
from deem_core.votes.arrays import spread_rows
from deem_core.votes.describe import Facts, FactsTally
from deem_core.votes.patterns import Table

SAMPLE_ROWS = 1_000_000
"""Rows of the sample, unless another number is asked for."""

MOST_CELLS = 30_000_000
"""Votes of the sample, and of all patterns, at most: fitting takes some 50 bytes for each."""


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
    kept : Kept, optional
        Distinct rows of every part, where they were kept.
    """

    n_rows: int
    facts: Facts
    sample: Votes
    table: Table
    complete: bool
    kept: Kept | None = None

    @property
    def rows(self) -> Integers:
        """Where in the file the rows of the sample stand."""
        return spread_rows(self.n_rows, self.sample.n_rows)

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


@dataclass(frozen=True, eq=False)
class _Task:
    """What the pieces of counting share."""

    large: LargeFile
    wanted: Integers  # rows of the sample


@dataclass(frozen=True, eq=False)
class _Counted:
    """What is counted in a part."""

    drawn: Votes
    tally: FactsTally
    found: Found | None


def make_extract(
    large: LargeFile,
    sample_rows: int = SAMPLE_ROWS,
    *,
    keep: Path | None = None,
    control: Control = NO_CONTROL,
    on: str | Engine | None = None,
) -> Extract:
    """Make the extract of a file in one pass.

    Parameters
    ----------
    large : LargeFile
    sample_rows : int
        At most so many, and no more than `MOST_CELLS` votes.
    keep : path, optional
        Folder in which the distinct rows of every part are kept, whether or not they are too many together.
    control : Control
        Asked after each part whether to go on.
    on : str or Engine, optional
        Where parts are counted.
    """
    n, d, K = large.n_rows, len(large.learners), len(large.classes)
    wanted = spread_rows(n, max(min(sample_rows, MOST_CELLS // d), 1))
    patterns, tally, drawn = Patterns(d, K, MOST_CELLS), FactsTally(large.learners, K), list[Votes]()
    kept = None if keep is None else Kept(keep)

    def looks_for_patterns(start: int, stop: int) -> bool:
        return kept is not None or not patterns.given_up

    task, engine = _Task(large, wanted), engine_of(on)
    done = 0
    counted = run_shares(large.stream, engine, _count, task, PART_ROWS, control=control, more=looks_for_patterns)
    for share, part in in_order(counted):
        drawn.append(part.drawn)
        tally.merge(part.tally)
        if part.found is not None:
            patterns.add(part.found)
            if kept is not None:
                kept.add(share.at, part.found)
        done = share.stop
        control.check()
        control.tell(f"Counting patterns: {done:,} rows", done / n)
    control.check()
    large.check_rows(done)
    sample = _joined(large, drawn)
    table = patterns.table()
    return Extract(
        n_rows=n,
        facts=tally.facts(),
        sample=sample,
        table=Table.of(sample.codes, K) if table is None else table,
        complete=table is not None or sample.n_rows == n,
        kept=kept,
    )


def _count(task: _Task, share: Share, control: Control) -> Generator[None, None, _Counted | None]:
    """Count the rows of a part."""
    yield from ()  # there is no news
    table = share.rows(task.large.stream)
    if table is None:
        return None
    votes = task.large.reading(table).votes
    first, last = np.searchsorted(task.wanted, [share.start, share.stop])
    tally = FactsTally(votes.learners, votes.n_classes)
    tally.add(votes)
    found = Found.of(votes.codes, votes.n_classes) if share.more else None
    return _Counted(votes.select_rows(task.wanted[first:last] - share.start), tally, found)


def _joined(large: LargeFile, parts: list[Votes]) -> Votes:
    return Votes(
        codes=np.concatenate([part.codes for part in parts]),
        classes=large.classes,
        learners=large.learners,
        truth=None if large.truth is None else np.concatenate([part.truth for part in parts if part.truth is not None]),
        truth_only=large.truth_only,
        ordered=large.ordered,
    )
