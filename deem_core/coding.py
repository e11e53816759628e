"""Coding: label values of arrays and frames into class codes, by the rules of `labels`."""

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
from deem_core.labels import (
    DEFAULT,
    Coding,
    LabelColumn,
    MissingRule,
    canonical_text,
    code_columns,
    match_truth,
    minus_one_is_missing,
)


def as_label_array(values: Any) -> NDArray[Any]:
    """Return label values as a one-dimensional array: int64, bool, or object holding str."""
    items = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if items and all(isinstance(item, (bool, np.bool_)) for item in items):
        return np.array(items, bool)
    if items and all(isinstance(item, numbers.Integral) for item in items):
        return np.array(items, np.int64)
    made = np.empty(len(items), object)
    made[:] = [str(item) for item in items]
    return made


def code_array(
    labels: ArrayLike, *, classes: Sequence[Any] | None = None, missing: MissingRule | Collection[str] = DEFAULT
) -> Coding:
    """Code an (n, d) array of labels; see `Votes.from_labels` for what it may hold."""
    array = np.asarray(labels)
    if array.ndim != 2:
        raise InputError(
            f"Labels must have the shape (rows, learners); this array has shape {array.shape}. "
            "Soft votes of shape (rows, learners, classes) go to Votes.from_soft."
        )
    rule = MissingRule.of(missing)
    coding = _code_numbers(array, rule) if _holds_numbers(array) else _code_text(array, rule)
    return coding if classes is None else _recode(coding, as_label_array(classes), rule)


def code_truth(
    truth: ArrayLike, classes: NDArray[Any], *, missing: MissingRule | Collection[str] = DEFAULT
) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Code known labels over the classes of the votes.

    Returns
    -------
    codes : (n,) int32
        -1 where the truth is missing; K + j for the j-th label that no learner votes for.
    truth_only : array
        Those labels.
    """
    array = np.asarray(truth)
    if array.ndim != 1:
        raise InputError(f"The truth must be one column; this array has shape {array.shape}.")
    rule = MissingRule.of(missing)
    coding = code_array(array[:, None], missing=replace(rule, minus_one=False))
    codes, only = match_truth(coding, [_key_of(label) for label in classes.tolist()], rule)
    return codes, as_label_array(only)


def frame_to_array(columns: Sequence[pd.Series], n_rows: int) -> NDArray[Any]:
    """Return columns of any pandas type as one (n, d) array of labels, missing values as None."""
    if columns and all(isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufb" for column in columns):
        return np.column_stack([column.to_numpy() for column in columns])
    made = np.empty((n_rows, len(columns)), object)
    for j, column in enumerate(columns):
        values = column.astype(object)
        made[:, j] = values.where(column.notna(), None).to_numpy()
    return made


def _holds_numbers(array: NDArray[Any]) -> bool:
    """Tell numbers (and booleans) from text; an object array is numbers if nothing in it is text."""
    if array.dtype.kind in "iufb":
        return True
    if array.dtype.kind in "UT":
        return False
    if array.dtype.kind != "O":
        raise InputError(f"Labels must be integers, whole floats, booleans or text, not {array.dtype}.")
    return all(isinstance(value, (numbers.Real, np.bool_)) for value in pd.unique(array.ravel()) if not pd.isna(value))


def _code_numbers(array: NDArray[Any], rule: MissingRule) -> Coding:
    positions, distinct = pd.factorize(array.ravel(), use_na_sentinel=True)
    for position, value in enumerate(distinct):
        if not np.isfinite(value) or value != int(value):
            row, learner = divmod(int(np.argmax(positions == position)), array.shape[1])
            raise InputError(
                f"The label {value:g} in row {row + 1} of learner {learner + 1} is not a whole number. "
                "Labels are integers, booleans or text; probabilities go to Votes.from_soft."
            )
    are_booleans = len(distinct) > 0 and all(isinstance(value, (bool, np.bool_)) for value in distinct)
    values = [bool(value) if are_booleans else int(value) for value in distinct]
    minus_one = rule.minus_one and minus_one_is_missing({_key_of(value) for value in values})
    classes = sorted(value for value in values if not (minus_one and value == -1))
    code_of = {value: code for code, value in enumerate(classes)}
    lookup = np.array([*(code_of.get(value, -1) for value in values), -1], np.int32)  # position -1 is missing
    return Coding(
        codes=lookup[positions].reshape(array.shape),
        classes=tuple(classes),
        keys=tuple(_key_of(value) for value in classes),
        missing={},
        merged={},
        minus_one_is_missing=minus_one,
    )


def _code_text(array: NDArray[Any], rule: MissingRule) -> Coding:
    columns = []
    for j in range(array.shape[1]):
        texts = ["" if pd.isna(value) else str(value) for value in array[:, j].tolist()]
        columns.append(LabelColumn.from_text(f"number {j + 1}", pa.chunked_array([pa.array(texts, pa.string())])))
    return code_columns(columns, rule)


def _recode(coding: Coding, classes: NDArray[Any], rule: MissingRule) -> Coding:
    """Return the coding over classes given from outside; a label that is not among them is refused."""
    keys = [_key_of(label) for label in classes.tolist()]
    code_of = {key: code for code, key in enumerate(keys)}
    if rule.minus_one and "-1" not in code_of:
        code_of["-1"] = -1  # a label array that holds one class beside -1 is not enough for the rule to see it
    unknown = next((code for code, key in enumerate(coding.keys) if key not in code_of), None)
    if unknown is not None:
        row, learner = np.argwhere(coding.codes == unknown)[0]
        raise InputError(
            f"The label {coding.classes[unknown]!r} in row {row + 1} of learner {learner + 1} "
            "is not among the classes given."
        )
    lookup = np.array([*(code_of[key] for key in coding.keys), -1], np.int32)
    return replace(coding, codes=lookup[coding.codes], classes=tuple(classes.tolist()), keys=tuple(keys))


def _key_of(label: Any) -> str:
    return canonical_text(label) if isinstance(label, str) else str(label)
