"""Soft votes: the checks that make (n, d, K) class probabilities safe to use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deem_core.errors import InputError

SUM_TOLERANCE = 0.01
"""Probabilities of one vote may miss a sum of 1 by this much before they count as renormalised."""


@dataclass(frozen=True)
class NormalisedSoft:
    """Soft votes that sum to one, or to zero where there is no vote.

    Attributes
    ----------
    soft : (n, d, K) float32
    n_renormalised : int
        Votes that missed a sum of 1 by more than `SUM_TOLERANCE`.
    n_zero : int
        Votes whose probabilities were all zero; they count as missing.
    n_partial : int
        Votes with some but not all values missing; those were read as 0.
    first_rows : tuple of int
        The first rows with a renormalised vote, counted from 1.
    """

    soft: NDArray[np.float32]
    n_renormalised: int
    n_zero: int
    n_partial: int
    first_rows: tuple[int, ...]


def as_array(probabilities: Any) -> NDArray[np.float32]:
    """Return probabilities as float32; refuse what is not a regular array of numbers."""
    try:
        return np.asarray(probabilities, np.float32)
    except (ValueError, TypeError):
        raise InputError(
            "Soft votes must be a regular array of numbers with the shape (rows, learners, classes)."
        ) from None


def normalise(values: NDArray[np.float32], learners: Sequence[str]) -> NormalisedSoft:
    """Return probabilities with exact sums; NaN means missing, impossible values are refused.

    Parameters
    ----------
    values : (n, d, K) float32
    learners : sequence of d str
        Named in the error text.
    """
    absent = np.isnan(values)
    bad = np.isinf(values) | (values < 0) | (values > 1 + 1e-4)  # float32 sums of calibrated models exceed 1 a little
    if bad.any():
        row, learner, class_ = np.argwhere(bad)[0]
        raise InputError(
            f"Learner {learners[learner]!r} gives the probability {values[row, learner, class_]:g} "
            f"in row {row + 1}; probabilities must lie between 0 and 1."
        )
    partial = absent.any(axis=-1) & ~absent.all(axis=-1)
    soft = np.where(absent, np.float32(0), values)
    total = soft.sum(axis=-1, dtype=np.float64)
    voted = total > 0
    off = voted & (np.abs(total - 1) > SUM_TOLERANCE)
    soft = (soft / np.where(voted, total, 1)[..., None]).astype(np.float32)
    rows_off = np.flatnonzero(off.any(axis=1))
    return NormalisedSoft(
        soft=soft,
        n_renormalised=int(off.sum()),
        n_zero=int((~voted & ~absent.all(axis=-1)).sum()),
        n_partial=int(partial.sum()),
        first_rows=tuple(int(row) + 1 for row in rows_off[:5]),
    )


def hard_codes(soft: NDArray[np.floating[Any]]) -> NDArray[np.int32]:
    """Return the most probable class of every vote, (n, d): lowest index among equals, -1 for no vote."""
    return np.where(soft.any(axis=-1), soft.argmax(axis=-1), -1).astype(np.int32)


def check(
    soft: NDArray[np.float32], codes: NDArray[np.int32], n_classes: int, learners: Sequence[str]
) -> NDArray[np.float32]:
    """Check that soft votes are probabilities and that ``codes`` are their most probable classes."""
    if soft.shape != (*codes.shape, n_classes):
        raise InputError(f"Soft votes must have shape {(*codes.shape, n_classes)} here; they have {soft.shape}.")
    if not soft.size:
        return soft
    total = soft.sum(axis=-1)
    wrong = ~(np.isclose(total, 1, atol=1e-3) | (total == 0)) | (soft.min(axis=-1) < 0)
    if wrong.any():
        row, learner = np.argwhere(wrong)[0]
        raise InputError(
            f"The probabilities of learner {learners[learner]!r} in row {row + 1} are not between 0 and 1 with sum 1."
        )
    differs = hard_codes(soft) != codes
    if differs.any():
        row, learner = np.argwhere(differs)[0]
        raise InputError(
            f"The vote of learner {learners[learner]!r} in row {row + 1} is not its most probable class; "
            "use Votes.from_soft to take votes from probabilities."
        )
    return soft
