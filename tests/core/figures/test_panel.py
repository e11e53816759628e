"""Pictures of panel health."""

from itertools import pairwise

import numpy as np
import pytest

from deem_core import figures, simulate
from deem_core.diagnostics import panel_health
from deem_core.figures import pictures


def health(name, n, **asked):
    return panel_health(simulate(name, n, seed=0, **asked).votes, np.random.default_rng(0))


def test_every_class_has_its_rows_and_votes_the_rarest_first():
    figure = figures.class_coverage_bars(["a", "b", "<i>"], [0.9, 0.5, 0.1], [0.5, 0.4, 0.1], [9, 8, 1])
    rows, votes = figure.data
    assert list(rows.x) == [0.1, 0.5, 0.9]
    assert list(votes.x) == [0.1, 0.4, 0.5]
    assert "<i>" not in figure.to_json()
    assert rows.customdata[0][2] == "1 learner"


def test_of_very_many_classes_the_rarest_are_drawn():
    K = 200
    figure = figures.class_coverage_bars([f"c{k}" for k in range(K)], np.arange(K) / K, np.ones(K) / K, np.ones(K, int))
    assert len(figure.data[0].x) == figures.MOST_LEARNERS
    assert "of 200" in figure.layout.yaxis.title.text


def test_copies_stand_side_by_side():
    found = health("copies", 800)
    drawn = pictures.shared_mistakes(found).figure("light").data[0]
    families = [name.rsplit("_", 1)[0] for name in drawn.x]
    assert sum(one != other for one, other in pairwise(families)) == 2


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_of_a_large_crowd_the_strongest_pairs_are_drawn(theme):
    found = health("crowd", 4000, n_learners=90)
    picture = pictures.shared_mistakes(found)
    drawn = picture.figure(theme).data[0]
    assert 2 <= len(drawn.x) <= 40
    assert "strongest pairs" in picture.caption
    best = found.mistakes.top(1)[0]
    assert {best.first, best.second} <= set(drawn.x)
