"""Answer file: what all reviewers said, as CSV, and back."""

from __future__ import annotations

import calendar
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deem_core.files.spreadsheet import as_typed, neutralise
from deem_core.readers.gold import ANSWER, ASKED, ROW, labels_by_row, row_numbers
from deem_core.readers.source import open_source
from deem_core.runs.answer_book import AnswerBook, Ledger, Reply, RowNames, csv_of, reviewer_name, row_table
from deem_core.text import MOMENT, moment
from deem_core.votes import Votes
from deem_core.votes.coding import key_of

WHO, SAID, TIME = "reviewer", "answer", "time"


@dataclass(frozen=True)
class AnswerFile:
    """What an answer file holds.

    Attributes
    ----------
    replies : tuple of Reply
    labels : dict of int to str
        Row → the label in use.
    """

    replies: tuple[Reply, ...]
    labels: Mapping[int, str]


def written(ledger: Ledger) -> bytes:
    """Return all answers as CSV, a line for each reviewer and row.

    ``gold_label`` is the label in use, empty where reviewers contradict each other; ``answer`` what one of them said.
    So the file is one of known labels, too. No spreadsheet runs its cells as formulas.
    """
    given = sorted(
        (reply for reply in ledger.replies if reply.label is not None), key=lambda each: (each.row, each.time)
    )
    rows, asked = [reply.row for reply in given], ledger.asked
    texts = {
        ANSWER: [ledger.labels.get(row, "") for row in rows],
        ASKED: ["yes" if row in asked else "" for row in rows],
        WHO: [reply.reviewer for reply in given],
        SAID: [str(reply.label) for reply in given],
        TIME: [moment(reply.time) for reply in given],
    }
    table = row_table(ledger.votes, rows, texts)
    for at, name in enumerate(table.column_names):
        if name != ROW:
            table = table.set_column(at, name, neutralise(table[name].combine_chunks()))
    return csv_of(table)


def read_answers(file: Any, votes: Votes) -> AnswerFile | None:
    """Return what a file that `written` made holds; None for any other.

    Raises
    ------
    InputError
        If it is about other votes, or gives two labels in use for one row.
    """
    source = open_source(file)
    if not {ROW, ANSWER, WHO, SAID, TIME} <= set(source.columns):
        return None
    rows, names = row_numbers(source, votes), RowNames(votes)
    used = labels_by_row(source, ANSWER, rows, votes)
    cells = {name: [as_typed(cell or "") for cell in source.text(name).to_pylist()] for name in (WHO, SAID, TIME)}
    asked = source.text(ASKED).to_pylist() if ASKED in source.columns else [None] * len(rows)
    given = tuple(
        Reply(row, names.of(row), said, reviewer_name(who), _seconds(when), asked=bool((drawn or "").strip()))
        for row, who, said, when, drawn in zip(rows.tolist(), cells[WHO], cells[SAID], cells[TIME], asked, strict=True)
        if said.strip()
    )
    return AnswerFile(given, {row: label for row in sorted(set(rows.tolist())) if (label := used[row])})


def restore(book: AnswerBook, file: AnswerFile, votes: Votes, name: str) -> tuple[int, int]:
    """Bring the replies of a file back under their reviewers' names.

    What a reviewer has said since then stays. Where the label in use is not what the reviewers agree on, since somebody
    settled it, the file settles it.

    Returns
    -------
    new, later : int
        Answers that were added, and rows about which the book knows later ones.
    """
    known = {(reply.row, reply.reviewer): reply for reply in book.labels(votes).replies}
    new, later = [], set()
    for reply in file.replies:
        own = known.get((reply.row, reply.reviewer))
        if own is None or (own.label != reply.label and own.time < reply.time):
            new.append(reply)
        elif own.label != reply.label:
            later.add(reply.row)
    book.add(*new)
    agreed, names = book.labels(votes).labels, RowNames(votes)
    asked = {reply.row for reply in file.replies if reply.asked}
    settled = [
        Reply(row, names.of(row), label, reviewer_name(name), time.time(), asked=row in asked, settles=True)
        for row, label in file.labels.items()
        if row not in later and key_of(agreed.get(row, "")) != key_of(label)
    ]
    book.add(*settled)
    return len(new) + len(settled), len(later)


def _seconds(text: str) -> float:
    """Return the time of a cell, 0 where it tells none."""
    try:
        return float(calendar.timegm(time.strptime(text.strip(), MOMENT)))
    except ValueError:
        return 0.0
