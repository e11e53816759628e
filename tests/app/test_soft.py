"""Files of probabilities without a browser: what Data and Train say and offer."""

import pytest

from studio import state
from tests.app.conftest import button, expect_calm, words
from tests.app.test_train import _Starter

SOFT = "id,ann:a,ann:b,bob:a,bob:b,eve:a,eve:b\n" + "".join(
    f"r{i},{p},{round(1 - p, 2)},{q},{round(1 - q, 2)},{p},{round(1 - p, 2)}\n"
    for i, (p, q) in enumerate([(0.9, 0.6), (0.2, 0.3), (0.55, 0.1)] * 12)
)
"""Thirty-six rows by three learners, who say how sure they are."""


@pytest.fixture
def opened(app, workspace):
    """Return what opens a page with the file of probabilities."""
    dataset = workspace.add_dataset("soft.csv", SOFT.encode())

    def open_it(page):
        app.query_params[state.DATA] = dataset.id
        app.run()
        made = app.switch_page(f"pages/{page}.py").run()
        expect_calm(made)
        return made

    return open_it


@pytest.fixture
def started(monkeypatch):
    runs = []
    monkeypatch.setattr("studio.jobs.workspace", lambda: _Starter(runs))
    return runs


def method_of(app):
    return next(each for each in app.get("button_group") if each.label == "Method")


@pytest.mark.parametrize(
    ("label", "kind", "method"),
    [("Pool the probabilities", "fuse", "cal_pool"), ("Train soft DEEM", "train", "deem_soft")],
)
def test_data_says_who_reads_probabilities_and_starts_them(opened, started, label, kind, method):
    app = opened("data")
    assert "This file has probabilities." in words(app)
    button(app, label).click()
    app.run()
    assert started == [(kind, {"method": method, "random_state": 0})]


def test_train_says_that_deem_reduces_probabilities_and_offers_soft_deem(opened, started):
    app = opened("train")
    assert "This file has probabilities, and DEEM uses only the most probable class of each vote." in words(app)
    assert method_of(app).value == "deem"
    button(app, "Choose soft DEEM").click()
    app.run()
    expect_calm(app)
    assert method_of(app).value == "deem_soft"
    assert "uses only the most probable class" not in words(app)
    labels = [each.label for each in (*app.number_input, *app.selectbox)]
    assert {"Layers (auto)", "Restarts", "Sampler"} <= set(labels)
    assert not {"Start", "Near-copies"} & set(labels)
    assert not [each for each in app.button if each.label == "Compare learning rates first"]
    rates = next(each for each in app.get("button_group") if each.label == "Learning rate")
    assert rates.options == ["Automatic", "Manual"]
    button(app, "Train").click()
    app.run()
    assert started == [("train", {"method": "deem_soft", "restarts": 5, "device": "auto", "random_state": 0})]


def test_files_of_labels_do_not_offer_what_reads_probabilities(app, dataset):
    app.query_params[state.DATA] = dataset.id
    app.run()
    assert "probabilities" not in words(app.switch_page("pages/data.py").run())
    made = app.switch_page("pages/train.py").run()
    assert "DEEM, soft" not in [str(option) for option in method_of(made).options]
    assert "uses only the most probable class" not in words(made)


def test_a_rate_chosen_by_a_sweep_is_not_taken_for_soft_deem(opened, started):
    app = opened("train")
    app.session_state[f"deem_{state.RATE}"] = "0.8"
    app.run()
    rates = next(each for each in app.get("button_group") if each.label == "Learning rate")
    assert rates.value == "Manual"
    button(app, "Choose soft DEEM").click()
    app.run()
    rates = next(each for each in app.get("button_group") if each.label == "Learning rate")
    assert rates.value == "Automatic"
    button(app, "Train").click()
    app.run()
    assert "learning_rate" not in started[0][1]
