"""Learning rate without a browser: settings, a finished sweep, and choosing."""

import json

import pytest

from deem_core import simulation, sweep
from deem_core.files.atomic import write_json
from deem_core.runs import Workspace
from deem_core.training.sweep.result import CURVES
from studio import background, state
from studio.rates import sweeps
from tests.app.conftest import expect_calm, words


@pytest.fixture(autouse=True)
def no_estimate(monkeypatch):
    """Nobody times this machine."""
    monkeypatch.setattr(background, "_ask_sweep_seconds", lambda root, dataset_id, config: 42.0)


@pytest.fixture
def open_page(app, dataset):
    """Return what opens the page, perhaps with more in the address."""

    def open_it(**address):
        app.query_params[state.DATA] = dataset.id
        for name, value in address.items():
            app.query_params[name] = value
        app.run()
        return app.switch_page("pages/learning_rate.py").run()

    return open_it


def _swept(**wish):
    votes = simulation.make("condind", 120, seed=0, n_learners=4).votes.without_truth()
    return sweep(votes, updates=20, batch_size=40, random_state=0, **wish).to_dict()


@pytest.fixture(scope="module")
def by_rate():
    """What a sweep of three rates finds."""
    return _swept(rates=[0.1, 0.5, 50.0], n_layers=0)


@pytest.fixture(scope="module")
def by_depth():
    """What a sweep of two depths finds."""
    return _swept(rates=[0.5], n_layers=[0, 1])


def _pills(app, label="Learning rate"):
    return next(each for each in app.get("button_group") if each.label == label)


def _labels(app):
    return [each.label for each in app.button]


def test_without_data_the_page_leads_to_it(app):
    app.run()
    app.switch_page("pages/learning_rate.py").run()
    expect_calm(app)
    assert "No data yet" in words(app)


def test_a_sweep_starts_on_the_chosen_device(app, open_page, monkeypatch):
    started = []
    monkeypatch.setattr(Workspace, "start", lambda self, run: started.append(run.config))
    open_page()
    next(each for each in app.selectbox if each.label == "Device").set_value("cpu").run()
    next(each for each in app.button if each.label == "Start the sweep").click().run()
    assert [config["device"] for config in started] == ["cpu"]


def test_the_grid_is_written_out_and_a_wrong_order_is_said_calmly(app, open_page):
    open_page()
    expect_calm(app)
    assert "Start the sweep" in _labels(app)
    for label, value in (("From", 0.1), ("To", 10.0), ("How many", 3)):
        next(each for each in app.number_input if each.label == label).set_value(value).run()
    assert "0.1 · 1 · 10" in words(app)
    next(each for each in app.number_input if each.label == "From").set_value(20.0).run()
    expect_calm(app)
    assert "The lowest rate must be above 0 and below the highest." in words(app)
    assert "Start the sweep" not in _labels(app)
    assert "Seed" in [each.label for each in app.number_input]  # the other settings stay


@pytest.mark.parametrize("typed", ["abc", "", "0.1, -2", "0.1, nan"])
def test_a_typed_list_that_is_none_is_said_calmly(app, open_page, typed):
    open_page()
    next(each for each in app.toggle if each.label == "Enter rates by hand").set_value(True).run()
    app.text_input(key="sweep_list").set_value(typed).run()
    assert not app.exception
    assert not app.error
    assert app.info
    assert "Start the sweep" not in _labels(app)


def test_no_depth_at_all_is_said_calmly(app, open_page):
    open_page()
    _pills(app, "Compare").set_value("Layers").run()
    expect_calm(app)
    _pills(app, "Layers").set_value([]).run()
    expect_calm(app)
    assert "Choose at least one number of layers." in words(app)
    assert "Start the sweep" not in _labels(app)


def test_a_finished_sweep_shows_verdicts_and_offers_the_recommended_or_no_rate(app, open_page, make_run, by_rate):
    make_run(kind="sweep", title="3 rates", summary=by_rate)
    open_page()
    expect_calm(app)
    table = next(each.value for each in app.dataframe if "verdict" in each.value.columns)
    assert table["rate"].tolist() == [0.1, 0.5, 50.0]
    recommended = by_rate["recommended"]
    stars = table.loc[table[""] == "★", "rate"].tolist()
    assert stars == ([] if recommended is None else [recommended])
    train = app.button(key="train_with_rate")
    assert train.disabled == (recommended is None)


def test_a_rate_in_the_address_is_chosen(app, open_page, make_run, by_rate):
    make_run(kind="sweep", summary=by_rate)
    open_page(rate="0.1")
    expect_calm(app)
    assert _pills(app).value == 0.1
    assert "Train with 0.1" in _labels(app)


def test_a_sweep_where_training_starts_from_groups_says_so_and_leads_there(app, open_page, make_run, by_rate):
    make_run(kind="sweep", summary={**by_rate, "training_start": "groups"})
    open_page(rate="0.1")
    expect_calm(app)
    assert "training starts from it and needs no sweep" in words(app)
    assert "Train with 0.1 from the majority vote" in _labels(app)
    next(each for each in app.button if each.label == "Train from the grouped model").click().run()
    expect_calm(app)
    assert not app.query_params.get(state.RATE)


def test_a_pill_chooses(app, open_page, make_run, by_rate):
    make_run(kind="sweep", summary=by_rate)
    open_page(rate="0.1")
    _pills(app).set_value(50.0).run()
    expect_calm(app)
    assert "Train with 50" in _labels(app)
    assert app.query_params[state.RATE] in ("50", ["50"])


