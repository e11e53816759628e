"""Checks of `Votes`, with errors that name the learner and the row."""

from __future__ import annotations

import hashlib
import json
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from deem_core.errors import InputError
from deem_core.text import clip
from deem_core.typing import Codes
from deem_core.votes.arrays import NO_VOTE
from deem_core.votes.labels import MAX_CLASSES

MOST_SEED = 2**32 - 1
"""Largest seed that NumPy takes everywhere."""


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of an array that cannot be written through."""
    view = array.view()
    view.flags.writeable = False
    return view


def check_classes(classes: NDArray[Any]) -> None:
    """Refuse fewer than two classes, too many, or one listed twice."""
    if len(classes) < 2:
        seen = f"only the class {classes.tolist()[0]!r}" if len(classes) else "no class at all"
        raise InputError(f"The votes hold {seen}; there is nothing to fuse with fewer than two classes.")
    if len(classes) > MAX_CLASSES:
        raise InputError(f"{len(classes):,} classes are more than the {MAX_CLASSES:,} that can be handled.")
    if len(set(classes.tolist())) != len(classes):
        raise InputError(f"The class {first_repeated(classes.tolist())!r} is listed twice.")


def as_codes(codes: ArrayLike, n_classes: int, learners: Sequence[str]) -> Codes:
    """Return (n, d) class codes as int32; refuse codes outside the classes."""
    array = np.asarray(codes)
    if array.ndim != 2:
        raise InputError(f"Votes must have the shape (rows, learners); this array has shape {array.shape}.")
    if not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"Class codes must be integers, not {array.dtype}; use Votes.from_labels for labels.")
    if array.size and (array.min() < NO_VOTE or array.max() >= n_classes):
        row, learner = np.argwhere((array < NO_VOTE) | (array >= n_classes))[0]
        name = learners[learner] if learner < len(learners) else f"number {learner + 1}"
        raise InputError(
            f"Learner {name!r} votes for class code {array[row, learner]} in row {row + 1}; "
            f"codes go from 0 to {n_classes - 1}, and -1 means no vote."
        )
    return array.astype(np.int32, copy=False)


def check_learners(learners: Sequence[str], expected: int) -> tuple[str, ...]:
    """Return the learners' names; refuse missing, repeated and empty ones."""
    names = tuple(str(name) for name in learners)
    if len(names) != expected:
        raise InputError(f"There are {expected} columns of votes but {len(names)} learner names.")
    if not names:
        raise InputError("There is no learner: at least one column of votes is needed.")
    if len(set(names)) != len(names):
        raise InputError(f"Two learners are named {first_repeated(names)!r}; give each its own name.")
    if not all(names):
        raise InputError(f"Learner number {names.index('') + 1} has an empty name.")
    return names


def as_ids(ids: Any, n_rows: int) -> pd.Index:
    """Return the rows' names as an Index; their positions by default."""
    if ids is None:
        return pd.RangeIndex(n_rows)
    try:
        index = ids if isinstance(ids, pd.Index) else pd.Index(ids)
    except (TypeError, ValueError):
        raise InputError("The ids must be a flat list with one name for each row.") from None
    if isinstance(index, pd.MultiIndex):
        index = pd.Index([" / ".join(map(str, parts)) for parts in index])
    if len(index) != n_rows:
        raise InputError(f"There are {n_rows:,} rows of votes but {len(index):,} ids.")
    return index


def as_rows(rows: Any, n_rows: int) -> Any:
    """Return a slice, positions or a mask that fits n rows."""
    if isinstance(rows, slice):
        return rows
    index = np.asarray(rows)
    if index.ndim != 1:
        raise InputError(f"Rows are chosen by a slice, a list of positions or a mask, not by {rows!r}.")
    if not index.size:
        return np.zeros(0, np.intp)
    if index.dtype == bool:
        if len(index) != n_rows:
            raise InputError(f"The mask has {len(index):,} entries for {n_rows:,} rows.")
        return index
    if not np.issubdtype(index.dtype, np.integer):
        raise InputError(f"Rows are chosen by whole numbers, not by {index.dtype}.")
    if index.min() < -n_rows or index.max() >= n_rows:
        raise InputError(f"There is no row at position {index.max()}; positions go from 0 to {n_rows - 1}.")
    return index


