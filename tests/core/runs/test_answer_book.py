"""Answers of reviewers: kept by content, one label for a row, nothing lost and nothing damaged."""

import io
import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from deem_core.errors import InputError
from deem_core.readers import read_gold
from deem_core.runs import Workspace, removal
from deem_core.runs.answer_book import AnswerBook, Reply, merged_gold, overruled, reviewer_name
from deem_core.votes import Gold, Votes
from deem_core.votes.label_map import LabelMap
from tests.core.runs.helpers import CSV, ROOT, small

VOTES = Votes.from_labels(
    [["cat", "dog", "cat"], ["dog", "dog", "cat"], ["cat", "cat", "cat"], ["dog", "cat", "dog"]],
    ids=["a", "b", "c", "d"],
)
NAMELESS = Votes.from_labels([["cat", "dog", "cat"], ["dog", "dog", "cat"]])


@pytest.fixture
def book(tmp_path: Path) -> AnswerBook:
    return AnswerBook(tmp_path / "book.jsonl")


def say(row: int, label: str | None, reviewer: str = "ann", **more: object) -> Reply:
    return Reply(**{"row": row, "id": "abcd"[row], "label": label, "reviewer": reviewer, "time": time.time(), **more})


def test_the_latest_answer_of_a_reviewer_counts(book: AnswerBook) -> None:
    book.add(say(0, "cat"))
    book.add(say(1, "dog", asked=True))
    book.add(say(0, "dog"))
    ledger = book.labels(VOTES)
    assert dict(ledger.labels) == {0: "dog", 1: "dog"}
    assert [reply.row for reply in book.answers()] == [1, 0]  # in the order of their latest word
    gold = ledger.gold()
    assert gold is not None
    assert gold.codes.tolist() == [1, 1, -1, -1]
    assert gold.asked is not None
    assert gold.asked.tolist() == [False, True, False, False]


def test_an_answer_taken_back_or_skipped_is_no_gold(book: AnswerBook) -> None:
    book.add(say(0, "cat"), say(1, "dog"))
    book.add(say(0, None), say(1, None, skipped=True))
    ledger = book.labels(VOTES)
    assert not ledger.labels
    assert ledger.gold() is None
    assert ledger.snapshot() is None
    assert [(reply.row, reply.skipped) for reply in ledger.replies] == [(1, True)]


def test_most_reviewers_decide_and_a_tie_is_a_conflict_in_words(book: AnswerBook) -> None:
    book.add(say(0, "cat", "ann"), say(0, "cat", "bob"), say(0, "dog", "eve"))
    book.add(say(1, "cat", "ann"), say(1, "dog", "bob"))
    ledger = book.labels(VOTES)
    assert dict(ledger.labels) == {0: "cat"}
    (conflict,) = ledger.conflicts
    assert conflict.sentence == "Row 2 (b): ann says cat; bob says dog."
    book.add(say(1, "dog", "ann", settles=True))
    assert dict(book.labels(VOTES).labels) == {0: "cat", 1: "dog"}
    book.add(say(1, "cat", "eve"), say(1, "cat", "joe"))
    assert book.labels(VOTES).labels[1] == "dog"  # settled, whoever comes later
    book.add(say(1, None, "ann"))
    assert book.labels(VOTES).labels[1] == "cat"


def test_rows_are_found_by_id_and_those_that_are_gone_are_counted(book: AnswerBook) -> None:
    book.add(say(0, "cat"), say(3, "dog"), say(2, "dog"))
    fewer = VOTES.select_rows([3, 1])
    ledger = book.labels(fewer)
    assert dict(ledger.labels) == {0: "dog"}
    assert ledger.absent == 2


def test_without_ids_rows_are_found_by_number(book: AnswerBook) -> None:
    book.add(say(1, "cat", id=None), say(7 % 4, "dog", id=None))
    ledger = book.labels(NAMELESS)
    assert dict(ledger.labels) == {1: "cat"}
    assert ledger.absent == 1


def test_damaged_and_half_lines_are_skipped_and_swallow_nothing(book: AnswerBook) -> None:
    book.add(say(0, "cat"))
    with book.path.open("ab") as stream:
        stream.write(b"\xff\x00 nonsense\n[1]\n" + json.dumps({"row": 1}).encode() + b'\n{"row": 2, "id": "b", "lab')
    book.add(say(2, "dog"))
    assert dict(book.labels(VOTES).labels) == {0: "cat", 2: "dog"}


def test_the_book_is_private_and_never_behind_a_link(book: AnswerBook, tmp_path: Path) -> None:
    book.add(say(0, "cat"))
    assert stat.S_IMODE(book.path.stat().st_mode) == 0o600
    target = tmp_path / "elsewhere"
    link = tmp_path / "link.jsonl"
    os.symlink(target, link)
    with pytest.raises(InputError, match="link"):
        AnswerBook(link).add(say(0, "cat"))
    assert not target.exists()


def test_processes_that_answer_at_once_lose_nothing(book: AnswerBook) -> None:
    code = (
        "import sys, pathlib\n"
        "from deem_core.runs.answer_book import AnswerBook, Reply\n"
        "book = AnswerBook(pathlib.Path(sys.argv[1]))\n"
        "for row in range(200): book.add(Reply(row, None, 'x' * 50, sys.argv[2], 1.0))\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(book.path), name], cwd=ROOT) for name in ("ann", "bob")
    ]
    assert [process.wait(120) for process in running] == [0, 0]
    assert len(book.answers()) == 400


