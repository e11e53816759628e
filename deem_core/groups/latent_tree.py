"""Grouped Dawid-Skene: a latent tree of label, groups and learners.

The label Y has the prior pi. Every group g of learners has a latent Z_g that follows the label by A_g, and the
learners of a group follow its latent by B_i; a learner outside all groups follows the label itself:

    p(x) = Σ_y pi[y] Π_g M_g(y) Π_{i in no group} B_i[x_i, y],    M_g(y) = Σ_z A_g[z, y] Π_{i in g} B_i[x_i, z]

Learners of a group may so err together. Votes that were not cast drop out of the products, and without groups this is
the model of Dawid and Skene. All sums over the latents are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deem_core.typing import Floats, Integers
from deem_core.votes.alignment import apply_map
from deem_core.votes.arrays import distinct_rows, normalise_logs, sparse_one_hot
from deem_core.votes.patterns import Table

Groups = tuple[tuple[int, ...], ...]
"""Positions of the learners of each group of two or more; everybody else stands alone."""

ROOT = -1
"""The latent Y itself, where a group's latent is named by the group's number."""

SMALLEST = 1e-12
"""Probabilities below this count as this in `GroupedModel.log_scores`: a class that EM has emptied has no logarithm."""


@dataclass(frozen=True, eq=False)
class GroupedModel:
    """Parameters of the latent tree of d learners, G groups and K classes.

    Attributes
    ----------
    pi : (K,) float
        Pr(Y = y).
    groups : tuple of tuples of int
    A : (G, K, K) float
        ``A[g, z, y]`` = Pr(Z_g = z | Y = y).
    B : (d, K, K) float
        ``B[i, l, z]`` = Pr(X_i = l | latent above learner i = z).
    label : int
        The latent that is the label: `ROOT` for Y, or the number of a group. A tree has no root of its own, so
        which one it is does not follow from the likelihood.
    class_map : (K,) int
        Class of each state of that latent.
    """

    pi: Floats
    groups: Groups
    A: Floats
    B: Floats
    label: int = ROOT
    class_map: NDArray[np.intp] | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return len(self.pi)

    @property
    def n_learners(self) -> int:
        """Number of learners, d."""
        return len(self.B)

    @cached_property
    def singles(self) -> tuple[int, ...]:
        """Learners outside all groups."""
        grouped = {i for group in self.groups for i in group}
        return tuple(i for i in range(self.n_learners) if i not in grouped)

    @property
    def n_parameters(self) -> int:
        """Free parameters: K − 1 + (d + G)·K·(K − 1)."""
        K = self.n_classes
        return K - 1 + (self.n_learners + len(self.groups)) * K * (K - 1)

    @property
    def prior(self) -> Floats:
        """Probability of each class, (K,)."""
        states = self.pi if self.label == ROOT else self.A[self.label] @ self.pi
        return states if self.class_map is None else apply_map(states, self.class_map)

    def latent_posterior(self, codes: Integers, latent: int) -> Floats:
        """Return Pr(latent = state | votes), (n, K), of Y or of a group's latent."""
        distinct = distinct_rows(codes)
        table = Table(distinct.codes, distinct.weights, self.n_classes)
        posterior = np.empty((len(table.codes), self.n_classes))
        tree = Branches(table, self.groups)
        logs = Logs.of(self)
        for rows in table.blocks():
            up = tree.upward(rows, self, logs)
            posterior[rows] = up.label if latent == ROOT else up.group(latent, self)
        return distinct.spread(posterior)

    def posterior(self, codes: Integers) -> Floats:
        """Return the probability of each class in each row of (n, d) codes, (n, K).

        A row without votes gets the prior.
        """
        states = self.latent_posterior(codes, self.label)
        return states if self.class_map is None else apply_map(states, self.class_map)

    def log_scores(self, codes: Integers) -> Floats:
        """Return log Pr(class, votes) of (n, d) codes, (n, K).

        Finite also where the posterior rounds to 0.
        """
        lifted = replace(self, pi=np.maximum(self.pi, SMALLEST), B=np.maximum(self.B, SMALLEST))
        distinct = distinct_rows(codes)
        table = Table(distinct.codes, distinct.weights, self.n_classes)
        tree, logs = Branches(table, self.groups), Logs.of(lifted)
        scores = np.empty((len(table.codes), self.n_classes))
        for rows in table.blocks():
            scores[rows] = tree.log_scores(rows, self, logs)
        return distinct.spread(scores if self.class_map is None else apply_map(scores, self.class_map))

    def with_label(self, label: int, class_map: NDArray[np.intp] | None = None) -> GroupedModel:
        """Return the same tree with another latent as the label."""
        return replace(self, label=label, class_map=class_map)

    def confusion_given_root(self) -> Floats:
        """Return Pr(X_i = l | Y = y), (d, K, K): B_i, times A_g for learners of a group."""
        given = self.B.copy()
        for group, between in zip(self.groups, self.A, strict=True):
            given[list(group)] = self.B[list(group)] @ between
        return given

    def confusion_given_label(self) -> Floats:
        """Return Pr(X_i = l | label = class), (d, K, K), the usual psi of Dawid and Skene."""
        given = self.confusion_given_root()
        if self.label != ROOT:
            given = given @ self._root_given_label()
            own = list(self.groups[self.label])
            given[own] = self.B[own]
        return given if self.class_map is None else apply_map(given, self.class_map)

    def opinions_given_label(self) -> Floats:
        """Return Pr(Z_g = z | label = class), (G, K, K).

        The states of the label's own latent are its classes.
        """
        given = self.A
        if self.label != ROOT:
            given = given @ self._root_given_label()
            given[self.label] = np.eye(self.n_classes)
        if self.class_map is None:
            return given
        given = apply_map(given, self.class_map)
        if self.label != ROOT:
            given[self.label] = np.eye(self.n_classes)
        return given

    def _root_given_label(self) -> Floats:
        """Return Pr(Y = y | Z = z) of the group that is the label, (y, z)."""
        joint = self.A[self.label] * self.pi  # Pr(Z = z, Y = y)
        shares: Floats = (joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)).T
        return shares


