"""Mistakes that learners share, judged by the majority of the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from deem_core.groups.kappa import MIN_COMMON_ROWS, Ranked
from deem_core.typing import Floats, Mask
from deem_core.votes import Votes
from deem_core.votes.arrays import NO_VOTE

MAX_VOTES = 400_000
"""Votes looked at: beyond it, rows are drawn."""
MAX_PAIRS = 2_000
"""Pairs of learners looked at: beyond it, pairs are drawn."""
NAMED_PAIRS = 5
"""Pairs that sentences and tables name."""


@dataclass(frozen=True, eq=False)
class PairSample:
    """Rows and pairs of learners on which dependence is measured.

    Attributes
    ----------
    rows : (b,) int
        Positions of the rows, ascending.
    codes : (d, b) int32
        Their votes, learner by learner.
    common : (d, d) int
        Rows among them with both votes.
    pairs : (p, 2) int
        Pairs with at least `MIN_COMMON_ROWS` common rows, at most `MAX_PAIRS` of them.
    n_pairs : int
        Pairs that had enough common rows.
    """

    rows: NDArray[np.intp]
    codes: NDArray[np.int32]
    common: NDArray[np.int64]
    pairs: NDArray[np.intp]
    n_pairs: int

    @classmethod
    def of(cls, votes: Votes, rng: np.random.Generator) -> PairSample:
        """Draw rows and pairs where there are too many; else take all.

        Rows without votes are left out.
        """
        rows = np.flatnonzero(votes.votes_per_row)
        most = int(MAX_VOTES * len(rows) / max(int(votes.votes_per_row.sum()), 1)) or 1
        if len(rows) > most:
            rows = np.sort(rng.choice(rows, most, replace=False))
        codes = votes.codes[rows]
        cast = csr_array((codes != NO_VOTE).astype(np.int64))
        common = np.asarray((cast.T @ cast).toarray())
        pairs = np.argwhere(np.triu(common >= MIN_COMMON_ROWS, 1))
        n_pairs = len(pairs)
        if n_pairs > MAX_PAIRS:
            pairs = pairs[np.sort(rng.choice(n_pairs, MAX_PAIRS, replace=False))]
        return cls(rows, np.ascontiguousarray(codes.T), common, pairs, n_pairs)

    def both(self, i: int, j: int) -> NDArray[np.intp]:
        """Return the positions among these rows where both voted."""
        return np.flatnonzero((self.codes[i] != NO_VOTE) & (self.codes[j] != NO_VOTE))


@dataclass(frozen=True)
class SharedMistake:
    """Two learners and how much their mistakes go together.

    Attributes
    ----------
    first, second : str
    rho : float
        Correlation of their mistakes.
    rows : int
        Rows that it rests on.
    """

    first: str
    second: str
    rho: float
    rows: int


@dataclass(frozen=True, eq=False)
class SharedMistakes:
    """Correlations of mistakes, pair by pair.

    Attributes
    ----------
    learners : tuple of d str
    pairs : (p, 2) int
        Pairs of positions whose correlation could be computed.
    rho : (p,) float
    rows : (p,) int
        Rows that each rests on.
    mistaken : (p,) int
        Rows among them in which one of the two errs.
    n_pairs : int
        Pairs with enough common rows, of which at most `MAX_PAIRS` were looked at.
    reason : str
        Why there are none; empty if some were looked for.
    """

    learners: tuple[str, ...]
    pairs: NDArray[np.intp]
    rho: Floats
    rows: NDArray[np.int64]
    mistaken: NDArray[np.int64]
    n_pairs: int
    reason: str = ""

    @classmethod
    def unknown(cls, learners: tuple[str, ...], reason: str) -> SharedMistakes:
        """Return no correlations, and why."""
        none = np.empty(0, np.int64)
        return cls(learners, np.empty((0, 2), np.intp), np.empty(0), none, none, 0, reason)

    @property
    def mean(self) -> float | None:
        """Mean correlation, pairs weighted by their rows; None without pairs."""
        return float(np.average(self.rho, weights=self.rows)) if len(self.rho) else None

    def top(self, most: int = NAMED_PAIRS) -> tuple[SharedMistake, ...]:
        """Return the pairs that share most, the most certain first.

        By ρ less two standard errors, 1/√mistaken rows each: a single common mistake is a correlation of 1.
        """
        order = np.argsort(-(self.rho - 2 / np.sqrt(self.mistaken)), kind="stable")[:most]
        return tuple(
            SharedMistake(
                self.learners[self.pairs[at, 0]],
                self.learners[self.pairs[at, 1]],
                float(self.rho[at]),
                int(self.rows[at]),
            )
            for at in order.tolist()
        )

    def matrix(self) -> Floats:
        """Return the correlations as a table for a picture, (d, d).

        1 on the diagonal, NaN for pairs that were not measured.
        """
        table = np.full((len(self.learners),) * 2, np.nan)
        np.fill_diagonal(table, 1.0)
        i, j = self.pairs.T
        table[i, j] = table[j, i] = self.rho
        return table

    @property
    def sentence(self) -> str:
        """The strongest pair in words."""
        if not len(self.rho):
            why = self.reason or f"no two learners have {MIN_COMMON_ROWS} common rows that the others decide"
            return f"Shared mistakes cannot be measured: {why}."
        best = self.top(1)[0]
        drawn = f", of {MAX_PAIRS:,} pairs drawn" if self.n_pairs > MAX_PAIRS else ""
        if best.rho <= 0:
            return f"No two learners contradict the others together{drawn}."
        return (
            f"{best.first} and {best.second} contradict the others together most{drawn} (correlation {best.rho:.2f}): "
            "they share mistakes, or know what the others do not."
        )


def shared_mistakes(votes: Votes, sample: PairSample) -> SharedMistakes:
    """Return ρ_others of the pairs of a sample.

    A mistake is a vote against the majority of all learners but i and j::

        ρ_ij = corr( 1[x_i ≠ m], 1[x_j ≠ m] ),    m = majority without i and j

    over the rows with both votes where m is not tied. Where everybody errs together, m errs too and nothing is seen.
    """
    ranked = Ranked.of(_packed(sample.codes), top=4)
    found, rho, rows, mistaken = [], [], [], []
    for i, j in sample.pairs.tolist():
        both = sample.both(i, j)
        x_i, x_j = sample.codes[i, both].astype(np.int64), sample.codes[j, both].astype(np.int64)
        top = ranked.classes[:, both]
        scores = ranked.scores[:, both] - ranked.unit * (top == x_i) - ranked.unit * (top == x_j)
        decided = ranked.decided(scores)
        m = ranked.best(scores)
        one, other = (x_i != m)[decided], (x_j != m)[decided]
        value = correlation(one, other)
        if value is not None:
            found.append((i, j))
            rho.append(value)
            rows.append(len(one))
            mistaken.append(int((one | other).sum()))
    return SharedMistakes(
        votes.learners,
        np.array(found, np.intp).reshape(-1, 2),
        np.array(rho),
        np.array(rows, np.int64),
        np.array(mistaken, np.int64),
        sample.n_pairs,
    )


def correlation(one: Mask, other: Mask) -> float | None:
    """Return the correlation of two yes-no columns, (b,) each.

    None with fewer than `MIN_COMMON_ROWS` rows or if one of them never changes.
    """
    b = len(one)
    if b < MIN_COMMON_ROWS:
        return None
    p, q = one.mean(), other.mean()
    spread = p * (1 - p) * q * (1 - q)
    return None if spread <= 0 else float(((one & other).mean() - p * q) / np.sqrt(spread))


def _packed(codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return (d, b) codes as rows of votes cast, (b, most votes of a row).

    Ranking looks at a row's votes only, and in a crowd most are missing.
    """
    learner, row = np.nonzero(codes != NO_VOTE)
    order = np.argsort(row, kind="stable")
    learner, row = learner[order], row[order]
    per_row = np.bincount(row, minlength=codes.shape[1])
    place = np.arange(len(row)) - np.repeat(np.cumsum(per_row) - per_row, per_row)
    packed = np.full((codes.shape[1], max(int(per_row.max(initial=0)), 1)), NO_VOTE, np.int64)
    packed[row, place] = codes[learner, row]
    return packed
