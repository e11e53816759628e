"""Gold rows of answers: they have their gold label, and what the method said is kept apart."""

from dataclasses import replace

import numpy as np
import pytest

from deem_core import Answer, Votes, fuse, read
from deem_core.answers.export import fused_table
from deem_core.comparison import evaluate

LABELS = [["cat", "cat", "cat"], ["dog", "dog", "dog"], ["cat", "cat", "dog"], ["dog", "cat", "dog"], [None] * 3]


@pytest.fixture
def answer():
    votes = Votes.from_labels(LABELS, truth=["cat", "dog", "dog", "dog", "cat"])
    return fuse(votes.with_gold({0: "dog", 2: "bird", 4: "cat"}), method="mv")


def test_gold_rows_have_their_gold_label_for_certain(answer):
    assert answer.labels.tolist() == ["dog", "dog", "cat", "dog", None]
    assert answer.posterior[0].tolist() == [0, 1]


def test_what_the_method_said_is_kept_and_survives_copies(answer):
    assert answer.said_on_gold.tolist() == [0, 0, -1]
    assert replace(answer, notes=("x",)).said_on_gold.tolist() == [0, 0, -1]


def test_a_settled_row_needs_no_review_and_an_unheard_one_does(answer):
    assert not answer.overruled[0]
    assert not answer.needs_review[0]
    assert answer.needs_review[2]


def test_evaluation_leaves_gold_rows_out(answer):
    evaluation = evaluate(answer)
    assert evaluation.rows == 2
    assert evaluation.accuracy == 1.0


def test_the_posterior_of_the_method_is_not_touched():
    votes = Votes.from_labels(LABELS[:2]).with_gold({0: "dog"})
    posterior = np.array([[0.9, 0.1], [0.2, 0.8]])
    Answer(votes, posterior)
    assert posterior[0].tolist() == [0.9, 0.1]


def test_the_fused_file_shows_gold_labels():
    reading = read(b"id,a,b,c,known\n1,x,x,y,y\n2,y,y,x,\n3,x,x,y,\n", gold="known")
    table = fused_table(reading, fuse(reading.votes, method="mv"))
    assert table["gold_label"].to_pylist() == ["y", None, None] or table["gold_label"].to_pylist() == ["y", "", ""]
    assert table["fused_label"].to_pylist() == ["y", "y", "x"]


def test_files_without_gold_have_no_such_column():
    reading = read(b"id,a,b,c\n1,x,x,y\n2,y,y,x\n")
    assert "gold_label" not in fused_table(reading, fuse(reading.votes, method="mv")).column_names
