"""Guards: dead classes, overturned majorities, files with little to gain."""

from __future__ import annotations

import numpy as np
import pytest

from deem_core.answers.guards import Overturned, little_to_gain, overturned_majorities, rarest_class
from deem_core.votes import Votes


def panel(codes, classes=("ham", "spam")) -> Votes:
    codes = np.asarray(codes)
    return Votes(codes=codes, classes=np.array(classes, object), learners=[f"l{j}" for j in range(codes.shape[1])])


# ---------------------------------------------------------------------- dead class


def test_a_class_with_votes_and_no_rows_is_dead():
    votes = panel([[0, 1, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 1, 0, 1]])
    found = rarest_class(votes, np.zeros(4, int))
    assert found.label == "spam"
    assert found.vote_share == 0.5
    assert found.ratio == 0
    assert found.dead()
    assert found.sentence("Dawid-Skene") == "Dawid-Skene gives no row to spam, which has 50% of the votes."


def test_labels_that_follow_the_votes_kill_nothing():
    votes = panel([[0, 0, 1, 0], [1, 1, 0, 1]])
    found = rarest_class(votes, votes.majority_vote.codes)
    assert found.ratio == 1
    assert not found.dead()


def test_the_limit_of_one_coin_is_higher():
    votes = panel(np.tile([0, 1], (100, 1)))
    codes = np.zeros(100, int)
    codes[:10] = 1  # a tenth of the rows for half of the votes
    found = rarest_class(votes, codes)
    assert found.ratio == pytest.approx(0.2)
    assert not found.dead()
    assert found.dead(limit=0.25)


def test_a_class_that_few_vote_for_does_not_count():
    codes = np.zeros((100, 2), int)
    codes[0, 0] = 1  # half a per cent of the votes
    assert not rarest_class(panel(codes), np.zeros(100, int)).dead()


def test_in_a_few_rows_a_class_is_missing_by_chance():
    assert not rarest_class(panel([[0, 1, 1]]), np.array([1])).dead()


def test_with_many_classes_half_an_even_share_counts():
    codes = np.arange(40)[:, None].repeat(3, axis=1) % 20  # each class has 5% of the votes
    votes = panel(codes, classes=[f"c{k}" for k in range(20)])
    labels = np.where(codes[:, 0] == 7, 8, codes[:, 0])
    assert rarest_class(votes, labels).label == "c7"
    codes[:, 1:] = 0  # now a third of that, which is less than 1/40 but for class 0
    assert rarest_class(panel(codes, classes=votes.classes), labels).label == "c0"


def test_rows_without_votes_do_not_count():
    votes = panel([[0, 1], [1, 0], [-1, -1], [-1, -1]])
    found = rarest_class(votes, np.array([0, 1, -1, -1]))
    assert found.n_rows == 2
    assert found.ratio == 1
    assert rarest_class(panel([[-1, -1]]), np.array([-1])) is None


# ---------------------------------------------------------------------- overturned majorities


def test_only_clear_majorities_are_overturned():
    votes = panel(
        [
            [0, 0, 0, 1],  # ¾ of 4: clear
            [0, 0, 0, -1],  # three votes are too few
            [0, 0, 1, 1],  # a tie
            [0, 0, 0, 0],  # clear, and kept
        ]
    )
    found = overturned_majorities(votes, np.array([1, 1, 1, 0]))
    assert found == Overturned(rows=1, n_rows=4)
    assert found.share == 0.25


def test_three_fifths_are_no_clear_majority():
    assert overturned_majorities(panel([[0, 0, 0, 1, 1]]), np.array([1])).rows == 0


def test_rows_without_a_label_overturn_nothing():
    assert overturned_majorities(panel([[0, 0, 0, 0]]), np.array([-1])).rows == 0


def test_overturning_is_strong_unless_the_crowd_is_independent():
    many, few = Overturned(2, 100), Overturned(1, 100)
    assert many.strong(0.3)
    assert many.strong(None)  # unknown counts as dependent
    assert not many.strong(0.2)
    assert not few.strong(0.3)


# ---------------------------------------------------------------------- little to gain


def test_two_classes_many_votes_and_dependence_leave_little_to_gain():
    crowded = panel(np.zeros((5, 8), int))
    assert little_to_gain(crowded, 0.1)
    assert not little_to_gain(crowded, 0.09)
    assert not little_to_gain(crowded, None)
    assert not little_to_gain(panel(np.zeros((5, 7), int)), 0.1)
    assert not little_to_gain(panel(np.zeros((5, 8), int), classes=("a", "b", "c")), 0.1)
