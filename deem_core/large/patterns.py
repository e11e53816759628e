"""Patterns: distinct rows of votes with counts, gathered part by part.

Those of all parts together are merged while they are few; those of each part can be kept in files of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deem_core.engine.sight import Sight
from deem_core.files.atomic import whole_file
from deem_core.typing import Codes, Integers, Mask
from deem_core.votes import NO_VOTE
from deem_core.votes.arrays import distinct_rows
from deem_core.votes.patterns import Table

_LEAST_MERGED = 1 << 18  # patterns that wait before they are merged


@dataclass(frozen=True, eq=False)
class Found:
    """Distinct rows of a part, those without votes left out.

    Attributes
    ----------
    codes : (u, d)
        In order of first appearance, one byte a vote where the classes allow it.
    counts : (u,)
    """

    codes: NDArray[np.signedinteger]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, codes: Integers, n_classes: int) -> Found:
        """Find the distinct rows of (n, d) class codes."""
        voted: Mask = (codes != NO_VOTE).any(axis=1)
        found = distinct_rows(codes[voted])
        return cls(found.codes.astype(_dtype(n_classes)), found.counts)

    def table(self, n_classes: int) -> Table:
        """Return what models are fitted on."""
        codes: Codes = self.codes.astype(np.int32)
        return Table(codes, self.counts.astype(np.float64), n_classes)


class Patterns:
    """Distinct rows of all parts, in order of first appearance.

    Parameters
    ----------
    n_learners, n_classes : int
    most_cells : int
        Patterns are given up when they hold more votes than this.
    """

    def __init__(self, n_learners: int, n_classes: int, most_cells: int) -> None:
        self.n_classes = n_classes
        self._most = most_cells // n_learners
        self._merged = Found(np.empty((0, n_learners), _dtype(n_classes)), np.empty(0, np.int64))
        self._waiting: list[Found] = []
        self.given_up = False

    def add(self, found: Found) -> None:
        """Count the rows of a part."""
        if self.given_up:
            return
        self._waiting.append(found)
        if sum(len(part.codes) for part in self._waiting) > max(_LEAST_MERGED, len(self._merged.codes)):
            self._merge()

    def _merge(self) -> None:
        parts = [self._merged, *self._waiting]
        found = distinct_rows(np.concatenate([part.codes for part in parts]))
        weights = np.bincount(found.of_row, np.concatenate([part.counts for part in parts]), len(found.codes))
        self._merged = Found(found.codes.astype(_dtype(self.n_classes)), weights.astype(np.int64))
        self._waiting.clear()
        if len(found.codes) > self._most:
            self.given_up = True
            self._merged = replace(self._merged, codes=self._merged.codes[:0], counts=self._merged.counts[:0])

    def table(self) -> Table | None:
        """Return the patterns with their counts; None if they were too many."""
        if not self.given_up:
            self._merge()
        return None if self.given_up else self._merged.table(self.n_classes)


@dataclass(frozen=True, eq=False)
class KeptPart:
    """Distinct rows of a part in two files.

    Attributes
    ----------
    at : int
        Which part, counted from 0.
    codes, counts : Sight
        The files.
    found : Found, optional
        What is in them, where it comes along.
    """

    at: int
    codes: Sight
    counts: Sight
    found: Found | None = None

    def patterns(self) -> Found | None:
        """Return what is in the files, mapped into memory.

        None if this machine does not see them.
        """
        if self.found is not None:
            return self.found
        return self.loaded().found if self.codes.clear and self.counts.clear else None

    def loaded(self) -> KeptPart:
        """Return the same part with what is in its files."""
        codes, counts = (np.load(file.path, mmap_mode="r") for file in (self.codes, self.counts))
        return replace(self, found=Found(codes, counts))


class Kept:
    """Folder with the distinct rows of every part.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._parts: dict[int, KeptPart] = {}

    def add(self, at: int, found: Found) -> None:
        """Write the distinct rows of a part."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._parts[at] = KeptPart(
            at, self._written(f"{at:06d}.codes.npy", found.codes), self._written(f"{at:06d}.counts.npy", found.counts)
        )

    def _written(self, name: str, array: NDArray[Any]) -> Sight:
        with whole_file(self.folder / name) as stream:
            np.save(stream, array, allow_pickle=False)
        return Sight.of(self.folder / name)

    @property
    def parts(self) -> Sequence[KeptPart]:
        """All parts, in their order."""
        return [self._parts[at] for at in sorted(self._parts)]


def _dtype(n_classes: int) -> np.dtype[np.signedinteger]:
    return np.min_scalar_type(-n_classes - 1)
