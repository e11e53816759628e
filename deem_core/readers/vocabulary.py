"""Vocabularies: learners are the columns that share their labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from deem_core.typing import Floats, Mask
from deem_core.votes.labels import kind_of, minus_one_is_missing

MIN_OVERLAP = 0.5
"""A learner's votes are labels of the learners' vocabulary, for at least this share of its cells."""

_SIZE_PENALTY = 0.1  # columns, per factor of ten in labels: of two equal groups, the one with fewer labels


@dataclass(frozen=True)
class RuleColumns:
    """Columns that know one class each, together.

    Attributes
    ----------
    columns : frozenset of str
    labels : frozenset of str
        Their vocabulary, two labels or more; -1 among them where some of them abstain by it.
    """

    columns: frozenset[str]
    labels: frozenset[str]


def split_by_overlap(
    label_counts: Mapping[str, Mapping[str, int]], n_rows: int, *, minus_one: bool = True
) -> tuple[list[str], dict[str, float]]:
    """Tell learners from other columns by the labels they share.

    Columns of which each covers most of the other's cells form groups, and a group's labels are a
    vocabulary. A vocabulary is spoken by every column most of whose cells are in it (so also by one that
    votes for a single class); the one whose speakers use most of it, summed over them, is the learners'.
    An age column cannot win that way: the learners' few labels may be ages, but they use few of its values.

    Labelling rules that know one class each share no label, so they form a group of their own (`rule_columns`);
    where most learners are such rules, the others of their kind are learners too.

    Parameters
    ----------
    label_counts : column → label → number of cells
    n_rows : int
        Cells of a column, missing ones included.
    minus_one : bool
        Whether -1 may stand for no vote.

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
    table = _Cells.of(label_counts)
    rules = rule_columns(label_counts, n_rows, minus_one=minus_one)
    vocabulary = _best_vocabulary(table, [table.mask(each.labels) for each in rules])
    spoken = table.shares(vocabulary) >= MIN_OVERLAP
    for each in rules:
        is_rule = np.array([name in each.columns for name in names])
        if 2 * (is_rule & spoken).sum() >= spoken.sum():
            vocabulary = vocabulary | table.mask(each.labels)
    shares = table.shares(vocabulary)
    spoken = shares >= MIN_OVERLAP
    if spoken.sum() < 2:
        return [], dict.fromkeys(names, 0.0)
    learners = [name for name, speaks in zip(names, spoken, strict=True) if speaks]
    return learners, {name: float(shares[at]) for at, name in enumerate(names) if not spoken[at]}


def rule_columns(
    label_counts: Mapping[str, Mapping[str, int]], n_rows: int, *, minus_one: bool = True
) -> list[RuleColumns]:
    """Return the columns that vote for one class each and abstain elsewhere.

    Words and whole numbers make separate groups. A column without a missing cell is none of them but a constant, such
    as the name of a file, and a lone cell makes no rule.

    Parameters
    ----------
    label_counts, n_rows, minus_one
        As in `split_by_overlap`.

    Returns
    -------
    list of RuleColumns
        Groups that name at least two classes between them.
    """
    beside = {label for tally in label_counts.values() if "-1" in tally and len(tally) == 2 for label in tally}
    abstaining = {"-1"} if minus_one and minus_one_is_missing(beside) else set[str]()
    columns: dict[str, set[str]] = {"code": set(), "word": set()}
    labels: dict[str, set[str]] = {"code": set(), "word": set()}
    for name, tally in label_counts.items():
        known = set(tally) - abstaining
        if len(known) != 1 or not 2 <= tally[label := known.pop()] < n_rows:
            continue
        kind = "code" if label == "-1" else kind_of(label)  # -1 and +1 are two classes
        if kind != "number":
            columns[kind].add(name)
            labels[kind].update(tally)
    return [
        RuleColumns(frozenset(columns[kind]), frozenset(labels[kind]))
        for kind in columns
        if len(labels[kind] - abstaining) >= 2
    ]


