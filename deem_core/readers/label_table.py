"""Label table: the labels of a file as it spells them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from deem_core.readers import soft
from deem_core.readers.columns import encode_names
from deem_core.readers.notes import Report
from deem_core.readers.source import Source
from deem_core.readers.verdicts import label_columns
from deem_core.votes import Votes
from deem_core.votes.label_map import LabelMap
from deem_core.votes.labels import LabelColumn, minus_one_is_missing, natural_order
from deem_core.votes.spelling import alike, loosely_folded, rank


@dataclass(frozen=True)
class LabelRow:
    """A label of a file.

    Attributes
    ----------
    label : str
        As the file spells it most often.
    name : str
        The class that it stands for, empty where it is no vote.
    votes : int
        Cells that hold it; of probabilities, those in which it is the most probable class.
    learners : int
        Learners that use it.
    also : tuple of str
        Other spellings that are counted with it.
    """

    label: str
    name: str
    votes: int
    learners: int
    also: tuple[str, ...] = ()


def label_table(
    source: Source, report: Report, votes: Votes, labels: LabelMap, *, merged: bool = False
) -> list[LabelRow]:
    """Return the labels of a file, before they were named.

    In the order of the classes, of one class the commonest first; labels that are no vote come last.

    Parameters
    ----------
    source : Source
        Of the file, or its counts (`deem_core.readers.digest.Digest`).
    report : Report
    votes : Votes
        Of the file, or of some rows of it: their learners and classes count.
    labels : LabelMap
        By which the file was read.
    merged : bool
        Whether spellings that it merges are one row.
    """
    key_of = LabelMap(labels.merge_spellings and merged, rule=labels.rule).key
    spelled: dict[str, dict[str, int]] = {}
    speakers: dict[str, set[object]] = {}
    for learner, label, n in _cells(source, report, votes, labels):
        key = key_of(label)
        tally = spelled.setdefault(key, {})
        tally[label.strip()] = tally.get(label.strip(), 0) + n
        speakers.setdefault(key, set()).add(learner)
    class_of = {labels.key(str(name)): (code, str(name)) for code, name in enumerate(votes.classes.tolist())}
    given = {key_of(label) for label, _ in labels.names}
    absent = {key for key in spelled if (labels.rule.is_missing(key) or not key) and key not in given}
    if (
        labels.rule.minus_one
        and "-1" not in given
        and minus_one_is_missing({labels.key(key) for key in spelled} - {""})
    ):
        absent.add("-1")
    rows = []
    for key in spelled.keys() - absent:
        tally = spelled[key]
        label, *also = sorted(tally, key=lambda text: rank(text, tally))  # used at once
        n = sum(tally.values())
        code, name = class_of.get(labels.key(key), (votes.n_classes, ""))
        rows.append(
            (code, -sum(tally.values()), LabelRow(label, name, sum(tally.values()), len(speakers[key]), tuple(also)))
        )
    return [row for _, _, row in sorted(rows, key=lambda each: (each[0], each[1], each[2].label))]


def _cells(source: Source, report: Report, votes: Votes, labels: LabelMap) -> Iterator[tuple[object, str, int]]:
    """Yield learner, label and cells of all labels."""
    if report.layout == "long":
        yield from _answers(source, report, votes)
        return
    for learner, name in _label_columns(report, votes):
        column = source.label_column(name)
        yield from ((learner, label, int(n)) for label, n in zip(column.spellings, column.counts, strict=True) if n)
    if report.layout == "soft":
        yield from _probable(source, report, votes, labels)


def _label_columns(report: Report, votes: Votes) -> Iterator[tuple[str, str]]:
    """Yield learners and the columns of their labels."""
    orders = {bias.judge: (bias.ab, bias.ba) for bias in report.position_bias}
    for learner in votes.learners:
        yield from ((learner, name) for name in orders.get(learner, ()) if report.roles.get(name) == "learner")
        for name in label_columns(list(report.roles), learner):
            if report.roles[name] == "learner" and (name == learner or name not in votes.learners):
                yield learner, name


def _answers(source: Source, report: Report, votes: Votes) -> Iterator[tuple[object, str, int]]:
    """Yield the cells of a long file."""
    label, worker = report.column("label"), report.column("worker")
    if label is None or worker is None:
        return
    column, workers = LabelColumn.from_text(label, source.table[label]), encode_names(source.table[worker])
    used = np.isin(np.array([*workers.names.to_pylist(), ""], object), np.array(votes.learners, object))[workers.codes]
    pairs = column.indices[used].astype(np.int64) * (len(workers.names) + 1) + workers.codes[used]
    distinct, counts = np.unique(pairs, return_counts=True)
    for pair, n in zip(distinct.tolist(), counts.tolist(), strict=True):
        at, who = divmod(pair, len(workers.names) + 1)
        yield who, column.spellings[at], n


def _probable(source: Source, report: Report, votes: Votes, labels: LabelMap) -> Iterator[tuple[object, str, int]]:
    """Yield the most probable classes of soft columns, as spelled."""
    columns = [name for name, role in report.roles.items() if role == "learner"]
    naming = soft.named_groups(columns)
    for learner, group in {} if naming is None else naming.groups.items():
        if learner not in votes.learners or report.roles.get(learner) == "learner":
            continue
        values = soft.read_values(source, soft.Naming({learner: group}), labels.rule).values
        shares = np.nan_to_num(np.column_stack([values[column] for column in group.values()]))
        best = np.bincount(shares[shares.any(axis=1)].argmax(axis=1), minlength=len(group))
        yield from ((learner, label, int(n)) for label, n in zip(group, best, strict=True) if n)


@dataclass(frozen=True)
class Wish:
    """What somebody wants of a label.

    Attributes
    ----------
    label : str
        As the file spells it.
    name : str
        Of its class; empty for no vote.
    order : float
        Position of the class, lowest first.
    """

    label: str
    name: str
    order: float


def wished_map(rows: Sequence[LabelRow], wishes: Sequence[Wish], labels: LabelMap) -> LabelMap:
    """Return the label map that fulfils wishes about all labels.

    It merges spellings as ``labels`` does.

    Raises
    ------
    InputError
        If the names contradict each other.
    """
    votes = {row.label: row.votes for row in rows}
    places: dict[str, float] = {}
    for wish in wishes:
        places[wish.name] = min(wish.order, places.get(wish.name, wish.order))
    ordered = sorted(wishes, key=lambda wish: (not wish.name, places[wish.name], -votes.get(wish.label, 0)))
    plain = LabelMap(labels.merge_spellings, rule=labels.rule)
    keys = [plain.key(wish.label) for wish in ordered]
    if all(wish.name == wish.label for wish in ordered) and keys == natural_order(keys):
        return plain
    return LabelMap(labels.merge_spellings, tuple((wish.label, wish.name) for wish in ordered), labels.rule)


def may_be_one(rows: Sequence[LabelRow]) -> list[tuple[str, ...]]:
    """Return classes that may be one, the commonest of each group first."""
    votes: dict[str, int] = {}
    for row in rows:
        if row.name:
            votes[row.name] = votes.get(row.name, 0) + row.votes
    return [group.labels for group in alike(votes, loosely_folded)]
