"""Answer book: what reviewers say about the rows of a file.

A book belongs to the content of a file, so it outlives readings, runs and the app. It is a file of lines to which
every answer is appended in one write: two tabs or two processes never damage each other's answers, and nothing that
was said is rewritten. A line that is damaged or cut short is skipped.
"""

from __future__ import annotations

import io
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv

from deem_core.errors import InputError
from deem_core.files.tables import id_texts
from deem_core.readers.gold import ANSWER, ASKED, ROW, GoldReading
from deem_core.readers.truth import class_keys
from deem_core.runs.private import is_plain, open_private, read_private
from deem_core.runs.run import is_time
from deem_core.text import clip, listing
from deem_core.typing import Integers
from deem_core.votes import NO_VOTE, Gold, Votes
from deem_core.votes.coding import key_of
from deem_core.votes.label_map import AS_SPELLED, LabelMap

REVIEWER = "reviewer"
"""Who answers, if nobody says otherwise."""
MOST_LETTERS = 60
"""Letters of a reviewer's name."""
_WRITE_BYTES = 1 << 16  # lines of an import that are appended at a time


@dataclass(frozen=True)
class Reply:
    """What a reviewer says about a row.

    Attributes
    ----------
    row : int
        Position from 0.
    id : str, optional
        Name of the row, where rows have different ones.
    label : str, optional
        None if the row was skipped or the answer taken back.
    reviewer : str
    time : float
        Unix seconds.
    asked : bool
        Whether the row was chosen by `deem_core.gold.questions`, so that it is no fair draw.
    skipped : bool
    settles : bool
        Whether it decides between reviewers who contradict each other.
    """

    row: int
    id: str | None
    label: str | None
    reviewer: str
    time: float
    asked: bool = False
    skipped: bool = False
    settles: bool = False

    @property
    def counts(self) -> bool:
        """Whether it was not taken back."""
        return self.label is not None or self.skipped

    def line(self) -> bytes:
        """Return it as a line, with the number of the row from 1.

        The line break in front ends what a write that was cut short has left.
        """
        text = json.dumps({**vars(self), "row": self.row + 1}, ensure_ascii=True)
        return f"\n{text}\n".encode()

    @classmethod
    def of_line(cls, line: bytes) -> Reply | None:
        """Inverse of `line`; None for damage."""
        try:
            known = json.loads(line)
            reply = cls(**{**known, "row": known["row"] - 1})
            json.dumps(known, ensure_ascii=False).encode()  # half a letter is damage, and a ValueError
            whole = (
                type(reply.row) is int
                and reply.row >= 0
                and isinstance(reply.reviewer, str)
                and is_time(reply.time)
                and all(text is None or isinstance(text, str) for text in (reply.id, reply.label))
                and all(isinstance(flag, bool) for flag in (reply.asked, reply.skipped, reply.settles))
            )
        except (ValueError, TypeError, KeyError, RecursionError):
            return None
        return reply if whole else None


@dataclass(frozen=True)
class Conflict:
    """A row about which reviewers contradict each other.

    Attributes
    ----------
    row : int
    id : str, optional
    said : dict of str to tuple of str
        Label → reviewers who gave it.
    """

    row: int
    id: str | None
    said: Mapping[str, tuple[str, ...]]

    @property
    def sentence(self) -> str:
        """Who says what, in words."""
        name = f"Row {self.row + 1:,}" + (f" ({clip(self.id)})" if self.id is not None else "")
        views = [
            f"{listing(who, 4, rest='others')} {'says' if len(who) == 1 else 'say'} {clip(label)}"
            for label, who in self.said.items()
        ]
        return f"{name}: {'; '.join(views)}."


@dataclass(frozen=True, eq=False)
class Ledger:
    """The replies that count, for the rows of some votes.

    Attributes
    ----------
    votes : Votes
    replies : tuple of Reply
        Latest of each reviewer for each row that is there, with positions in these votes.
    labels : dict of int to str
        Row → the label on which reviewers agree, most of them do, or someone settled.
    conflicts : tuple of Conflict
    absent : int
        Answers about rows that are not there.
    """

    votes: Votes
    replies: tuple[Reply, ...]
    labels: Mapping[int, str]
    conflicts: tuple[Conflict, ...]
    absent: int

    @property
    def asked(self) -> frozenset[int]:
        """Rows that were asked for, and so are no fair draw."""
        return frozenset(reply.row for reply in self.replies if reply.asked and reply.label is not None)

    def gold(self) -> Gold | None:
        """Return the labels as gold; None without any."""
        if not self.labels:
            return None
        keys = {key: code for code, key in enumerate(class_keys(self.votes))}
        only: dict[str, str] = {}
        codes = np.full(self.votes.n_rows, NO_VOTE, np.int32)
        asked = np.zeros(self.votes.n_rows, bool)
        asked[list(self.asked)] = True
        for row, label in sorted(self.labels.items()):
            key = key_of(label)
            if key not in keys:  # no learner votes for it
                keys[key] = len(keys)
                only[key] = label
            codes[row] = keys[key]
        return Gold(codes, np.array(list(only.values()), object), asked)

    def snapshot(self) -> bytes | None:
        """Return the labels as the CSV that runs use; None without any.

        The same labels make the same bytes.
        """
        rows, asked = sorted(self.labels), self.asked
        texts = {ANSWER: [self.labels[row] for row in rows], ASKED: ["yes" if row in asked else "" for row in rows]}
        return None if not rows else csv_of(row_table(self.votes, rows, texts))


