"""Coding: label values of arrays and frames into class codes.

The rules are those of `labels`.
"""

from __future__ import annotations

import numbers
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from deem_core.errors import InputError
from deem_core.typing import Codes
from deem_core.votes.labels import (
    DEFAULT,
    Coding,
    LabelColumn,
    MissingRule,
    canonical_text,
    code_columns,
    match_truth,
    minus_one_is_missing,
)


class UnknownLabelError(InputError):
    """A label is not among the classes given."""


def as_label_array(values: Any) -> NDArray[Any]:
    """Return label values as a flat array of int64, bool or str."""
    items = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if items and all(isinstance(item, (bool, np.bool_)) for item in items):
        return np.array(items, bool)
    if items and all(isinstance(item, numbers.Integral) and -(2**63) <= int(item) < 2**63 for item in items):
        return np.array(items, np.int64)
    texts = np.empty(len(items), object)
    texts[:] = [str(item) for item in items]
    return texts


def code_array(
    labels: ArrayLike,
    *,
    classes: Sequence[Any] | None = None,
    missing: MissingRule | Collection[str] = DEFAULT,
    learners: Sequence[str] | None = None,
) -> Coding:
    """Code an (n, d) array of labels; see `Votes.from_labels`.

    ``learners`` are named in the error texts.
    """
    array = _as_array(labels)
    if array.ndim != 2:
        raise InputError(
            f"Labels must have the shape (rows, learners); this array has shape {array.shape}. "
            "Soft votes of shape (rows, learners, classes) go to Votes.from_soft."
        )
    rule = MissingRule.of(missing)
    names = [repr(name) for name in learners] if learners is not None else []
    where = _Where(names if len(names) == array.shape[1] else [str(j + 1) for j in range(array.shape[1])])
    coding = _code_numbers(array, rule, where) if _holds_numbers(array, where) else _code_text(array, rule)
    return coding if classes is None else _recode(coding, as_label_array(classes), rule, where)


def code_truth(
    truth: ArrayLike, classes: NDArray[Any], *, missing: MissingRule | Collection[str] = DEFAULT
) -> tuple[Codes, NDArray[Any]]:
    """Code known labels over the classes of the votes.

    Returns
    -------
    codes : (n,) int32
        -1 where the truth is missing; K + j for the j-th label that no learner votes for.
    truth_only : array
        Those labels.
    """
    array = _as_array(truth)
    if array.ndim != 1:
        raise InputError(f"The truth must be one column; this array has shape {array.shape}.")
    if array.dtype.kind == "b" and classes.dtype.kind == "i":  # True and 1 are one answer, whoever spelled it
        array = array.astype(np.int64)
    elif classes.dtype.kind == "b" and array.dtype.kind in "iu" and np.isin(array, (0, 1)).all():
        array = array.astype(bool)
    rule = MissingRule.of(missing)
    coding = code_array(array[:, None], missing=replace(rule, minus_one=False), learners=["the truth"])
    codes, only = match_truth(coding, [key_of(label) for label in classes.tolist()], rule)
    return codes, as_label_array(only)


def frame_to_array(columns: Sequence[pd.Series], n_rows: int) -> NDArray[Any]:
    """Return pandas columns as one (n, d) array, None for missing."""
    kinds = {column.dtype.kind if isinstance(column.dtype, np.dtype) else "O" for column in columns}
    if len(kinds) == 1 and kinds <= set("iufb"):  # integers beside floats would lose digits
        return np.column_stack([column.to_numpy() for column in columns])
    labels = np.empty((n_rows, len(columns)), object)
    for j, column in enumerate(columns):
        values = column.astype(object)
        labels[:, j] = values.where(column.notna(), None).to_numpy()
    return labels


class _Where:
    """Place of a cell, for error texts."""

    def __init__(self, learners: Sequence[str]) -> None:
        self.learners = learners

    def __call__(self, row: int, learner: int) -> str:
        return f"row {row + 1} of learner {self.learners[learner]}"


def _as_array(labels: ArrayLike) -> NDArray[Any]:
    """Return labels as an array in which missing values are still missing."""
    if isinstance(labels, np.ma.MaskedArray):
        array = np.asarray(labels.data).astype(object)
        array[np.ma.getmaskarray(labels)] = None
        return array
    if isinstance(labels, np.ndarray):
        return labels
    try:
        array = np.asarray(labels)
        # NumPy turns NaN, None and numbers beside text into text; as objects they stay what they are.
        return np.asarray(labels, object) if array.dtype.kind in "US" else array
    except (ValueError, TypeError, OverflowError):
        raise InputError("The labels are not a regular table: give every row the same number of labels.") from None


