import pytest

from deem_core.errors import InputError
from deem_core.readers import label_truth, read, read_truth, read_votes

LONG = b"task,worker,label\nt2,bo,cat\nt1,al,dog\nt2,al,dog\nt1,bo,dog\nt3,cy,cat\n"


def text(reading):
    return " ".join(reading.report.sentences())


def test_truth_may_be_a_second_file_matched_by_task():
    reading = read(LONG, truth_file=b"task,truth\nt1,dog\nt9,cat\nt2,bird\n")
    assert reading.votes.truth.tolist() == [2, 1, -1]
    assert reading.votes.truth_only.tolist() == ["bird"]
    assert "The truth of 2 of 3 rows comes from column 'truth'" in text(reading)
    assert "Left out 1 task of <bytes> without any vote" in text(reading)


def test_a_truth_file_in_crowd_kits_names_or_without_known_names_is_read():
    for header in (b"task,true_label", b"foo,bar"):
        assert read_votes(LONG, truth_file=header + b"\nt1,dog\n").truth.tolist() == [-1, 1, -1]


def test_a_truth_file_also_serves_a_wide_file():
    votes = read_votes(b"id,a,b\n1,x,y\n2,y,y\n", truth_file=b"id,label\n2.0,y\n1,x\n")
    assert votes.truth.tolist() == [0, 1]


def test_truth_can_be_read_for_votes_that_are_there_already():
    truth = read_truth(b"task,truth\nt1,dog\nt2,bird\nt9,cat\n", read_votes(LONG))
    assert truth.codes.tolist() == [2, 1, -1]
    assert truth.truth_only.tolist() == ["bird"]
    assert [note.kind for note in truth.notes] == ["understood", "left out", "warning", "understood"]


def test_a_truth_file_leaves_the_roles_of_the_votes_alone():
    """The truth file's column has the name of a learner, and too many values to be labels."""
    rows = [f"t{i},{i % 2},{i % 2}" for i in range(6_000)]
    votes = "\n".join(["id,anna,b", *rows]).encode()
    truth = "\n".join(["id,anna", *(f"t{i},word{i}" for i in range(6_000))]).encode()
    reading = read(votes, truth_file=truth)
    assert reading.votes.truth is None
    assert reading.report.roles == {"id": "id", "anna": "learner", "b": "learner"}


def test_two_true_labels_for_a_task_are_refused():
    with pytest.raises(InputError, match="two different true labels for the task 't1'"):
        read_truth(b"task,truth\nt1,dog\nt1,cat\n", read_votes(LONG))


def test_tasks_of_other_votes_are_refused():
    with pytest.raises(InputError, match="None of the tasks"):
        read_truth(b"task,truth\nx,dog\n", read_votes(LONG))


def test_labels_row_by_row_are_truth_too():
    truth = label_truth("reviewed", ["cat", "", "owl"], read_votes(LONG))
    assert truth.codes.tolist() == [0, -1, 2]
    assert truth.truth_only.tolist() == ["owl"]
    assert label_truth("reviewed", ["", "", ""], read_votes(LONG)).codes is None
