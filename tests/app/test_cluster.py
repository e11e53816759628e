"""Where to run on the pages: shown where an engine is configured, remembered, and written into the run."""

import pytest

from deem_core.engine import Node, Survey
from deem_core.runs import Workspace
from studio import background, machines, state
from tests.app.conftest import expect_calm, words

ADDRESS = "ray://10.0.0.1:10001"
CHOICE = "Where to run"
STARTS = {"learning_rate": "Start the sweep", "train": "Train", "compare": "Compare"}


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    """Nobody times this machine, and nobody asks a cluster but those who say so."""
    monkeypatch.setattr(background, "_ask_sweep_seconds", lambda root, dataset_id, config: 42.0)
    monkeypatch.setattr(machines, "ask", lambda wish: machines.Standing(Survey(wish, (Node("10.0.0.1", 8, 0, 6, 0),))))


@pytest.fixture
def started(monkeypatch):
    """Configs of the runs that were started."""
    configs = []
    monkeypatch.setattr(Workspace, "start", lambda self, run: configs.append(run.config))
    return configs


@pytest.fixture
def visit(app, dataset, monkeypatch):
    """Return what opens a page while an engine is configured, or none."""

    def open_it(page, engine=None):
        if engine is None:
            monkeypatch.delenv("DEEM_ENGINE", raising=False)
        else:
            monkeypatch.setenv("DEEM_ENGINE", engine)
        app.query_params[state.DATA] = dataset.id
        app.run()
        return app.switch_page(f"pages/{page}.py").run()

    return open_it


def _choice(app):
    return [each for each in app.get("button_group") if each.label == CHOICE]


def _start(app, page):
    next(each for each in app.button if each.label.startswith(STARTS[page]) and each.key.startswith("start_")).click()
    app.run()


@pytest.mark.parametrize("page", STARTS)
@pytest.mark.parametrize("engine", [None, "local"])
def test_without_an_engine_nothing_is_shown_and_nothing_written(app, visit, started, page, engine):
    visit(page, engine)
    expect_calm(app)
    assert not _choice(app)
    _start(app, page)
    assert ["on" in config for config in started] == [False]


@pytest.mark.parametrize("page", STARTS)
def test_a_configured_cluster_is_the_first_choice_and_written_into_the_run(app, visit, started, page):
    visit(page, ADDRESS)
    expect_calm(app)
    (choice,) = _choice(app)
    assert choice.value == ADDRESS
    _start(app, page)
    assert [config["on"] for config in started] == [ADDRESS]


def test_this_machine_is_written_too_and_remembered_on_other_pages(app, visit, started):
    visit("train", ADDRESS)
    _choice(app)[0].set_value("local").run()
    _start(app, "train")
    app.switch_page("pages/compare.py").run()
    assert _choice(app)[0].value == "local"
    _start(app, "compare")
    assert [config["on"] for config in started] == ["local", "local"]


def test_devices_of_this_machine_are_not_offered_for_a_cluster(app, visit, started):
    visit("learning_rate", ADDRESS)
    device = next(each for each in app.selectbox if each.label == "Device")
    assert device.options == ["Automatic", "No GPUs"]
    device.set_value("cpu").run()
    _start(app, "learning_rate")
    assert [(config["device"], config["on"]) for config in started] == [("cpu", ADDRESS)]


def test_what_the_cluster_does_stands_beside_the_choice(app, visit):
    visit("compare", ADDRESS)
    for _ in range(40):
        if "6 of 8 cores free" in words(app):
            break
        app.run()
    assert "1 machine · 6 of 8 cores free" in words(app)
    assert "No run is on the cluster" in words(app)


def test_a_silent_cluster_is_one_sentence_and_the_page_works(app, visit, started, monkeypatch):
    monkeypatch.setattr(machines, "ask", lambda wish: machines.Standing(None, "It does not answer. Ask again."))
    visit("compare", ADDRESS)
    for _ in range(40):
        if "It does not answer" in words(app):
            break
        app.run()
    expect_calm(app)
    assert "It does not answer. Ask again." in words(app)
    _start(app, "compare")
    assert len(started) == 1


@pytest.mark.parametrize("page", STARTS)
def test_a_malformed_engine_is_one_sentence_and_runs_stay_here(app, visit, started, page):
    visit(page, "http://10.0.0.1")
    assert not app.exception
    assert "DEEM_ENGINE names no engine, so all runs stay on this machine" in words(app)
    assert not _choice(app)
    _start(app, page)
    assert [config["on"] for config in started] == ["local"]


def test_the_first_page_says_what_leaves_the_machine(visit, app):
    visit("home")
    assert "Nothing leaves this machine." in words(app)
    visit("home", ADDRESS)
    assert "Nothing leaves this machine, except the votes of runs on the cluster." in words(app)
