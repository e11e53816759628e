"""Patterns of votes: distinct rows with their counts, to fit models on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from deem_core.typing import Codes, Floats, Integers
from deem_core.votes.arrays import NO_VOTE, chunks, distinct_rows, sparse_one_hot

if TYPE_CHECKING:
    from deem_core.votes import Votes

_BLOCK = 1 << 17  # (row, class) cells handled at once: 1 MB of float64, which caches hold


@dataclass(frozen=True, eq=False)
class Table:
    """Distinct rows of votes with their counts.

    A million rows cost what their distinct patterns cost.

    Attributes
    ----------
    codes : (u, d) int
    counts : (u,) float
        How many rows each stands for; 0 for a row that nothing is learned from.
    n_classes : int
    """

    codes: Codes
    counts: Floats
    n_classes: int

    @classmethod
    def of(cls, codes: Integers, n_classes: int) -> Table:
        """Return the distinct rows among those with a vote."""
        distinct = distinct_rows(codes[(codes != NO_VOTE).any(axis=1)])
        return cls(distinct.codes, distinct.weights, n_classes)

    @classmethod
    def of_votes(cls, votes: Votes) -> Table:
        """Return the distinct rows of votes, one without any included.

        Row by row those of `Votes.distinct`, so that what is found for them can be spread over all rows.
        """
        return cls(votes.distinct.codes, votes.distinct.weights, votes.n_classes)

    @property
    def voted(self) -> Table:
        """The rows that something is learned from."""
        counted = self.counts > 0
        return self if counted.all() else Table(self.codes[counted], self.counts[counted], self.n_classes)

    def select(self, learners: Sequence[int]) -> Table:
        """Return the distinct rows of some learners' votes."""
        distinct = distinct_rows(self.codes[:, list(learners)])
        counts = np.bincount(distinct.of_row, self.counts, minlength=len(distinct.codes))
        voted = (distinct.codes != NO_VOTE).any(axis=1)
        return Table(distinct.codes[voted], counts[voted], self.n_classes)

    @property
    def n_learners(self) -> int:
        """Number of learners, d."""
        return int(self.codes.shape[1])

    @property
    def n_rows(self) -> float:
        """Rows that all of these stand for."""
        return float(self.counts.sum())

    def ballots(self, learners: Sequence[int] | None = None) -> Any:
        """Return the sparse one-hot votes (u, learners · K) of some learners or of all."""
        return sparse_one_hot(self.codes if learners is None else self.codes[:, list(learners)], self.n_classes)

    def counted(self, ballots: Any) -> Any:
        """Return ballots (u, …) with the counts of their rows instead of ones."""
        if (self.counts == 1).all():
            return ballots
        values = np.repeat(self.counts, np.diff(ballots.indptr))
        return csr_array((values, ballots.indices, ballots.indptr), shape=ballots.shape)

    def blocks(self) -> Iterator[slice]:
        """Yield blocks of rows that caches hold."""
        return chunks(len(self.codes), _BLOCK // self.n_classes)
