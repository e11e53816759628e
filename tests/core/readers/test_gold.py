"""Gold labels from columns and files."""

import numpy as np
import pytest

from deem_core import InputError, read
from deem_core.readers import read_gold
from deem_core.readers.large import WholeOnlyError, open_large

WIDE = (
    b"id,ann,bob,cy,gold,truth\n1,cat,cat,dog,dog,cat\n2,dog,dog,dog,,dog\n3,cat,dog,cat,cat,cat\n4,dog,cat,cat,,dog\n"
)
PLAIN = WIDE.replace(b",gold,truth", b",known,remark")


def kinds(reading, kind):
    return " ".join(note.text for note in reading.report.notes if note.kind == kind)


def test_a_column_named_gold_is_not_gold_unless_said():
    reading = read(WIDE.replace(b",truth", b",remark"))
    assert reading.votes.gold is None
    assert reading.report.roles["gold"] == "truth"


def test_a_column_is_gold_by_name_only():
    reading = read(PLAIN, gold="known")
    assert reading.report.roles["known"] == "gold"
    assert "known" not in reading.votes.learners
    assert reading.votes.gold.rows.tolist() == [0, 2]
    assert "2 gold labels" in kinds(reading, "understood")


def test_truth_stays_truth_beside_gold_but_for_gold_rows():
    votes = read(WIDE, gold="gold", truth="truth").votes
    assert votes.truth.tolist() == [-1, 1, -1, 1]


def test_what_is_used_cannot_be_evaluated_on():
    with pytest.raises(InputError, match="both the truth and the gold"):
        read(WIDE, gold="truth", truth="truth")


def test_a_truth_column_becomes_gold_by_choice():
    reading = read(WIDE, gold="truth", ignore=["gold"])
    assert reading.votes.gold.n_rows == 4
    assert reading.votes.truth is None


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"gold": "nothing"}, "no gold column 'nothing'"),
        ({"gold": "known", "gold_file": b"id,label\n1,cat\n"}, "given twice"),
        ({"gold": "id", "id": "id"}, "both the id and the gold"),
        ({"gold": "ann", "learners": ["ann", "bob"]}, "both the gold and a learner"),
        ({"gold_file": b"id,label\n9,cat\n"}, "None of the tasks"),
        ({"gold_file": b"id,label\n1,cat\n1,dog\n"}, "two different gold labels"),
        ({"gold_file": b"id,label\n1,\n"}, "holds no gold label"),
        ({"gold_file": b"id,label\n1,bird\n2,fish\n"}, "holds no label that a learner votes for, only 'bird', 'fish'"),
        ({"gold_file": b"row,gold_label\n7,cat\n"}, "rows 1 to 4"),
        ({"gold_file": b"row,gold_label\n1,cat\n1,dog\n"}, "two different labels for row 1"),
        ({"gold_file": b"row,gold_label\n1,\n"}, "holds no gold label"),
        ({"gold_file": b"row,id,gold_label\n1,77,cat\n2,78,dog\n"}, "queue of other votes"),
    ],
)
def test_bad_gold_gets_a_sentence(options, sentence):
    with pytest.raises(InputError, match=sentence):
        read(PLAIN, **options)


def test_a_file_of_votes_is_no_file_of_gold_labels():
    for beside in (PLAIN, PLAIN.replace(b"known", b"label"), b"id,ann:cat,ann:dog,label\n1,1,0,cat\n"):
        with pytest.raises(InputError, match=r"holds votes, those of 'ann.*, and no column gold_label"):
            read(PLAIN, gold_file=beside)
    fused = PLAIN.replace(b"known", b"gold_label").replace(b"truth", b"fused_label")
    assert read(PLAIN, gold_file=fused).votes.gold.n_rows == 2


def test_gold_labels_of_a_file_of_many_columns_are_plain_by_name():
    cells = b"\n1,cat,dog,x\n"
    assert read(PLAIN, gold_file=b"id,gold_label,truth,note" + cells).votes.gold.codes.tolist() == [0, -1, -1, -1]
    assert read(PLAIN, gold_file=b"id,note,label,x" + cells).votes.gold.codes.tolist() == [1, -1, -1, -1]
    with pytest.raises(InputError, match=r"'truth', 'label' could all be the gold labels. Call it gold_label"):
        read(PLAIN, gold_file=b"id,label,truth,note" + cells)
    with pytest.raises(InputError, match=r"none of 'a', 'b', 'c' is called so. Call it gold_label"):
        read(PLAIN, gold_file=b"id,a,b,c" + cells)