def split_by_vocabulary(
    label_counts: Mapping[str, Mapping[str, int]], labels: Iterable[str], *, minus_one: bool = True
) -> tuple[list[str], dict[str, float]]:
    """Tell learners from other columns where labels are known."""
    known = set(labels)
    absent = {"-1"} if minus_one and minus_one_is_missing(known | {"-1"}) and "-1" not in known else set[str]()
    shares = {}
    for name, tally in label_counts.items():
        votes = {label: count for label, count in tally.items() if label not in absent}
        # A learner that abstains on every new row is still a learner.
        shares[name] = sum(votes[label] for label in known & set(votes)) / sum(votes.values()) if votes else 1.0
    learners = [name for name, share in shares.items() if share >= MIN_OVERLAP]
    return learners, {name: share for name, share in shares.items() if share < MIN_OVERLAP}


@dataclass(frozen=True)
class _Cells:
    """Cells by column and label, columns with the same labels together.

    Learners mostly use the same labels, so that thousands of columns come down to a few.

    Attributes
    ----------
    counts : (u, labels) cells of each distinct set of labels
    set_of : (d,) distinct set of each column
    totals : (u,) cells with a label
    labels : label → position
    """

    counts: csr_array
    set_of: NDArray[np.intp]
    totals: Floats
    labels: dict[str, int]

    @classmethod
    def of(cls, label_counts: Mapping[str, Mapping[str, int]]) -> _Cells:
        """Count the cells of each distinct set of labels."""
        sets: dict[frozenset[str], int] = {}
        set_of = np.array([sets.setdefault(frozenset(tally), len(sets)) for tally in label_counts.values()], np.intp)
        labels: dict[str, int] = {}
        rows, cols, values = [], [], []
        for row, tally in zip(set_of, label_counts.values(), strict=True):
            for label, count in tally.items():
                rows.append(row)
                cols.append(labels.setdefault(label, len(labels)))
                values.append(count)
        shape = (len(sets), max(len(labels), 1))
        counts = csr_array((values, (rows, cols)), shape=shape, dtype=np.float64)
        return cls(counts, set_of, np.maximum(counts.sum(axis=1), 1), labels)

    def mask(self, labels: Iterable[str]) -> Mask:
        """Return a vocabulary as a mask over all labels."""
        vocabulary = np.zeros(self.counts.shape[1], bool)
        vocabulary[[self.labels[label] for label in labels]] = True
        return vocabulary

    def shares(self, vocabulary: Mask) -> Floats:
        """Return the share of each column's cells in a vocabulary, (d,)."""
        return self.set_shares(vocabulary)[self.set_of]

    def set_shares(self, vocabulary: Mask) -> Floats:
        """Return the same for each distinct set of labels, (u,)."""
        shares: Floats = (self.counts @ vocabulary.astype(np.float64)) / self.totals
        return shares


def _best_vocabulary(cells: _Cells, others: Sequence[Mask]) -> Mask:
    """Return the labels of the learners, as a mask.

    ``others`` are vocabularies that compete with those of the groups.
    """
    used = (cells.counts > 0).astype(np.float64)
    weight = np.bincount(cells.set_of, minlength=len(cells.totals))
    overlap = (cells.counts @ used.T).toarray() / cells.totals[:, None]  # of row i's cells, those whose label j uses
    _, member = connected_components(csr_array(np.minimum(overlap, overlap.T) >= MIN_OVERLAP), directed=False)
    groups = [np.flatnonzero(member == group) for group in range(int(member.max()) + 1)]
    best: tuple[float, Mask] | None = None
    for vocabulary in [*(used[group].sum(axis=0) > 0 for group in groups), *others]:
        speakers = cells.set_shares(vocabulary) >= MIN_OVERLAP
        usage = (used @ vocabulary.astype(np.float64)) / vocabulary.sum()
        score = float((usage * weight)[speakers].sum()) - _SIZE_PENALTY * np.log10(vocabulary.sum())
        if vocabulary.sum() < 2:  # a single label is no vocabulary, unless there is nothing else
            score = -1.0
        if best is None or score > best[0]:
            best = (score, vocabulary)
    assert best is not None  # there is at least one column  # noqa: S101
    return best[1]


def numbers_the_rows(keys: Sequence[str], n_rows: int) -> bool:
    """Tell whether a column just counts the rows.

    Whole numbers, each one more than the one above.
    """
    if len(keys) != n_rows or n_rows < 5 or not all(key.isascii() and key.isdigit() for key in keys):
        return False
    values = [int(key) for key in keys]
    return values == list(range(values[0], values[0] + n_rows))
