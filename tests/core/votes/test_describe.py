"""The facts about votes are those one counts by hand."""

from __future__ import annotations

import numpy as np
import pytest

from deem_core import Votes
from deem_core.votes.describe import accuracy, describe

# Majority vote by hand: a (2 of 3), b (2 of 2), tie of a and b taken by a, none, c (1 of 1), b (3 of 3).
LABELS = [
    ["a", "a", "b", None],
    ["b", "b", None, None],
    ["a", "b", None, None],
    [None, None, None, None],
    [None, "c", None, None],
    ["b", "b", "b", None],
]
LEARNERS = ("ann", "bob", "cy", "mute")


def votes_with(truth: list[str | None] | None = None) -> Votes:
    return Votes.from_labels(LABELS, learners=LEARNERS, truth=truth)


def test_votes_and_rows_are_counted():
    facts = describe(votes_with())
    assert facts.n_votes == 11
    assert facts.coverage == pytest.approx(11 / 24)
    assert facts.n_unanimous == 2
    assert facts.n_tied == 1
    assert facts.n_silent == 1
    assert facts.learner_coverage.tolist() == pytest.approx([4 / 6, 5 / 6, 2 / 6, 0])


def test_classes_are_counted_by_votes_and_by_majority():
    facts = describe(votes_with())
    assert facts.class_votes.tolist() == [3, 7, 1]
    assert facts.class_rows.tolist() == [2, 2, 1]


def test_agreement_is_over_the_votes_cast_and_unknown_for_a_silent_learner():
    np.testing.assert_allclose(describe(votes_with()).learner_agreement, [4 / 4, 4 / 5, 1 / 2, np.nan])


def test_without_truth_there_is_nothing_to_evaluate():
    for truth in (None, [None] * 6):
        facts = describe(votes_with(truth))
        assert facts.n_truth == 0
        assert facts.majority_accuracy is None
        assert facts.learner_accuracy is None


def test_accuracy_is_over_known_truth_and_a_row_without_votes_is_wrong():
    facts = describe(votes_with(["a", "a", "b", "c", None, "b"]))
    assert facts.n_truth == 5
    assert facts.majority_accuracy == pytest.approx((2 + 1 / 2) / 5)  # the third row is a draw with the truth in it
    assert facts.majority_first_class_accuracy == pytest.approx(2 / 5)
    np.testing.assert_allclose(facts.learner_accuracy, [2 / 4, 3 / 4, 1 / 2, np.nan])


def test_labels_that_only_the_truth_knows_count_as_known_and_wrong():
    facts = describe(votes_with(["zebra", "b", None, None, "zebra", "b"]))
    assert facts.n_truth == 4
    assert facts.majority_accuracy == pytest.approx(2 / 4)
    np.testing.assert_allclose(facts.learner_accuracy, [2 / 3, 2 / 4, 1 / 2, np.nan])
    assert len(facts.class_votes) == len(facts.class_rows) == 3


def test_the_truth_changes_nothing_but_the_evaluation():
    without, with_truth = describe(votes_with()).to_dict(), describe(votes_with(["a"] * 6)).to_dict()
    evaluation = {"n_truth", "majority_accuracy", "majority_first_class_accuracy", "learner_accuracy"}
    np.testing.assert_equal(
        {name: value for name, value in with_truth.items() if name not in evaluation},
        {name: value for name, value in without.items() if name not in evaluation},
    )


def test_constant_and_identical_learners_are_named():
    votes = Votes.from_labels(
        [["x", "y", "x", "x"], ["y", "x", "y", "x"]], learners=["one", "two", "three", "always_x"]
    )
    facts = describe(votes)
    assert facts.constant_learners == ("always_x",)
    assert facts.identical_learners == (("one", "three"),)


def test_soft_votes_are_described_by_their_most_probable_classes():
    soft = [[[0.9, 0.1], [0.4, 0.6]], [[0.2, 0.8], [0, 0]]]
    facts = describe(Votes.from_soft(soft, truth=[0, 1]))
    assert facts.n_votes == 3
    assert facts.n_tied == 1
    assert facts.class_votes.tolist() == [1, 2]
    assert facts.majority_accuracy == 0.75
    assert facts.majority_first_class_accuracy == 1
    assert facts.learner_accuracy.tolist() == [1, 0]


def test_as_a_dict_all_facts_are_plain_values():
    facts = describe(votes_with(["a"] * 6))
    plain = facts.to_dict()
    assert plain.keys() == vars(facts).keys()
    assert plain["class_votes"] == [3, 7, 1]
    assert not any(isinstance(value, np.ndarray | np.generic) for value in plain.values())


def test_accuracy_of_labels_without_any_known_truth_is_unknown():
    codes = np.array([0, 1, -1, 2])
    assert accuracy(codes, np.array([0, 0, 0, -1])) == pytest.approx(1 / 3)
    assert np.isnan(accuracy(codes, np.full(4, -1)))