def test_a_column_that_holds_no_label_of_the_votes_is_no_gold():
    notes = PLAIN.replace(b"dog,dog,cat\n", b"dog,later,cat\n").replace(b"cat,cat,cat\n", b"cat,soon,cat\n")
    with pytest.raises(InputError, match="'known' holds no label that a learner votes for, only 'later', 'soon'"):
        read(notes, gold="known")


def test_an_empty_gold_column_gets_a_sentence():
    with pytest.raises(InputError, match="holds no label"):
        read(PLAIN.replace(b",dog,cat\n", b",,cat\n").replace(b"cat,cat,cat\n", b"cat,,cat\n"), gold="known")


def test_rows_that_are_not_there_are_left_out_and_said():
    reading = read(PLAIN, gold_file=b"id,label\n1,cat\n9,dog\n1,cat\n")
    assert reading.votes.gold.codes.tolist() == [0, -1, -1, -1]
    assert "Left out 1 task" in kinds(reading, "left out")


def test_a_label_nobody_votes_for_is_warned_of():
    reading = read(PLAIN, gold_file=b"id,label\n1,bird\n2,dog\n")
    assert reading.votes.gold.only.tolist() == ["bird"]
    assert "no learner votes for it" in kinds(reading, "warning")


def test_a_file_by_row_numbers_needs_no_ids():
    votes = read(b"a,b,c\ncat,cat,dog\ndog,dog,dog\ncat,dog,cat\n").votes
    assert read_gold(b"row,gold_label\n3,dog\n1,\n", votes).gold.rows.tolist() == [2]
    with pytest.raises(InputError, match="no ids"):
        read_gold(b"task,label\n3,dog\n", votes)


def test_a_queue_whose_ids_belong_to_other_rows_gets_a_sentence():
    votes = read(PLAIN).votes
    assert read_gold(b"row,id,gold_label\n1,01,cat\n", read(PLAIN.replace(b"\n1,", b"\n01,")).votes).gold.n_rows == 1
    with pytest.raises(InputError, match=r"calls row 2 '9'.*the votes call it '2'"):
        read_gold(b"row,id,gold_label\n1,1,cat\n2,9,dog\n", votes)
    with pytest.raises(InputError, match="not those of these rows"):
        read_gold(b"row,id,gold_label\n1,7,cat\n2,9,dog\n", votes)


def test_rows_that_were_asked_come_back_as_asked():
    votes = read(PLAIN).votes
    gold = read_gold(b"row,gold_label,asked\n1,cat,disputed\n2,dog,\n", votes).gold
    assert gold.asked.tolist() == [True, False, False, False]


def test_a_spreadsheets_apostrophe_is_taken_away():
    votes = read(b"id,a,b,c\n1,=x,=x,y\n2,y,y,=x\n").votes
    gold = read_gold(b"row,gold_label\n1,'=x\n", votes).gold
    assert votes.classes[gold.codes[0]] == "=x"


def test_tasks_of_a_long_file_have_one_gold_label():
    long = b"task,worker,label,expert\nt1,w1,a,b\nt1,w2,b,\nt2,w1,a,\nt2,w2,a,\nt3,w1,b,b\nt3,w2,a,b\n"
    reading = read(long, gold="expert")
    assert reading.report.layout == "long"
    assert reading.votes.gold.codes.tolist() == [1, -1, 1]
    with pytest.raises(InputError, match="two different gold labels"):
        read(long.replace(b"t3,w2,a,b", b"t3,w2,a,a"), gold="expert")


def test_soft_files_have_gold_columns_too():
    soft = b"id,m:a,m:b,k:a,k:b,known\n1,0.9,0.1,0.2,0.8,b\n2,0.3,0.7,0.4,0.6,\n"
    votes = read(soft, gold="known").votes
    assert votes.soft is not None
    assert votes.gold.codes.tolist() == [1, -1]


def test_files_in_parts_refuse_gold(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_bytes(PLAIN)
    with pytest.raises(WholeOnlyError, match="Gold labels"):
        open_large(path, gold="known")


def test_gold_is_of_the_classes_of_the_votes():
    reading = read(b"id,a,b,c,known\n1,1,1,2,1.0\n2,2,2,1,2\n3,1,2,2,\n", gold="known")
    assert np.array_equal(reading.votes.gold.codes, [0, 1, -1])
