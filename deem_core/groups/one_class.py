"""One-class learners: rules that know one class and abstain elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deem_core.groups.kappa import Ranked
from deem_core.text import count, percent
from deem_core.typing import Floats
from deem_core.votes import Votes
from deem_core.votes.arrays import NO_VOTE, spread_rows

SAME_CLASS = 0.995
"""Share of its votes that a one-class learner gives to its class."""
STRAY = 0.1
"""Other votes of a one-class learner, at most, as a share of those that the mix of all votes would give it.

Where one class has 99.7% of the votes, everybody gives it 99.5%, and nobody is a rule for that.
"""
ABSTAINS = 0.01
"""Share of the rows on which a one-class learner must be silent: one that always says the same is no rule."""
CHANCE = 0.001
"""A learner of few votes is one-class only if they would all be for that class with less than this probability."""
ANYWHERE = 0.5
"""Share of the rows of other classes, by the majority of the others, from which a learner votes whatever the row is.

A rule votes on about as many rows as its class has; who says spam on 88% of the rows where 40% are spam is no rule.
"""
MAX_ROWS = 20_000
"""Rows on which that is looked at, evenly spread."""
RULES_SHARE = 0.5
"""Share of the votes from one-class learners from which a file is made of rules."""


@dataclass(frozen=True)
class OneClassLearner:
    """A learner that votes for one class only.

    Attributes
    ----------
    learner, label : str
        Its name and its class.
    code : int
        Class index.
    n_votes : int
        Votes that it casts.
    """

    learner: str
    label: str
    code: int
    n_votes: int


@dataclass(frozen=True)
class OneClass:
    """One-class learners of a table of votes.

    Attributes
    ----------
    learners : tuple of OneClassLearner
    n_learners : int
        All learners.
    vote_share : float
        Share of all votes that the one-class learners cast.
    """

    learners: tuple[OneClassLearner, ...]
    n_learners: int
    vote_share: float

    @property
    def made_of_rules(self) -> bool:
        """Whether they cast at least half of the votes."""
        return self.vote_share >= RULES_SHARE

    @property
    def sentence(self) -> str:
        """The finding in words."""
        if not self.learners:
            return "No learner votes for one class only."
        who = f"{len(self.learners):,} of {count(self.n_learners, 'learner')}"
        votes = "votes" if len(self.learners) == 1 else "vote"
        found = f"{who} {votes} for one class only and cast {percent(self.vote_share, 0, careful=True)} of the votes"
        if not self.made_of_rules:
            return f"{found}."
        return f"{found}: these are rules. Such votes do not show which is right; use the method for rules."


def one_class_learners(votes: Votes) -> OneClass:
    """Return the learners that vote for one class only.

    Learner j with n_j votes is one-class if at least 99.5% of them are for one class c, its other votes are less than
    a tenth of what the mix of all votes would give, it is silent on 1% of the rows or more, and chance does not
    explain it: n_j · log(share of c among all votes) < log 0.001. Nor may it vote on half of the rows of other classes
    (`share_elsewhere`), unless the file is made of rules.
    """
    counts = votes.class_counts  # (d, K)
    cast = counts.sum(axis=1)
    total = int(cast.sum())
    shares = counts.sum(axis=0) / max(total, 1)
    favourite = counts.argmax(axis=1)
    found = []
    for j in np.flatnonzero(cast).tolist():
        c, n = int(favourite[j]), int(cast[j])
        pure = n - counts[j, c] <= min(1 - SAME_CLASS, STRAY * (1 - shares[c])) * n
        abstains = votes.learner_coverage[j] <= 1 - ABSTAINS
        if pure and abstains and n * math.log(shares[c]) < math.log(CHANCE):
            found.append(OneClassLearner(votes.learners[j], str(votes.classes[c]), c, n))
    if sum(rule.n_votes for rule in found) < RULES_SHARE * total:  # among rules the others are no yardstick
        elsewhere = share_elsewhere(votes, [votes.learners.index(rule.learner) for rule in found])
        found = [rule for rule, share in zip(found, elsewhere.tolist(), strict=True) if share < ANYWHERE]
    own = sum(rule.n_votes for rule in found)
    return OneClass(tuple(found), votes.n_learners, own / max(total, 1))


def share_elsewhere(votes: Votes, learners: Sequence[int]) -> Floats:
    """Return how often learners vote where the others see another class, (m,).

    The class is the one that a learner votes for most; of each other row the majority of all other learners must be
    clear. 0 where there is no such row.

    Parameters
    ----------
    votes : Votes
    learners : sequence of m int
        Positions.
    """
    shares = np.zeros(len(learners))
    if not len(learners):
        return shares
    codes = votes.codes[spread_rows(votes.n_rows, MAX_ROWS, nearest=True)].astype(np.int64)  # (b, d)
    codes = codes[(codes != NO_VOTE).any(axis=1)]
    ranked = Ranked.of(codes)
    for at, j in enumerate(learners):
        own = codes[:, j]
        majority, clear = ranked.others(own)
        other = clear & (majority != votes.class_counts[j].argmax())
        shares[at] = (own[other] != NO_VOTE).mean() if other.any() else 0.0
    return shares
