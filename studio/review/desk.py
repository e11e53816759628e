"""Review desk: a queue of rows, reviewers and their answers.

Everything comes from the run that asked for the rows, from the answer book and from the address, so that a refresh, a
second tab or a restart finds it again; the session only remembers which row is on the desk.
"""

from __future__ import annotations

import io
import time
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import streamlit as st

from deem_core import InputError
from deem_core.gold import Field, Questions, Verdict, choose
from deem_core.readers import Note, read_gold
from deem_core.runs import (
    REVIEWER,
    AnswerBook,
    AnswerFile,
    Ledger,
    Reply,
    RowNames,
    Run,
    merged_gold,
    read_answers,
    read_json,
    restore,
    reviewer_name,
)
from deem_core.votes import Gold, Votes
from studio import jobs, state, text
from studio.data.datasets import Opened, open_dataset
from studio.errors import callback_boundary
from studio.workspace import workspace

ROWS = 20
"""Rows that are asked for at once."""
NAME = "reviewer_name"
"""The widget in which people say who they are."""
NOTES = "review_notes"
"""In the session: what was understood of the last file of known labels."""
TITLE = "Answer with gold rows"


@dataclass(frozen=True, eq=False)
class Desk:
    """A queue with the answers so far.

    Attributes
    ----------
    opened : Opened
    run : Run
        The one that asked for the rows.
    queue : Questions
    field : Field
        The candidates between which answers choose.
    ledger : Ledger
    reviewer : str
    """

    opened: Opened
    run: Run
    queue: Questions
    field: Field
    ledger: Ledger
    reviewer: str

    @property
    def votes(self) -> Votes:
        """The votes as they were read."""
        return self.opened.reading.votes

    @cached_property
    def mine(self) -> dict[int, Reply]:
        """Row → what this reviewer said of it."""
        return {reply.row: reply for reply in self.ledger.replies if reply.reviewer == self.reviewer}

    @property
    def answered(self) -> int:
        """Rows of the queue that this reviewer labelled."""
        return sum(row in self.mine and self.mine[row].label is not None for row in self.queue.rows)

    @property
    def skipped(self) -> int:
        """Rows of the queue that this reviewer skipped."""
        return sum(row in self.mine and self.mine[row].skipped for row in self.queue.rows)

    @property
    def position(self) -> int | None:
        """Position of the row on the desk; None after the last."""
        kept = state.value(_place(self.run.id))
        if isinstance(kept, int) and 0 <= kept < len(self.queue):
            return kept
        return self.next_open(-1)

    def next_open(self, after: int) -> int | None:
        """Return the next other position without a reply, round the end."""
        n = len(self.queue)
        order = [*range(after + 1, n), *range(min(after, n))]
        return next((at for at in order if self.queue.rows[at] not in self.mine), None)


# ---------------------------------------------------------------------- what there is


def reviewer() -> str:
    """Return who answers."""
    return reviewer_name(state.get(state.REVIEWER) or REVIEWER)


def choose_reviewer() -> None:
    """Take the name from its widget; an ``on_change`` callback."""
    name = reviewer_name(str(state.value(NAME) or ""))
    state.put(state.REVIEWER, None if name == REVIEWER else name)


def ledger(opened: Opened) -> Ledger:
    """Return the answers about a file, read again when one was added."""
    book = workspace().answer_book(opened.dataset)
    return _ledger(str(book.path), book.mark, opened.mark, opened)


@st.cache_resource(max_entries=20, show_spinner=False)
def _ledger(path: str, mark: tuple[int, int], opening: str, _opened: Opened) -> Ledger:
    return AnswerBook(Path(path)).labels(_opened.reading.votes, _opened.reading.labels)


def gold(opened: Opened, answers: Ledger) -> Gold | None:
    """Return the known labels in use, of file and book."""
    votes = opened.reading.votes
    return merged_gold(votes.gold, answers.gold(), votes.n_classes)


def open_desk(opened: Opened, run: Run) -> Desk:
    """Return the desk of a finished run.

    Raises
    ------
    InputError
        If its files are gone or damaged.
    """
    queue, field = _asked(run.id, opened.mark, run, opened)
    return Desk(opened, run, queue, field, ledger(opened), reviewer())


@st.cache_resource(max_entries=4, show_spinner=False)
def _asked(run_id: str, opening: str, _run: Run, _opened: Opened) -> tuple[Questions, Field]:
    votes = _opened.reading.votes
    try:
        queue = Questions.from_dict(read_json(_run.path / "queue.json") or {})
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError("The queue of this run is gone or damaged. Ask for rows again.") from None
    if not queue.rows or max(queue.rows) >= votes.n_rows:
        raise InputError("The queue of this run belongs to other rows. Ask for rows again.")
    return queue, Field.load(_run.path, votes)


def verdict(desk: Desk, known: Gold) -> Verdict:
    """Return what the known labels prove."""
    key = (known.codes.tobytes(), b"" if known.asked is None else known.asked.tobytes())
    return _verdict(desk.run.id, desk.opened.mark, hash(key), desk.field, known)


@st.cache_resource(max_entries=50, show_spinner=False)
def _verdict(run_id: str, opening: str, key: int, _field: Field, _known: Gold) -> Verdict:
    return choose(_field, _known)


# ---------------------------------------------------------------------- callbacks


def answer(dataset: str, run: str, row: int, label: str) -> None:
    """Keep a label for the row, and bring the next one."""
    with callback_boundary():
        _keep(dataset, run, row, label=label)


def answer_chosen(dataset: str, run: str, row: int, key: str) -> None:
    """Keep the label that was chosen in a list."""
    label = state.value(key)
    if isinstance(label, str):
        answer(dataset, run, row, label)


