"""The app without a browser, with a workspace of its own for every test."""

import functools
import os
import time
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from deem_core.files.atomic import write_json
from deem_core.runs import State, Workspace
from deem_core.runs.process import Worker
from deem_core.runs.run import WORKER, write_state
from studio import background
from studio.data import samples

# Every session looks through all installed packages for components, which takes longer than most pages do.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)

# Samples are known by their content, and reading them takes longer still.
samples._read = functools.cache(samples._read.__wrapped__)

APP = Path(__file__).parents[2] / "app.py"

WIDE = "id,ann,bob,eve,label\n" + "".join(f"r{i},{i % 3},{i % 3},{(i + i // 10) % 3},{i % 3}\n" for i in range(40))
"""Forty rows by three learners with truth: ann and bob are always right and so identical, eve not."""


@pytest.fixture(autouse=True)
def workspace(tmp_path, monkeypatch):
    """The workspace that the app uses, instead of the user's own."""
    monkeypatch.setenv("DEEM_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(background, "_ask_devices", lambda: None)
    st.cache_resource.clear()
    return Workspace()


@pytest.fixture
def app():
    """A session that has not started yet, with nothing cached from other tests."""
    return AppTest.from_file(APP, default_timeout=120)


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


RESTART = {"training": 0, "seed": 1, "kept": True, "reason": "", "share_ratio": 0.9}
SUMMARY = {
    "method": "deem",
    "n_rows": 40,
    "n_learners": 3,
    "n_classes": 2,
    "class_shares": [0.5, 0.5],
    "majority_shares": [0.4, 0.6],
    "changed": 4,
    "overruled": 0,
    "mean_confidence": 0.93,
    "agreement": 0.9,
    "settings": {},
    "hedged": False,
    "fallback": False,
    "restarts": [RESTART, RESTART, RESTART | {"kept": False}],
    "seconds": 12.0,
    "device": "cpu",
    "near_copies": [],
    "warnings": ["One restart of three collapsed."],
    "evaluation": {
        "accuracy": 0.975,
        "majority_vote_accuracy": 0.9,
        "dawid_skene_accuracy": 0.95,
        "rows": 40,
        "methods": [],
        "gains": {"majority_vote": [0.075, 0.0, 0.1], "dawid_skene": [0.025, -0.1, 0.1]},
    },
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


def open_tab(app, key, label):
    """Open a tab; only then is it drawn."""
    assert label in [tab.label for tab in app.tabs]
    app.session_state[key] = label
    app.run()


def expect_calm(app):
    """Nothing broke."""
    assert not app.exception
    assert not app.error
