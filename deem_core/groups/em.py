"""EM for grouped Dawid-Skene: exact, from vote shares, with a hard end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deem_core.control import NO_CONTROL, Control
from deem_core.groups.latent_tree import Ballots, Branches, GroupedModel, Groups, Logs
from deem_core.typing import Codes, Floats
from deem_core.votes.arrays import hard
from deem_core.votes.majority import vote_shares
from deem_core.votes.patterns import Table

SMOOTHING = 0.01
"""Pseudo-votes added to each cell of A and B."""
TOLERANCE = 1e-5
"""EM stops when the mean log-likelihood changes by no more than this share of itself."""
ROUNDS = 60
"""Rounds of EM on all rows."""
HARD_ROUNDS = 20
"""Rounds with hard labels at the end, at most.

They charge for entropy: where two classes differ in one learner only, likelihood is flat along a ridge on which soft
EM drifts away from the classes.
"""
EARLY_ROUNDS = 2
"""Soft rounds before the hard ones where no learners are grouped.

Along such a ridge every further soft round leads away; with groups, their latents need the soft rounds first.
"""
GROUP_ROUNDS = 3
"""Rounds of Dawid-Skene inside each group that its latent starts from."""


@dataclass(frozen=True, eq=False)
class GroupedFit:
    """A fitted tree and how EM ended.

    Attributes
    ----------
    model : GroupedModel
    log_likelihood : float
        log Pr(all votes), in nats, of the soft fit.
    iterations : int
        Rounds of both kinds.
    converged : bool
    cut : bool
        Whether the control stopped it.
    moved : float
        Share of the rows to which the soft fit gives another state of Y.
    soft : GroupedModel, optional
        The soft fit, where hard rounds followed.
    """

    model: GroupedModel
    log_likelihood: float
    iterations: int
    converged: bool
    cut: bool = False
    moved: float = 0.0
    soft: GroupedModel | None = None


@dataclass(eq=False)
class Counts:
    """Expected counts of one E-step.

    Attributes
    ----------
    label : (K,)
    pairs : (G, K, K)
        Of the states of a group's latent and of Y.
    votes : (d, K, K)
        Of a learner's vote and the state of the latent above it.
    """

    label: Floats
    pairs: Floats
    votes: Floats

    @classmethod
    def zeros(cls, n_learners: int, n_groups: int, n_classes: int) -> Counts:
        """Return empty counts."""
        K = n_classes
        return cls(np.zeros(K), np.zeros((n_groups, K, K)), np.zeros((n_learners, K, K)))

    def model(self, groups: Groups, smoothing: float) -> GroupedModel:
        """Return the parameters that these counts maximise (M-step)."""
        total = self.label.sum()
        pi = self.label / total if total else np.full_like(self.label, 1 / len(self.label))
        return GroupedModel(pi, groups, _columns(self.pairs + smoothing), _columns(self.votes + smoothing))


class Starts:
    """Counts that EM starts from: vote shares, and each group's own Dawid-Skene.

    They are kept by group, since a search fits many partitions that have most of their groups in common.

    Parameters
    ----------
    table : Table
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self._known: dict[tuple[int, ...], tuple[Floats, Floats]] = {}

    def counts(self, groups: Groups) -> Counts:
        """Return the counts of a partition."""
        shares = self._shares
        counts = Counts.zeros(self.table.n_learners, len(groups), self.table.n_classes)
        counts.label += shares.label
        counts.votes += shares.votes
        for g, group in enumerate(groups):
            if group not in self._known:
                self._known[group] = self._of_group(group)
            counts.pairs[g], counts.votes[list(group)] = self._known[group]
        return counts

    @cached_property
    def _shares(self) -> Counts:
        """Counts of vote shares, no learner in a group."""
        d, K = self.table.n_learners, self.table.n_classes
        counts, ballots = Counts.zeros(d, 0, K), Ballots(self.table, range(d))
        for rows in self.table.blocks():
            q = self._weighed(rows)
            counts.label += q.sum(axis=0)
            counts.votes += ballots.count(rows, q).reshape(d, K, K)
        return counts

    def _of_group(self, group: tuple[int, ...]) -> tuple[Floats, Floats]:
        """Return a group's pairs (K, K) and votes (|g|, K, K)."""
        table, K = self.table, self.table.n_classes
        own = fit(table.select(group), (), rounds=GROUP_ROUNDS, tolerance=0.0).model
        pairs, votes, ballots = np.zeros((K, K)), np.zeros((len(group), K, K)), Ballots(table, group)
        for rows in table.blocks():
            states = own.latent_posterior(table.codes[rows][:, list(group)], -1)
            pairs += states.T @ self._weighed(rows)
            votes += ballots.count(rows, states * table.counts[rows, None]).reshape(len(group), K, K)
        return pairs, votes

    def _weighed(self, rows: slice) -> Floats:
        """Return the vote shares of a block, weighted by its counts, (b, K)."""
        table = self.table
        return vote_shares(table.codes[rows], table.n_classes) * table.counts[rows, None]


