"""Verdicts on hand-made curves: what the paper's rules say, whatever the scale of the energies."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deem_core.errors import InputError
from deem_core.model.records import Record
from deem_core.training import guidance
from deem_core.training.guidance import Shown, judge_curves, judge_restarts, recommend, recommend_depth, smooth

T = 65
TIME = np.linspace(0, 1, T)


def dip(speed, depth=1.0, floor=0.0):
    """Return a difference that starts at −0.6, dips to −depth and comes back to −floor, sooner at a larger speed."""
    falling = np.exp(-60 * speed * TIME)
    back = np.exp(-6 * speed * TIME)
    return -(floor + (depth - floor) * back) + (depth - 0.6) * falling


def shown(differences, ratios=None, rates=None, rise=None, failures=None):
    """Return curves with these differences; the data's energy falls a little, or rises by ``rise`` at the end."""
    difference = np.array(differences, float)
    rises = np.zeros(len(difference)) if rise is None else np.array(rise, float)
    positive = -20 - 0.5 * TIME + np.outer(rises, TIME)
    rates = 0.1 * 2.0 ** np.arange(len(difference)) if rates is None else np.array(rates, float)
    return Shown(
        rates,
        positive + 0 * difference,
        positive - difference,
        None if ratios is None else np.array(ratios, float),
        failures=failures or {},
    )


FLAT = np.full(T, -0.05)
SLOW, GOOD, QUICK = dip(0.02), dip(1.0), dip(3.0)
EXPLODING = np.where(TIME < 0.5, GOOD, GOOD - 8 * (TIME - 0.5))
RELAPSING = np.where(TIME < 0.6, GOOD, GOOD - 3 * (TIME - 0.6))


def kinds(curves, **options):
    return [verdict.kind for verdict in judge_curves(curves, **options)]


def test_every_kind_of_curve_gets_its_verdict():
    curves = shown(
        [FLAT, SLOW, GOOD, QUICK, RELAPSING, EXPLODING, GOOD, GOOD, np.where(TIME < 0.3, GOOD, np.nan)],
        ratios=[1, 1, 1, 1, 1, 1, 1, 0.1, 1],
        rise=[0, 0, 0, 0, 0, 0, 30, 0, 0],
        failures={8: "the energy was no longer finite at update 100"},
    )
    assert kinds(curves) == [
        "too small",
        "not settled",
        "usable",
        "usable",
        "exploding difference",
        "exploding difference",
        "rising energy",
        "class died",
        "not finite",
    ]


def test_every_verdict_has_a_sentence_and_its_numbers():
    for verdict in judge_curves(shown([FLAT, SLOW, GOOD, EXPLODING])):
        assert verdict.reason.endswith(".")
        assert verdict.reason[0].isupper()
        assert verdict.numbers.records == T
        assert verdict.numbers.margin > 0


@pytest.mark.parametrize("smoothing", [0.0, 0.7, 0.9])
def test_verdicts_hold_under_the_smoothing_of_the_paper(smoothing):
    assert kinds(shown([FLAT, GOOD, QUICK]), smoothing=smoothing)[1:] == ["usable", "usable"]


