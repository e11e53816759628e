"""Search for groups of learners by BIC of the grouped model.

A partition of the learners is scored by log L − ½ · parameters · log n of the fitted tree. The dendrogram of the
conditional κ proposes partitions, and single changes climb from the best of them. A latent tree has no root of its
own: dissolving a group moves the label to where the group's latent was, and noise alone would do so now and then, so a
change must gain more than `MARGIN` nats.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from deem_core.control import NO_CONTROL, Control
from deem_core.groups.em import Starts, fit
from deem_core.groups.goodness import goodness
from deem_core.groups.kappa import conditional_kappa
from deem_core.groups.latent_tree import Groups
from deem_core.typing import Floats
from deem_core.votes import Votes
from deem_core.votes.patterns import Table

MIN_LEARNERS, MAX_LEARNERS = 6, 40
"""Learners among which groups are looked for: fewer leave no three branches with a group, more take too long."""
MIN_BRANCHES = 3
"""Branches at the label; with two, which of them is right cannot be told."""
SEARCH_ROWS, SEARCH_VOTES = 5_000, 75_000
"""Rows on which partitions are compared, and votes in them, at most."""
SEARCH_ROUNDS = 25
"""Rounds of EM for each partition."""
MARGIN = 10.0
"""Nats that a change of the partition must gain."""
RIVALS = 3
"""Best rivals of a partition, whose groups are dissolved in turn before the search ends."""
PAIRS = 4
"""Pairs of single learners, those of largest κ, that are tried as a new group."""
MAX_PARTITIONS = 300
"""Partitions that are compared, at most, but for the last round of changes."""
CLIMBED = 15
"""Learners up to which changes are always tried; beyond, a first test must leave hope."""
HOPELESS = 0.06
"""Excess of the dendrogram's best partition that no change was ever seen to mend."""


@dataclass(frozen=True)
class Placement:
    """A partition that the search looked at.

    Attributes
    ----------
    groups : tuple of tuples of int
    score : float
        BIC in nats on the rows of the search, larger is better.
    """

    groups: Groups
    score: float


@dataclass(frozen=True)
class GroupSearch:
    """Outcome of the search.

    Attributes
    ----------
    best : Placement
    placements : tuple of Placement
        All that were scored, best first.
    kappa : (d, d) float
        Conditional κ of every pair.
    """

    best: Placement
    placements: tuple[Placement, ...]
    kappa: Floats


def find_groups(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> GroupSearch:
    """Look for groups of learners that err together.

    Parameters
    ----------
    votes : Votes
        At least `MIN_LEARNERS` and at most `MAX_LEARNERS` learners.
    rng : Generator
        Chooses the rows of κ and of the comparison, where there are more than enough.
    control : Control
        Asked before each partition.

    Raises
    ------
    Stopped
        If ``control`` says so: half a search is no answer.
    """
    kappa = conditional_kappa(votes, rng)
    rows = np.flatnonzero(votes.votes_per_row > 0)
    most = min(SEARCH_ROWS, SEARCH_VOTES // votes.n_learners)
    if len(rows) > most:
        rows = np.sort(rng.choice(rows, most, replace=False))
    scores = Scores(Table.of(votes.codes[rows], votes.n_classes), control)
    best = max(dendrogram(kappa), key=scores)
    climbing = votes.n_learners <= CLIMBED or _hopeful(scores.table, best, rng)
    while climbing and len(scores.known) < MAX_PARTITIONS:
        candidate = max(changes(best, kappa), key=scores, default=best)
        if scores(candidate) <= scores(best) + MARGIN:
            candidate = max(second_look(best, scores), key=scores, default=best)
        climbing = scores(candidate) > scores(best) + MARGIN
        best = candidate if climbing else best
    ranked = sorted(scores.known.items(), key=lambda item: -item[1])
    return GroupSearch(Placement(best, scores(best)), tuple(Placement(*item) for item in ranked), kappa)


def _hopeful(table: Table, groups: Groups, rng: np.random.Generator) -> bool:
    """Return whether changes of this partition may still help."""
    codes = np.repeat(table.codes, table.counts.astype(np.intp), axis=0)
    test = goodness(codes, table.n_classes, groups, rng, draws=2)
    return test.excess is None or test.excess <= HOPELESS


class Scores:
    """BIC of partitions on one table, each computed once.

    Parameters
    ----------
    table : Table
    control : Control
    """

    def __init__(self, table: Table, control: Control = NO_CONTROL) -> None:
        self.table, self.control, self.starts = table, control, Starts(table)
        self.known: dict[Groups, float] = {}

    def __call__(self, groups: Groups) -> float:
        """Return log L − ½ · parameters · log n, in nats."""
        if groups not in self.known:
            self.control.check()
            fitted = fit(self.table, groups, rounds=SEARCH_ROUNDS, starts=self.starts)
            penalty = 0.5 * fitted.model.n_parameters * math.log(max(self.table.n_rows, 2))
            self.known[groups] = fitted.log_likelihood - penalty
        return self.known[groups]


def dendrogram(kappa: Floats) -> Iterator[Groups]:
    """Yield the partitions of average linkage on 1 − κ.

    From single learners to three branches.
    """
    d = len(kappa)
    distance = np.maximum(1 - kappa, 0)
    np.fill_diagonal(distance, 0)
    clusters: dict[int, tuple[int, ...]] = {i: (i,) for i in range(d)}
    yield ()
    for step, (left, right, *_) in enumerate(linkage(squareform(distance, checks=False), "average")):
        clusters[d + step] = clusters.pop(int(left)) + clusters.pop(int(right))
        if len(clusters) < MIN_BRANCHES:
            return
        yield canonical(clusters.values())


def changes(groups: Groups, kappa: Floats) -> Iterator[Groups]:
    """Yield the partitions one step away that keep three branches.

    A group dissolved, a member freed, two groups merged, a single learner added to a group, two of them paired.
    """
    d = len(kappa)
    singles = sorted(set(range(d)) - {i for group in groups for i in group})
    for group in groups:
        rest = tuple(other for other in groups if other != group)
        yield canonical(rest)
        if len(group) > 2:
            for member in group:
                yield canonical((*rest, tuple(i for i in group if i != member)))
        for single in singles:
            yield from _enough((*rest, (*group, single)), d)
    for one, other in combinations(groups, 2):
        rest = tuple(group for group in groups if group not in (one, other))
        yield from _enough((*rest, one + other), d)
    for pair in sorted(combinations(singles, 2), key=lambda pair: -kappa[pair])[:PAIRS]:
        yield from _enough((*groups, pair), d)


def second_look(groups: Groups, scores: Scores) -> Iterator[Groups]:
    """Yield the best rivals of a partition with one group dissolved.

    A group must often be complete before it pays to dissolve it, and completing it alone may gain too little.
    """
    rivals = sorted((other for other in scores.known if other != groups), key=lambda other: -scores(other))
    for rival in rivals[:RIVALS]:
        for group in rival:
            if len(group) >= 3:
                yield tuple(other for other in rival if other != group)


def canonical(groups: object) -> Groups:
    """Return groups of two or more, members and groups in order."""
    return tuple(sorted(tuple(sorted(group)) for group in groups if len(group) > 1))  # type: ignore[attr-defined]


def _enough(groups: Groups, d: int) -> Iterator[Groups]:
    """Yield the groups if they leave three branches at the label."""
    branches = len(groups) + d - sum(map(len, groups))
    if branches >= MIN_BRANCHES:
        yield canonical(groups)