class Expectation:
    """E-steps on one table for one partition of the learners.

    Parameters
    ----------
    table : Table
    groups : tuple of tuples of int
    """

    def __init__(self, table: Table, groups: Groups) -> None:
        self.table, self.groups = table, groups
        self.branches = Branches(table, groups)
        d = table.codes.shape[1]
        self.singles = sorted(set(range(d)) - {i for group in groups for i in group})

    def soft(self, model: GroupedModel) -> tuple[Counts, float]:
        """Return the expected counts and the log-likelihood."""
        counts, likelihood, _ = self._expect(model, harden=False)
        return counts, likelihood

    def hardened(self, model: GroupedModel) -> tuple[Counts, Codes]:
        """Return the counts with Y at its most probable states, and these (u,)."""
        counts, _, labels = self._expect(model, harden=True)
        return counts, labels

    def _expect(self, model: GroupedModel, *, harden: bool) -> tuple[Counts, float, Codes]:
        counts, logs, likelihood = self._empty(), Logs.of(model), 0.0
        labels = np.empty(len(self.table.codes), np.int32)
        for rows in self.table.blocks():
            weights = self.table.counts[rows, None]
            up = self.branches.upward(rows, model, logs)
            likelihood += float(up.likelihood @ self.table.counts[rows])
            if harden:
                labels[rows] = up.label.argmax(axis=1)
            q = hard(up.label) if harden else up.label
            counts.label += (weights * q).sum(axis=0)
            self._count_votes(counts, rows, self.singles, self.branches.single, weights * q)
            for g, group in enumerate(self.groups):
                ratio = q / up.messages[g]
                counts.pairs[g] += model.A[g] * (up.own[g].T @ (weights * ratio))
                states = up.own[g] * (ratio @ model.A[g].T)
                self._count_votes(counts, rows, group, self.branches.grouped[g], weights * states)
        return counts, likelihood, labels

    def _empty(self) -> Counts:
        return Counts.zeros(self.table.codes.shape[1], len(self.groups), self.table.n_classes)

    @staticmethod
    def _count_votes(counts: Counts, rows: slice, learners: Sequence[int], ballots: Ballots, states: Floats) -> None:
        if learners:
            K = states.shape[1]
            counts.votes[list(learners)] += ballots.count(rows, states).reshape(len(learners), K, K)


def fit(
    table: Table,
    groups: Groups,
    *,
    rounds: int = ROUNDS,
    hard_rounds: int = 0,
    tolerance: float = TOLERANCE,
    smoothing: float = SMOOTHING,
    control: Control = NO_CONTROL,
    starts: Starts | None = None,
) -> GroupedFit:
    """Fit the tree with these groups by EM from vote shares.

    Soft EM never lowers log L + s·Σ log A + s·Σ log B. Time per round is O(votes · K + u·G·K²) for u distinct rows.
    Limits are rounds, never seconds, so that labels do not depend on the machine.

    Parameters
    ----------
    table : Table
    groups : tuple of tuples of int
    rounds, hard_rounds : int
        Most rounds of soft EM, and of EM with hard labels after it, which end when no label changes.
    tolerance, smoothing : float
    control : Control
        Asked after each round whether to end there.
    starts : Starts, optional
        Of the same table, where other partitions of it are fitted too.
    """
    steps = Expectation(table, groups)
    model = (starts or Starts(table)).counts(groups).model(groups, smoothing)
    early, likelihood, done, converged, cut = model, -np.inf, 0, False, False
    while done < rounds and not converged and not cut:
        counts, now = steps.soft(model)
        converged = done > 0 and abs(now - likelihood) <= tolerance * abs(likelihood)
        likelihood, done = now, done + 1
        if not converged:
            model = counts.model(groups, smoothing)
            cut = control.stopped()
        if groups or done <= EARLY_ROUNDS:
            early = model
    if not hard_rounds or cut:
        return GroupedFit(model, likelihood, done, converged, cut)
    soft = model
    _, soft_labels = steps.hardened(soft)
    counts, labels = steps.hardened(early)
    for _ in range(hard_rounds):
        model, done = counts.model(groups, smoothing), done + 1
        before = labels
        counts, labels = steps.hardened(model)
        if (labels == before).all():
            break
    moved = float(table.counts[labels != soft_labels].sum() / max(table.n_rows, 1))
    return GroupedFit(model, likelihood, done, converged, cut, moved, soft)


def _columns(counts: Floats) -> Floats:
    """Return counts as probabilities over the axis before the last."""
    shares: Floats = counts / counts.sum(axis=-2, keepdims=True)
    return shares
