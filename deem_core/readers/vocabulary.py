"""Vocabularies: learners are the columns that share their labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from deem_core.typing import Floats, Mask

MIN_OVERLAP = 0.5
"""A learner's votes are labels of the learners' vocabulary, for at least this share of its cells."""

_SIZE_PENALTY = 0.1  # columns, per factor of ten in labels: of two equal groups, the one with fewer labels


def split_by_overlap(label_counts: Mapping[str, Mapping[str, int]]) -> tuple[list[str], dict[str, float]]:
    """Tell learners from other columns by the labels they share.

    Columns of which each covers most of the other's cells form groups, and a group's labels are a
    vocabulary. A vocabulary is spoken by every column most of whose cells are in it (so also by one that
    votes for a single class); the one whose speakers use most of it, summed over them, is the learners'.
    An age column cannot win that way: the learners' few labels may be ages, but they use few of its values.

    Parameters
    ----------
    label_counts : column → label → number of cells

    Returns
    -------
    learners : list of str
        In the order given; empty if no two columns share a vocabulary.
    others : dict
        Column → share of its cells that are in the learners' vocabulary.
    """
    names = list(label_counts)
    if len(names) == 1:  # nobody to compare with
        return names, {}
    counts, column_of = _distinct_columns(label_counts)
    shares, speakers = _best_vocabulary(counts, np.bincount(column_of, minlength=counts.shape[0]))
    spoken = speakers[column_of]
    if spoken.sum() < 2:
        return [], dict.fromkeys(names, 0.0)
    learners = [name for name, speaks in zip(names, spoken, strict=True) if speaks]
    others = {name: float(shares[column_of[at]]) for at, name in enumerate(names) if not spoken[at]}
    return learners, others


def split_by_vocabulary(
    label_counts: Mapping[str, Mapping[str, int]], labels: Iterable[str]
) -> tuple[list[str], dict[str, float]]:
    """Tell learners from other columns where labels are known."""
    known = set(labels)
    shares = {
        name: sum(count for label, count in tally.items() if label in known) / max(sum(tally.values()), 1)
        for name, tally in label_counts.items()
    }
    learners = [name for name, share in shares.items() if share >= MIN_OVERLAP]
    return learners, {name: share for name, share in shares.items() if share < MIN_OVERLAP}


def _distinct_columns(label_counts: Mapping[str, Mapping[str, int]]) -> tuple[csr_array, NDArray[np.intp]]:
    """Return cells (u × labels) by distinct label set, and columns' rows.

    Learners mostly use the same labels, so that thousands of columns come down to a few.
    """
    sets: dict[frozenset[str], int] = {}
    column_of = np.array([sets.setdefault(frozenset(tally), len(sets)) for tally in label_counts.values()], np.intp)
    index: dict[str, int] = {}
    rows, cols, values = [], [], []
    for row, tally in zip(column_of, label_counts.values(), strict=True):
        for label, count in tally.items():
            rows.append(row)
            cols.append(index.setdefault(label, len(index)))
            values.append(count)
    shape = (len(sets), max(len(index), 1))
    return csr_array((values, (rows, cols)), shape=shape, dtype=np.float64), column_of


def _best_vocabulary(counts: csr_array, weight: NDArray[np.intp]) -> tuple[Floats, Mask]:
    """Return shares of cells in the best vocabulary, and its speakers."""
    used = (counts > 0).astype(np.float64)
    totals = np.maximum(counts.sum(axis=1), 1)
    overlap = (counts @ used.T).toarray() / totals[:, None]  # share of row i's cells whose label column j uses
    _, member = connected_components(csr_array(np.minimum(overlap, overlap.T) >= MIN_OVERLAP), directed=False)
    best: tuple[float, Floats, Mask] | None = None
    for group in range(int(member.max()) + 1):
        vocabulary = used[np.flatnonzero(member == group)].sum(axis=0) > 0  # (labels,)
        shares = (counts @ vocabulary.astype(np.float64)) / totals
        speakers = shares >= MIN_OVERLAP
        usage = (used @ vocabulary.astype(np.float64)) / vocabulary.sum()
        score = float((usage * weight)[speakers].sum()) - _SIZE_PENALTY * np.log10(vocabulary.sum())
        if vocabulary.sum() < 2:  # a single label is no vocabulary, unless there is nothing else
            score = -1.0
        if best is None or score > best[0]:
            best = (score, shares, speakers)
    assert best is not None  # there is at least one column  # noqa: S101
    return best[1], best[2]


def numbers_the_rows(keys: Sequence[str], n_rows: int) -> bool:
    """Tell whether a column just counts the rows.

    Whole numbers, each one more than the one above.
    """
    if len(keys) != n_rows or n_rows < 5 or not all(key.isascii() and key.isdigit() for key in keys):
        return False
    values = [int(key) for key in keys]
    return values == list(range(values[0], values[0] + n_rows))
