"""More classes than bars fit are drawn as cumulative shares by class rank, with words that hold for them."""

import numpy as np
import pytest

from deem_core import figures
from deem_core.figures import pictures
from deem_core.figures._theme import MOST_CLASSES
from deem_core.figures.class_ranks import MOST_POINTS, MOST_SHOWN
from deem_core.votes import Votes

NAMES = [f"c{k}" for k in range(1000)]


def test_each_learner_has_a_line_that_adds_up_its_votes_from_its_own_first_class():
    counts = np.ones((2, 100), int)
    counts[1, 42] = 101
    first, second, together = figures.votes_per_class(counts, ["even", "one"], NAMES[:100]).data
    np.testing.assert_allclose(first.y, np.asarray(first.x) / 100)
    assert second.y[0] == pytest.approx(101 / 200)
    assert tuple(second.customdata[0][:2]) == ("c42", "50.50%")
    assert together.y[0] == pytest.approx(102 / 300)
    np.testing.assert_allclose([line.y[-1] for line in (first, second, together)], 1.0)


def test_lines_stay_light_and_keep_the_first_ranks_and_the_last():
    for line in figures.votes_per_class(np.ones((3, 1000), int), ["a", "b", "c"], NAMES).data:
        assert len(line.x) <= MOST_POINTS
        assert list(line.x[:10]) == list(range(1, 11))
        assert line.x[-1] == 1000


def test_of_many_learners_the_most_one_sided_are_drawn_and_the_legend_says_so():
    counts = np.ones((1000, 30), int)
    counts[700, 3], counts[5, 9], counts[8] = 500, 300, 0
    figure = figures.votes_per_class(counts, [f"w{j}" for j in range(1000)], range(30))
    assert [line.name for line in figure.data[:2]] == ["w700", "w5"]
    assert len(figure.data) == MOST_CLASSES + 1
    assert f"{MOST_CLASSES} of 999" in figure.layout.legend.title.text


def test_a_line_of_classes_that_died_is_full_early_and_the_most_changed_are_marked():
    majority = np.full(1000, 0.001)
    fused = np.where(np.arange(1000) < 500, 0.002, 0.0)
    fused[[7, 400]] = 0.0, 0.004
    by_majority, line, marks = figures.class_shares(fused, majority, NAMES).data
    x, y = np.asarray(line.x), np.asarray(line.y)
    np.testing.assert_allclose(y[x >= 499], 1.0)
    assert (np.asarray(by_majority.y)[:-1] < 1).all()
    assert marks.customdata[0][0] == "c400"
    assert marks.x[0] == 1
    assert marks.y[0] == pytest.approx(0.004)
    assert "0.10% of the rows by majority vote<br>0.40% fused" in marks.customdata[0][1]


def test_nothing_is_marked_where_no_share_changed():
    shares = np.full(1000, 0.001)
    assert not len(figures.class_shares(shares, shares, NAMES, truth=shares).data[-1].x)


def test_wicked_names_are_harmless():
    names = ["<script>%{x}", *NAMES[:30]]
    figure = figures.votes_per_class(np.ones((2, 31), int), ["<script>%{y}", "b"], names)
    assert "<script>" not in figure.to_json().replace("\\u003c", "<")
    assert "%{y}" not in figure.data[0].hovertemplate


@pytest.mark.parametrize(
    ("n_classes", "kind", "words"), [(MOST_SHOWN, "bar", "bar"), (MOST_SHOWN + 1, "scatter", "line")]
)
def test_captions_speak_of_what_is_drawn(n_classes, kind, words):
    table = np.arange(n_classes)[:, None].repeat(3, axis=1)
    shares = np.full(n_classes, 1 / n_classes)
    made = [
        pictures.votes_per_class(Votes(table, np.arange(n_classes), ("a", "b", "c"))),
        pictures.class_shares(shares, shares, list(range(n_classes))),
    ]
    for picture in made:
        assert picture.draw("light").data[0].type == kind
        assert words in picture.alt.lower()
    assert ("colours" in made[0].caption) == (kind == "bar")
