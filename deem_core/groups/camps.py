"""Camps: two parts of a panel, each consistent in itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deem_core.groups.kappa import MIN_COMMON_ROWS
from deem_core.groups.mistakes import PairSample
from deem_core.text import count
from deem_core.typing import Floats, Integers, Mask
from deem_core.votes import Votes
from deem_core.votes.arrays import NO_VOTE, sparse_one_hot

LIMIT = 0.40
"""Strength above which a panel may be split; the one real panel with camps has 0.53."""
COHESION = 1.6
"""How many times as much the halves of each side must agree with one another as the sides do.

Three families of near-copies are strong too, but one of two sides then holds two families that are strangers.
"""
SMALLER_SIDE = 0.35
"""Share of the learners that the smaller side must exceed: against fewer, the majority vote is not in doubt."""
TYPICAL_KAPPA = 0.1
"""Median κ that each side must have inside: guessers share out among the sides, and agree with nobody on either."""
MAX_LEARNERS = 150
"""Learners looked at: those with the most votes."""
KNOWN_PAIRS = 0.30
"""Share of the pairs that must have common rows: a sparse crowd shows no camps."""
ROUNDS = 200
"""Rounds of the fit of one common ability."""
_MOVES = 20  # rounds in which learners may change sides


@dataclass(frozen=True)
class Camps:
    """Strength of the split of a panel, and its sides.

    Attributes
    ----------
    strength : float, optional
        Agreement within sides beyond one common ability, in units of that ability; None if it cannot be computed.
    split : bool
        Whether there are two camps: strong, each side consistent in itself, neither of them small.
    reason : str
        Why there is no strength; empty otherwise.
    first, second : tuple of str
        Learners on each side, the larger side first; empty without a strength. They mean something only where the
        panel is split.
    """

    strength: float | None
    split: bool = False
    reason: str = ""
    first: tuple[str, ...] = ()
    second: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The finding in words."""
        if self.strength is None:
            return f"Camps cannot be looked for: {self.reason}."
        if self.split:
            sides = f"{count(len(self.first), 'learner')} against {len(self.second):,}"
            return (
                f"Two camps ({sides}), each consistent in itself: the votes cannot tell which is right. Label 20 rows."
            )
        if self.strength > LIMIT:
            return "Some learners agree more with one another, but there are no two camps that balance each other."
        return f"No two camps: strength {self.strength:.2f}, and camps need more than {LIMIT:.2f}."


def camps(votes: Votes, sample: PairSample) -> Camps:
    """Return how much a panel is split in two.

    κ_ij is Cohen's κ of each pair. A panel in which learners differ only in ability has κ ≈ a aᵀ off the diagonal;
    a is fitted by repeating a_i ← ½ a_i + ½ Σ_{j≠i} κ_ij a_j / Σ_{j≠i} a_j², and what is below 0 then counts as 0: a
    camp that contradicts the other has no ability of opposite sign. What is left, κ − a aᵀ, has a large eigenvalue
    where two parts agree more inside than their abilities allow::

        strength = largest eigenvalue of (κ − a aᵀ) off the diagonal / |a|²

    Signs of its eigenvector tell the sides. Strength alone also finds families of near-copies and noise in small
    files, so that a panel counts as split only if each side holds together (`COHESION`, and by more than the noise of
    κ), its learners typically agree (`TYPICAL_KAPPA`), and neither is small (`SMALLER_SIDE`). Pairs without enough
    common rows count as average ones.
    """
    cast = votes.class_counts.sum(axis=1)
    chosen = np.sort(np.argsort(-cast, kind="stable")[:MAX_LEARNERS])
    chosen = chosen[cast[chosen] > 0]
    d = len(chosen)
    if d < 4:
        return Camps(None, reason="it takes at least four learners")
    rows = sample.common[np.ix_(chosen, chosen)]
    known = (rows >= MIN_COMMON_ROWS) & ~np.eye(d, dtype=bool)
    if known.sum() < KNOWN_PAIRS * d * (d - 1):
        return Camps(None, reason=f"too few pairs of learners have {MIN_COMMON_ROWS} common rows")
    kappa = cohen_kappa(sample.codes[chosen].T, votes.n_classes)
    kappa[~known] = kappa[known].mean()
    mean_rows = float(rows[known].mean())
    fitted = common_ability(kappa)
    ability = np.maximum(fitted if fitted.sum() >= 0 else -fitted, 0)  # a and −a are the same fit
    scale = float(ability @ ability)
    if scale <= 2 * np.sqrt(d / mean_rows):  # the largest eigenvalue of κ of strangers, each with noise 1/√rows
        return Camps(None, reason="the learners hardly agree beyond chance")
    strength, vector = _unexplained(kappa, ability)
    side = _sides(kappa, vector)
    inside, between = _cohesion(kappa, side)
    holds = inside >= COHESION * max(between, 0) and inside - between >= 2 / np.sqrt(mean_rows)
    smaller = min(int(side.sum()), int((~side).sum()))
    names = [tuple(votes.learners[i] for i in chosen[part].tolist()) for part in (side, ~side)]
    first, second = sorted(names, key=len, reverse=True)
    typical = min(_median_inside(kappa, part) for part in (side, ~side)) >= TYPICAL_KAPPA
    split = strength / scale > LIMIT and bool(holds) and smaller > SMALLER_SIDE * d and typical
    return Camps(strength / scale, split, "", first, second)


