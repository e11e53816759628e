"""Pictures show the numbers they were given, whatever the names."""

import numpy as np
import pytest

from deem_core import figures
from deem_core.figures._theme import MOST_CLASSES, THEMES

COUNTS = np.array([[3, 1], [2, 2]])


def test_every_vote_is_drawn_once():
    figure = figures.votes_per_class(COUNTS, ["a", "b"], ["x", "y"])
    assert [trace.name for trace in figure.data] == ["x", "y"]
    np.testing.assert_array_equal([trace.x for trace in figure.data], COUNTS.T)
    assert figure.layout.xaxis.title.text
    assert figure.layout.yaxis.title.text == "learner"


def test_rare_classes_are_drawn_together():
    counts = np.arange(1, 21)[None, :].repeat(3, axis=0)
    figure = figures.votes_per_class(counts, ["a", "b", "c"], range(20))
    assert len(figure.data) == MOST_CLASSES
    assert figure.data[-1].name == f"{21 - MOST_CLASSES} others"
    assert sum(trace.x[0] for trace in figure.data) == counts[0].sum()


def test_the_busiest_come_first_only_where_learners_differ_much():
    uneven = figures.votes_per_class(np.array([[1, 0], [5, 5], [2, 2]]), ["a", "b", "c"], ["x", "y"])
    assert uneven.data[0].y == ("b", "c", "a")
    assert "busiest" in uneven.layout.yaxis.title.text
    even = figures.votes_per_class(np.array([[4, 1], [5, 5]]), ["a", "b"], ["x", "y"])
    assert even.data[0].y == ("a", "b")


def test_too_many_learners_are_cut_and_counted():
    figure = figures.votes_per_class(np.ones((1000, 2), int), [f"w{j}" for j in range(1000)], ["x", "y"])
    assert len(figure.data[0].y) == 40
    assert "40 of 1,000" in figure.layout.yaxis.title.text


def test_long_and_wicked_names_stay_apart_and_harmless():
    long = "a_very_long_name_of_a_learner"
    figure = figures.votes_per_class(COUNTS, [f"{long}_1", f"{long}_2"], ["<b>%{x}", "y"])
    assert len(set(figure.data[0].y)) == 2
    assert "<b>%{x}" not in figure.data[0].hovertemplate.removeprefix("<b>%{y}")
    assert "<" not in figure.data[0].name


def test_a_learner_without_votes_is_drawn_as_nothing():
    figure = figures.votes_per_class(np.array([[0, 0], [1, 2]]), ["silent", "b"], ["x", "y"])
    assert all(np.isfinite(trace.customdata).all() for trace in figure.data)


@pytest.mark.parametrize("name", THEMES)
def test_each_theme_has_its_own_colours_one_per_class(name):
    colours = THEMES[name].classes
    assert len(set(colours)) == len(colours) == MOST_CLASSES
    figure = figures.votes_per_class(COUNTS, ["a", "b"], ["x", "y"], theme=name)
    assert figure.data[0].marker.color == colours[0]
    assert figure.layout.template.layout.font.color == THEMES[name].text