def as_position(value: Any) -> int | None:
    """Return a learner's position, None for what is not a whole number."""
    if isinstance(value, (bool, np.bool_)):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def id_hashes(ids: pd.Index) -> NDArray[Any]:
    """Return one number per id, equal for equal ids."""
    values = ids.to_numpy()
    if values.dtype.kind in "iu":
        return values.astype(np.int64)
    texts = ids.astype(str).to_numpy(dtype=object)
    try:
        return pd.util.hash_array(texts, categorize=False)
    except UnicodeError:  # a lone surrogate, which has no UTF-8
        return pd.util.hash_array(np.array([ascii(text) for text in texts], object), categorize=False)


def as_truth(truth: ArrayLike, n_rows: int, n_labels: int) -> Codes:
    """Return (n,) truth codes as int32; refuse codes outside the labels."""
    array = np.asarray(truth)
    if array.shape != (n_rows,):
        raise InputError(f"The truth must have one entry for each of the {n_rows:,} rows; it has shape {array.shape}.")
    if not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"Truth codes must be integers, not {array.dtype}; use Votes.from_labels for labels.")
    if n_rows and (array.min() < -1 or array.max() >= n_labels):
        row = int(np.argmax((array < -1) | (array >= n_labels)))
        raise InputError(f"The truth of row {row + 1} is {array[row]}; codes go from -1 (unknown) to {n_labels - 1}.")
    return array.astype(np.int32, copy=False)


def default_learners(n_learners: int) -> tuple[str, ...]:
    """Return ``learner_1`` … ``learner_d``."""
    return tuple(f"learner_{j + 1}" for j in range(n_learners))


def first_repeated(values: Sequence[Any]) -> Any:
    """Return the first value that occurs for the second time."""
    return next(value for position, value in enumerate(values) if value in values[:position])


SUM_TOLERANCE = 0.01
"""Probabilities of one vote may miss a sum of 1 by this much before they count as renormalised."""


@dataclass(frozen=True)
class NormalisedSoft:
    """Soft votes that sum to 1, or to 0 for no vote.

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


def check_seed(random_state: Any, *, generators: bool = False) -> None:
    """Refuse what cannot start random numbers.

    That is anything but None, a whole number or a RandomState, and a Generator where these are taken.
    """
    kinds = (np.random.RandomState, np.random.Generator) if generators else np.random.RandomState
    if random_state is None or isinstance(random_state, kinds):
        return
    if not isinstance(random_state, (int, np.integer)) or not 0 <= random_state <= MOST_SEED:
        raise InputError(
            f"random_state is {clip(repr(random_state))}; it takes a whole number from 0 to {MOST_SEED:,}, or None for "
            "other random numbers every time."
        )


def as_array(probabilities: Any) -> NDArray[np.float32]:
    """Return probabilities as float32; refuse what is no regular array."""
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


def hard_codes(soft: NDArray[np.floating[Any]]) -> Codes:
    """Return the most probable class of every vote, (n, d).

    The lowest index wins among equals; -1 for no vote.
    """
    return np.where(soft.any(axis=-1), soft.argmax(axis=-1), -1).astype(np.int32)


def check(soft: NDArray[np.float32], codes: Codes, n_classes: int, learners: Sequence[str]) -> NDArray[np.float32]:
    """Check that soft votes are probabilities that agree with ``codes``."""
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


def content_hash(votes: Any) -> str:
    """Return the SHA-256 of all contents of votes."""
    content = [
        votes.codes.shape,
        votes.learners,
        [repr(label) for label in votes.classes.tolist()],
        [repr(label) for label in votes.truth_only.tolist()],
        votes.truth is not None,
        votes.soft is not None,
        *([] if votes.gold is None else [[repr(label) for label in votes.gold.only.tolist()]]),
        *(["ordered"] if votes.ordered else []),
        *([votes.separator] if votes.separator else []),
    ]
    digest = hashlib.sha256(json.dumps(content).encode())
    gold = () if votes.gold is None else (votes.gold.codes, votes.gold.asked)
    for array in (votes.codes, votes.truth, votes.soft, id_hashes(votes.ids), *gold):
        if array is not None:
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
