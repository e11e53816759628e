"""What must hold of every `Votes`, checked once when it is made, with errors that name the learner and the row."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from deem_core.errors import InputError
from deem_core.labels import MAX_CLASSES
from deem_core.majority import NO_VOTE


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


def as_codes(codes: ArrayLike, n_classes: int, learners: Sequence[str]) -> NDArray[np.int32]:
    """Return (n, d) class codes as int32; refuse one outside the classes by naming its learner and row."""
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
    except UnicodeError:  # half a character, which has no UTF-8
        return pd.util.hash_array(np.array([ascii(text) for text in texts], object), categorize=False)


def as_truth(truth: ArrayLike, n_rows: int, n_labels: int) -> NDArray[np.int32]:
    """Return (n,) truth codes as int32; refuse one outside the labels by naming its row."""
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