def row_table(votes: Votes, rows: Sequence[int], texts: Mapping[str, Sequence[str]]) -> pa.Table:
    """Return texts about rows beside their numbers, from 1, and ids."""
    columns: dict[str, Any] = {ROW: pa.array([row + 1 for row in rows], pa.int64())}
    if not isinstance(votes.ids, pd.RangeIndex):
        columns["id"] = pa.array(id_texts(votes.ids[list(rows)]).to_pylist(), pa.string())
    return pa.table(columns | {name: pa.array(list(cells), pa.string()) for name, cells in texts.items()})


def csv_of(table: pa.Table) -> bytes:
    """Return a table as CSV."""
    sink = io.BytesIO()
    pyarrow.csv.write_csv(table, sink)
    return sink.getvalue()


class AnswerBook:
    """Replies of all reviewers about one file.

    Parameters
    ----------
    path : Path
        Its file, which is made with the first reply.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, *replies: Reply) -> None:
        """Append replies.

        Raises
        ------
        InputError
            If they cannot be written.
        """
        try:
            descriptor = open_private(self.path, os.O_WRONLY | os.O_APPEND)
            try:
                for block in _blocks(reply.line() for reply in replies):
                    if os.write(descriptor, block) != len(block):
                        raise InputError("The answer could not be kept: the disk is full. Make room and answer again.")
            finally:
                os.close(descriptor)
        except OSError as error:
            raise InputError(f"The answer could not be kept: {error.strerror or error}.") from None

    def replies(self) -> list[Reply]:
        """Return all replies in the order in which they came."""
        try:
            content = read_private(self.path)
        except OSError:
            return []
        return [reply for line in content.splitlines() if line and (reply := Reply.of_line(line)) is not None]

    def answers(self) -> list[Reply]:
        """Return the latest reply of each reviewer about each row.

        Those that were taken back are not among them.
        """
        latest: dict[tuple[object, str], Reply] = {}
        for reply in self.replies():
            key = (reply.row if reply.id is None else reply.id, reply.reviewer)
            latest.pop(key, None)  # so that the order is that of the latest
            latest[key] = reply
        return [reply for reply in latest.values() if reply.counts]

    def labels(self, votes: Votes, label_map: LabelMap = AS_SPELLED) -> Ledger:
        """Return what counts for the rows of votes.

        Rows are matched by id where votes and reply have one, else by number; labels go through the map of the votes,
        and an answer that is no vote there does not count.
        """
        name_of = _names(votes, label_map)
        names = RowNames(votes)
        placed: dict[tuple[int, str], Reply] = {}
        absent: dict[tuple[object, str], bool] = {}
        for reply in self.replies():
            row = names.row(reply.id) if names.there and reply.id is not None else reply.row
            if row is None or row >= votes.n_rows:
                absent[reply.row if reply.id is None else reply.id, reply.reviewer] = reply.label is not None
                continue
            placed.pop((row, reply.reviewer), None)  # so that the order is that of the latest
            placed[row, reply.reviewer] = replace(
                reply,
                row=row,
                id=(reply.id or names.of(row)) if names.there else None,
                label=None if reply.label is None else name_of(reply.label),
            )
        placed = {key: reply for key, reply in placed.items() if reply.counts}
        by_row: dict[int, list[Reply]] = {}
        for (row, _), reply in placed.items():
            if reply.label is not None:
                by_row.setdefault(row, []).append(reply)
        labels, conflicts = {}, []
        for row, given in by_row.items():
            label = _decided(given)
            if label is None:
                conflicts.append(_conflict(given))
            else:
                labels[row] = label
        return Ledger(votes, tuple(placed.values()), labels, tuple(conflicts), sum(absent.values()))

    def take_file(self, reading: GoldReading, votes: Votes, name: str) -> int:
        """Take a file's labels as answers of a reviewer of its name.

        What an earlier file of that name said and this one does not is taken back. Returns the number of labels.
        """
        gold, now, reviewer = reading.gold, time.time(), reviewer_name(name)
        names, texts = RowNames(votes), [*map(str, votes.classes.tolist()), *map(str, gold.only.tolist())]
        given = [
            Reply(
                row=int(row),
                id=name,
                label=texts[gold.codes[row]],
                reviewer=reviewer,
                time=now,
                asked=bool(gold.asked is not None and gold.asked[row]),
            )
            for row, name in zip(gold.rows, names.many(gold.rows), strict=True)
        ]
        rows = {reply.row for reply in given}
        before = [each for each in self.labels(votes).replies if each.reviewer == reviewer and each.row not in rows]
        self.add(*(replace(each, label=None, skipped=False, settles=False, time=now) for each in before), *given)
        return len(given)

    def forget(self) -> None:
        """Delete all answers."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise InputError(f"The answers cannot be deleted: {error.strerror or error}.") from None

    @property
    def mark(self) -> tuple[int, int]:
        """What changes with every reply: size and time of the file."""
        if not is_plain(self.path):
            return 0, 0
        try:
            told = self.path.stat()
        except OSError:
            return 0, 0
        return told.st_size, told.st_mtime_ns


