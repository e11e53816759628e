import numpy as np
import pandas as pd
import pytest

from deem_core import read
from deem_core.errors import InputError
from deem_core.votes import Votes
from deem_core.votes.coding import UnknownLabelError, as_label_array
from deem_core.votes.recode import MIN_LEARNERS, as_votes, recode, votes_to_learn_from

LEARNERS = ("ann", "bob", "cid")
CLASSES = as_label_array(["cat", "dog", "owl"])


def votes(labels, learners=LEARNERS, **options) -> Votes:
    return Votes.from_labels(np.array(labels, object), learners=learners, **options)


class TestRecode:
    def test_votes_that_fit_stay_as_they_are(self):
        given = votes([["cat", "dog", "owl"], ["owl", "owl", None]], truth=["cat", "owl"])
        recoded = recode(given, LEARNERS, CLASSES)
        assert recoded.votes is given
        assert recoded.sentences() == []

    def test_learners_are_matched_by_name_and_classes_by_label(self):
        given = votes([["owl", "cat", "cat"]], learners=("cid", "dan", "ann"))
        recoded = recode(given, LEARNERS, CLASSES)
        assert recoded.codes.tolist() == [[0, -1, 2]]
        assert recoded.votes.learners == LEARNERS
        assert recoded.votes.classes.tolist() == ["cat", "dog", "owl"]
        assert (recoded.absent, recoded.extra) == (("bob",), ("dan",))
        assert recoded.sentences() == [
            "No votes from bob; treated as missing.",
            "Learners unknown in training were left out: dan.",
        ]

    def test_ids_and_truth_come_along_in_the_terms_of_the_model(self):
        given = votes([["owl", "elk", "cat"], ["cat", "cat", "owl"]], ids=["x", "y"], truth=["owl", "emu"])
        recoded = recode(given, LEARNERS, CLASSES).votes
        assert recoded.ids.tolist() == ["x", "y"]
        assert recoded.truth.tolist() == [2, 3]  # the emu is beyond the three classes: known, and always wrong
        assert recoded.truth_only.tolist() == ["emu"]

    def test_an_unknown_truth_stays_unknown(self):
        given = votes([["owl", "elk", "cat"], ["cat", "cat", "owl"]], truth=[None, "cat"])
        assert recode(given, LEARNERS, CLASSES).votes.truth.tolist() == [-1, 0]

    def test_votes_for_labels_that_the_model_does_not_know_are_counted_and_not_cast(self):
        given = votes([["owl", "elk", "cat"], ["elk", "cat", "gnu"]])
        recoded = recode(given, LEARNERS, CLASSES)
        assert recoded.codes.tolist() == [[2, -1, 0], [-1, 0, -1]]
        assert recoded.unknown == {"elk": 2, "gnu": 1}
        assert recoded.sentences() == ["3 votes for labels unknown in training ('elk', 'gnu') are treated as missing."]

    @pytest.mark.parametrize("kind", [np.array, pd.DataFrame])
    def test_arrays_and_frames_may_hold_unknown_labels_too(self, kind):
        rows = pd.DataFrame([["cat", "cat", "elk"], ["dog", "cat", "cat"]], columns=LEARNERS)
        given = rows if kind is pd.DataFrame else rows.to_numpy(object)
        recoded = recode(given, LEARNERS, CLASSES)
        assert recoded.codes.tolist() == [[0, 0, -1], [1, 0, 0]]
        assert recoded.unknown == {"elk": 1}

    def test_rows_of_a_single_class_can_be_recoded_though_not_fused(self):
        assert recode(np.array([["dog", "dog", "dog"]], object), LEARNERS, CLASSES).codes.tolist() == [[1, 1, 1]]

    def test_other_mistakes_in_an_array_are_not_taken_for_an_unknown_label(self):
        with pytest.raises(InputError, match="not a whole number"):
            recode(np.array([[0.5, 1, 1]]), LEARNERS, np.array([0, 1]))

    def test_arrays_need_the_number_of_learners_of_the_model(self):
        with pytest.raises(InputError, match="knows 3 learners; these votes have 2"):
            recode(np.array([["cat", "dog"]], object), LEARNERS, CLASSES)

    def test_votes_without_any_learner_of_the_model_are_refused(self):
        with pytest.raises(InputError, match="None of the model's learners"):
            recode(votes([["cat", "dog"]], learners=("x", "y")), LEARNERS, CLASSES)

    @pytest.mark.parametrize("learners", [LEARNERS, LEARNERS[::-1]])
    def test_models_read_labels_and_no_probabilities(self, learners):
        soft = Votes.from_soft(np.full((2, 3, 3), [0.5, 0.3, 0.2]), classes=CLASSES, learners=LEARNERS)
        recoded = recode(soft, learners, CLASSES).votes
        assert recoded.soft is None
        assert recoded.codes.tolist() == soft.codes.tolist()


