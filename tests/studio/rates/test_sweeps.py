"""Sweeps on a page: grids, typed lists, and where a click leads."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deem_core.errors import InputError
from deem_core.training.guidance import EXPLOSION, RISE, Numbers, Verdict
from studio import state
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


@pytest.mark.parametrize(("value", "rate"), [(0.5, 0.5), (7.0, None), ("0.5", None), (None, None), ([0.5], None)])
def test_a_clicked_point_chooses_its_rate_if_the_sweep_has_it(monkeypatch, value, rate):
    chosen = []
    monkeypatch.setattr(sweeps, "choose", chosen.append)
    sweeps.take_point(value, [0.1, 0.5])
    assert chosen == ([] if rate is None else [rate])


@pytest.mark.parametrize(("rows", "chosen"), [([0], [0.1]), ([1], []), ([], [None])])
def test_a_row_that_is_unmarked_gives_the_choice_back_to_the_recommendation(monkeypatch, rows, chosen):
    found = []
    held = {"table": {"selection": {"rows": rows}}}
    monkeypatch.setattr(sweeps, "choose", found.append)
    monkeypatch.setattr(state, "value", held.get)
    monkeypatch.setattr(state, "set_value", held.__setitem__)
    sweeps.take_row("table", [0.1, 0.5], 0.5)
    assert found == chosen
    assert sweeps.table_turns() == (not rows)  # a fresh table marks what is chosen now


def exploded(kind="usable", *, peak=1.0, rise=0.0):
    return Verdict(kind, 0.5, 1, "", Numbers(peak=peak, rise_positive=rise, rise_negative=0.0))


@pytest.mark.parametrize(
    ("verdict", "hides"),
    [
        (exploded(), False),
        (exploded("class died"), False),
        (exploded("open", peak=EXPLOSION + 0.1), True),  # what may not be told yet spoils the picture all the same
        (exploded("open", rise=RISE + 0.1), True),
        (exploded("not finite", peak=math.nan), True),
    ],
)
def test_curves_that_dwarf_the_others_are_known_before_their_verdict(verdict, hides):
    made = SimpleNamespace(by_depth=False, rates=np.array([0.5]), verdicts=(verdict,))
    assert sweeps.exploding(made) == ([0.5] if hides else [])


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
    [("usable", False, "Usable"), ("class died", True, "Class lost so far"), ("open", True, "Too early")],
)
def test_the_table_says_which_verdicts_are_provisional(kind, provisional, words):
    verdict = Verdict(kind, 0.5, 1, "Why.", Numbers(), provisional=provisional)
    assert sweeps.look(verdict) == words
    assert words in sweeps.ALL_LOOKS
