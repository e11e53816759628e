"""Conditions on an answer, by which pipelines stop."""

import numpy as np
import pytest

from deem_core import Alarm, Answer, InputError, Votes, check, fuse, simulate
from deem_core.alarm import Kind
from deem_core.answers import conditions
from deem_core.answers.conditions import CONDITIONS, DEFAULT, Evidence, look, wishes_of


@pytest.fixture(scope="module")
def answer():
    votes = simulate("condind", 400, 0).votes
    codes = votes.codes.copy()
    codes[:40] = -1
    return fuse(Votes(codes, votes.classes, votes.learners, truth=votes.truth), "ds")


def found(answer, *wishes, alarms=(), **more):
    return look(Evidence(answer, alarms, **more), wishes_of(wishes)).results


def test_every_alarm_has_its_condition():
    alarms = [Alarm(kind, "Title", f"About {kind}.", "Do it.") for kind in Kind.__args__ if kind != "silent rows"]
    votes = Votes.from_labels([["a", "a", "b"], ["b", "b", "a"]])
    plain = Answer(votes, [[1, 0], [0, 1]])
    unlimited = [name for name, condition in CONDITIONS.items() if not condition.side]
    assert len(unlimited) == len(alarms)
    for result in found(plain, *unlimited, alarms=tuple(alarms)):
        assert result.failed, result.name
        assert result.advice == "Do it."
    assert not any(result.failed for result in found(plain, *unlimited))
    assert set(DEFAULT) <= set(unlimited)


def test_a_label_for_all_rows_is_a_collapse_unless_nearly_all_votes_say_so():
    votes = Votes.from_labels([["a", "a", "b"], ["b", "b", "a"]] * 10)
    result = found(Answer(votes, [[0.9, 0.1]] * 20), "collapse")[0]
    assert result.failed
    assert "All 20 rows with votes got the label a, which the majority vote gives to 50.0%." in result.sentence
    agreed = Votes.from_labels([["a", "a", "b"]] * 30 + [["b", "b", "a"]])
    assert not found(Answer(agreed, [[0.9, 0.1]] * 31), "collapse")[0].failed


def test_figures_fail_beyond_their_limit_and_pass_at_it(answer):
    shares = {
        "silent": 0.1,
        "below-review": float(answer.review_rows(0.8).mean()),
        "changed": 1 - answer.summary().agreement,
        "below-coverage": answer.votes.coverage,
        "below-accuracy": float((answer.codes == answer.votes.truth).mean()),
    }
    for name, value in shares.items():
        worse = 1e-9 if CONDITIONS[name].side == "least" else -1e-9
        at, beyond = found(answer, f"{name}={value!r}")[0], found(answer, f"{name}={value + worse!r}")[0]
        assert at.value == pytest.approx(value), name
        assert (at.failed, beyond.failed) == (False, True), name
    assert found(answer, "below-review=0.5", review_below=1.0)[0].failed
    for name in ("below-alpha", "below-panel"):
        value = found(answer, f"{name}=0")[0].value
        assert found(answer, f"{name}={min(value * 1.01, 1) if name == 'below-alpha' else value * 1.01}")[0].failed


def test_gold_and_truth_are_asked_for_where_they_are_missing(answer):
    bare = fuse(answer.votes.without_truth(), "mv")
    for name, words in (("below-gold", "--gold-file"), ("below-accuracy", "--truth-file")):
        with pytest.raises(InputError, match=words):
            found(bare, f"{name}=0.9")
    votes = simulate("condind", 300, 1).votes
    known = {int(row): votes.classes[votes.truth[row]] for row in range(0, 300, 5)}
    judged = check(votes.without_truth(), "below-gold=0.2", gold=known, random_state=0)
    assert judged.passed
    assert "90% interval" in judged.results[0].sentence
    assert not check(judged.answer, "below-gold=1").passed or judged.results[0].value == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("colapse", "no condition 'colapse'"),
        ("collapse=1", "takes no number"),
        ("below-review", "between 0 and 1"),
        ("below-review=20", "between 0 and 1"),
        ("below-panel=-1", "0 or more"),
        ("below-panel=inf", "0 or more"),
        ("silent=nan", "between 0 and 1"),
        ("camps,camps", "given twice"),
        (" , ", "no condition to check"),
    ],
)
def test_wrong_conditions_get_a_sentence(text, words):
    with pytest.raises(InputError, match=words):
        wishes_of(text)


def test_conditions_are_written_in_several_ways():
    wishes = wishes_of(["Capture, dead_class", "below-alpha=-0.5"])
    assert [wish.text for wish in wishes] == ["captured", "dead-class", "below-alpha=-0.5"]
    assert [wish.condition.name for wish in wishes_of()] == list(conditions.DEFAULT)


def test_a_training_that_failed_is_noticed():
    votes = Votes(np.random.default_rng(0).integers(0, 3, (60, 4)), np.arange(3), tuple("abcd"))
    checked = check(
        votes, "collapse,fallback", method="deem", restarts=2, updates=40, learning_rate=50.0, random_state=0
    )
    assert not checked.passed
    assert "fallback" in {alarm.kind for alarm in checked.alarms}
