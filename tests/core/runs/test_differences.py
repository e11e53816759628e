"""Differences between runs: settings, labels and rows."""

import numpy as np
import pytest

from deem_core.runs import Workspace, agreement, differing_rows, differing_settings


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Return what makes trainings of one file with these settings."""
    monkeypatch.setenv("DEEM_HOME", str(tmp_path / "home"))
    workspace = Workspace()
    dataset = workspace.add_dataset("small.csv", b"id,ann,bob,cy\n1,x,x,y\n2,y,y,y\n")
    return lambda *configs: [workspace.new_run("train", dataset, config) for config in configs]


def test_only_settings_that_differ_are_told_for_every_run(runs):
    made = runs({"restarts": 5, "n_layers": 1}, {"restarts": 5, "n_layers": 2}, {"restarts": 5, "n_layers": 1})
    assert differing_settings(made) == {"n_layers": [1, 2, 1]}


def test_what_only_one_method_has_does_not_differ(runs):
    made = runs({"n_layers": 2, "random_state": 0}, {"method": "irbm", "random_state": 0})
    assert differing_settings(made) == {"method": ["deem", "irbm"]}


def test_a_run_without_a_setting_that_others_differ_in_has_none(runs):
    made = runs({"n_layers": 2}, {}, {"n_layers": 3})
    assert differing_settings(made) == {"n_layers": [2, None, 3]}


def test_agreement_leaves_out_rows_without_votes():
    reference, other = np.array([0, 1, 1, -1]), np.array([0, 1, 0, -1])
    assert agreement([reference, other], reference) == [1.0, pytest.approx(2 / 3)]
    assert agreement([other[3:]], reference[3:]) == [1.0]


def test_rows_differ_where_any_run_does():
    labels = [np.array([0, 1, 1, -1]), np.array([0, 1, 0, -1]), np.array([1, 1, 1, -1])]
    assert differing_rows(labels).tolist() == [0, 2]
    assert differing_rows(labels[:1]).tolist() == []
