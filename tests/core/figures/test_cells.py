"""Cells of heatmaps: points to click on the right cells, and the rows behind them."""

import numpy as np
import plotly.graph_objects as go
import pytest

from deem_core import simulate
from deem_core.diagnostics.rows import FUSED, MAJORITY, Column, Is, Pair, RowFilter, RowTable
from deem_core.figures import pictures, written_width
from deem_core.figures.agreement import agreement_heatmap
from deem_core.figures.picture import Cells, Picture, Side
from deem_core.votes import pair_agreement

NAMES = ("ann", "bob", "cy")


def points(figure):
    """Cell by (name across, name down) → customdata of the point on it."""
    traces = [trace for trace in figure.data if trace.type == "scatter" and trace.mode == "markers"]
    return {(x, y): told for trace in traces for x, y, told in zip(trace.x, trace.y, trace.customdata, strict=True)}


def test_a_point_on_a_cell_tells_its_place_whatever_the_order_drawn():
    share = np.array([[1, 0.9, 0.2], [0.9, 1, np.nan], [0.2, np.nan, 1]])
    cells = Cells(Side("Learner", NAMES), Side("Other", NAMES), lambda i, j, _: None)
    picture = Picture(
        "Who?", lambda theme: agreement_heatmap(share, NAMES, order=[2, 0, 1], theme=theme), "", cells=cells
    )
    figure = picture.clickable("light")
    found = {pair: tuple(told[:3]) for pair, told in points(figure).items()}
    assert found["bob", "ann"] == (0, 1, 0)
    assert found["cy", "ann"] == (0, 2, 0)
    assert found["cy", "bob"] == (1, 2, 0)  # a pair without a number can be clicked too
    assert ("ann", "ann") not in found
    assert all(trace.hoverinfo == "skip" for trace in figure.data if trace.type == "heatmap")
    assert not points(picture.figure("light"))


def test_numbers_on_cells_keep_their_colours_when_a_cell_is_selected():
    changes = np.array([[10, 500], [3, 10]])
    figure = pictures.label_changes(changes, ["a", "b"]).clickable("dark")
    for trace in figure.data:
        if trace.type == "scatter" and trace.mode == "text":
            assert trace.unselected.textfont.color == trace.textfont.color


def test_too_many_cells_are_not_clicked():
    figure = pictures.label_changes(np.ones((5, 5), int), range(5))
    assert points(figure.clickable("light"))
    names = [f"l{j}" for j in range(70)]
    cells = Cells(Side("Learner", names), Side("Other", names), lambda i, j, _: None)
    wide = Picture("?", lambda theme: agreement_heatmap(np.full((70, 70), 0.5), names, theme=theme), "", cells=cells)
    assert not points(wide.clickable("light"))


def test_cells_of_label_changes_are_the_rows_that_they_count():
    votes = simulate("tree", 200, seed=2).votes
    rows = RowTable(votes, np.roll(votes.majority_vote.codes, 1))
    classes = [str(label) for label in votes.classes]
    cells = pictures.label_changes(np.zeros((len(classes),) * 2, int), classes).cells
    for i in range(len(classes)):
        for j in range(len(classes)):
            expected = (rows.majority == i) & (rows.fused == j)
            assert np.array_equal(cells.rows(i, j, 0).mask(rows), expected)


def test_cells_of_pairs_are_rows_on_which_they_differ():
    votes = simulate("tree", 50, seed=2).votes
    cells = pictures.pair_agreement(pair_agreement(votes), votes.learners).cells
    one, other = (Column("vote", votes.learners[at]) for at in (0, 2))
    assert cells.rows(0, 2, 0) == RowFilter((Pair(one, other),))
    assert cells.rows(1, 1, 0) is None


@pytest.mark.parametrize("label", ["a", "b"])
def test_the_diagonal_of_label_changes_means_rows_that_stayed(label):
    cells = pictures.label_changes(np.eye(2, dtype=int), ["a", "b"]).cells
    at = ["a", "b"].index(label)
    assert cells.rows(at, at, 0) == RowFilter((Is(MAJORITY, label), Is(FUSED, label)))


def test_the_width_of_written_numbers_grows_with_their_columns_and_letters():
    def width(learners):
        names = [f"l{j}" for j in range(learners)]
        cells = Cells(Side("Learner", names), Side("Other", names), lambda i, j, _: None)
        share = np.linspace(0.1, 0.9, learners**2).reshape(learners, learners)
        drawn = Picture("?", lambda theme: agreement_heatmap(share, names, theme=theme), "", cells=cells)
        return written_width(drawn.clickable("light"))

    assert width(8) == 2 * width(4) > 0  # every colour has a trace, and their columns count once
    assert width(40) == 0
    assert written_width(go.Figure(go.Scatter(x=[1], y=[1], text=["a name"], mode="text", hoverinfo="skip"))) == 0
