"""Goodness of fit of a grouped model, without any truth.

For two learners in different branches of the tree let KL be the divergence of their observed table of votes from the
model's, and I their mutual information, both less their bias (K_i − 1)(K_j − 1)/2m on m common rows. The share of the
dependence that the model leaves unexplained is u = Σ KL / Σ I over such pairs. Parameters were fitted to the same
rows, so u is below 0 when the model is right, and the more so the fewer rows there are: tables of the same size are
drawn from the model and fitted anew, and what counts is the excess of u over theirs. The same holds inside groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from deem_core.control import NO_CONTROL, Control
from deem_core.groups.em import fit
from deem_core.groups.latent_tree import GroupedModel, Groups
from deem_core.typing import Codes, Floats, Integers
from deem_core.votes.arrays import NO_VOTE, spread_rows
from deem_core.votes.patterns import Table

TEST_ROWS = 15_000
"""Rows of the test, at most."""
TEST_CELLS = 20_000_000
"""Rows × learners × classes of the test, at most: what a round of EM visits."""
DRAWS = 8
"""Tables drawn from the model."""
MIN_COMMON_ROWS = 50
"""A pair with fewer common rows is not looked at."""
MIN_PAIRS = 0.3
"""Share of the pairs that must have common rows enough."""
MAX_PAIRS = 2_000
"""Pairs of one kind, at most, evenly spread."""

Pair = tuple[int, int]


@dataclass(frozen=True)
class Unexplained:
    """Shares of the dependence that a model leaves unexplained.

    Attributes
    ----------
    between : float, optional
        Of learners in different branches; None where no such pair depends on each other.
    within : float, optional
        Of learners of one group of three or more; None without such a group.
    """

    between: float | None
    within: float | None


@dataclass(frozen=True)
class Goodness:
    """Unexplained dependence beyond what a true model would leave.

    Attributes
    ----------
    excess : float, optional
        Between branches; None where learners of different branches do not depend on each other.
    within_excess : float, optional
        Inside groups of three or more; None without such a group.
    noise, within_noise : float
        Standard deviation of the drawn tables' shares, 0 where they are not known.
    observed : Unexplained
    drawn : tuple of Unexplained
        Of tables drawn from the model and fitted anew.
    n_rows : int
        Rows of the test.
    """

    excess: float | None
    within_excess: float | None
    noise: float
    within_noise: float
    observed: Unexplained
    drawn: tuple[Unexplained, ...]
    n_rows: int


def testable(codes: Integers) -> bool:
    """Return whether enough pairs of learners share enough rows."""
    cast = (codes != NO_VOTE).astype(np.float32)
    common = (cast.T @ cast)[np.triu_indices(codes.shape[1], 1)]
    return bool(len(common)) and float((common >= MIN_COMMON_ROWS).mean()) >= MIN_PAIRS


def goodness(
    codes: Integers,
    n_classes: int,
    groups: Groups,
    rng: np.random.Generator,
    *,
    draws: int = DRAWS,
    control: Control = NO_CONTROL,
) -> Goodness:
    """Test whether the tree with these groups explains the votes.

    Parameters
    ----------
    codes : (n, d) int
        At most `TEST_ROWS` of them are used, fewer of many learners and classes (`TEST_CELLS`), evenly spread, and the
        tree is fitted to these.
    n_classes : int
    groups : tuple of tuples of int
    rng : Generator
        Draws the tables; votes that are missing in the data are missing there.
    draws : int
    control : Control
        Asked before each fit; raises `Stopped`.
    """
    codes = codes[(codes != NO_VOTE).any(axis=1)]
    most = max(TEST_CELLS // (codes.shape[1] * n_classes), 2 * MIN_COMMON_ROWS)
    codes = codes[spread_rows(len(codes), min(TEST_ROWS, most))]
    pairs = _Pairs.of(codes, groups)
    control.check()
    table = Table.of(codes, n_classes)
    own = fit(table, groups, control=control).model
    observed = pairs.unexplained(table, own)
    drawn = []
    for _ in range(draws):
        control.check()
        table = Table.of(draw(own, codes, rng), n_classes)
        drawn.append(pairs.unexplained(table, fit(table, groups, control=control).model))
    between = _Excess.of(observed.between, [each.between for each in drawn])
    within = _Excess.of(observed.within, [each.within for each in drawn])
    return Goodness(
        excess=between.value,
        within_excess=within.value,
        noise=between.noise,
        within_noise=within.noise,
        observed=observed,
        drawn=tuple(drawn),
        n_rows=len(codes),
    )


def draw(model: GroupedModel, codes: Integers, rng: np.random.Generator) -> Codes:
    """Return votes drawn from the model, (n, d), missing where ``codes`` are."""
    n = len(codes)
    votes = np.empty(codes.shape, np.int32)
    label = rng.choice(model.n_classes, n, p=model.pi / model.pi.sum()).astype(np.int32)
    state_above = dict.fromkeys(model.singles, label)
    for group, between in zip(model.groups, model.A, strict=True):
        latent = _draw_states(between, label, rng)
        state_above |= dict.fromkeys(group, latent)
    for i, state in state_above.items():
        votes[:, i] = _draw_states(model.B[i], state, rng)
    votes[codes == NO_VOTE] = NO_VOTE
    return votes


def _draw_states(given: Floats, state: Integers, rng: np.random.Generator) -> Codes:
    """Return a draw from column ``state`` of Pr(out | in), (K, K), for every row."""
    steps = np.cumsum(given, axis=0).T  # (in, out)
    steps[:, -1] = np.inf
    drawn: Codes = (rng.random(len(state))[:, None] > steps[state]).sum(axis=1).astype(np.int32)
    return drawn


@dataclass(frozen=True)
class _Pairs:
    """Pairs of learners with enough common rows, by place in the tree."""

    between: tuple[Pair, ...]
    within: tuple[Pair, ...]

    @classmethod
    def of(cls, codes: Integers, groups: Groups) -> _Pairs:
        cast = (codes != NO_VOTE).astype(np.float32)
        common = cast.T @ cast
        group_of = {i: g for g, group in enumerate(groups) for i in group}
        known = [pair for pair in combinations(range(codes.shape[1]), 2) if common[pair] >= MIN_COMMON_ROWS]
        same = {pair: pair[0] in group_of and group_of.get(pair[0]) == group_of.get(pair[1]) for pair in known}
        large = [pair for pair in known if same[pair] and len(groups[group_of[pair[0]]]) >= 3]
        return cls(_some([pair for pair in known if not same[pair]]), _some(large))

    def unexplained(self, table: Table, model: GroupedModel) -> Unexplained:
        """Return u between branches and inside groups."""
        columns = np.ascontiguousarray(table.codes.T, np.int64)
        given_root = model.confusion_given_root()
        latents = [between @ model.pi for between in model.A]
        group_of = {i: g for g, group in enumerate(model.groups) for i in group}

        def observed(i: int, j: int) -> Floats:
            return _counts(columns[i], columns[j], table.counts, model.n_classes)

        return Unexplained(
            _share((observed(i, j), _joint(model.pi, given_root, i, j)) for i, j in self.between),
            _share((observed(i, j), _joint(latents[group_of[i]], model.B, i, j)) for i, j in self.within),
        )


def _counts(one: Integers, other: Integers, weights: Floats, n_classes: int) -> Floats:
    """Return how many rows hold each pair of votes, (K, K)."""
    both = (one != NO_VOTE) & (other != NO_VOTE)
    cells: Floats = np.bincount((one * n_classes + other)[both], weights[both], n_classes**2).astype(np.float64)
    return cells.reshape(n_classes, n_classes)


def _joint(prior: Floats, given: Floats, i: int, j: int) -> Floats:
    """Return Pr(X_i, X_j), (K, K), of two learners independent given a latent."""
    joint: Floats = (given[i] * prior) @ given[j].T
    return joint


def _share(tables: Iterable[tuple[Floats, Floats]]) -> float | None:
    """Return Σ KL / Σ I over pairs of (observed counts, model's probabilities)."""
    divergence = information = 0.0
    for counts, model in tables:
        m = counts.sum()
        p = counts / m
        rows, columns = p.sum(axis=1), p.sum(axis=0)
        bias = (np.count_nonzero(rows) - 1) * (np.count_nonzero(columns) - 1) / (2 * m)
        seen = p > 0
        information += float((p[seen] * np.log(p[seen] / np.outer(rows, columns)[seen])).sum() - bias)
        divergence += float((p[seen] * np.log(p[seen] / np.maximum(model[seen], 1e-300))).sum() - bias)
    return divergence / information if information > 0 else None


def _some(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    return tuple(pairs[at] for at in spread_rows(len(pairs), MAX_PAIRS).tolist())


@dataclass(frozen=True)
class _Excess:
    """An observed share less the mean of drawn ones, and their spread."""

    value: float | None
    noise: float

    @classmethod
    def of(cls, observed: float | None, drawn: Sequence[float | None]) -> _Excess:
        known = np.array([value for value in drawn if value is not None])
        if observed is None or 2 * len(known) <= len(drawn):  # most drawn tables show no dependence
            return cls(None, 0.0)
        return cls(observed - float(known.mean()), float(known.std(ddof=1)) if len(known) > 1 else 0.0)