def test_a_label_outside_the_classes_has_an_error_of_its_own():
    with pytest.raises(UnknownLabelError, match="'x' in row 1 of learner 2"):
        Votes.from_labels([["a", "x"]], classes=["a", "b"])


def test_arrays_of_three_dimensions_are_probabilities():
    assert as_votes(np.full((2, 3, 2), 0.5)).soft is not None
    assert as_votes(np.array([[0, 1], [1, 1]])).soft is None


def test_fewer_than_three_learners_are_accepted_only_when_asked_for():
    few = votes([["cat", "dog"]], learners=("x", "y"), truth=["cat"])
    assert few.n_learners < MIN_LEARNERS
    with pytest.raises(InputError, match="2 learners are too few"):
        votes_to_learn_from(few)
    assert votes_to_learn_from(few, allow_few=True).truth is None


def test_votes_that_nobody_cast_teach_nothing():
    silent = Votes(np.full((2, 3), -1), CLASSES, LEARNERS)
    with pytest.raises(InputError, match="every vote is missing"):
        votes_to_learn_from(silent)


def test_votes_to_learn_from_have_no_truth():
    given = votes([["cat", "dog", "owl"], ["owl", "owl", None]], truth=["cat", "owl"])
    assert given.truth is not None
    assert votes_to_learn_from(given).truth is None


def test_learners_whose_labels_are_unknown_are_told_from_absent_ones():
    names = np.array(["ham", "spam"], object)
    votes = Votes.from_labels([["HAM", "spam", "x"], ["SPAM", "ham", "y"]], learners=["ann", "bob", "eve"])
    found = recode(votes, ("ann", "bob", "cid", "eve"), names)
    assert found.unread == {"ann": ("HAM", "SPAM"), "eve": ("x", "y")}
    assert found.absent == ("cid",)
    assert found.spelled
    said = " ".join(found.sentences())
    assert "None of ann's labels is known: HAM, SPAM." in said
    assert "merge the spellings" in said
    assert not recode(votes.select_learners(["bob", "eve"]), ("bob", "eve"), names).spelled


def test_answers_in_both_orders_to_a_model_of_one_vote_are_told_apart_from_strangers():
    names = np.array(["A", "B"], object)
    rows = [["A", "B", "A", "B"], ["B", "B", "A", "A"]]
    found = recode(
        Votes.from_labels(rows, learners=["gpt/ab", "gpt/ba", "ann", "kim/ab"]), ("gpt", "kim", "ann"), names
    )
    (said,) = [sentence for sentence in found.sentences() if "--one-voice" in sentence]
    assert said.startswith("The model was trained with one vote of gpt, and")
    alone = recode(Votes.from_labels(rows, learners=["a/ab", "a/ba", "ann", "bob"]), ("ann", "bob"), names)
    assert not any("--one-voice" in sentence for sentence in alone.sentences())


def test_new_rows_are_matched_by_merged_spellings():
    file = b"ann,bob,eve\n" + b"HAM,ham,Ham\nSPAM,spam,ham\n" * 3
    names = np.array(["spam", "ham"], object)
    found = recode(read(file, classes=["spam", "ham"], merge_spellings=True).votes, ("ann", "bob", "eve"), names)
    assert not found.unread
    assert not found.unknown
    assert found.codes[:2].tolist() == [[1, 1, 1], [0, 0, 1]]
