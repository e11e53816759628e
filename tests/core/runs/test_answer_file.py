"""Answers as a file: safe to open, and back under the names of those who gave them."""

import time
from pathlib import Path

import pytest

from deem_core.errors import InputError
from deem_core.readers import read_gold
from deem_core.runs.answer_book import AnswerBook, Reply
from deem_core.runs.answer_file import read_answers, restore, written
from deem_core.votes import Votes
from tests.core.runs.test_answer_book import NAMELESS, VOTES, say


@pytest.fixture
def book(tmp_path: Path) -> AnswerBook:
    return AnswerBook(tmp_path / "book.jsonl")


@pytest.fixture
def empty(tmp_path: Path) -> AnswerBook:
    return AnswerBook(tmp_path / "empty.jsonl")


def bring(book: AnswerBook, content: bytes) -> tuple[int, int]:
    file = read_answers(content, VOTES)
    assert file is not None
    return restore(book, file, VOTES, "answers.csv")


def said(book: AnswerBook) -> set[tuple[int, str, str | None, bool]]:
    return {(each.row, each.reviewer, each.label, each.asked) for each in book.labels(VOTES).replies}


def test_the_file_tells_who_said_what_and_is_one_of_known_labels(book: AnswerBook) -> None:
    book.add(say(0, "cat", "ann"), say(1, "cat", "ann"), say(1, "dog", "bob"), say(2, "cat", "eve", asked=True))
    content = written(book.labels(VOTES))
    header, *lines = content.decode().replace('"', "").splitlines()
    assert header == "row,id,gold_label,asked,reviewer,answer,time"
    assert [line.split(",")[:6] for line in lines] == [
        ["1", "a", "cat", "", "ann", "cat"],
        ["2", "b", "", "", "ann", "cat"],
        ["2", "b", "", "", "bob", "dog"],
        ["3", "c", "cat", "yes", "eve", "cat"],
    ]
    assert read_gold(content, VOTES).gold.codes.tolist() == [0, -1, 0, -1]


def test_no_spreadsheet_runs_what_a_reviewer_or_a_file_says(empty: AnswerBook) -> None:
    votes = Votes.from_labels([["=1+1", "dog"], ["dog", "dog"]], ids=["=cmd()", "b"])
    empty.add(Reply(0, "=cmd()", "=1+1", "@eve", 1.0))
    content = written(empty.labels(votes))
    assert content.decode().splitlines()[1] == '1,"\'=cmd()","\'=1+1","","\'@eve","\'=1+1","1970-01-01 00:00 UTC"'
    file = read_answers(content, votes)
    assert file is not None
    assert file.replies == (Reply(0, "=cmd()", "=1+1", "@eve", 0.0),)
    assert file.labels == {0: "=1+1"}


def test_everything_comes_back_under_its_name_contradictions_too(book: AnswerBook, empty: AnswerBook) -> None:
    book.add(say(0, "cat", "ann"), say(1, "cat", "ann"), say(1, "dog", "bob"), say(2, "cat", "eve", asked=True))
    content = written(book.labels(VOTES))
    assert bring(empty, content) == (4, 0)
    assert said(empty) == said(book)
    ledger = empty.labels(VOTES)
    assert dict(ledger.labels) == {0: "cat", 2: "cat"}
    assert [conflict.row for conflict in ledger.conflicts] == [1]
    assert bring(empty, content) == (0, 0)  # once more changes nothing
    assert bring(book, content) == (0, 0)


def test_what_was_settled_stays_settled(book: AnswerBook, empty: AnswerBook) -> None:
    book.add(say(1, "cat", "ann"), say(1, "dog", "bob", asked=True))
    book.add(say(1, "dog", "eve", settles=True), say(1, "cat", "joe"), say(1, "cat", "zoe"))
    bring(empty, written(book.labels(VOTES)))
    ledger = empty.labels(VOTES)
    assert dict(ledger.labels) == {1: "dog"}
    assert ledger.asked == {1}
    filled = written(book.labels(VOTES)).decode().replace('"dog","yes"', '"cat","yes"', 5).encode()
    bring(empty, filled)  # and what somebody filled in settles it anew
    assert dict(empty.labels(VOTES).labels) == {1: "cat"}


def test_later_answers_stay(book: AnswerBook) -> None:
    book.add(say(0, "cat", time=time.time() - 600), say(1, "cat", time=time.time() - 600))
    content = written(book.labels(VOTES))
    book.add(say(0, "dog"))
    assert bring(book, content) == (0, 1)
    assert dict(book.labels(VOTES).labels) == {0: "dog", 1: "cat"}
    book.add(say(1, None))  # taken back, which says nothing
    assert bring(book, content) == (1, 1)
    assert dict(book.labels(VOTES).labels) == {0: "dog", 1: "cat"}


def test_other_files_are_no_answer_files(book: AnswerBook) -> None:
    assert read_answers(b"id,label\na,cat\n", VOTES) is None
    assert read_answers(b"row,gold_label,asked\n1,cat,\n", VOTES) is None
    book.add(say(3, "cat"))
    content = written(book.labels(VOTES))
    with pytest.raises(InputError, match="row number '4'"):
        read_answers(content, NAMELESS)
    with pytest.raises(InputError, match="queue of other votes"):
        read_answers(content, Votes(VOTES.codes, VOTES.classes, VOTES.learners, ids=list("wxyz")))
