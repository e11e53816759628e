"""Estimates of accuracy by gold rows."""

import numpy as np
import pytest

from deem_core.gold.estimates import Design
from deem_core.votes.intervals import wilson
from tests.core.gold.helpers import gold_of


def test_a_fair_draw_has_wilsons_interval():
    hits = np.array([1.0] * 15 + [0.0] * 5)
    found = Design(np.zeros(20, bool), 0.3, asked=False).estimate("x", "X", hits)
    low, high = wilson(0.75, 20, 0.90)
    assert (found.share, found.low, found.high, found.rows) == (0.75, pytest.approx(low), pytest.approx(high), 20)


def test_chosen_rows_are_weighed_by_their_stratum():
    disputed = np.array([True] * 12 + [False] * 8)
    hits = np.array([1.0] * 3 + [0.0] * 9 + [1.0] * 8)  # 3 of 12 disputed, 8 of 8 others
    found = Design(disputed, 0.1, asked=True).estimate("x", "X", hits)
    lows, highs = wilson([3 / 12, 1.0], [12, 8], 0.90)
    assert found.share == pytest.approx(0.1 * 3 / 12 + 0.9)
    assert found.share - found.low == pytest.approx(np.hypot(0.1 * (3 / 12 - lows[0]), 0.9 * (1 - lows[1])))
    few = Design(disputed, 0.5, asked=True).estimate("x", "X", hits)
    assert few.high - few.share == pytest.approx(0.5 * (highs[0] - 3 / 12))
    assert Design(disputed, 0.1, asked=True).weights[:1] == pytest.approx(0.1 / 0.6)


@pytest.mark.parametrize("asked", [False, True])
def test_all_right_is_no_certainty(asked):
    found = Design(np.arange(20) < 12, 0.5, asked).estimate("x", "X", np.ones(20))
    assert found.low < 0.95
    assert found.high > found.low
    assert found.high <= 1


def test_no_row_is_no_estimate():
    found = Design(np.zeros(0, bool), 0.0, asked=False).estimate("x", "X", np.zeros(0))
    assert (found.share, found.rows, found.interval) == (None, 0, "unknown")


def test_the_interval_reads_as_a_range():
    hits = np.array([1.0] * 15 + [0.0] * 5)
    assert Design(np.zeros(20, bool), 0.3, asked=False).estimate("x", "X", hits).interval == "57–87%"


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_nine_of_ten_intervals_hold(share):
    """Coverage over 600 draws, of fair and of chosen rows."""
    rng = np.random.default_rng(0)
    n = 20_000
    disputed = rng.random(n) < share
    right = np.where(disputed, rng.random(n) < 0.55, rng.random(n) < 0.92)
    truth = right.mean()
    covered = {False: 0, True: 0}
    for _ in range(600):
        fair = rng.choice(n, 40, replace=False)
        chosen = np.concatenate(
            [rng.choice(np.flatnonzero(disputed), 24, False), rng.choice(np.flatnonzero(~disputed), 16, False)]
        )
        for asked, rows in ((False, fair), (True, chosen)):
            design = Design(disputed[rows], float(disputed.mean()), asked)
            found = design.estimate("x", "X", right[rows].astype(float))
            covered[asked] += found.low <= truth <= found.high
    assert min(covered.values()) / 600 > 0.86


def test_few_rows_left_widen_the_interval():
    hits = np.array([1.0] * 15 + [0.0] * 5)
    for asked in (False, True):
        widths = []
        for rest in (None, 10_000, 20):
            found = Design(np.arange(20) < 12, 0.5, asked, rest).estimate("x", "X", hits)
            widths.append(found.high - found.low)
        assert widths[0] == pytest.approx(widths[1], rel=0.01)
        assert widths[2] > 1.25 * widths[0]


def test_intervals_hold_for_the_rows_that_are_left():
    """Half of a small file is gold: the accuracy of the other half is a draw, too."""
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(800):
        right = rng.random(80) < 0.8
        order = rng.permutation(80)
        gold, left = order[:40], order[40:]
        found = Design(np.zeros(40, bool), 0.0, False, 40).estimate("x", "X", right[gold].astype(float))
        covered += found.low <= right[left].mean() <= found.high
    assert covered / 800 > 0.87


def test_estimates_tell_of_the_rows_that_are_left():
    disputed = np.arange(100) < 40
    gold = gold_of(np.zeros(100, np.int32), np.arange(30), asked=np.ones(100, bool))
    design = Design.of(np.ones(100, bool), disputed, gold)
    assert (design.rest, design.share) == (70, pytest.approx(10 / 70))
    assert design.disputed.all()


def test_where_every_row_is_gold_estimates_tell_of_more_rows_like_them():
    truth, disputed = np.zeros(100, np.int32), np.arange(100) < 40
    hits = np.where(np.arange(100) % 10 == 0, 0.0, 1.0)
    for asked in (None, np.ones(100, bool)):
        design = Design.of(np.ones(100, bool), disputed, gold_of(truth, np.arange(100), asked=asked))
        found = design.estimate("x", "X", hits)
        assert found.share == pytest.approx(0.9)
        assert 0.03 < found.high - found.low < 0.15
