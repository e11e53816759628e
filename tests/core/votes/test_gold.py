"""Gold labels beside votes: used, and therefore never evaluated on."""

import numpy as np
import pandas as pd
import pytest

from deem_core import InputError, Votes
from deem_core.votes import Gold, as_gold
from deem_core.votes.recode import recode

LABELS = [["cat", "dog", "cat"], ["dog", "dog", "dog"], ["cat", "cat", "dog"], ["dog", None, "cat"]]


@pytest.fixture
def votes():
    return Votes.from_labels(LABELS, ids=["a", "b", "c", "d"], truth=["cat", "dog", "dog", "cat"])


def test_truth_of_gold_rows_is_forgotten(votes):
    made = votes.with_gold({"a": "dog", "c": "cat"})
    assert made.truth.tolist() == [-1, 1, -1, 0]
    assert made.gold.codes.tolist() == [1, -1, 0, -1]
    assert made.without_gold().truth.tolist() == [-1, 1, -1, 0]  # it does not come back
    assert votes.truth.tolist() == [0, 1, 1, 0]


def test_truth_is_gone_where_every_row_is_gold(votes):
    assert votes.with_gold(["cat", "dog", "dog", "cat"]).truth is None


def test_truth_never_becomes_gold_by_itself(votes):
    assert votes.gold is None
    assert votes.without_truth().gold is None


@pytest.mark.parametrize(
    "gold",
    [
        {"b": "cat"},
        pd.Series({"b": "cat"}),
        [None, "cat", None, None],
        Gold(np.array([-1, 0, -1, -1], np.int32)),
    ],
)
def test_gold_comes_in_many_forms(votes, gold):
    assert votes.with_gold(gold).gold.codes.tolist() == [-1, 0, -1, -1]


def test_rows_without_ids_are_named_by_position():
    votes = Votes.from_labels(LABELS).with_gold({1: "cat"})
    assert votes.gold.rows.tolist() == [1]


def test_no_gold_label_is_no_gold(votes):
    assert votes.with_gold([None] * 4).gold is None


def test_a_label_nobody_votes_for_is_kept_beside_the_classes(votes):
    made = votes.with_gold({"a": "bird"})
    assert made.n_classes == 2
    assert made.gold.codes[0] == 2
    assert made.gold.only.tolist() == ["bird"]


@pytest.mark.parametrize(
    ("gold", "sentence"),
    [
        ({"x": "cat"}, "no row 'x'"),
        (["cat"], "an entry for each of the 4 rows"),
        (Gold(np.array([5, -1, -1, -1], np.int32)), "codes go from"),
        (Gold(np.array([0, -1], np.int32)), "one entry for each"),
    ],
)
def test_gold_that_does_not_fit_is_refused(votes, gold, sentence):
    with pytest.raises(InputError, match=sentence):
        votes.with_gold(gold)


def test_an_id_of_several_rows_cannot_have_gold():
    votes = Votes.from_labels(LABELS, ids=["a", "a", "c", "d"])
    with pytest.raises(InputError, match="Several rows"):
        votes.with_gold({"a": "cat"})


def test_selected_rows_keep_their_gold(votes):
    made = votes.with_gold({"b": "cat", "d": "dog"})
    assert made.select_rows([3, 0]).gold.codes.tolist() == [1, -1]
    assert made.select_rows(slice(0, 2)).gold.rows.tolist() == [1]


def test_gold_is_part_of_the_content(votes):
    hashes = {
        votes.content_hash,
        votes.with_gold({"a": "cat"}).content_hash,
        votes.with_gold({"a": "dog"}).content_hash,
    }
    assert len(hashes) == 3


def test_gold_follows_votes_into_other_classes(votes):
    made = recode(votes.with_gold({"a": "dog", "b": "cat"}), ("learner_1", "learner_2"), np.array(["dog", "fox"]))
    assert made.votes.gold.codes.tolist() == [0, 2, -1, -1]
    assert made.votes.gold.only.tolist() == ["cat"]


def test_only_asked_rows_with_a_label_count_as_asked():
    gold = Gold(np.array([0, -1, 1], np.int32), asked=np.array([True, True, False]))
    assert gold.asked.tolist() == [True, False, False]
    assert gold.was_asked
    assert not gold.without(np.array([0])).was_asked
    assert as_gold(gold, pd.RangeIndex(3), np.array([0, 1])) is gold
