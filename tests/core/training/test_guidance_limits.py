"""Verdicts just within and just beyond each limit of the rule, on curves drawn for it."""

from dataclasses import replace

import numpy as np
import pytest

from deem_core import simulation
from deem_core.training.guidance import Shown, judge_curves, recommend
from deem_core.training.sweep import sweep

GOOD = [-1.0] * 10 + [0.0] * 30
"""Of this shape are most curves below, so that the margin is 1."""


def verdict(curve, others=GOOD, ratio=1.0, rise=0.0):
    """Return the verdict on a difference beside three others of one shape; an energy rises by so many margins."""
    difference = np.array([others, others, others, curve])
    energy = -20 + np.outer([0, 0, 0, rise], np.linspace(0, 1, 40) >= 0.5)
    shown = Shown(np.array([0.1, 0.2, 0.4, 0.8]), energy + difference, energy, np.array([1, 1, 1, ratio]))
    return judge_curves(shown, smoothing=0.0)[3].kind


def back_to(level, depth=1.0):
    """Return a difference that dips so deep and comes back to a level."""
    return [-depth] * 10 + [-level] * 30


@pytest.mark.parametrize(
    ("limit", "within", "beyond", "kind"),
    [
        ("explosion at 2.5 margins", back_to(0, 2.45), back_to(0, 2.55), "exploding difference"),
        ("a dip of half a margin", back_to(0, 0.51), back_to(0, 0.49), "too small"),
        ("three quarters of the best recovery", back_to(0.24), back_to(0.26), "not settled"),
    ],
)
def test_a_curve_is_usable_up_to_the_limit(limit, within, beyond, kind):
    assert verdict(within) == "usable", limit
    assert verdict(beyond) == kind, limit


def test_a_tail_that_leaves_again_by_three_quarters_of_a_margin_explodes():
    relapses = [[-1.0] * 10 + [0.0] * 24 + [-level] * 6 for level in (0.74, 0.76)]
    assert [verdict(curve) for curve in relapses] == ["not settled", "exploding difference"]


def test_three_tenths_of_the_dip_must_be_made_good_whatever_others_reach():
    """The best recovery is 0.36 here, three quarters of which would be 0.27."""
    assert verdict(back_to(0.69), others=back_to(0.64)) == "usable"
    assert verdict(back_to(0.71), others=back_to(0.64)) == "not settled"


def test_a_class_that_keeps_less_than_half_of_its_share_has_died():
    assert [verdict(GOOD, ratio=ratio) for ratio in (0.5, 0.49)] == ["usable", "class died"]


def test_an_energy_that_rises_far_is_refused():
    assert [verdict(GOOD, rise=rise) for rise in (0, 30)] == ["usable", "rising energy"]


def test_the_rate_nearest_to_twice_the_default_is_recommended():
    shown = Shown(np.array([0.1, 0.2, 0.4]), np.array([GOOD] * 3) - 20, np.full((3, 40), -20.0))
    verdicts = judge_curves(shown, smoothing=0.0)
    defaults = {0.02: 0.1, 0.07: 0.1, 0.1: 0.2, 0.14: 0.2, 0.15: 0.4, 1.0: 0.4}
    assert {default: recommend(verdicts, default)[1].learning_rate for default in defaults} == defaults


def test_a_sweep_asks_for_twice_the_default_rate():
    """The energies of a short sweep are replaced by such as are usable at every rate."""
    votes = simulation.tree(60, rng=np.random.default_rng(0)).votes
    rates = [0.25, 0.9, 1.1, 3.0]
    short = sweep(votes, rates, updates=4, batch_size=32, start="majority", near_copies="keep", random_state=0)
    flat = np.full((4, 40), -20.0)
    curves = replace(short.curves, positive=flat + GOOD, negative=flat, share_ratio=np.ones((4, 40)))
    made = replace(short, curves=curves, default_rate=0.5)
    assert made.judged(0.0)[1].learning_rate == 1.1
    assert replace(made, default_rate=0.1).judged(0.0)[1].learning_rate == 0.25
