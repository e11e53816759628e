"""The app without a browser, with a workspace of its own for every test."""

import os
import time
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from deem_core.files import write_json
from deem_core.runs import State, Workspace
from deem_core.runs.alive import Worker
from deem_core.runs.state import WORKER, write_state
from studio import devices

APP = Path(__file__).parents[2] / "app.py"

WIDE = "id,ann,bob,eve,label\n" + "".join(f"r{i},{i % 3},{i % 3},{(i + i // 10) % 3},{i % 3}\n" for i in range(40))
"""Forty rows by three learners with truth: ann and bob are always right and so identical, eve not."""


@pytest.fixture(autouse=True)
def workspace(tmp_path, monkeypatch):
    """The workspace that the app uses, instead of the user's own."""
    monkeypatch.setenv("DEEM_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(devices, "command", lambda arguments: None)
    st.cache_resource.clear()
    return Workspace()


@pytest.fixture
def app():
    """A session that has not started yet, with nothing cached from other tests."""
    return AppTest.from_file(APP, default_timeout=30)


@pytest.fixture
def dataset(workspace):
    """A small wide file in the workspace."""
    return workspace.add_dataset("votes.csv", WIDE.encode())


@pytest.fixture
def make_run(workspace, dataset):
    """Return what makes a training of the small file that stands where it is told."""

    def make(state="done", *, kind="train", title="Recommended settings", summary=None, **known):
        run = workspace.new_run(kind, dataset, {"method": "deem"}, title=title)
        if state in ("queued", "running"):  # this process stands for the worker, so that it is seen to be alive
            write_json(Worker.of(os.getpid()).to_dict(), run.path / WORKER)
        write_state(run.path, State(state, created=run.created, ended=time.time(), **known))
        if summary is not None:
            write_json(summary, run.path / "summary.json")
        return run

    return make


SUMMARY = {
    "changed": 4,
    "mean_confidence": 0.93,
    "restarts": [{"kept": True}, {"kept": True}, {"kept": False}],
    "seconds": 12.0,
    "device": "cpu",
    "near_copies": [],
    "warnings": ["One restart of three collapsed."],
    "evaluation": {"accuracy": 0.975, "majority_vote_accuracy": 0.9},
}


def words(app):
    """Everything that is written on the page and in the sidebar."""
    kinds = (app.title, app.header, app.markdown, app.caption, app.info, app.warning, app.error, app.code)
    return "\n".join(str(element.value) for kind in kinds for element in kind).replace("\\", "")


def metrics(app):
    """The cards of numbers by their label."""
    return {metric.label: metric.value for metric in app.metric}


def button(app, label):
    """The first button with this label."""
    return next(each for each in app.button if each.label == label)


def expect_calm(app):
    """Nothing broke."""
    assert not app.exception
    assert not app.error