def _holds_numbers(array: NDArray[Any], where: _Where) -> bool:
    """Tell numbers (and booleans) from text.

    An object array holds numbers if nothing in it is text.
    """
    if array.dtype.kind in "iufb":
        return True
    if array.dtype.kind in "UT":
        return False
    if array.dtype.kind != "O":
        raise InputError(f"Labels must be integers, whole floats, booleans or text, not {array.dtype}.")
    try:
        distinct = pd.unique(array.ravel())
    except TypeError:  # lists and the like cannot even be compared
        distinct = array.ravel()
    if any(_is_foreign(value) for value in distinct):
        place = next(at for at, value in enumerate(array.ravel()) if _is_foreign(value))
        row, learner = divmod(place, array.shape[1])
        kind = type(array[row, learner]).__name__
        raise InputError(
            f"The label in {where(row, learner)} is a {kind}; labels are integers, whole floats, booleans or text."
        )
    return not any(isinstance(value, str) for value in distinct)


_LABEL_TYPES = (str, int, float, np.integer, np.floating, np.bool_)


def _is_foreign(value: Any) -> bool:
    return not isinstance(value, _LABEL_TYPES) and not _is_missing(value)


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value)  # noqa: PLR0124


def _code_numbers(array: NDArray[Any], rule: MissingRule, where: _Where) -> Coding:
    positions, distinct = pd.factorize(array.ravel(), use_na_sentinel=True)
    for position, value in enumerate(distinct):
        if not np.isfinite(float(value)) or value != int(value):
            row, learner = divmod(int(np.argmax(positions == position)), array.shape[1])
            raise InputError(
                f"The label {value:g} in {where(row, learner)} is not a whole number. "
                "Labels are integers, booleans or text; probabilities go to Votes.from_soft."
            )
    are_booleans = len(distinct) > 0 and all(isinstance(value, (bool, np.bool_)) for value in distinct)
    values = [bool(value) if are_booleans else int(value) for value in distinct]
    minus_one = rule.minus_one and minus_one_is_missing({key_of(value) for value in values})
    absent = {value for value in values if rule.is_missing(key_of(value)) or (minus_one and value == -1)}
    classes = sorted(set(values) - absent)
    code_of = {value: code for code, value in enumerate(classes)}
    lookup = np.array([*(code_of.get(value, -1) for value in values), -1], np.int32)  # position -1 is missing
    return Coding(
        codes=lookup[positions].reshape(array.shape),
        classes=tuple(classes),
        keys=tuple(key_of(value) for value in classes),
        missing={},
        merged={},
        minus_one_is_missing=minus_one,
    )


def _code_text(array: NDArray[Any], rule: MissingRule) -> Coding:
    columns = []
    for j in range(array.shape[1]):
        texts = ["" if _is_missing(value) else str(value) for value in array[:, j].tolist()]
        try:
            column = pa.array(texts, pa.string())
        except UnicodeError:
            raise InputError(f"Learner {j + 1} has a label that is not valid text (half a character).") from None
        columns.append(LabelColumn.from_text(f"number {j + 1}", pa.chunked_array([column])))
    return code_columns(columns, rule)


def _recode(coding: Coding, classes: NDArray[Any], rule: MissingRule, where: _Where) -> Coding:
    """Return the coding over given classes; refuse a label outside them."""
    keys = [key_of(label) for label in classes.tolist()]
    if len(set(keys)) < len(keys):
        raise InputError(f"Two of the classes given are the same label: {', '.join(map(repr, classes.tolist()))}.")
    code_of = {key: code for code, key in enumerate(keys)}
    if rule.minus_one and "-1" not in code_of:
        code_of["-1"] = -1  # a label array that holds one class beside -1 is not enough for the rule to see it
    unknown = next((code for code, key in enumerate(coding.keys) if key not in code_of), None)
    if unknown is not None:
        row, learner = map(int, np.argwhere(coding.codes == unknown)[0])
        raise UnknownLabelError(
            f"The label {coding.classes[unknown]!r} in {where(row, learner)} is not among the classes given."
        )
    lookup = np.array([*(code_of[key] for key in coding.keys), -1], np.int32)
    return replace(coding, codes=lookup[coding.codes], classes=tuple(classes.tolist()), keys=tuple(keys))


def key_of(label: Any) -> str:
    """Return the key by which labels are compared."""
    return canonical_text(label) if isinstance(label, str) else str(label)
