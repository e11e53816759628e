"""Verdicts on hand-made curves: what the paper's rules say, whatever the scale of the energies."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deem_core.errors import InputError
from deem_core.model.records import Record
from deem_core.training import guidance
from deem_core.training.guidance import (
    Numbers,
    Shown,
    judge_curves,
    judge_restarts,
    recommend,
    recommend_depth,
    smooth,
)
from deem_core.training.guidance.judge import end_noise, rise_words

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


def test_a_rate_that_is_recommended_before_it_settles_is_not_called_unsettled_beside_its_star():
    verdicts, chosen = recommend(judge_curves(shown([GOOD, SLOW, GOOD], rates=[0.2, 1, 8])), 0.5)
    recovered = f"recovered only {max(verdicts[1].numbers.recovery, 0):.0%}"
    assert verdicts[1].kind == "recommended"
    assert recovered in verdicts[1].reason
    assert "not settled" not in verdicts[1].reason
    assert f"Its gap {recovered}, which does not rule it out." in chosen.why
    settled = recommend(judge_curves(shown([GOOD, GOOD], rates=[0.2, 1])), 0.5)[1]
    assert "recovered only" not in settled.why


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
    assert recommend(judge_curves(other), 0.2)[1].index == recommend(judge_curves(made), 0.2)[1].index


def test_mirrored_curves_get_the_inverse_of_the_guidelines():
    curves = [FLAT, SLOW, GOOD, EXPLODING]
    upright, mirrored = judge_curves(shown(curves)), judge_curves(shown([-curve for curve in curves]))
    assert [verdict.kind for verdict in mirrored] == [verdict.kind for verdict in upright]
    assert mirrored[0].numbers.mirrored
    assert not upright[0].numbers.mirrored
    assert "The gap dipped" in upright[2].reason
    assert "The gap started high" in mirrored[2].reason


def test_twice_the_default_rate_is_recommended_if_nothing_speaks_against_it():
    made = shown([FLAT, SLOW, GOOD, GOOD, QUICK, QUICK, EXPLODING], rates=[0.06, 0.12, 0.25, 0.5, 1, 2, 4])
    verdicts, chosen = recommend(judge_curves(made), 0.5)
    assert (chosen.kind, chosen.learning_rate, chosen.index) == ("recommended", 1, 4)
    assert [verdict.kind for verdict in verdicts].count("recommended") == 1
    assert verdicts[4].kind == "recommended"
    assert chosen.why.startswith("Use 1. It is twice the default rate of 0.5: ")
    assert recommend(judge_curves(made), 0.06)[1].learning_rate == 0.12


@pytest.mark.parametrize(
    ("curves", "ratios", "expected"),
    [
        ([GOOD, GOOD, EXPLODING, GOOD], [1, 1, 1, 1], 0.5),  # of two equally near the smaller
        ([GOOD, GOOD, GOOD, GOOD], [1, 0, 0, 1], 2),
        ([GOOD, GOOD, FLAT, QUICK], [1, 0, 1, 1], 2),  # one that hardly moved is passed over
        ([GOOD, GOOD, SLOW, QUICK], [1, 1, 1, 1], 1),  # one on its way back is not
    ],
)
def test_the_nearest_rate_is_recommended_where_something_speaks_against_it(curves, ratios, expected):
    chosen = recommend(judge_curves(shown(curves, ratios=ratios, rates=[0.25, 0.5, 1, 2])), 0.5)[1]
    assert (chosen.kind, chosen.learning_rate) == ("recommended", expected)
    assert ("nearest to twice the default rate" in chosen.why) == (expected != 1)


def test_where_something_speaks_against_all_rates_the_best_of_the_rest_is_named_with_what_to_try():
    early = [np.where(np.arange(T) < 6, curve, np.nan) for curve in (dip(3.0), dip(6.0))]
    chosen = recommend(judge_curves(shown(early)), 0.2)[1]
    assert (chosen.kind, chosen.index) == ("best available", 1)
    assert "above" in chosen.to_try


def test_no_safe_rate_is_said_and_never_guessed():
    verdicts, chosen = recommend(judge_curves(shown([GOOD, GOOD], ratios=[0.0, 0.1])), 0.2)
    assert (chosen.kind, chosen.index, chosen.learning_rate) == ("no rate is safe", None, None)
    assert "0.1" in chosen.to_try
    assert all(verdict.rejected for verdict in verdicts)


def test_one_rate_alone_can_be_judged():
    assert recommend(judge_curves(shown([GOOD])), 0.2)[1].kind == "recommended"
    assert recommend(judge_curves(shown([GOOD], ratios=[0.0])), 0.2)[1].kind == "no rate is safe"


@pytest.mark.parametrize("records", [0, 1, 3])
def test_curves_that_have_hardly_begun_are_not_settled(records):
    partial = [np.where(np.arange(T) < records, GOOD, np.nan)] * 2
    assert kinds(shown(partial)) == ["not settled"] * 2
    assert recommend(judge_curves(shown(partial)), 0.2)[1].kind == ("best available" if records else "no rate is safe")


def test_partial_curves_are_judged_by_what_they_have():
    assert kinds(shown([np.where(np.arange(T) < 50, curve, np.nan) for curve in (GOOD, QUICK)])) == ["usable"] * 2


def test_curves_that_never_move_do_not_divide_by_zero():
    assert kinds(shown([np.zeros(T)])) == ["too small"]


# ---------------------------------------------------------------------- few records


MODEL = np.where(TIME < 0.3, -1.0, 0.0)
"""A curve whose margin, depth and recovery are 1."""


def probe(curve, *, others=MODEL, ratio=1.0, rise=0.0, wiggle=0.0):
    """Return the verdict on a curve beside two of margin 1; all energies rise by a step, with this wiggle."""
    difference = np.array([others, others, curve], float)
    positive = -20 + rise * (TIME >= 0.5) + wiggle + 0 * difference
    made = Shown(np.array([0.1, 0.2, 0.4]), positive, positive - difference, np.array([1, 1, ratio]))
    return judge_curves(made, smoothing=0.0)[2]


@pytest.mark.parametrize(("records", "said"), [(1, "only 1 record,"), (7, "only 7 records"), (8, "recovered only")])
def test_fewer_than_eight_records_say_nothing(records, said):
    curve = np.where(np.arange(T) < records, np.where(np.arange(T) < 2, -1.0, -0.5), np.nan)
    assert said in probe(curve).reason


def test_nothing_is_recommended_from_fewer_than_eight_records():
    for records, kind in ((7, "best available"), (8, "recommended")):
        early = np.where(np.arange(T) < records, GOOD, np.nan)
        assert recommend(judge_curves(shown([early])), 0.05)[1].kind == kind


def test_a_rate_that_had_only_just_begun_is_not_the_closest_of_rejected_ones():
    died, begun = np.array([0.0, 1.0]), np.where(np.arange(T) < 1, GOOD, np.nan)
    difference = np.array([GOOD, begun])
    positive = -20 + 0 * difference
    verdicts = judge_curves(Shown(np.array([0.1, 0.2]), positive, positive - difference, died), smoothing=0.0)
    assert [verdict.kind for verdict in verdicts] == ["class died", "not settled"]
    chosen = recommend(verdicts, 0.05)[1]
    assert (chosen.kind, chosen.index) == ("too early", None)


# ---------------------------------------------------------------------- rising energies


@pytest.mark.parametrize("rise", [0, 0.5, 1, 3, 9.9, 10])
def test_a_rise_that_is_let_pass_is_told_with_its_size(rise):
    verdict = probe(MODEL, rise=rise)
    assert verdict.kind == "usable"
    assert verdict.numbers.rise == pytest.approx(rise)
    why = recommend([verdict], 0.2)[1].why
    if rise:
        words = f"the energy of the data rose by {rise:.2g} margin{'' if rise == 1 else 's'}"
        assert words in why
        assert words[1:] in verdict.reason
    else:
        assert "no energy rises beyond its noise" in why
        assert "rose" not in verdict.reason


@pytest.mark.parametrize("rise", [10.1, 11, 30])
def test_a_rise_beyond_ten_margins_is_refused(rise):
    verdict = probe(MODEL, rise=rise)
    assert verdict.kind == "rising energy"
    assert f"rose by {rise:.0f} margins" in verdict.reason
    assert recommend([verdict], 0.2)[1].kind == "no rate is safe"


def test_noise_alone_is_not_told_as_a_rise():
    told = [
        rise_words(probe(MODEL, wiggle=np.random.default_rng(seed).normal(0, 0.3, T)).numbers) for seed in range(200)
    ]
    assert sum("margins" in words for words in told) <= 4


def test_a_rise_within_three_standard_errors_is_noise():
    assert rise_words(Numbers(rise_positive=2.9, rise_negative=1, rise_noise=1.0)) == ""
    assert rise_words(Numbers(rise_positive=1, rise_negative=3.1, rise_noise=1.0)) == (
        "the energy of the samples rose by 3.1 margins"
    )


def test_noise_is_measured_from_the_steps_of_a_curve_and_not_from_its_trend():
    wiggle = np.arange(T) % 2.0
    expected = 1.4826 / np.sqrt(2) * np.sqrt(1 + 1 / 6)  # steps of ±1; the end is a mean of six records
    assert end_noise(wiggle) == pytest.approx(expected)
    assert end_noise(wiggle + 5 * np.arange(T)) == pytest.approx(expected)
    assert end_noise(3.0 * np.arange(T)) == pytest.approx(0)
    assert np.isnan(end_noise(wiggle[:2]))


# ---------------------------------------------------------------------- grouped likelihood


def refereed(levels, ratios=None, rates=(0.25, 0.5, 1, 2)):
    made = shown([GOOD] * len(levels), ratios=ratios, rates=rates)
    curves = np.array(levels)[:, None] * TIME.clip(max=0.5) * 2
    return Shown(made.rates, made.positive, made.negative, made.share_ratio, grouped_likelihood=curves)


@pytest.mark.parametrize(("level", "expected"), [(-0.29, 1), (-0.31, 0.5)])
def test_a_rate_whose_labels_the_grouped_model_finds_unlikely_is_not_recommended(level, expected):
    verdicts = judge_curves(refereed([-0.2, 0, level, -0.1]), smoothing=0.0)
    assert [round(verdict.numbers.behind, 2) for verdict in verdicts] == [0.2, 0, -level, 0.1]
    assert recommend(verdicts, 0.5)[1].learning_rate == expected
    assert ("0.31 nats a row less likely" in verdicts[2].reason) == (level < -0.3)


def test_a_rejected_rate_is_no_measure_for_the_others():
    verdicts = judge_curves(refereed([-0.5, 0, -0.5, -0.6], ratios=[1, 0, 1, 1]), smoothing=0.0)
    assert verdicts[2].numbers.behind == pytest.approx(0)
    assert recommend(verdicts, 0.5)[1].learning_rate == 1


def test_without_a_grouped_model_nothing_is_behind():
    (verdict,) = judge_curves(shown([GOOD]))
    assert np.isnan(verdict.numbers.behind)
    assert "grouped" not in verdict.reason


def test_deaths_at_most_rates_without_rising_energy_are_blamed_on_the_start():
    assert guidance.unlucky_start(judge_curves(shown([GOOD] * 3, ratios=[0, 0.1, 1])))
    assert not guidance.unlucky_start(judge_curves(shown([GOOD] * 3, ratios=[1, 1, 0])))
    assert not guidance.unlucky_start(judge_curves(shown([GOOD] * 3, ratios=[1, 0, 0], rise=[0, 50, 50])))
    for rise, blamed in ((9.9, True), (10.1, False)):
        assert guidance.unlucky_start([probe(MODEL, ratio=0.1, rise=rise)]) == blamed


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
