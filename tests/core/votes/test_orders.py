"""Judges asked in both orders: their position bias, and one vote of two answers."""

import numpy as np
import pytest

from deem_core import InputError, Votes
from deem_core.votes.intervals import exact
from deem_core.votes.orders import find_pairs, one_voice, position_bias, swapped

NAMES = ("gpt/ab", "gpt/ba", "other", "third")


def votes(*rows, learners=NAMES):
    return Votes.from_labels([[cell or None for cell in row] for row in rows], learners=learners)


ROWS = [
    ("A", "A", "A", "B"),  # agrees
    ("A", "B", "A", "B"),  # what came first, both times
    ("B", "A", "A", "B"),  # what came second
    ("A", "tie", "A", "B"),  # leans to the first
    ("", "B", "B", "B"),  # one order only
    ("tie", "tie", "B", "B"),
    ("", "", "A", "A"),
]


@pytest.mark.parametrize(
    ("ab", "ba"),
    [
        ("j/ab", "j/ba"),
        ("j_ab", "j_ba"),
        ("j (AB)", "j (BA)"),
        ("j-AB", "j-BA"),
        ("j.ab", "j.ba"),
        ("j AB", "j BA"),
        ("j[ab]", "j[ba]"),
    ],
)
def test_pairs_are_told_by_their_names(ab, ba):
    assert [(pair.judge, pair.ab, pair.ba) for pair in find_pairs(["x", ba, ab])] == [("j", ab, ba)]


@pytest.mark.parametrize("names", [("crab", "crba"), ("j/ab", "k/ba"), ("j/ab",), ("j", "j/ab", "j/ba"), ("ab", "ba")])
def test_other_names_are_no_pair(names):
    assert find_pairs(names) == ()


def test_two_answers_are_one_vote_where_they_agree_and_none_where_they_contradict():
    (bias,), made = position_bias(votes(*ROWS)), one_voice(votes(*ROWS))
    assert made.learners == ("gpt", "other", "third")
    labels = np.array([*made.classes.tolist(), None], object)[made.codes[:, 0]]
    assert labels.tolist() == ["A", None, None, None, "B", "tie", None]
    assert (bias.both, bias.contradicted, bias.single) == (5, 3, 1)
    assert (bias.towards_first, bias.towards_second) == (2, 1)
    assert bias.interval == tuple(exact(3, 5))
    assert (bias.share, bias.first_share, bias.direction) == (3 / 5, 2 / 3, "neither")


def test_the_direction_is_said_where_the_interval_allows_it():
    first = position_bias(votes(*[ROWS[1]] * 8, ROWS[0]))[0]
    second = position_bias(votes(*[ROWS[2]] * 8, ROWS[0]))[0]
    assert (first.direction, second.direction) == ("first", "second")
    nothing = position_bias(votes(("A", "", "B", "A"), ("", "B", "A", "B")))[0]
    assert nothing.to_dict()["share"] is None
    assert nothing.direction == "neither"


def test_labels_by_position_are_swapped_in_the_order_ba_only():
    by_position = [(ab, {"A": "B", "B": "A"}.get(ba, ba), *rest) for ab, ba, *rest in ROWS]
    turned = swapped(votes(*by_position))
    assert turned.codes.tolist() == votes(*ROWS).codes.tolist()
    with pytest.raises(InputError, match="nothing to swap"):
        swapped(votes(*ROWS, learners=("a", "b", "c", "d")))
    with pytest.raises(InputError, match=r"two of them name the answers.*'good', 'poor'"):
        swapped(votes(("good", "poor", "good", "poor")))


def test_probabilities_of_two_answers_are_their_mean_where_they_agree():
    soft = np.array(
        [[[0.9, 0.1], [0.7, 0.3], [0.5, 0.5]], [[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]], [[0, 0], [0.2, 0.8], [0.5, 0.5]]]
    )
    given = Votes.from_soft(soft, classes=["A", "B"], learners=["j/ab", "j/ba", "k"])
    (bias,), made = position_bias(given), one_voice(given)
    np.testing.assert_allclose(made.soft[:, 0], [[0.8, 0.2], [0, 0], [0.2, 0.8]], atol=1e-6)
    assert made.codes[:, 0].tolist() == [0, -1, 1]
    assert bias.contradicted == 1
    turned = swapped(given)
    np.testing.assert_allclose(turned.soft[0, 1], [0.3, 0.7], atol=1e-6)
    assert turned.codes[0].tolist()[:2] == [0, 1]