def reviewer_name(text: str) -> str:
    """Return a name in one line, not too long, never empty."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    return clip(" ".join(printable.split()), MOST_LETTERS) or REVIEWER


class RowNames:
    """Ids of the rows of votes as text, where all differ.

    Parameters
    ----------
    votes : Votes
    """

    def __init__(self, votes: Votes) -> None:
        self._ids = votes.ids
        self.there = not isinstance(votes.ids, pd.RangeIndex) and votes.ids.is_unique
        self._texts: dict[str, int] | None = None
        if self.there and not all(isinstance(name, str) for name in votes.ids[:1]):  # no file, but numbers
            texts = id_texts(votes.ids).to_pylist()
            self._texts = {text: row for row, text in enumerate(texts)}
            self.there = len(self._texts) == len(texts)

    def of(self, row: int) -> str | None:
        """Return the id of a row; None where ids are not unique."""
        return str(id_texts(self._ids[[row]])[0].as_py()) if self.there else None

    def many(self, rows: Integers) -> list[str | None]:
        """Return the ids of some rows."""
        return id_texts(self._ids[rows]).to_pylist() if self.there else [None] * len(rows)

    def row(self, text: str) -> int | None:
        """Return the row of an id; None if it is not there."""
        if self._texts is not None:
            return self._texts.get(text)
        try:
            return int(self._ids.get_loc(text))  # type: ignore[arg-type]  # they differ, so it is one row
        except KeyError:
            return None


def merged_gold(own: Gold | None, book: Gold | None, n_classes: int) -> Gold | None:
    """Return two golds of the same rows as one; the second wins."""
    if own is None or book is None:
        return own if book is None else book
    only = [*map(str, own.only.tolist())]
    moved = []
    for label in map(str, book.only.tolist()):
        if label not in only:
            only.append(label)
        moved.append(n_classes + only.index(label))
    theirs = book.codes.copy()
    for j, code in enumerate(moved):
        theirs[book.codes == n_classes + j] = code
    codes = np.where(book.known, theirs, own.codes).astype(np.int32)
    asked = np.where(book.known, np.asarray(book.asked), np.asarray(own.asked))
    return Gold(codes, np.array(only, object), asked)


def overruled(own: Gold | None, book: Gold | None, n_classes: int) -> int:
    """Return for how many rows the second of two golds says otherwise."""
    both = merged_gold(own, book, n_classes)
    return 0 if own is None or both is None else int((own.known & (both.codes != own.codes)).sum())


def _names(votes: Votes, label_map: LabelMap) -> Callable[[str], str | None]:
    """Return what gives a reviewer's label the name of its class.

    None where the map takes it as no vote.
    """
    if label_map.plain:
        return str
    classes = dict(zip(class_keys(votes, label_map), map(str, votes.classes.tolist()), strict=True))

    def name_of(label: str) -> str | None:
        key = label_map.key(label)
        return (classes.get(key) or label_map.name(key) or label) if key else None

    return name_of


def _decided(given: Sequence[Reply]) -> str | None:
    """Return the label of a row; None if reviewers contradict each other."""
    settled = [reply for reply in given if reply.settles]
    if settled:
        return settled[-1].label
    spelled = {key_of(str(reply.label)): str(reply.label) for reply in given}
    ranked = Counter(key_of(str(reply.label)) for reply in given).most_common(2)
    if len(ranked) == 2 and ranked[0][1] == ranked[1][1]:
        return None
    return spelled[ranked[0][0]]


def _conflict(given: Sequence[Reply]) -> Conflict:
    said: dict[str, list[str]] = {}
    for reply in given:
        said.setdefault(str(reply.label), []).append(reply.reviewer)
    return Conflict(given[0].row, given[0].id, {label: tuple(who) for label, who in said.items()})


def _blocks(lines: Iterable[bytes]) -> Iterable[bytes]:
    """Yield whole lines joined to blocks of a moderate size."""
    block = b""
    for line in lines:
        if block and len(block) + len(line) > _WRITE_BYTES:
            yield block
            block = b""
        block += line
    if block:
        yield block