@dataclass(frozen=True)
class Logs:
    """Logarithms that every block of rows needs.

    Attributes
    ----------
    pi : (K,)
    groups : list of (|g|·K, K)
    singles : (s·K, K)
    """

    pi: Floats
    groups: list[Floats]
    singles: Floats

    @classmethod
    def of(cls, model: GroupedModel) -> Logs:
        """Take the logarithms of a model's parameters."""
        K = model.n_classes
        with np.errstate(divide="ignore"):  # a state of probability 0 scores −inf
            log_b = np.log(model.B)
            groups = [log_b[list(group)].reshape(-1, K) for group in model.groups]
            return cls(np.log(model.pi), groups, log_b[list(model.singles)].reshape(-1, K))


@dataclass(frozen=True)
class Upward:
    """Beliefs of a block of b rows.

    Attributes
    ----------
    label : (b, K)
        Pr(Y = y | votes).
    likelihood : (b,)
        log Pr(votes).
    own : list of (b, K)
        Π_{i in g} B_i[x_i, z] of each group, up to a factor of the row.
    messages : list of (b, K)
        M_g(y), up to the same factor.
    """

    label: Floats
    likelihood: Floats
    own: list[Floats]
    messages: list[Floats]

    def group(self, g: int, model: GroupedModel) -> Floats:
        """Return Pr(Z_g = z | votes), (b, K): L_g(z) Σ_y A_g[z, y] q(y) / M_g(y)."""
        states: Floats = self.own[g] * ((self.label / self.messages[g]) @ model.A[g].T)
        return states


class Ballots:
    """One-hot votes of some learners, cut into blocks once.

    EM asks for the same blocks in every round, and to cut a sparse matrix takes longer than to multiply it.

    Parameters
    ----------
    table : Table
    learners : sequence of int
    """

    def __init__(self, table: Table, learners: Sequence[int]) -> None:
        self._parts = {}
        for rows in table.blocks():
            block = sparse_one_hot(table.codes[rows][:, list(learners)], table.n_classes)
            self._parts[rows.start] = (block, block.T)

    def scores(self, rows: slice, logs: Floats) -> Floats:
        """Return the sums of a block's votes over ``logs`` (learners · K, K), (b, K)."""
        found: Floats = self._parts[rows.start][0] @ logs
        return found

    def count(self, rows: slice, states: Floats) -> Floats:
        """Return the votes of a block by state (b, K), (learners · K, K)."""
        found: Floats = self._parts[rows.start][1] @ states
        return found


class Branches:
    """The votes of a table, by branch of the tree.

    Parameters
    ----------
    table : Table
    groups : tuple of tuples of int
    """

    def __init__(self, table: Table, groups: Groups) -> None:
        d = table.codes.shape[1]
        self.grouped = [Ballots(table, group) for group in groups]
        singles = sorted(set(range(d)) - {i for group in groups for i in group})
        self.single = Ballots(table, singles)

    def upward(self, rows: slice, model: GroupedModel, logs: Logs) -> Upward:
        """Sum the tree from its leaves to the label."""
        scores = self.single.scores(rows, logs.singles)
        scores += logs.pi
        own, messages, peaks = [], [], np.zeros(len(scores))
        for g, ballots in enumerate(self.grouped):
            states = ballots.scores(rows, logs.groups[g])
            peak = states.max(axis=1, keepdims=True)
            states -= peak
            np.exp(states, out=states)
            message = states @ model.A[g]
            np.maximum(message, 1e-300, out=message)
            scores += np.log(message)
            peaks += peak[:, 0]
            own.append(states)
            messages.append(message)
        likelihood = normalise_logs(scores) + peaks
        return Upward(scores, likelihood, own, messages)

    def log_scores(self, rows: slice, model: GroupedModel, logs: Logs) -> Floats:
        """Return log Pr(state of the label's latent, votes) of a block, (b, K)."""
        scores: Floats = self.single.scores(rows, logs.singles) + logs.pi
        own: list[Floats] = [ballots.scores(rows, logs.groups[g]) for g, ballots in enumerate(self.grouped)]
        messages = [_passed_on(states, model.A[g]) for g, states in enumerate(own)]
        for message in messages:
            scores = scores + message
        if model.label == ROOT:
            return scores
        others = scores - messages[model.label]
        return own[model.label] + _passed_on(others, model.A[model.label].T)


def _passed_on(scores: Floats, between: Floats) -> Floats:
    """Return log Σ_s exp(scores[n, s]) between[s, t], (n, K)."""
    peak = scores.max(axis=1, keepdims=True)
    total: Floats = np.log(np.maximum(np.exp(scores - peak) @ between, 1e-300)) + peak
    return total
