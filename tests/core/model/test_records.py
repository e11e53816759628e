"""Records of a training: their groups, and when a run has settled."""

from dataclasses import replace

import numpy as np
import pytest

from deem_core.model.records import Record, by_restart, has_settled


def record(difference, update):
    return Record(0, update, 0.0, 0.0, 0.0, difference, 0.0, 0.0, 0.0, 1.0, 0.1, np.ones(1), 0.0)


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        (np.r_[np.linspace(-1, -3, 10), np.linspace(-3, -0.5, 15), np.full(30, -0.5)], True),
        (np.linspace(-1, -3, 40), False),
        (np.r_[np.linspace(-1, -3, 10), np.linspace(-3, -0.5, 10)], False),
        (np.full(5, -1.0), False),
    ],
)
def test_a_run_has_settled_after_its_dip(curve, expected):
    assert has_settled([record(value, at) for at, value in enumerate(curve)]) is expected


def test_trainings_that_follow_one_another_keep_their_restarts_apart():
    one = [replace(record(0.0, update), restart=r) for r in range(2) for update in range(5)]
    assert [len(group) for group in by_restart([*one, *one])] == [5] * 4


def test_records_of_restarts_that_train_at_once_are_told_apart():
    mixed = [replace(record(0.0, update), restart=r) for update in range(3) for r in (4, 1)]
    groups = by_restart(mixed)
    assert [[one.restart for one in group] for group in groups] == [[1] * 3, [4] * 3]
    assert [one.update for one in groups[0]] == [0, 1, 2]