def cohen_kappa(codes: Integers, n_classes: int) -> Floats:
    """Return Cohen's κ of each pair of learners in (b, d) codes, (d, d).

    Over the rows with both votes; 0 where chance explains everything.
    """
    d = codes.shape[1]
    cast = (codes != NO_VOTE).astype(np.float64)
    common = np.maximum(cast.T @ cast, 1)
    equal = np.empty((d, d))
    for i in range(d):
        own = np.where(codes[:, i] == NO_VOTE, NO_VOTE - 1, codes[:, i])  # equal to nobody's missing vote
        equal[i] = (codes == own[:, None]).sum(axis=0)
    beside = (sparse_one_hot(codes, n_classes).T @ cast).reshape(d, n_classes, d)  # i's votes for k where j voted
    expected = np.einsum("ikj,jki->ij", beside, beside) / common**2
    rest = 1 - expected
    return np.where(rest > 1e-12, (equal / common - expected) / np.maximum(rest, 1e-12), 0.0)


def common_ability(kappa: Floats, rounds: int = ROUNDS) -> Floats:
    """Return a (d,) with a aᵀ ≈ κ off the diagonal."""
    off = _off_diagonal(kappa)
    d = len(kappa)
    ability = np.full(d, np.sqrt(max(off.sum() / (d * (d - 1)), 0.01)))
    for _ in range(rounds):
        squares = ability**2
        ability = 0.5 * ability + 0.5 * (off @ ability) / np.maximum(squares.sum() - squares, 1e-12)
    return np.asarray(ability)


def _unexplained(kappa: Floats, ability: Floats) -> tuple[float, Floats]:
    """Return the largest eigenvalue of κ − a aᵀ off the diagonal, and its vector."""
    values, vectors = np.linalg.eigh(_off_diagonal(kappa - np.outer(ability, ability)))
    return float(values[-1]), vectors[:, -1]


def _sides(kappa: Floats, vector: Floats) -> Mask:
    """Return the first side, (d,).

    By the signs of the eigenvector, or after everybody went to the side that agrees more with them, if that parts the
    learners better: where two camps are strangers, one ability fits one camp alone and says nothing of its signs.
    """
    signs = vector > 0
    if min(signs.sum(), (~signs).sum()) < 2:
        signs = vector > vector.mean()
    off, moved = _off_diagonal(kappa), signs
    for _ in range(_MOVES):
        with_first = (off @ moved) / np.maximum(moved.sum() - moved, 1)
        with_second = (off @ ~moved) / np.maximum((~moved).sum() - ~moved, 1)
        nearer = with_first > with_second
        if (nearer == moved).all() or min(nearer.sum(), (~nearer).sum()) < 2:
            break
        moved = nearer
    margins = [inside - between for inside, between in (_cohesion(kappa, side) for side in (signs, moved))]
    return moved if margins[1] > margins[0] else signs


def _cohesion(kappa: Floats, side: Mask) -> tuple[float, float]:
    """Return mean κ across the weakest cut inside a side, and between sides."""
    inside = []
    for part in (np.flatnonzero(side), np.flatnonzero(~side)):
        own = kappa[np.ix_(part, part)]
        if len(part) < 4:
            inside.append(float(own[~np.eye(len(part), dtype=bool)].min(initial=1)))
            continue
        _, vector = _unexplained(own, common_ability(own))
        half = vector > 0 if 0 < int((vector > 0).sum()) < len(part) else vector > vector.mean()
        cut = own[np.ix_(half, ~half)]
        inside.append(float((cut if cut.size else own).mean()))  # nothing to cut where all agree alike
    return min(inside), float(kappa[np.ix_(side, ~side)].mean())


def _median_inside(kappa: Floats, part: Mask) -> float:
    """Return the median κ of the pairs of one side; 0 without a pair."""
    own = kappa[np.ix_(part, part)][np.triu_indices(int(part.sum()), 1)]
    return float(np.median(own)) if len(own) else 0.0


def _off_diagonal(table: Floats) -> Floats:
    return np.where(np.eye(len(table), dtype=bool), 0.0, table)
