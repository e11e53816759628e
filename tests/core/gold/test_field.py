"""Field of candidates."""

import numpy as np
import pytest

from deem_core import InputError
from deem_core.auto import make_field
from deem_core.gold import Field
from tests.core.gold.helpers import field_of, gold_of, panel


def test_the_field_knows_neither_truth_nor_gold():
    votes = panel(200)
    with_gold = votes.with_gold(gold_of(votes.truth, np.arange(20)))
    plain, known = make_field(votes.without_truth()), make_field(with_gold)
    assert known.votes.gold is None
    assert known.votes.truth is None
    for name, codes in plain.shared.items():
        np.testing.assert_array_equal(codes, known.shared[name])


def test_rows_are_disputed_where_a_method_or_a_camp_differs():
    codes = np.array([[0, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 0]])
    field = field_of(codes, [0, 0, 1], {"ds": [0, 0, 0]}, camps=(("j0", "j1"), ("j2", "j3")))
    assert field.disputed.tolist() == [True, False, True]


def test_ties_inside_a_camp_go_to_the_start():
    field = field_of([[0, 1], [1, 0]], [1, 0])
    assert field.majority_of(("j0", "j1")).tolist() == [1, 0]


def test_gaps_of_a_learner_are_filled_by_the_start():
    field = field_of([[0, 1], [-1, 0]], [1, 0])
    assert field.learner_codes(0).tolist() == [0, 0]
    assert field.covering == [0, 1]


def test_a_field_survives_its_file(tmp_path):
    field = make_field(panel(200))
    field.save(tmp_path)
    back = Field.load(tmp_path, panel(200))
    assert (back.start, back.camps, back.split) == (field.start, field.camps, field.split)
    for name, codes in field.shared.items():
        np.testing.assert_array_equal(back.shared[name], codes)


def test_a_damaged_or_foreign_field_is_refused_with_a_sentence(tmp_path):
    field = make_field(panel(200))
    field.save(tmp_path)
    with pytest.raises(InputError, match="other votes"):
        Field.load(tmp_path, panel(199))
    (tmp_path / "field.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="damaged"):
        Field.load(tmp_path, panel(200))
