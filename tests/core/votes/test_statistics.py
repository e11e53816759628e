"""Intervals of scores against the law that they estimate."""

import numpy as np
import pytest

from deem_core.votes.statistics import paired_difference, scores


def test_intervals_hold_95_percent():
    """With 2,000 rows an accuracy of 0.8 spreads by √(0.8 · 0.2 / 2000), and 95% are 1.96 of these."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=2000)
    wrong = np.arange(2000) % 5 == 0
    labels = np.where(wrong, (truth + 1) % 3, truth)
    found = scores(labels[None], truth, 3, np.random.default_rng(1))
    low, high = found.intervals["accuracy"]
    assert found.means["accuracy"] == 0.8
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt(0.8 * 0.2 / 2000), rel=0.1)
    assert low < 0.8 < high


def test_a_difference_is_taken_row_by_row():
    """Of 1,000 rows 30 are won and 10 lost; rows on which both are alike add no spread."""
    truth = np.zeros(1000, int)
    ours, theirs = np.zeros(1000, int), np.zeros(1000, int)
    theirs[:30] = 1
    ours[30:40] = 1
    ours[500:700] = theirs[500:700] = 1
    gain, low, high = paired_difference(ours[None], theirs[None], truth)
    assert gain == pytest.approx(0.02)
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt((0.04 - 0.02**2) / 1000), rel=0.1)
