import numpy as np
import pytest

from deem_core.readers import read, read_votes


def text(reading):
    return " ".join(reading.report.sentences())


SOFT = b"id,m:a,m:b,n:a,n:b,label\n1,0.2,0.8,0.6,0.4,b\n2,0.9,0.1,,,a\n3,0.5,0.5,0,1,a\n"


def test_probabilities_are_grouped_by_learner():
    reading = read(SOFT)
    assert reading.report.layout == "soft"
    assert reading.votes.learners == ("m", "n")
    assert reading.votes.classes.tolist() == ["a", "b"]
    assert reading.votes.codes.tolist() == [[1, 0], [0, -1], [0, 1]]
    assert reading.votes.soft[0].tolist() == pytest.approx(np.array([[0.2, 0.8], [0.6, 0.4]]))
    assert reading.votes.soft[1, 1].tolist() == [0, 0]
    assert reading.votes.truth.tolist() == [1, 0, 0]


@pytest.mark.parametrize("separator", [":", "__", ".p_", "_prob_"])
def test_every_separator_is_understood(separator):
    assert read(SOFT.replace(b":", separator.encode())).votes.learners == ("m", "n")


def test_names_that_hold_the_separator_are_split_where_the_classes_agree():
    votes = read_votes(b"x:m:a,x:m:b,n:a,n:b\n.2,.8,.5,.5\n.3,.7,.5,.5\n")
    assert votes.learners == ("x:m", "n")
    votes = read_votes(b"m:a:1,m:a:2,n:a:1,n:a:2\n.2,.8,.5,.5\n.3,.7,.5,.5\n")
    assert votes.n_learners * votes.n_classes == 4


def test_sums_that_are_off_are_renormalised_and_counted():
    reading = read(b"m:a,m:b,n:a,n:b\n.2,.2,.5,.5\n.5,.505,.5,.5\n1,0,.9,.9\n")
    assert "Renormalised 2 soft votes that did not sum to 1 within 1% (rows 1, 3)" in text(reading)
    assert np.allclose(reading.votes.soft.sum(axis=2), 1)


def test_partly_empty_and_all_zero_votes_are_said():
    reading = read(b"m:a,m:b,n:a,n:b\n,1,.5,.5\n0,0,.5,.5\n")
    assert reading.votes.codes.tolist() == [[1, 0], [-1, 0]]
    assert "Read the empty cells of 1 soft vote" in text(reading)
    assert "Took 1 soft vote with all probabilities 0 as no vote" in text(reading)


def test_soft_and_plain_learners_may_be_mixed():
    reading = read(b"p,m:a,m:b,age,n:a,n:b,q\nb,.2,.8,31,.6,.4,c\na,.9,.1,32,.5,.5,a\nNA,1,0,33,0,1,b\n")
    assert reading.votes.learners == ("p", "m", "n", "q")
    assert reading.votes.classes.tolist() == ["a", "b", "c"]
    assert reading.votes.codes.tolist() == [[1, 1, 0, 2], [0, 0, 0, 0], [-1, 0, 1, 1]]
    assert reading.votes.soft[0, 3].tolist() == [0, 0, 1]
    assert "'age' was left out" in text(reading)


def test_class_names_follow_the_rules_for_labels():
    votes = read_votes(b"m:1.0,m:2,n:1,n:2,p\n.2,.8,.5,.5,2\n.3,.7,.5,.5,1\n")
    assert votes.n_classes == 2


def test_a_learner_may_lack_a_class():
    votes = read_votes(b"m:a,m:b,n:a,n:b,n:c\n.2,.8,.1,.1,.8\n.2,.8,.5,.5,0\n.2,.8,.5,.5,0\n")
    assert votes.classes.tolist() == ["a", "b", "c"]
    assert votes.soft[:, 0, 2].tolist() == [0, 0, 0]


def test_whole_numbers_under_names_with_separators_are_labels_unless_they_are_one_hot():
    rows = b"".join(b"%d,%d,%d\n" % (at % 2, (at // 2) % 2, at % 2) for at in range(20))
    assert read(b"gpt__v1,gpt__v2,other\n" + rows).report.layout == "wide"
    assert read(b"m__a,m__b,n__a,n__b\n1,0,0,1\n0,1,0,1\n1,0,1,0\n").report.layout == "soft"


def test_decimal_commas_are_read():
    votes = read_votes(b"m:a;m:b;n:a;n:b\n0,2;0,8;0,5;0,5\n0,4;0,6;1;0\n")
    assert votes.soft[0, 0].tolist() == pytest.approx([0.2, 0.8])


def test_soft_learners_can_be_chosen_and_ignored():
    content = b"m:a,m:b,n:a,n:b,p\n.2,.8,.5,.5,a\n.2,.8,.5,.5,b\n"
    assert read_votes(content, learners=["m", "p"]).learners == ("m", "p")
    assert read_votes(content, ignore=["m"]).learners == ("n", "p")


def test_the_soft_layout_can_be_asked_for():
    assert read(b"m:a,m:b,n:a,n:b\n1,1,0,1\n0,1,0,1\n", layout="soft").report.layout == "soft"