@settings(deadline=None, max_examples=30)
@given(st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
def test_verdicts_do_not_depend_on_the_scale_of_the_energies_or_a_shift_of_all(scale, shift):
    made = shown([FLAT, SLOW, GOOD, QUICK, EXPLODING], rise=[0, 0, 0, 30, 0])
    other = Shown(made.rates, scale * made.positive + shift, scale * made.negative + shift)
    assert kinds(other) == kinds(made)
    assert recommend(judge_curves(other))[1].index == recommend(judge_curves(made))[1].index


def test_mirrored_curves_get_the_inverse_of_the_guidelines():
    curves = [FLAT, SLOW, GOOD, EXPLODING]
    upright, mirrored = judge_curves(shown(curves)), judge_curves(shown([-curve for curve in curves]))
    assert [verdict.kind for verdict in mirrored] == [verdict.kind for verdict in upright]
    assert mirrored[0].numbers.mirrored
    assert not upright[0].numbers.mirrored


def test_the_smallest_usable_rate_from_the_floor_on_is_recommended():
    made = shown([FLAT, SLOW, GOOD, GOOD, QUICK, QUICK, EXPLODING], rates=[0.06, 0.12, 0.25, 0.5, 1, 2, 4])
    verdicts, chosen = recommend(judge_curves(made), least=0.4)
    assert (chosen.kind, chosen.learning_rate, chosen.index) == ("recommended", 0.5, 3)
    assert [verdict.kind for verdict in verdicts].count("recommended") == 1
    assert verdicts[3].kind == "recommended"
    assert "from 0.4 on" in chosen.why
    assert recommend(judge_curves(made))[1].learning_rate == 0.25


def test_the_largest_usable_rate_is_taken_if_all_lie_below_the_floor():
    made = shown([SLOW, GOOD, QUICK], rates=[0.1, 0.5, 1])
    assert recommend(judge_curves(made), least=0.5)[1].learning_rate == 0.5
    chosen = recommend(judge_curves(made), least=3)[1]
    assert chosen.learning_rate == 1
    assert "below 3" in chosen.why


def test_rates_above_the_first_that_fails_are_not_trusted():
    made = shown([GOOD, GOOD, EXPLODING, GOOD], rates=[0.1, 0.5, 4, 8])
    assert recommend(judge_curves(made), least=1)[1].learning_rate == 0.5


def test_where_nothing_settles_the_best_of_the_rest_is_named_with_what_to_try():
    chosen = recommend(judge_curves(shown([dip(0.03), dip(0.05)])))[1]
    assert (chosen.kind, chosen.index) == ("best available", 1)
    assert "above" in chosen.to_try


def test_no_safe_rate_is_said_and_never_guessed():
    verdicts, chosen = recommend(judge_curves(shown([GOOD, GOOD], ratios=[0.0, 0.1])))
    assert (chosen.kind, chosen.index, chosen.learning_rate) == ("no rate is safe", None, None)
    assert "0.1" in chosen.to_try
    assert all(verdict.rejected for verdict in verdicts)


def test_one_rate_alone_can_be_judged():
    assert recommend(judge_curves(shown([GOOD])))[1].kind == "recommended"
    assert recommend(judge_curves(shown([GOOD], ratios=[0.0])))[1].kind == "no rate is safe"


@pytest.mark.parametrize("records", [0, 1, 3])
def test_curves_that_have_hardly_begun_are_not_settled(records):
    partial = [np.where(np.arange(T) < records, GOOD, np.nan)] * 2
    assert kinds(shown(partial)) == ["not settled"] * 2
    assert recommend(judge_curves(shown(partial)))[1].kind == ("best available" if records else "no rate is safe")


def test_partial_curves_are_judged_by_what_they_have():
    assert kinds(shown([np.where(np.arange(T) < 50, curve, np.nan) for curve in (GOOD, QUICK)])) == ["usable"] * 2


def test_curves_that_never_move_do_not_divide_by_zero():
    assert kinds(shown([np.zeros(T)])) == ["too small"]


def test_deaths_at_most_rates_without_rising_energy_are_blamed_on_the_start():
    assert guidance.unlucky_start(judge_curves(shown([GOOD] * 3, ratios=[0, 0.1, 1])))
    assert not guidance.unlucky_start(judge_curves(shown([GOOD] * 3, ratios=[1, 1, 0])))
    assert not guidance.unlucky_start(judge_curves(shown([GOOD] * 3, ratios=[1, 0, 0], rise=[0, 50, 50])))


def test_smoothing_is_an_exponential_average_and_checked():
    assert smooth(np.array([[1.0, 0.0, 0.0]]), 0.5).tolist() == [[1.0, 0.5, 0.25]]
    assert np.isnan(smooth(np.array([[1.0, np.nan]]), 0.5)[0, 1])
    with pytest.raises(InputError, match="smoothing is 1"):
        smooth(np.zeros((1, 3)), 1)


def test_curves_of_unequal_shape_are_refused():
    with pytest.raises(InputError, match="need shape"):
        Shown(np.ones(2), np.zeros((1, 5)), np.zeros((1, 5)))


# ---------------------------------------------------------------------- depths


def depth_verdicts(ratios):
    made = shown([GOOD] * len(ratios), ratios=ratios, rates=np.full(len(ratios), 0.5))
    made = Shown(made.rates, made.positive, made.negative, made.share_ratio, np.arange(len(ratios)))
    return judge_curves(made)


@pytest.mark.parametrize(
    ("dependence", "expected"), [([0.4, 0.2, 0.19], 1), ([0.4, 0.2, 0.1], 2), ([0.4, 0.2, np.nan], 1)]
)
def test_a_further_layer_must_take_away_dependence(dependence, expected):
    verdicts, chosen = recommend_depth(depth_verdicts([1, 1, 1]), np.array(dependence))
    assert chosen.n_layers == expected
    assert verdicts[expected].kind == "recommended"
    assert all("dependence" in verdict.reason for verdict in verdicts)


def test_a_depth_that_kills_classes_is_not_taken():
    verdicts, chosen = recommend_depth(depth_verdicts([1, 0.1, 0.1]), np.array([0.4, 0.0, 0.0]))
    assert chosen.n_layers == 0
    assert [verdict.kind for verdict in verdicts] == ["recommended", "class died", "class died"]
    assert recommend_depth(depth_verdicts([0, 0]), np.zeros(2))[1].kind == "no rate is safe"


# ---------------------------------------------------------------------- restarts


def records(restart, difference):
    names = ("epoch", "energy_positive", "energy_negative", "energy_difference", "acceptance", "moved", "seconds")
    return [
        Record(
            restart=restart,
            update=t,
            positive=-20.0,
            negative=-20.0 - float(value),
            difference=float(value),
            shares=np.ones(2) / 2,
            **dict.fromkeys(names, 0.0),
        )
        for t, value in enumerate(difference)
    ]


def test_unstable_restarts_are_named():
    history = [*records(0, GOOD), *records(1, EXPLODING), *records(2, GOOD[:40]), *records(3, [*GOOD[:9], np.nan])]
    judged = judge_restarts(history, learning_rate=0.5)
    assert judged.unstable == (1, 3)
    assert "2 of 4 restarts" in judged.sentence
    assert "2 (exploding difference)" in judged.sentence
    assert judged.verdicts[3].kind == "not finite"
    assert judge_restarts(records(0, GOOD) + records(1, GOOD), share_ratios=[1, 0.2]).unstable == (1,)


def test_restarts_of_two_trainings_are_not_taken_for_one():
    judged = judge_restarts([*records(0, GOOD), *records(0, GOOD)])
    assert judged.restarts == (0, 0)
    assert [verdict.numbers.records for verdict in judged.verdicts] == [T, T]


def test_steady_restarts_and_no_restarts_are_said():
    assert "all 2 restarts are steady" in judge_restarts(records(0, GOOD) + records(4, QUICK)).sentence
    assert judge_restarts([]).verdicts == ()
