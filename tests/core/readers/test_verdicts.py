"""Labels beside probabilities, as LLM judges write them."""

import pytest

from deem_core.diagnostics import unused_probabilities
from deem_core.readers import read


def text(reading):
    return " ".join(reading.report.sentences())


def pairs(label, probability, rows="1,x,.9,y,.8\n2,y,.9,y,.7\n3,x,.8,z,.7\n"):
    return f"id,g{label},g{probability},c{label},c{probability}\n{rows}".encode()


@pytest.mark.parametrize(
    ("label", "probability"),
    [
        *[(f"_{word}", "_prob") for word in ("verdict", "label", "pred", "answer", "choice")],
        *[("_verdict", f"_{word}") for word in ("score", "confidence", "p")],
        (".verdict", ".prob"),
        ("__label", "__prob"),
        (" Verdict", " Confidence"),
        ("", "_prob"),
    ],
)
def test_a_verdict_with_its_probability_is_a_soft_vote(label, probability):
    reading = read(pairs(label, probability))
    assert reading.report.layout == "soft"
    assert reading.votes.learners == ("g", "c")
    assert reading.votes.soft[0, 0].tolist() == pytest.approx([0.9, 0.05, 0.05])
    assert "a soft vote" in text(reading)
    assert not reading.report.unused_probabilities


def test_percentages_are_said():
    reading = read(pairs("_label", "_prob", "1,x,90,y,80\n2,y,75.5,y,99\n3,x,60,y,51\n"))
    assert reading.votes.soft[1, 0].tolist() == pytest.approx([0.245, 0.755])
    assert "percentages" in text(reading)


def test_the_probability_of_one_class_is_told_from_that_of_the_verdict():
    reading = read(pairs("_label", "_prob", "1,1,.9,0,.2\n2,0,.1,0,.3\n3,1,.8,1,.7\n"))
    assert reading.votes.soft[0].tolist() == [pytest.approx([0.1, 0.9]), pytest.approx([0.8, 0.2])]
    assert "is the probability of '1'" in text(reading)


def test_a_verdict_without_a_probability_is_certain_and_one_below_chance_stays_with_its_label():
    rows = "1,x,,y,.8\n2,y,.2,y,.7\n" + "".join(f"{i},x,.9,y,.8\n4{i},y,.9,z,.9\n" for i in range(3, 9))
    reading = read(pairs("_label", "_prob", rows))
    assert reading.votes.soft[0, 0].tolist() == pytest.approx([1, 0, 0])
    assert reading.votes.codes[1, 0] == 1
    assert "without a probability" in text(reading)
    assert "below chance" in text(reading)


@pytest.mark.parametrize("rows", ["1,x,.1,y,.2\n2,y,.2,y,.1\n3,z,.1,x,.3\n", "1,x,.9,y,-.8\n2,y,.9,y,.7\n"])
def test_numbers_that_may_mean_something_else_are_not_paired(rows):
    assert "c" not in read(pairs("_label", "_prob", rows)).votes.learners


def test_marks_are_no_probabilities():
    reading = read(pairs("_label", "_score", "1,x,4,y,3\n2,y,5,y,1\n"))
    assert reading.report.layout == "wide"
    assert not reading.report.unused_probabilities


def test_unused_probabilities_are_said_and_found():
    reading = read(
        b"id,a,b,c,a_prob2:x,b_prob\n" + b"".join(b"%d,x,y,x,.5,.25\n%d,y,y,x,.5,.1\n" % (i, i + 50) for i in range(9))
    )
    assert reading.report.unused_probabilities == ("a_prob2:x", "b_prob")
    (finding,) = unused_probabilities(reading.report)
    assert (finding.severity, finding.title) == ("warning", "2 probability columns are unused")
    assert "unused" in " ".join(reading.report.sentences("warning"))


def test_shares_beside_a_learner_are_unused_probabilities_whatever_they_are_called():
    cells = b"".join(b"%d,x,.9,y,.5\n%d,y,.8,y,.75\n" % (i, i + 50) for i in range(9))
    reading = read(b"id,gpt-4o,gpt-4o_sureness,c,elsewhere\n" + cells)
    assert reading.votes.learners == ("gpt-4o", "c")
    assert reading.report.unused_probabilities == ("gpt-4o_sureness",)


def test_columns_left_out_at_request_are_not_called_unused():
    reading = read(pairs("_label", "_prob"), ignore=["g_prob", "c_prob"])
    assert reading.votes.learners == ("g_label", "c_label")
    assert not reading.report.unused_probabilities


BOTH = b"id,g,g:x,g:y,c_verdict,c:x,c:y\n1,x,.9,.1,y,.2,.8\n2,y,.3,.7,x,.6,.4\n"


def test_labels_beside_probabilities_by_class_are_set_aside_and_said():
    reading = read(BOTH)
    assert reading.votes.learners == ("g", "c")
    assert reading.votes.soft[0, 0].tolist() == pytest.approx([0.9, 0.1])
    assert (reading.report.roles["g"], reading.report.roles["c_verdict"]) == ("ignored", "ignored")
    assert "the probabilities of 'g' are read instead" in text(reading)


def test_labels_are_used_where_the_probabilities_are_ignored():
    reading = read(BOTH, ignore=["g:x", "g:y", "c:x", "c:y"])
    assert reading.votes.learners == ("g", "c_verdict")


def test_the_truth_is_never_taken_for_a_verdict():
    reading = read(b"id,a,b,true_label,true_prob\n1,x,y,x,.9\n2,y,y,y,.8\n3,x,x,x,.7\n")
    assert reading.votes.learners == ("a", "b")
    assert reading.report.column("truth") == "true_label"