@pytest.mark.parametrize("rate", ["abc", "7.77", "-1", "1e999"])
def test_a_rate_that_the_sweep_does_not_have_is_as_good_as_none(app, open_page, make_run, by_rate, rate):
    make_run(kind="sweep", summary=by_rate)
    open_page(rate=rate)
    expect_calm(app)


def test_a_sweep_of_depths_is_shown_without_a_choice_of_rates(app, open_page, make_run, by_depth):
    make_run(kind="sweep", summary=by_depth)
    open_page()
    expect_calm(app)
    assert not any(label.startswith("Train with") for label in _labels(app))
    table = next(each.value for each in app.dataframe if "verdict" in each.value.columns)
    assert table["rate"].tolist() == [0, 1]


def test_curves_of_a_sweep_that_goes_on_are_shown_with_its_progress(app, open_page, make_run, by_rate):
    run = make_run("running", kind="sweep", share=0.5, step="Sweeping", seconds_left=9)
    write_json({**by_rate, "complete": False}, run.path / "partial.json")
    open_page()
    expect_calm(app)
    assert "Sweeping · 50% · about 9 s left" in {each.proto.text for each in app.get("progress")}
    app.button(key=f"cancel_sweep_{run.id}").click().run()
    assert (run.path / "cancel").exists()


def test_a_sweep_that_was_stopped_can_be_resumed_and_a_failed_one_says_why(app, open_page, make_run, by_rate):
    run = make_run("failed", kind="sweep", reason="The worker died.")
    write_json({**by_rate, "complete": False}, run.path / "partial.json")
    open_page()
    expect_calm(app)
    assert "The worker died." in words(app)
    assert "Start over" in _labels(app)  # it has no checkpoint to go on from
    assert "Resume" not in _labels(app)


def test_earlier_sweeps_are_reopened(app, open_page, make_run, by_rate, by_depth):
    old = make_run(kind="sweep", title="The old one", summary=by_depth)
    make_run(kind="sweep", title="The new one", summary=by_rate)
    open_page()
    expect_calm(app)
    assert "The old one" in words(app)
    app.button(key=f"open_{old.id}").click().run()
    expect_calm(app)
    assert app.query_params[state.SWEEP] in (old.id, [old.id])


def test_a_damaged_result_does_not_break_the_page(app, open_page, make_run):
    make_run(kind="sweep", summary={"rates": "none"})
    open_page()
    expect_calm(app)


def test_the_rule_on_the_page_is_the_one_of_the_recommendation(app, open_page, make_run, by_rate):
    make_run(kind="sweep", summary=by_rate)
    open_page()
    assert sweeps.rule() in words(app)


def test_pills_curves_and_table_of_a_sweep_that_goes_on_say_the_same(app, open_page, make_run, by_rate):
    """All from one writing: with a star while it recommends one, and marked as provisional."""
    run = make_run("running", kind="sweep", share=0.6, step="Sweeping")
    content = {**by_rate, "complete": False, "recommended": 0.5}
    content["recommendation"] = {"kind": "recommended", "index": 1, "to_try": ""}
    kinds = ["usable", "recommended", "class died"]
    content["rates"] = [{**rate, "verdict": kind} for rate, kind in zip(by_rate["rates"], kinds, strict=True)]
    write_json(content, run.path / "partial.json")
    open_page()
    expect_calm(app)
    assert _pills(app).value == 0.5
    assert list(_pills(app).options) == ["0.1", "0.5 ★", "50"]
    table = next(each.value for each in app.dataframe if "verdict" in each.value.columns)
    assert table.loc[table[""] == "★", "rate"].tolist() == [0.5]
    assert [words for (words,) in table["verdict"]] == ["Usable so far", "Recommended so far", "Class lost so far"]
    assert "Verdicts so far" in words(app)
    assert f"So far: {by_rate['why']}" in words(app)


def _unfinished(by_rate, share):
    """What is known of a sweep of which so much is done, as its worker would write it."""
    content = json.loads(json.dumps(by_rate))
    for rate in content["rates"]:
        for name in CURVES:
            kept = round(share * len(rate[name]))
            rate[name] = [*rate[name][:kept], *[None] * (len(rate[name]) - kept)]
        rate["verdict"] = "open"
    too_early = {"kind": "too early", "index": None, "to_try": ""}
    return content | {"complete": False, "recommended": None, "why": "Too early to tell.", "recommendation": too_early}


def test_early_in_a_sweep_nothing_is_recommended_and_it_can_be_ended(app, open_page, make_run, by_rate):
    run = make_run("running", kind="sweep", share=0.14, step="Sweeping")
    write_json(_unfinished(by_rate, 0.14), run.path / "partial.json")
    open_page()
    expect_calm(app)
    assert "Too early to tell (14%)" in words(app)
    assert not any("★" in each for each in _pills(app).options)
    train = app.button(key="train_with_rate")
    assert train.disabled
    assert train.proto.type == "secondary"
    app.button(key="finish_sweep").click().run()
    expect_calm(app)
    assert run.is_finishing()
    assert "Finishing…" in _labels(app)
    assert app.button(key="finish_sweep").disabled


def test_a_sweep_that_was_cancelled_early_recommends_nothing(app, open_page, make_run, by_rate):
    run = make_run("cancelled", kind="sweep", share=0.3)
    write_json(_unfinished(by_rate, 0.3), run.path / "partial.json")
    open_page(rate="0.1")
    expect_calm(app)
    assert "Not enough to recommend a rate" in words(app)
    train = app.button(key="train_with_rate")
    assert (train.label, train.proto.type) == ("Train with 0.1", "secondary")
