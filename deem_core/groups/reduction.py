"""Reductions: tables of votes in which a clique speaks with one voice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deem_core.errors import InputError
from deem_core.groups.cliques import Clique
from deem_core.text import listing
from deem_core.typing import Codes, Integers
from deem_core.votes import Votes
from deem_core.votes.arrays import NO_VOTE
from deem_core.votes.checks import hard_codes
from deem_core.votes.majority import majority_vote


@dataclass(frozen=True)
class Voices:
    """Learners to be looked at together.

    Attributes
    ----------
    names : tuple of g str
    members : tuple of g tuples of int
        Positions of their learners.
    """

    names: tuple[str, ...]
    members: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Reduction:
    """Map from d learners to d' ≤ d, some of which speak for a clique.

    Attributes
    ----------
    members : tuple of d' tuples of int
        Positions of the original learners that each reduced learner stands for.
    learners : tuple of d' str
        Names of the reduced learners.
    """

    members: tuple[tuple[int, ...], ...]
    learners: tuple[str, ...]

    @classmethod
    def of(cls, learners: Sequence[str], cliques: Sequence[Clique] = ()) -> Reduction:
        """Return the reduction of each clique to one learner.

        It stands at the position of the clique's first member.
        """
        position = {name: i for i, name in enumerate(learners)}
        clique_of: dict[int, tuple[int, ...]] = {}
        for clique in cliques:
            for name in clique.learners:
                if name not in position:
                    raise InputError(f"There is no learner {name!r}; the learners are {', '.join(learners)}.")
            group = tuple(sorted(position[name] for name in clique.learners))
            if any(i in clique_of for i in group):
                raise InputError(f"The clique of {listing(clique.learners)} shares a learner with another clique.")
            clique_of.update(dict.fromkeys(group, group))
        members = tuple(dict.fromkeys(clique_of.get(i, (i,)) for i in range(len(learners))))
        taken = set(learners)
        names = []
        for group in members:
            everybody = listing([learners[i] for i in group], rest="others")
            name = everybody if len(group) == 1 else f"majority of {everybody}"
            while len(group) > 1 and name in taken:
                name += " (clique)"
            taken.add(name)
            names.append(name)
        return cls(members, tuple(names))

    @property
    def n_original(self) -> int:
        """Number of original learners, d."""
        return sum(map(len, self.members))

    @property
    def is_identity(self) -> bool:
        """Whether every learner speaks for itself."""
        return len(self.members) == self.n_original

    @property
    def voices(self) -> Voices:
        """Names and members of the merged cliques."""
        at = [j for j, group in enumerate(self.members) if len(group) > 1]
        return Voices(tuple(self.learners[j] for j in at), tuple(self.members[j] for j in at))

    def apply(self, codes: Integers) -> Codes:
        """Return (n, d) codes of the original learners as (n, d') codes.

        A clique votes for the class most of its members vote for, the lowest among equals, and not at all
        where none of them does.
        """
        self._check(codes)
        reduced = np.empty((len(codes), len(self.members)), np.int32)
        for at, group in enumerate(self.members):
            reduced[:, at] = codes[:, group[0]] if len(group) == 1 else majority_vote(codes[:, group]).codes
        return reduced

    def apply_soft(self, soft: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
        """Return (n, d, K) soft votes as (n, d', K) ones that fit the codes of `apply`.

        A clique's probabilities are the mean of those of its members that vote for its class.
        """
        self._check(soft)
        reduced = np.zeros((len(soft), len(self.members), soft.shape[2]), np.float32)
        for at, group in enumerate(self.members):
            if len(group) == 1:
                reduced[:, at] = soft[:, group[0]]
                continue
            codes = hard_codes(np.asarray(soft[:, group], np.float32))  # (n, clique)
            label = majority_vote(codes).codes
            agrees = (codes == label[:, None]) & (label != NO_VOTE)[:, None]
            total = np.einsum("ng,ngk->nk", agrees, soft[:, group], dtype=np.float64)
            mean = (total / np.maximum(agrees.sum(axis=1), 1)[:, None]).astype(np.float32)
            # Rounding can turn a lead of the last digit into a tie with a lower class: then one member speaks.
            turned = np.flatnonzero(hard_codes(mean[:, None])[:, 0] != label)
            mean[turned] = soft[turned, np.asarray(group)[agrees[turned].argmax(axis=1)]]
            reduced[:, at] = mean
        return reduced

    def reduce(self, votes: Votes) -> Votes:
        """Return the reduced table of the same rows."""
        if self.is_identity:
            self._check(votes.codes)
            return votes
        soft = None if votes.soft is None else self.apply_soft(votes.soft)
        return replace(votes, codes=self.apply(votes.codes), learners=self.learners, soft=soft)

    def _check(self, array: NDArray[Any]) -> None:
        if array.ndim < 2 or array.shape[1] != self.n_original:
            raise InputError(f"These votes have shape {array.shape}; {self.n_original} learners were expected.")