def test_a_full_disk_is_a_sentence(book: AnswerBook, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", refuse)
    with pytest.raises(InputError, match="could not be kept: No space left"):
        book.add(say(0, "cat"))


def test_a_file_of_labels_speaks_under_its_name_and_replaces_what_it_said(book: AnswerBook) -> None:
    first = read_gold(b"id,label\na,cat\nb,dog\n", VOTES)
    assert book.take_file(first, VOTES, "known.csv") == 2
    second = read_gold(b"id,label\nb,cat\nd,bird\n", VOTES)
    book.take_file(second, VOTES, "known.csv")
    ledger = book.labels(VOTES)
    assert dict(ledger.labels) == {1: "cat", 3: "bird"}
    assert {reply.reviewer for reply in ledger.replies} == {"known.csv"}
    gold = ledger.gold()
    assert gold is not None
    assert gold.codes.tolist() == [-1, 0, -1, 2]
    assert gold.only.tolist() == ["bird"]


def test_the_snapshot_reads_back_as_the_same_gold_and_does_not_change_by_itself(book: AnswerBook) -> None:
    book.add(say(3, "bird"), say(0, "cat", asked=True), say(1, "dog"))
    gold, snapshot = book.labels(VOTES).gold(), book.labels(VOTES).snapshot()
    assert gold is not None
    assert snapshot is not None
    again = read_gold(io.BytesIO(snapshot), VOTES).gold
    assert np.array_equal(again.codes, gold.codes)
    assert np.array_equal(again.asked, gold.asked)
    assert again.only.tolist() == gold.only.tolist()
    book.add(say(0, "cat", asked=True))  # said once more
    assert book.labels(VOTES).snapshot() == snapshot


def test_gold_of_the_file_and_of_the_book_are_one_and_the_book_wins() -> None:
    own = Gold(np.array([0, 1, 2, -1]), np.array(["bird"], object))
    book = Gold(np.array([1, -1, 2, 3]), np.array(["fish", "bird"], object), np.array([True, False, False, False]))
    both = merged_gold(own, book, 2)
    assert both is not None
    assert both.only.tolist() == ["bird", "fish"]
    assert both.codes.tolist() == [1, 1, 3, 2]
    assert both.asked is not None
    assert both.asked.tolist() == [True, False, False, False]
    assert merged_gold(None, book, 2) is book
    assert merged_gold(own, None, 2) is own
    assert overruled(own, book, 2) == 2
    assert overruled(None, book, 2) == overruled(own, None, 2) == 0


def test_names_of_reviewers_are_one_short_line() -> None:
    assert reviewer_name("  ann\n bo\x07b ") == "ann bo b"
    assert reviewer_name(" ") == "reviewer"
    assert len(reviewer_name("x" * 500)) == 60


def test_the_book_belongs_to_the_content_and_goes_with_its_last_dataset(workspace: Workspace) -> None:
    dataset = small(workspace)
    book = workspace.answer_book(dataset)
    book.add(Reply(0, "1", "x", "ann", 1.0))
    other = workspace.vary_dataset(dataset, reading={"ignore": ["cy"], "learners": ["ann", "bob"]})
    assert workspace.answer_book(other).path == book.path
    workspace.delete_dataset(other.id)
    assert book.answers()
    assert workspace.answer_book(workspace.add_dataset("again.csv", CSV)).answers()
    for each in workspace.datasets():
        workspace.delete_dataset(each.id)
    assert not book.path.exists()


def test_a_removal_says_that_answers_go_too(workspace: Workspace) -> None:
    dataset = small(workspace)
    assert "the reviewers' answers about its rows" not in removal.plan(workspace, [], dataset).removal().what
    workspace.answer_book(dataset).add(Reply(0, "1", "x", "ann", 1.0))
    assert "the reviewers' answers about its rows" in removal.plan(workspace, [], dataset).removal().what


def test_answers_go_through_the_labels_of_the_reading(book: AnswerBook) -> None:
    book.add(say(0, "CAT"), say(1, "0"), say(2, "maybe"), say(3, "Dog"), say(3, "dog", "bob"))
    labels = LabelMap.of({"0": "dog", "maybe": ""}, merge_spellings=True)
    ledger = book.labels(VOTES, labels)
    assert dict(ledger.labels) == {0: "cat", 1: "dog", 3: "dog"}  # "maybe" is no vote; Dog and dog agree
    assert not ledger.conflicts
    gold = ledger.gold()
    assert gold is not None
    assert gold.codes.tolist() == [0, 1, -1, 1]
    assert len(book.labels(VOTES).conflicts) == 1


def test_a_run_reads_stored_answers_by_the_labels_of_its_dataset(tmp_path: Path) -> None:
    lines = ["id,a,b,c", *(f"r{i},{i % 2},{i % 2},{(i + i // 7) % 2}" for i in range(30))]
    workspace = Workspace(tmp_path)
    named = [["1", "spam"], ["0", "ham"]]
    dataset = workspace.add_dataset("v.csv", "\n".join(lines).encode(), reading={"labels": named})
    other = workspace.vary_dataset(dataset, reading={"labels": named[::-1]})
    assert dataset.id != other.id  # another order of the classes is another dataset
    assert workspace.dataset(dataset.id).reading == {"labels": named}
    gold = workspace.store(b"row,gold_label\n1,SPAM\n2,1\n3,ham\n")
    run = workspace.new_run(
        "fuse", workspace.vary_dataset(dataset, reading={"labels": named, "merge_spellings": True}), {"gold": gold}
    )
    votes = workspace.with_gold(workspace.read_inputs(run.spec["inputs"]).votes, run.spec)
    assert votes.classes.tolist() == ["spam", "ham"]
    assert votes.gold is not None
    assert votes.gold.codes[:4].tolist() == [0, 0, 1, -1]
    with pytest.raises(InputError, match="another name"):
        workspace.vary_dataset(dataset, reading={"labels": [["1", "2"], ["2", "1"]]})
