from pathlib import Path

import pytest

from deem_core.errors import InputError
from deem_core.readers import read, read_votes

LONG = b"task,worker,label\nt2,bo,cat\nt1,al,dog\nt2,al,dog\nt1,bo,dog\nt3,cy,cat\n"


def text(reading):
    return " ".join(reading.report.sentences())


def test_tasks_and_workers_come_in_order_of_appearance():
    reading = read(LONG)
    assert reading.report.layout == "long"
    assert list(reading.votes.ids) == ["t2", "t1", "t3"]
    assert reading.votes.learners == ("bo", "al", "cy")
    assert reading.votes.codes.tolist() == [[0, 1, -1], [1, 1, -1], [-1, -1, 0]]
    assert reading.report.roles == {"task": "id", "worker": "worker", "label": "label"}


@pytest.mark.parametrize(
    "header",
    [
        "task,worker,label",
        "item_id,annotator,answer",
        "Question ID,rater,Response",
        "id,user,rating",
        "unit,judge,vote",
    ],
)
def test_common_names_are_understood(header):
    assert read(LONG.replace(b"task,worker,label", header.encode())).report.layout == "long"


def test_columns_may_stand_in_any_order_with_others_between():
    reading = read(b"label,when,worker,task\na,1,w,t\nb,2,v,t\na,3,w,u\n")
    assert reading.votes.codes.tolist() == [[0, 1], [0, -1]]
    assert "'when' was left out" in text(reading)


def test_the_last_of_repeated_answers_counts_and_they_are_counted():
    reading = read(LONG + b"t1,al,cat\nt3,cy,cat\nt1,al,cat\n")
    assert reading.votes.codes.tolist() == [[0, 1, -1], [1, 0, -1], [-1, -1, 0]]
    assert "Dropped 3 repeated answers of a worker on a task: the last one counts (1 of" in text(reading)


def test_an_empty_answer_does_not_replace_an_earlier_one():
    assert read_votes(LONG + b"t1,al,\n").codes.tolist() == read_votes(LONG).codes.tolist()


def test_a_task_without_answers_stays_a_row():
    reading = read(LONG + b"t4,al,NA\n")
    assert list(reading.votes.ids) == ["t2", "t1", "t3", "t4"]
    assert reading.votes.votes_per_row.tolist() == [2, 2, 1, 0]


def test_answers_without_task_or_worker_are_left_out_with_their_rows():
    reading = read(LONG + b",al,cat\nt1,,cat\n")
    assert reading.votes.n_rows == 3
    assert "Left out 2 answers without a task or worker (rows 6, 7)" in text(reading)


def test_ids_spelled_as_numbers_in_two_ways_are_one():
    votes = read_votes(b"task,worker,label\n1,w,a\n1.0,v,b\n 1 ,u,b\n01,w,a\n")
    assert list(votes.ids) == ["1", "01"]
    assert votes.codes.tolist() == [[0, 1, 1], [0, -1, -1]]


def test_truth_may_be_a_column():
    reading = read(b"task,worker,label,gold\n1,w,a,a\n1,v,b,a\n2,w,b,\n2,v,b,\n")
    assert reading.votes.truth.tolist() == [0, -1]
    assert "truth of 1 task" in text(reading)


def test_workers_can_be_chosen_and_ignored():
    assert read_votes(LONG, learners=["al", "bo"]).learners == ("bo", "al")
    reading = read(LONG, ignore=["cy"])
    assert reading.votes.learners == ("bo", "al")
    assert list(reading.votes.ids) == ["t2", "t1", "t3"]
    assert "1 worker ('cy') was left out, as requested" in text(reading)


def test_three_columns_of_any_name_are_long_when_asked_for():
    assert read_votes(LONG.replace(b"task,worker,label", b"foo,bar,baz"), layout="long").n_learners == 3


def test_a_wide_file_with_a_column_named_worker_stays_wide():
    rows = b"".join(b"%d,x,%s,x,y\n" % (at, b"xy"[at % 2 : at % 2 + 1]) for at in range(9))
    assert read(b"task,worker,model_a,model_b,label\n" + rows).report.layout == "wide"


def test_real_crowds_read_with_their_truth(large_data: Path):
    expected = {"bluebird": 0.759, "dog": 0.822, "rte": 0.897, "ms": 0.704, "zencrowd_us": 0.862}
    for name, accuracy in expected.items():
        folder = large_data / "crowd"
        votes = read_votes(folder / f"crowd_{name}.label.csv.gz", truth_file=folder / f"crowd_{name}.truth.csv")
        known = votes.truth >= 0
        # The figures are means over random ties; ours go to the lowest class.
        assert (votes.majority_vote.codes[known] == votes.truth[known]).mean() == pytest.approx(accuracy, abs=0.03)


def test_with_known_classes_one_task_of_one_class_is_enough():
    content = b"task,worker,label\n1,ann,x\n1,bob,x\n1,cid,x\n"
    assert read_votes(content, classes=["x", "y"]).codes.tolist() == [[0, 0, 0]]
    with pytest.raises(InputError, match="one class only"):
        read_votes(content)
