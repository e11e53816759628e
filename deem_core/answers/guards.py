"""Guards: signs, without truth, that labels went where votes did not.

They were measured on crowds, panels and rules (docs/diagnostics.md). Two look at the labels of a method, `rarest_class`
and `overturned_majorities`; `little_to_gain` looks at the file alone. On ensembles of classifiers they stay silent
about most failures: silence is no praise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deem_core.text import count, percent
from deem_core.typing import Integers
from deem_core.votes import NO_VOTE, Votes

DEAD_RATIO = 0.02
"""A class is dead if its share of the rows is less than this part of its share of the votes."""
DEAD_RATIO_ONE_COIN = 0.25
"""The same for one-coin Dawid-Skene, which cannot blame one class and so seldom empties it quite."""
EXPECTED_ROWS = 2
"""Rows that its share of the votes must make before a class can be dead: in one row most classes are missing."""
CLASS_SHARE = 0.05
"""A class counts from this share of the votes on, or from half of 1/K where that is less."""

CLEAR_MAJORITY = 0.75
"""Share of a row's votes from which its majority is clear."""
CLEAR_VOTES = 4
"""Votes that a row needs for a clear majority."""
STRONG_SHARE = 0.01
"""Share of the voted rows; a method that overturns more clear majorities is strong."""
INDEPENDENT_RHO = 0.20
"""ρ_others up to which a crowd counts as independent, so that its clear majorities may be overturned."""

CROWDED_VOTES = 8
"""Votes per voted row from which `little_to_gain` speaks."""
DEPENDENT_RESIDUAL = 0.09
"""ρ_residual above which Dawid-Skene leaves too much dependence for a model to gain."""


@dataclass(frozen=True)
class RarestClass:
    """The class whose rows stay behind its votes the most.

    Attributes
    ----------
    code : int
        Class index.
    label : str
    vote_share : float
        Its share of all votes.
    rows : int
        Rows that got it.
    n_rows : int
        Rows with votes.
    """

    code: int
    label: str
    vote_share: float
    rows: int
    n_rows: int

    @property
    def ratio(self) -> float:
        """Its share of the rows over its share of the votes."""
        return self.rows / self.n_rows / self.vote_share

    def dead(self, limit: float = DEAD_RATIO) -> bool:
        """Return whether hardly any row got it."""
        return self.ratio < limit and self.vote_share * self.n_rows >= EXPECTED_ROWS

    def sentence(self, title: str) -> str:
        """Return "Dawid-Skene gives no row to SPAM, which has 42% of the votes."."""
        rows = f"only {count(self.rows, 'row')}" if self.rows else "no row"
        return f"{title} gives {rows} to {self.label}, which has {percent(self.vote_share, 0)} of the votes."


@dataclass(frozen=True)
class Overturned:
    """Clear majorities that labels go against.

    Attributes
    ----------
    rows : int
        Rows whose label differs from a majority of at least ¾ of at least 4 votes.
    n_rows : int
        Rows with votes.
    """

    rows: int
    n_rows: int

    @property
    def share(self) -> float:
        """Share of the rows with votes."""
        return self.rows / max(self.n_rows, 1)

    def strong(self, rho_others: float | None) -> bool:
        """Return whether they are too many for this crowd.

        Over 1% of the voted rows, unless the crowd is known to be independent.

        Parameters
        ----------
        rho_others : float, optional
            From `deem_core.groups.effective_votes`; unknown counts as dependent.
        """
        independent = rho_others is not None and rho_others <= INDEPENDENT_RHO
        return self.share > STRONG_SHARE and not independent

    def sentence(self, title: str) -> str:
        """Return "Dawid-Skene overturns clear majorities in 31 rows (7.4%)."."""
        share = percent(self.share, careful=True)
        return f"{title} overturns clear majorities in {count(self.rows, 'row')} ({share})."


def rarest_class(votes: Votes, codes: Integers) -> RarestClass | None:
    """Return the class with the least rows for its votes.

    Among classes with at least min(5%, 1/2K) of the votes. The method's answer is suspect if it is `RarestClass.dead`.
    None without votes.

    Parameters
    ----------
    votes : Votes
    codes : (n,) array of int
        Labels as class indices, -1 for none.
    """
    cast = votes.class_counts.sum(axis=0)  # (K,)
    voted = votes.votes_per_row > 0
    if not voted.any():
        return None
    shares = cast / cast.sum()
    counted = np.flatnonzero(shares >= min(CLASS_SHARE, 1 / (2 * votes.n_classes)))
    labels = codes[voted & (codes != NO_VOTE)]
    rows = np.bincount(labels, minlength=votes.n_classes)
    at = int(counted[(rows[counted] / shares[counted]).argmin()])
    return RarestClass(at, str(votes.classes[at]), float(shares[at]), int(rows[at]), int(voted.sum()))


def overturned_majorities(votes: Votes, codes: Integers) -> Overturned:
    """Count the rows whose label goes against a clear majority.

    Parameters
    ----------
    votes : Votes
    codes : (n,) array of int
    """
    majority, cast = votes.majority_vote, votes.votes_per_row
    clear = (cast >= CLEAR_VOTES) & (majority.support >= CLEAR_MAJORITY * cast)
    against = clear & (codes != NO_VOTE) & (codes != majority.codes)
    return Overturned(int(against.sum()), int((cast > 0).sum()))


def little_to_gain(votes: Votes, rho_residual: float | None) -> bool:
    """Return whether models rarely beat the majority vote on such a file.

    Two classes, 8 votes per voted row or more, and ρ_residual above 0.09: learners agree beyond what Dawid-Skene
    explains, and with two classes it cannot tell that from truth.

    Parameters
    ----------
    votes : Votes
    rho_residual : float, optional
        From `deem_core.groups.effective_votes`; None where it is unknown, which is no alarm.
    """
    voted = int((votes.votes_per_row > 0).sum())
    crowded = int(votes.votes_per_row.sum()) >= CROWDED_VOTES * max(voted, 1)
    return votes.n_classes == 2 and crowded and rho_residual is not None and rho_residual > DEPENDENT_RESIDUAL
