"""Estimates of accuracy on gold rows, with honest intervals.

A fair draw of rows has Wilson's interval. Rows that `ask` chose are no fair draw: they come from two strata, rows on
which the candidates differ and all others, each with Wilson's interval and weighed by its share of the rows left. Both
tell of the rows that are left, whose own accuracy is a draw, too: of n gold rows and m others the variance is
p·(1 − p)·(1/n + 1/m), which matters where gold rows are a large part of a small file.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deem_core.answers.verdict import Estimate
from deem_core.typing import Floats, Mask
from deem_core.votes import Gold
from deem_core.votes.intervals import spread_of_sum, wilson

LEVEL = 0.90
"""Of all intervals here."""


@dataclass(frozen=True, eq=False)
class Design:
    """How gold rows were drawn, and of what they tell.

    Attributes
    ----------
    disputed : (g,) bool
        Gold rows on which candidates differ.
    share : float
        Share of disputed rows among the rows with votes that are not gold, which is what is told of; where there are
        none, among the gold rows.
    asked : bool
        Whether some were chosen by `ask`.
    rest : int, optional
        Rows with votes that are not gold; None for very many, or for none: then it is told of more rows like the gold.
    """

    disputed: Mask
    share: float
    asked: bool
    rest: int | None = None

    @classmethod
    def of(cls, voted: Mask, disputed: Mask, gold: Gold) -> Design:
        """Return the design of gold rows among n rows.

        ``voted`` are those with votes and ``disputed`` those on which candidates differ, both (n,).
        """
        left = voted & ~gold.known
        rest = int(left.sum())
        told = left if rest else gold.known
        share = int((disputed & told).sum()) / max(int(told.sum()), 1)
        return cls(disputed[gold.rows], share, gold.was_asked, rest or None)

    @property
    def weights(self) -> Floats:
        """Weight of each gold row, (g,).

        Its stratum's share of the other rows by that of the gold rows.
        """
        g = len(self.disputed)
        if not self.asked or not g:
            return np.ones(g)
        own = float(self.disputed.mean())
        return np.where(self.disputed, self.share / max(own, 1e-12), (1 - self.share) / max(1 - own, 1e-12))

    def estimate(self, name: str, title: str, hits: Floats, rows: Mask | None = None) -> Estimate:
        """Return the accuracy behind (g,) hits, on some of the gold rows."""
        chosen = np.ones(len(hits), bool) if rows is None else rows
        hits, disputed = hits[chosen], self.disputed[chosen]
        n = len(hits)
        if not n:
            return Estimate(name, title, None, None, None, 0)
        if not self.asked:
            low, high = wilson(hits.mean(), 1 / (1 / n + self._per_row(1.0)), LEVEL)
            return Estimate(name, title, float(hits.mean()), float(low), float(high), n)
        return self._stratified(name, title, hits, disputed)

    def _per_row(self, share: float) -> float:
        """Return 1 over the rows left in a stratum, 0 for many."""
        return 0.0 if self.rest is None else 1 / max(share * self.rest, 1.0)

    def _stratified(self, name: str, title: str, hits: Floats, disputed: Mask) -> Estimate:
        """Return the estimate of two strata.

        Each stratum's own Wilson interval says how far its share may be off either way. A normal interval would be too
        short where nearly all rows of a stratum are right.
        """
        middle, ends = 0.0, []
        for stratum, share in ((disputed, self.share), (~disputed, 1 - self.share)):
            n = int(stratum.sum())
            rate = float(hits[stratum].mean()) if n else 0.5
            low, high = wilson(rate, 1 / (1 / n + self._per_row(share)), LEVEL) if n else (0.0, 1.0)
            middle += share * rate
            ends.append([share * (float(low) - rate), share * (float(high) - rate)])
        low, high = spread_of_sum(middle, middle + np.transpose(ends))
        return Estimate(name, title, middle, max(low, 0.0), min(high, 1.0), len(hits))
