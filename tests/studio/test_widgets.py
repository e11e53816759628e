"""Pieces of pages: what figures say in the file's own word, shares as percentages."""

import pandas as pd
import plotly.graph_objects as go
import pytest

from deem_core.figures import Picture
from deem_core.readers.noun import Noun
from studio import drawings, widgets, words


def test_all_titles_of_a_figure_are_in_the_files_word(monkeypatch):
    monkeypatch.setattr(words, "say", Noun("annotator").say)
    heatmap = go.Heatmap(z=[[1]], colorbar={"title": {"text": "votes of a learner"}})
    layout = {
        "xaxis": {"title": {"text": "learner"}},
        "coloraxis": {"colorbar": {"title": {"text": "all learners"}}},
    }
    shown = Picture("Which learners?", lambda theme: go.Figure(heatmap, layout), "A heatmap.", "")
    drawn = drawings.figure(shown, "light", titled=True, clickable=False)
    assert "Which annotators?" in drawn.layout.title.text
    assert drawn.layout.xaxis.title.text == "annotator"
    assert drawn.data[0].colorbar.title.text == "votes of an annotator"
    assert drawn.layout.coloraxis.colorbar.title.text == "all annotators"


def test_shares_become_percentages_and_unknown_ones_stay_unknown():
    table = pd.DataFrame({"known": [0.25, None], "none": [None, None], "name": ["a", "b"]})
    made = widgets.in_percent(table, ["known", "none", "not there"])
    assert made["known"].iloc[0] == pytest.approx(25)
    assert made["known"].isna().tolist() == [False, True]
    assert made["none"].isna().all()
    assert made["name"].tolist() == ["a", "b"]
