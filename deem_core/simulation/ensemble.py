"""Ensemble: votes with the truth and parameters behind them.

That is the drawing of votes from confusion matrices and the refusal of arguments that have no meaning.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deem_core.errors import InputError
from deem_core.typing import Codes, Floats
from deem_core.votes import Votes
from deem_core.votes.labels import MAX_CLASSES

MAX_COUNT = 100_000_000
"""The most rows, learners or copies that anyone can mean."""


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Votes with their truth and the probabilities they were drawn from.

    Attributes
    ----------
    votes : Votes
        n rows, d learners, K classes; the truth of every row is known.
    psi : (d, K, K) float64
        ``psi[i, l, m]`` = Pr(X_i = l | Y = m) of a vote that was cast.
    pi : (K,) float64
        Pr(Y = m).
    experts : mapping of str to tuple of int
        Learner → classes on which it is always right.
    groups : (d,) int64, optional
        Parent of each learner (tree) or the learner it is a copy of; None where there is no such structure.
    parent_psi : (G, K, K) float64, optional
        Of a tree: intermediate node given Y.
    leaf_psi : (d, K, K) float64, optional
        Of a tree: learner given its intermediate node.
    """

    votes: Votes
    psi: Floats
    pi: Floats
    experts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    groups: NDArray[np.int64] | None = None
    parent_psi: Floats | None = None
    leaf_psi: Floats | None = None

    def __post_init__(self) -> None:
        """Check that the parameters belong to these votes."""
        d, K = self.votes.n_learners, self.votes.n_classes
        if self.psi.shape != (d, K, K) or self.pi.shape != (K,):
            raise InputError(
                f"{d} learners and {K} classes need psi of shape {(d, K, K)} and pi of shape {(K,)}; "
                f"these have {self.psi.shape} and {self.pi.shape}."
            )
        if self.votes.truth is None or not ((self.votes.truth >= 0) & (self.votes.truth < K)).all():
            raise InputError("An ensemble needs the true class of every row.")

    @property
    def truth(self) -> Codes:
        """True class of every row, (n,)."""
        return np.asarray(self.votes.truth, np.int32)


def with_codes(base: Ensemble, codes: Codes, learners: tuple[str, ...] | None = None, **fields: Any) -> Ensemble:
    """Return an ensemble with other votes.

    What is not handed in here is no longer true of it, but for psi.
    """
    votes = replace(base.votes, codes=codes, learners=learners or base.votes.learners)
    return Ensemble(votes, pi=base.pi, **{"psi": base.psi, **fields})


def draw_votes(rng: np.random.Generator, psi: Floats, given: Codes) -> Codes:
    """Draw X_i from ``psi[i, :, given]``.

    (d, K, M) and (n, d) or (n, 1) parents → (n, d) codes.

    One binary search per vote: the M distributions of a learner are laid end to end, the m-th over [m, m + 1).
    """
    d, K, M = psi.shape
    codes = np.empty((len(given), d), np.int32)
    for i in range(d):
        ends = np.cumsum(psi[i], axis=0).T  # (M, K)
        ends[:, -1] = 1
        parent = given[:, i % given.shape[1]]
        point = parent + rng.random(len(given)) * (1 - 1e-12)  # so that rounding cannot reach the next distribution
        cell = np.searchsorted((ends + np.arange(M)[:, None]).ravel(), point, side="right")
        codes[:, i] = cell - parent * K
    return codes


# ---------------------------------------------------------------------- refusals


def check_count(value: Any, what: str, least: int = 1, most: float = MAX_COUNT) -> int:
    """Return a whole number within bounds.

    ``what`` begins the sentence that refuses any other value.
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{what} must be a whole number, not {value!r}.") from None
    if number < least:
        raise InputError(f"{what} is {number:,}; it must be at least {least:,}.")
    if number > most:
        raise InputError(f"{what} is {number:,}; it must be at most {most:,}.")
    return number


def check_classes(n_classes: Any) -> int:
    """Return a number of classes that votes can have."""
    return check_count(n_classes, "The number of classes", least=2, most=MAX_CLASSES)


def check_learners(n_learners: Any) -> int:
    """Return a number of learners."""
    return check_count(n_learners, "The number of learners")


def check_share(value: float, what: str) -> float:
    """Return a number between 0 and 1."""
    if not 0 <= value <= 1:
        raise InputError(f"{what} is {value:g}; it must lie between 0 and 1.")
    return value


def check_class_indices(classes: Sequence[int], K: int) -> tuple[int, ...]:
    """Return the classes of an expert, each once and in order."""
    known = tuple(sorted({check_count(class_, "An expert class", least=0) for class_ in classes}))
    if not known:
        raise InputError("An expert needs at least one class to be an expert on.")
    if known[-1] >= K:
        raise InputError(f"There is no class {known[-1]}: the classes go from 0 to {K - 1}.")
    return known
