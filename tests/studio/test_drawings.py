"""Drawings are kept by what they are drawn from: drawn once, and anew when anything of it changes."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
import streamlit as st

from deem_core import simulation
from deem_core.figures import Picture, pictures
from studio import drawings
from studio.drawings import fingerprint


@dataclass(frozen=True)
class Facts:
    """What a picture may be drawn from."""

    names: tuple[str, ...]
    heights: np.ndarray
    more: dict[str, float]


def facts() -> Facts:
    return Facts(("ann", "bob"), np.array([0.5, 0.25]), {"share": 0.1})


def test_equal_facts_are_drawn_once_and_others_anew(monkeypatch):
    monkeypatch.setattr(drawings.words, "say", lambda sentence: sentence)
    st.cache_resource.clear()
    times = []
    monkeypatch.setattr(drawings, "_drawn", lambda shown, theme, **_: times.append(theme) or shown.draw(theme))

    def figure(shown, theme="light", *, question="Who?", titled=False):
        bars = lambda theme: go.Figure(go.Bar(x=shown.names, y=shown.heights), {"title": theme})  # noqa: E731
        return drawings.figure(Picture(question, bars, "Bars."), theme, titled=titled, clickable=False)

    assert figure(facts()) is figure(facts())
    assert figure(facts(), question="Whom?") is figure(facts())  # not shown
    assert times == ["light"]
    others = (
        replace(facts(), heights=np.array([0.5, 0.26])),
        replace(facts(), heights=np.array([0.5, 0.25], np.float32)),
        replace(facts(), names=("an", "nbob")),
        replace(facts(), more={"share": 0.2}),
    )
    for other in others:
        assert figure(other).data[0].y[1] == other.heights[1]
    assert len(times) == 1 + len(others)
    assert figure(facts(), "dark").layout.title.text == "dark"
    assert figure(facts(), titled=True, question="Whom?") is not figure(facts(), titled=True)


@pytest.mark.parametrize("unknown", [pd.DataFrame({"a": [1]}), object(), np.array([object()]), iter(())])
def test_what_cannot_be_told_is_drawn_every_time(unknown):
    assert fingerprint(lambda: unknown) is None
    assert fingerprint([("a", {"b": unknown})]) is None


def test_so_much_that_reading_it_takes_as_long_is_drawn_every_time(monkeypatch):
    monkeypatch.setattr(drawings, "MOST_BYTES", 1000)
    assert fingerprint(np.zeros(100)) is not None
    assert fingerprint(np.zeros(200)) is None
    assert fingerprint(["x" * 300] * 4) is None


def test_no_two_contents_read_the_same():
    def adds(more):
        return lambda value: value + more

    values = (
        *(
            None,
            True,
            1,
            1.0,
            "1",
            b"1",
            "",
            (),
            [],
            {},
            np.int64(1),
            np.float64(1),
            ("a", "b"),
            ("ab",),
            (("a",), "b"),
        ),
        *(
            np.zeros(2),
            np.zeros((2, 1)),
            np.zeros(4, np.float32),
            np.array(["a"], object),
            {"a": 1},
            {"b": 1},
            int,
            str,
        ),
        *(facts(), adds(1), adds(2), lambda value: value - 1, lambda value, more=1: value - more),
    )
    told = [fingerprint(value) for value in values]
    assert None not in told
    assert len(set(told)) == len(values)
    assert told == [fingerprint(value) for value in values]


def test_pictures_of_pages_are_kept():
    def made():
        votes = simulation.make("condind", 40, seed=0, n_learners=4).votes
        return pictures.votes_per_class(votes), pictures.shapes()

    told, again = ([fingerprint(each.draw) for each in made()] for _ in range(2))
    assert None not in told
    assert told == again
