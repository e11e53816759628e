"""Sweeps on a page: grids, typed lists, and where a click leads."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deem_core.errors import InputError
from deem_core.training.guidance import Numbers, Verdict
from studio.rates import sweeps


def test_a_grid_is_even_on_a_logarithmic_scale_and_has_both_ends():
    assert sweeps.grid(0.01, 100.0, 5) == [0.01, 0.1, 1.0, 10.0, 100.0]


@given(st.floats(1e-6, 50), st.floats(1.5, 1e4), st.integers(2, 20))
def test_a_grid_ascends_and_repeats_nothing(lowest, times, count):
    made = sweeps.grid(lowest, lowest * times, count)
    assert made == sorted(set(made))
    assert 1 <= len(made) <= count
    assert math.isclose(made[0], lowest, rel_tol=0.06)


@pytest.mark.parametrize(("lowest", "highest"), [(1.0, 1.0), (2.0, 1.0), (0.0, 1.0)])
def test_ends_in_the_wrong_order_are_refused(lowest, highest):
    with pytest.raises(InputError, match="lowest rate"):
        sweeps.grid(lowest, highest, 3)


@pytest.mark.parametrize("text", ["0.1, 1 10", "0.1;1;10", " 10\t1,0.1 ", "0.1,,1, 10"])
def test_typed_rates_are_separated_as_people_like(text):
    assert sorted(sweeps.parse_rates(text)) == [0.1, 1.0, 10.0]


@pytest.mark.parametrize("text", ["", "fast", "0.1, fast", "-1", "0", "nan", "inf"])
def test_what_is_not_a_list_of_rates_is_refused(text):
    with pytest.raises(InputError):
        sweeps.parse_rates(text)


def _event(*customdata):
    return {"selection": {"points": [{"customdata": each} for each in customdata]}}


@pytest.mark.parametrize(
    ("event", "rate"),
    [
        (_event(0.5), 0.5),
        (_event([0.5]), 0.5),
        (_event(0.5, 0.1), 0.5),
        (_event(7.0), None),
        (_event("0.5"), None),
        (_event(None), None),
        (_event(), None),
        ({}, None),
        (None, None),
    ],
)
def test_a_clicked_point_names_its_rate(event, rate):
    assert sweeps.clicked_rate(event, [0.1, 0.5]) == rate


def test_the_final_difference_has_the_sign_of_the_drawn_curve():
    falling = np.linspace(3.0, 1.0, 50)
    assert 1.0 < sweeps.final(falling, 0.7) < 1.5
    assert sweeps.final(-falling, 0.7) == -sweeps.final(falling, 0.7)


def test_the_final_difference_counts_what_was_recorded():
    known = np.array([2.0, 1.0, 0.5])
    assert sweeps.final(np.append(known, [math.nan] * 5), 0.7) == sweeps.final(known, 0.7)
    assert math.isnan(sweeps.final(np.full(4, math.nan), 0.7))


def test_thresholds_are_all_explained():
    table = sweeps.thresholds()
    assert len(table) >= 8
    assert table["meaning"].str.len().min() > 10


@pytest.mark.parametrize(
    ("kind", "provisional", "words"),
    [("usable", False, "Usable"), ("class died", True, "A class died so far"), ("open", True, "Open")],
)
def test_the_table_says_which_verdicts_are_provisional(kind, provisional, words):
    verdict = Verdict(kind, 0.5, 1, "Why.", Numbers(), provisional=provisional)
    assert sweeps.look(verdict) == words
    assert words in sweeps.ALL_LOOKS
