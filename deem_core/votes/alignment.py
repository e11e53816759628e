"""Alignment of hidden classes with true ones by the Hungarian algorithm.

An unsupervised model learns its classes up to a permutation; majority vote on the training rows says which
is which.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from deem_core.errors import InputError
from deem_core.typing import Integers


def class_map(
    predicted: Integers, reference: Integers, n_classes: int, weights: ArrayLike | None = None
) -> NDArray[np.intp]:
    """Return the reference class of every predicted class, (K,): a permutation.

    It is argmax over permutations σ of Σ_k C[k, σ(k)], where C[k, l] counts the rows with predicted class k
    and reference class l. Among equally good permutations it leaves the most classes where they are.

    Parameters
    ----------
    predicted, reference : (n,) array of int
        Class codes; rows where either is negative are left out.
    n_classes : int
        K.
    weights : (n,) array, optional
        How many rows each row stands for (whole numbers).
    """
    known = (predicted >= 0) & (reference >= 0)
    row, column = predicted[known], reference[known]
    highest = max(row.max(initial=-1), column.max(initial=-1))
    if highest >= n_classes:
        raise InputError(f"There is no class {highest}: the {n_classes} classes go from 0 to {n_classes - 1}.")
    mapping = np.arange(n_classes)
    # A class on neither side maps to itself without loss, so only the others enter the assignment.
    occurs = np.bincount(row, minlength=n_classes) + np.bincount(column, minlength=n_classes) > 0
    used, place = np.flatnonzero(occurs), np.cumsum(occurs) - 1
    size = len(used)
    if not size:
        return mapping
    multiplicity = None if weights is None else np.asarray(weights, np.float64)[known]
    counts = np.bincount(place[row] * size + place[column], multiplicity, size * size).reshape(size, size)  # C
    # All bonuses together are at most 1/2, less than one row; a power of two keeps the sums exact.
    bonus = 2.0 ** -math.ceil(math.log2(2 * size))
    rows, columns = linear_sum_assignment(counts + bonus * np.eye(size), maximize=True)
    mapping[used[rows]] = used[columns]
    return mapping


def anchored_map(predicted: Integers, reference: Integers, gold: Integers, n_classes: int) -> NDArray[np.intp]:
    """Return the class map by a reference, corrected by gold labels.

    The map that gold labels favour is taken only if it is right on at least three more gold rows than the other, and
    on more of them than chance would give; see `deem_core.gold.choice`.

    Parameters
    ----------
    predicted, reference, gold : (n,) array of int
        Negative where unknown; gold labels beyond K are left out.
    n_classes : int
        K.
    """
    usual = class_map(predicted, reference, n_classes)
    known = (gold >= 0) & (gold < n_classes) & (predicted >= 0)
    weights = np.concatenate([np.ones(len(predicted)), np.full(int(known.sum()), len(predicted))])
    other = class_map(
        np.concatenate([predicted, predicted[known]]), np.concatenate([reference, gold[known]]), n_classes, weights
    )
    right = [(mapping[predicted[known]] == gold[known]).astype(int) for mapping in (other, usual)]
    balance = right[0] - right[1]
    lead = int(balance.sum())
    return other if lead >= 3 and lead >= np.sqrt(np.abs(balance).sum()) else usual


def apply_map(posterior: NDArray[Any], mapping: Integers) -> NDArray[Any]:
    """Return (…, K) posteriors with the columns moved.

    Column ``mapping[k]`` holds what was column k.
    """
    moved = np.empty_like(posterior)
    moved[..., mapping] = posterior
    return moved
