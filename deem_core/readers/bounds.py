"""Bounds: how much memory a file may take once it is unpacked.

They follow from the memory that is free. A small file that unpacks to a thousand times its size is refused long before
that, because it costs its sender nothing; DEEM_FILE_GB in the environment lifts both bounds.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path

import psutil

from deem_core.errors import InputError
from deem_core.text import count, size

VARIABLE = "DEEM_FILE_GB"
"""Environment variable: gigabytes that reading one file may take."""

FREE_SHARE = 0.8
"""Share of the free memory that reading one file may take."""

BYTES_PER_CELL = 20
"""Peak of reading a table of short labels, per cell: 10 to 20 (benchmarks/bench_bombs.py)."""

SMALL = 400_000_000
"""Memory that any file may take, however tightly it is packed."""

MOST_GROWTH = 2_000
"""Memory for each byte of a file, beyond `SMALL`; a table of rare labels (1% of the cells) takes about 600."""

MOST_RATIO = 200
"""How much larger a gzip file may become; a table of rare labels becomes 100 times as large."""

PIECE = 1 << 22
"""Bytes that are unpacked at once."""

SMALL_UNPACKED = 128 << 20
"""Bytes that any gzip file may unpack to, whatever the ratio."""

_CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Packed:
    """A file whose contents are about to be unpacked.

    Attributes
    ----------
    name : str
        For messages.
    bytes : int
        Size of the file as it came; 0 if unknown, when only the memory bounds it.
    """

    name: str
    bytes: int

    def check_cells(self, cells: int, more: int = 0, *, rows: int | None = None) -> None:
        """Refuse a table of text that takes too much memory.

        Parameters
        ----------
        cells : int
        more : int
            Bytes beside what `BYTES_PER_CELL` accounts for.
        rows : int, optional
            For the message.
        """
        what = count(cells, "cell") if rows is None else f"{count(rows, 'row')} with {count(cells, 'cell')}"
        self.check_growth(cells * BYTES_PER_CELL, what)
        self.check_memory(cells * BYTES_PER_CELL + more, what)

    def check_growth(self, need: int, what: str) -> None:
        """Refuse much more memory than files of that size take."""
        if need <= SMALL or not self.bytes or need <= MOST_GROWTH * self.bytes or told() is not None:
            return
        raise InputError(
            f"{self.name} is a file of {size(self.bytes)} that unpacks to {what}, about {size(need)} of memory: more "
            f"than {MOST_GROWTH:,} times its size. If you trust it, {_advice(need)}"
        )

    def check_memory(self, need: int, what: str) -> None:
        """Refuse contents that take more memory than one file may."""
        if need > max(allowance(), SMALL):
            raise InputError(
                f"{self.name} holds {what}, which takes about {size(need)} of memory to read; {_may()} Split the file, "
                f"or {_advice(need)}"
            )

    def check_ratio(self, unpacked: int, consumed: int | None = None, *, kind: str = "gzip file") -> None:
        """Refuse gzip of what unpacks to more than tables do.

        ``consumed`` are the bytes of the file that were read for it, by default all; ``kind`` is what it is called.
        """
        consumed = self.bytes if consumed is None else consumed
        if unpacked > SMALL_UNPACKED and unpacked > MOST_RATIO * consumed and told() is None:
            raise InputError(
                f"{self.name} is a {kind} of {size(self.bytes)} that unpacks to more than {MOST_RATIO} times that, "
                f"as no table does. If you trust it, unpack it, or set {VARIABLE} to the gigabytes of memory that "
                "reading it may take."
            )

    def check_unpacked(self, unpacked: int, consumed: int, *, kind: str = "gzip file") -> None:
        """Refuse contents of gzip that grow beyond their bounds."""
        self.check_ratio(unpacked, consumed, kind=kind)
        if unpacked > SMALL_UNPACKED and unpacked > allowance():
            raise InputError(
                f"{self.name} unpacks to more than one file may take: {_may()} Split the file, or set {VARIABLE} to "
                "more gigabytes."
            )


def _may() -> str:
    source = f"as {VARIABLE} says" if told() else f"{FREE_SHARE:.0%} of what is free"
    return f"{size(allowance())} may be used ({source})."


def told() -> int | None:
    """Return the bytes that `VARIABLE` allows, if it is set.

    Raises
    ------
    InputError
        If it holds no number above 0.
    """
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return None
    try:
        gigabytes = float(text)
    except ValueError:
        gigabytes = math.nan
    if not 0 < gigabytes < math.inf:
        raise InputError(f"{VARIABLE} is {text[:20]!r}; it takes a number of gigabytes above 0, such as {VARIABLE}=16.")
    return int(gigabytes * 1e9)


def allowance() -> int:
    """Return the bytes of memory that reading one file may take."""
    wished = told()
    return int(FREE_SHARE * free_memory()) if wished is None else wished


def free_memory() -> int:
    """Return the free bytes of memory, of the machine or container."""
    free = int(psutil.virtual_memory().available)
    try:
        most = int((_CGROUP / "memory.max").read_text())
        used = int((_CGROUP / "memory.current").read_text())
        stat = dict(line.split() for line in (_CGROUP / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):  # no container, or one without a limit ("max")
        return free
    return max(0, min(free, most - used + int(stat.get("inactive_file", 0))))


def _advice(need: int) -> str:
    return f"set {VARIABLE}={max(1, math.ceil(1.2 * need / 1e9))} to allow that many gigabytes."
