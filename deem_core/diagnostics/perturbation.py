"""Perturbation: rows for importance, and votes with a learner's taken away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deem_core.typing import Floats, Integers, Rows
from deem_core.votes.arrays import votes_cast, withhold

CLASS_ROWS = 30
"""Rows that each class gets at least, if it has them and half of all rows suffice for that."""

_POOL = 200_000  # rows whose votes are drawn from when votes are permuted


@dataclass(frozen=True)
class Sample:
    """Rows on which importance is measured, drawn class by class."""

    rows: NDArray[np.intp]  # (b,)
    label: Integers  # (b,)
    share: Floats  # (K,) share of each class among the rows asked about

    @property
    def counts(self) -> NDArray[np.int64]:
        """Rows drawn of each class, (K,)."""
        return np.bincount(self.label, minlength=len(self.share))

    @property
    def weights(self) -> Floats:
        """Weight of each row, (b,), with sum 1.

        A class counts by its share of the rows asked about.
        """
        return np.asarray((self.share / np.maximum(self.counts, 1))[self.label])


def draw(asked: NDArray[np.intp], label: Integers, K: int, most: int, rng: np.random.Generator) -> Sample:
    """Draw about ``most`` of the rows, class by class.

    In proportion to the classes, but with a floor for small ones.
    """
    counts = np.bincount(label, minlength=K)
    share = counts / len(label)
    if len(label) <= most:
        return Sample(asked, label, share)
    floor = min(CLASS_ROWS, most // (2 * max(1, int((counts > 0).sum()))))
    wanted = np.minimum(counts, np.maximum(np.floor(share * most), max(floor, 1))).astype(np.int64)
    order = np.lexsort((rng.random(len(label)), label))  # class by class, at random within
    rank = np.arange(len(label)) - np.repeat(np.cumsum(counts) - counts, counts)
    at = np.sort(order[rank < np.repeat(wanted, counts)])
    return Sample(asked[at], label[at], share)


@dataclass(frozen=True)
class Perturbation:
    """A way to take votes away."""

    rows: Rows  # what a model reads of all rows
    how: str
    repeats: int
    rng: np.random.Generator

    def changes(self, sample: Sample, groups: Sequence[tuple[int, ...]]) -> Iterator[tuple[int, int, Rows]]:
        """Yield repeat, subject and the perturbed rows, (b, d) or (b, d, K)."""
        own, n, b = self.rows[sample.rows], len(self.rows), len(sample.rows)
        pool = self.rows if n <= _POOL else self.rows[np.sort(self.rng.choice(n, _POOL, replace=False))]
        for t in range(self.repeats):
            # Shared positions in [0, 1): where all rows are asked about, they permute the votes of each learner.
            position = (self.rng.permutation(b) + self.rng.random(b)) / b
            for s, group in enumerate(groups):
                if self.how == "withheld":
                    yield t, s, withhold(own, np.isin(np.arange(own.shape[1]), group)[None])
                    continue
                changed = own.copy()
                for j in group:
                    changed[:, j] = _others(own[:, [j]], pool[:, [j]], position)
                yield t, s, changed


def _others(own: Rows, pool: Rows, position: Floats) -> Rows:
    """Return a learner's votes of other rows, (b,) or (b, K).

    Where it cast none, there is none.
    """
    cast = np.flatnonzero(votes_cast(pool)[:, 0])
    if not len(cast):
        return own[:, 0]
    there = cast[(position * len(cast)).astype(np.intp)]
    moved = votes_cast(own)[:, 0]
    changed = own[:, 0].copy()
    changed[moved] = pool[there[moved], 0]
    return changed