def skip(dataset: str, run: str, row: int) -> None:
    """Leave a row, without a label, and bring the next one."""
    with callback_boundary():
        _keep(dataset, run, row, skipped=True)


def take_back(dataset: str, run: str) -> None:
    """Take the last reply back, and bring its row."""
    with callback_boundary():
        desk = _desk(dataset, run)
        in_queue = [reply for row, reply in desk.mine.items() if row in desk.queue.rows]
        if not in_queue:
            st.toast("There is nothing to undo.")
            return
        last, book = in_queue[-1], _book(desk.opened)
        move(run, desk.queue.rows.index(last.row))
        book.add(replace(last, label=None, skipped=False, settles=False, time=time.time()))


def move(run: str, position: int | None) -> None:
    """Bring another row of the queue."""
    shown(run, None)
    state.set_value(_place(run), position)


def shown(run: str, row: int | None) -> None:
    """Remember which row has its buttons on the page.

    None until the next one has. While a page is drawn anew, the buttons of the row before may hear a key, too; they
    must not answer.
    """
    state.set_value(_shown(run), -1 if row is None else row)


def settle(dataset: str, row: int, label: str) -> None:
    """Decide between reviewers who contradict each other."""
    with callback_boundary():
        opened = open_dataset(dataset)
        known = next((reply for reply in ledger(opened).replies if reply.row == row), None)
        asked = known is not None and known.asked
        name = RowNames(opened.reading.votes).of(row)
        _book(opened).add(Reply(row, name, label, reviewer(), time.time(), asked=asked, settles=True))


def ask(dataset: str) -> None:
    """Start a run that asks for rows, and turn to it."""
    with callback_boundary():
        opened = open_dataset(dataset)
        config: dict[str, Any] = {"n": ROWS, "random_state": 0, **gold_of(opened)}
    if state.problem() is None:
        jobs.start("ask", dataset, config, f"{ROWS} rows to label")


def ask_and_go(dataset: str) -> None:
    """Start a run that asks for rows, and turn to the page."""
    ask(dataset)
    state.go_to("review")


def fuse(dataset: str) -> None:
    """Fuse with the known labels so far, and turn to that answer."""
    with callback_boundary():
        opened = open_dataset(dataset)
        config = {**jobs.RECOMMENDED, **gold_of(opened)}
    if state.problem() is None:
        jobs.start("fuse", dataset, config, TITLE)


def take_file(dataset: str, key: str) -> None:
    """Take a file of known labels as answers; an ``on_change`` callback."""
    file: Any = state.value(key)
    if file is None:
        return
    state.set_value(NOTES, ())
    with callback_boundary():
        opened = open_dataset(dataset)
        answers = read_answers(_stream(file), opened.reading.votes)
        state.set_value(NOTES, _take_labels(opened, file) if answers is None else _take_answers(opened, answers, file))
    state.uploaded()


def _take_labels(opened: Opened, file: Any) -> tuple[Note, ...]:
    votes, labels = opened.reading.votes, opened.reading.labels
    reading = read_gold(_stream(file), votes, labels.rule, labels)
    taken = _book(opened).take_file(reading, votes, file.name)
    first = Note("understood", f"{text.count(taken, 'known label')} from {file.name} will be used from now on.")
    return first, *(note for note in reading.notes if note.kind != "understood")


def _take_answers(opened: Opened, answers: AnswerFile, file: Any) -> tuple[Note, ...]:
    new, later = restore(_book(opened), answers, opened.reading.votes, file.name)
    names = text.listing(sorted({reply.reviewer for reply in answers.replies}), 6)
    told = [Note("understood", f"{text.count(new, 'new answer')} from {file.name}, by {names}.")]
    if later:
        told.append(
            Note("changed", f"{text.count(later, 'row')} answered again since then: the later answers are kept.")
        )
    return tuple(told)


def _stream(file: Any) -> io.BytesIO:
    """Return an upload as a file with a name."""
    stream = io.BytesIO(file.getvalue())
    stream.name = file.name
    return stream


def forget(dataset: str) -> None:
    """Delete all answers about a file."""
    with callback_boundary():
        _book(open_dataset(dataset)).forget()
        state.set_value(NOTES, ())


def notes() -> tuple[Note, ...]:
    """Return what was understood of the last file of known labels."""
    kept: Any = state.value(NOTES)
    return kept or ()


def gold_of(opened: Opened) -> dict[str, str]:
    """Store the answers in use; return them as settings of a run."""
    snapshot = ledger(opened).snapshot()
    return {} if snapshot is None else {"gold": workspace().store(snapshot)}


def _desk(dataset: str, run: str) -> Desk:
    return open_desk(open_dataset(dataset), workspace().run(run))


def _book(opened: Opened) -> AnswerBook:
    return workspace().answer_book(opened.dataset)


def _keep(dataset: str, run: str, row: int, *, label: str | None = None, skipped: bool = False) -> None:
    """Keep what is said of the shown row; bring the next one.

    The next key may end a callback wherever it asks the session, so the book is written last: either all is done, or
    the row is still there without an answer.
    """
    if not _is_shown(run, row):
        return
    desk = _desk(dataset, run)
    book, name = _book(desk.opened), RowNames(desk.votes).of(row)
    reply = Reply(row, name, label, desk.reviewer, time.time(), asked=not desk.queue.fair, skipped=skipped)
    move(run, desk.next_open(desk.queue.rows.index(row)))
    book.add(reply)


def _is_shown(run: str, row: int) -> bool:
    return bool(state.value(_shown(run)) == row)


def _shown(run: str) -> str:
    return f"review_shows_{run}"


def _place(run: str) -> str:
    return f"review_at_{run}"
