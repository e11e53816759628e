"""Which columns are learners: those that speak the same labels as the others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

MIN_OVERLAP = 0.5
"""A learner's votes are labels that other learners use too, for at least this share of its cells."""


def split_by_overlap(label_counts: Mapping[str, Mapping[str, int]]) -> tuple[list[str], dict[str, float]]:
    """Tell learners from other columns by the labels they share.

    Columns that share labels form groups; the largest group is the learners' (among equals the one
    with the fewest labels), and columns that hardly overlap with the rest of it are taken out again.

    Parameters
    ----------
    label_counts : column → label → number of cells

    Returns
    -------
    learners : list of str
        In the order given.
    others : dict
        Column → share of its cells whose label the learners use.
    """
    names = list(label_counts)
    if len(names) == 1:  # nobody to compare with
        return names, {}
    counts, overlap = _overlap(label_counts)
    group = _largest_group(counts, overlap)
    while len(group) > 1:
        shares = [_share(counts, position, group) for position in group]
        worst = int(np.argmin(shares))
        if shares[worst] >= MIN_OVERLAP:
            break
        group.pop(worst)
    if len(group) == 1:  # nothing overlaps with anything: there is no group to speak of
        group = []
    learners = [names[position] for position in group]
    others = {
        name: _share(counts, position, group) for position, name in enumerate(names) if position not in set(group)
    }
    return learners, others


def _overlap(label_counts: Mapping[str, Mapping[str, int]]) -> tuple[csr_array, NDArray[np.float64]]:
    """Return cells (columns × labels) and the share of column i's cells whose label column j uses."""
    index: dict[str, int] = {}
    rows, cols, values = [], [], []
    for row, tally in enumerate(label_counts.values()):
        for label, count in tally.items():
            rows.append(row)
            cols.append(index.setdefault(label, len(index)))
            values.append(count)
    counts = csr_array((values, (rows, cols)), shape=(len(label_counts), max(len(index), 1)), dtype=np.float64)
    used = (counts > 0).astype(np.float64)
    totals = np.maximum(counts.sum(axis=1), 1)
    return counts, (counts @ used.T).toarray() / totals[:, None]


def _largest_group(counts: csr_array, overlap: NDArray[np.float64]) -> list[int]:
    linked = np.maximum(overlap, overlap.T) >= MIN_OVERLAP
    _, membership = connected_components(csr_array(linked), directed=False)
    groups = [list(map(int, np.flatnonzero(membership == label))) for label in range(int(membership.max()) + 1)]
    n_labels = [len(np.unique(counts[group].indices)) for group in groups]
    best = max(range(len(groups)), key=lambda at: (len(groups[at]), -n_labels[at]))
    return groups[best]


def _share(counts: csr_array, position: int, group: list[int]) -> float:
    """Return the share of a column's cells whose label another member of the group uses."""
    others = [member for member in group if member != position]
    if not others:
        return 0.0
    column = counts[[position]]
    used = np.isin(column.indices, counts[others].indices)
    return float(column.data[used].sum() / max(column.data.sum(), 1))
