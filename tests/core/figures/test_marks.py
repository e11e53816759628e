"""Numbers of figures: what a drawing shows, as a table."""

import numpy as np
import plotly.graph_objects as go
import pytest

from deem_core.figures import MOST_MARKS, has_numbers, numbers, pictures
from deem_core.simulation import make
from deem_core.votes.agreement import pair_agreement


def test_every_bar_is_a_line_with_its_series_its_places_and_its_words():
    votes = make("condind", 50, seed=0, n_learners=4).votes
    table = numbers(pictures.votes_per_class(votes).figure("dark"))
    assert list(table) == ["series", "learner", "votes cast (number of rows)", "in words"]
    assert len(table) == votes.n_learners * votes.n_classes
    assert table["votes cast (number of rows)"].sum() == (votes.codes >= 0).sum()
    first = table.iloc[0]
    mine = int((votes.codes[:, votes.learners.index(first["learner"])] == int(first["series"])).sum())
    assert first["votes cast (number of rows)"] == mine
    assert first["in words"].startswith(f"{first['learner']}; class {first['series']}: {mine} of 50 votes; ")


def test_cells_of_a_heatmap_are_named_on_both_sides():
    votes = make("condind", 50, seed=0, n_learners=4).votes
    agreement = pair_agreement(votes)
    table = numbers(pictures.pair_agreement(agreement, votes.learners).figure("light"))
    assert list(table) == ["learner", "other learner", "share of rows with the same vote", "in words"]
    assert len(table) == 12  # no learner beside itself; numbers written on cells are not counted again
    for line in table.itertuples(index=False):
        there = agreement.share[votes.learners.index(line[0]), votes.learners.index(line[1])]
        assert line[2] == pytest.approx(there, rel=1e-5)


def test_intervals_are_told_as_ends():
    figure = go.Figure(
        go.Scatter(x=[0.5, 0.7], y=["a", "b"], error_x={"array": [0.1, 0.2], "arrayminus": [0.3, 0.4]}),
        layout={"xaxis": {"title": {"text": "accuracy"}}, "yaxis": {"title": {"text": "method, best first"}}},
    )
    table = numbers(figure)
    assert list(table) == ["method", "accuracy", "interval from", "interval to"]
    assert table.to_numpy().tolist() == [["a", 0.5, pytest.approx(0.2), 0.6], ["b", 0.7, pytest.approx(0.3), 0.9]]


def test_words_are_those_of_the_pointer_without_markup():
    trace = go.Bar(
        x=np.array([1234.0, 2.0]),
        y=["x", "y"],
        customdata=[["&lt;b&gt;", 0.25], ["ann", 0.5]],
        hovertemplate="<b>%{customdata[0]}</b><br>%{x:,} of %{customdata[1]:.1%}, %{x:.4~g}<extra>no</extra>",
    )
    assert numbers(go.Figure(trace))["in words"].tolist() == ["<b>; 1,234 of 25.0%, 1234", "ann; 2 of 50.0%, 2"]


def test_places_that_an_axis_names_and_gaps():
    figure = go.Figure(
        [go.Scatter(x=[0, 1, 2], y=[3.0, None, np.nan]), go.Scatter(x=[0], y=[9], hoverinfo="skip")],
        layout={"xaxis": {"tickvals": [0, 1], "ticktext": ["input", "after <b>layer</b> 1"]}},
    )
    assert numbers(figure).to_dict("list") == {"across": ["input"], "value": [3.0]}


def test_decoration_has_no_numbers():
    assert not has_numbers(pictures.shapes().figure("light"))
    assert numbers(pictures.shapes().figure("light")).empty
    assert has_numbers(pictures.example_influence().figure("light"))


def test_tables_end():
    figure = go.Figure(go.Scatter(x=np.arange(2 * MOST_MARKS), y=np.arange(2 * MOST_MARKS)))
    assert len(numbers(figure)) == MOST_MARKS
