"""Compare without a browser: settings, and every state of a comparison."""

import shutil

import pytest

from deem_core.runs import State, Workspace
from deem_core.runs.run import write_state
from studio import state
from tests.app.conftest import button, expect_calm, open_tab, words
from tests.in_process import add_votes, done, experts

METHODS = {"methods": ["mv", "ds", "onecoin", "irbm"], "seeds": 1, "random_state": 0}


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    """A workspace with comparisons: with truth, without, and of a single method."""
    made = Workspace(tmp_path_factory.mktemp("workshop"))
    votes = experts(200)
    truth = add_votes(made, votes)
    runs = {
        "truth": done(made, "compare", truth, {**METHODS, "expert_classes": ["w", "x"]}),
        "seeds": done(made, "compare", truth, {"methods": ["mv", "la2"], "seeds": 2, "random_state": 0}),
        "blind": done(made, "compare", add_votes(made, votes.without_truth(), "blind.csv"), METHODS),
        "worst_first": done(made, "compare", truth, {"methods": ["onecoin", "mv"], "random_state": 0}),
        "single": done(made, "compare", truth, {"methods": ["mv"], "random_state": 0}),
        "refused": done(made, "compare", truth, {"methods": ["mv", "mean_prob"], "random_state": 0}),
    }
    return made.root, {name: run.id for name, run in runs.items()}


@pytest.fixture
def compared(workshop, workspace):
    """The comparisons by name, in a workspace that the test may spoil."""
    root, ids = workshop
    shutil.copytree(root, workspace.root, dirs_exist_ok=True)
    return {name: workspace.run(run) for name, run in ids.items()}


@pytest.fixture
def open_compare(app):
    """Return what opens the page, perhaps at a comparison."""

    def open_it(run=None, dataset=None):
        if run is not None:
            app.query_params[state.DATA], app.query_params[state.COMPARISON] = run.dataset_id, run.id
        elif dataset is not None:
            app.query_params[state.DATA] = dataset.id
        app.run()
        return app.switch_page("pages/compare.py").run()

    return open_it


def _methods(run):
    return run.summary()["methods"]


def test_without_data_the_page_leads_to_it(open_compare):
    app = open_compare()
    expect_calm(app)
    assert "No data yet" in words(app)


def test_a_comparison_starts_with_the_chosen_settings(open_compare, dataset, monkeypatch):
    started = []
    monkeypatch.setattr(Workspace, "start", lambda self, run: started.append(run.config))
    app = open_compare(dataset=dataset)
    expect_calm(app)
    next(each for each in app.get("button_group") if each.label == "Methods").set_value("Custom").run()
    next(each for each in app.multiselect if each.label == "Custom").set_value(["mv", "ds"]).run()
    next(each for each in app.number_input if each.label == "Seeds").set_value(3).run()
    next(each for each in app.multiselect if each.label == "Expert classes").set_value([2]).run()
    next(each for each in app.selectbox if each.label == "Device").set_value("cpu").run()
    button(app, "Compare 2 methods").click().run()
    assert not app.exception
    expected = {"methods": ["mv", "ds"], "seeds": 3, "budget": 120, "random_state": 0, "expert_classes": ["2"]}
    expected["device"] = "cpu"
    assert [{**config, "expert_classes": [*map(str, config["expert_classes"])]} for config in started] == [expected]


def test_without_methods_nothing_can_be_started(open_compare, dataset):
    app = open_compare(dataset=dataset)
    next(each for each in app.get("button_group") if each.label == "Methods").set_value("Custom").run()
    next(each for each in app.multiselect if each.label == "Custom").set_value([]).run()
    expect_calm(app)
    assert button(app, "Compare 0 methods").disabled


def test_with_truth_methods_are_ranked_by_accuracy_and_marked_as_evaluation(open_compare, compared):
    app = open_compare(compared["truth"])
    expect_calm(app)
    assert "Evaluation only, never used in training" in words(app)
    assert compared["truth"].summary()["conclusion"] in words(app)
    assert "The best single learner" in words(app)
    table = app.dataframe[0].value
    assert table["accuracy"].is_monotonic_decreasing
    assert {"95% interval", "expert classes", "other classes", "seconds"} <= set(table)
    assert "± seeds" not in table
    told = [one["note"] for one in _methods(compared["truth"]) if one["note"]]
    assert told
    assert all(note in words(app) for note in told)  # in full, below the table
    assert "note" not in table
    assert table["accuracy"].max() == pytest.approx(100 * max(one["accuracy"] for one in _methods(compared["truth"])))


def test_a_method_that_could_not_run_is_listed_with_its_reason_in_full(open_compare, compared):
    app = open_compare(compared["refused"])
    expect_calm(app)
    assert app.dataframe[0].value["method"].tolist() == ["Majority vote", "Mean probability"]
    assert "**Mean probability** could not run: " in words(app)
    assert "pools probabilities, and these votes are labels only: use soft votes" in words(app)


def test_the_spread_over_seeds_is_shown_where_there_are_several(open_compare, compared):
    app = open_compare(compared["seeds"])
    expect_calm(app)
    assert "± seeds" in app.dataframe[0].value


def test_without_truth_methods_are_ranked_by_agreement_and_nothing_is_called_accurate(open_compare, compared):
    app = open_compare(compared["blind"])
    expect_calm(app)
    assert "no telling" in words(app)
    assert "This is not accuracy" in words(app)
    assert "Evaluation only" not in words(app)
    table = app.dataframe[0].value
    assert table["same as most methods"].is_monotonic_decreasing
    assert "accuracy" not in table


def _disputed(app):
    return next(each.value for each in app.dataframe if "ann (vote)" in each.value)


@pytest.mark.parametrize("name", ["truth", "blind"])
def test_any_two_methods_are_compared_class_by_class_and_row_by_row(open_compare, compared, name):
    app = open_compare(compared[name])
    open_tab(app, "compare_tabs", "Class by class")
    one, other = [each for each in app.selectbox if each.label in ("Method", "Minus")][-2:]
    assert (one.value, other.value) == ("irbm", "mv")
    one.set_value("mv").run()
    expect_calm(app)
    assert "Choose two different methods." in words(app)
    open_tab(app, "compare_tabs", "Disputed rows")
    before = _disputed(app)
    assert {"Majority vote", "Dawid-Skene", "ann (vote)", "expert (vote)"} <= set(before)
    next(each for each in app.multiselect if each.label.startswith("Only rows")).set_value(["mv", "ds"]).run()
    expect_calm(app)
    after = _disputed(app)
    assert (after["Majority vote"] != after["Dawid-Skene"]).all()
    assert "One-coin Dawid-Skene" not in after


def test_a_single_method_has_nobody_to_be_compared_with(open_compare, compared):
    app = open_compare(compared["single"])
    for label in [tab.label for tab in app.tabs]:
        open_tab(app, "compare_tabs", label)
        expect_calm(app)
        assert words(app).count("at least two methods") == 1


# ---------------------------------------------------------------------- labels to take home


def _downloads(app):
    return [each.proto.label for each in app.get("download_button")]


def _method(app):
    return next(each for each in app.selectbox if str(each.key).startswith(("compare_method_", "export_method")))


def _in_address(app, name):
    said = app.query_params[name]
    return said if isinstance(said, str) else said[0]


def test_any_method_s_labels_can_be_taken_home_and_the_choice_stays_in_the_address(open_compare, compared):
    app = open_compare(compared["truth"])
    assert _method(app).options == ["Majority vote", "Dawid-Skene", "One-coin Dawid-Skene", "iRBM, exact"]
    assert {"Labels as CSV", "Labels as Parquet"} <= set(_downloads(app))
    assert "200 rows in the order of the file; 0 labels differ from the majority vote." in words(app)
    _method(app).set_value("irbm").run()
    expect_calm(app)
    assert _in_address(app, state.METHOD) == "irbm"
    assert "This is Dawid-Skene run longer" in words(app)
    assert "0 labels differ" not in words(app)


@pytest.mark.parametrize(("said", "shown"), [("ds", "ds"), ("magic", "mv")])
def test_a_method_in_the_address_is_shown_and_a_stranger_is_not(open_compare, compared, app, said, shown):
    app.query_params[state.METHOD] = said
    assert _method(open_compare(compared["truth"])).value == shown


def test_what_is_offered_first_does_not_depend_on_the_truth(open_compare, compared):
    best = max(_methods(compared["worst_first"]), key=lambda one: one["accuracy"])["name"]
    assert best == "mv"
    assert _method(open_compare(compared["worst_first"])).value == "onecoin"


def test_a_method_that_could_not_run_has_no_labels_to_take_home(open_compare, compared):
    assert _method(open_compare(compared["refused"])).options == ["Majority vote"]


def test_the_export_page_opens_with_the_method_and_offers_what_a_comparison_knows(open_compare, compared):
    run = compared["truth"]
    app = open_compare(run)
    _method(app).set_value("ds").run()
    button(app, "Open on the Export page").click().run()
    app.switch_page("pages/export.py").run()  # a test does not follow by itself
    expect_calm(app)
    assert app.title[0].value == "Export"
    assert (_in_address(app, state.RUN), _in_address(app, state.METHOD)) == (run.id, "ds")
    assert _method(app).value == "ds"
    assert _downloads(app) == ["Download 200 rows as CSV"]
    assert (
        "A model and labels for new data need a trained model; a report needs a training or a fused answer."
        in words(app)
    )
    assert [tab.label for tab in app.tabs] == ["Fused labels", "Review queue"]
    _method(app).set_value("onecoin").run()
    expect_calm(app)
    assert _in_address(app, state.METHOD) == "onecoin"


def test_the_review_queue_of_a_method_has_no_restarts_and_no_model_to_ask(open_compare, compared, app):
    app.query_params[state.RUN], app.query_params[state.METHOD] = compared["blind"].id, "ds"
    open_compare(compared["blind"])
    app.session_state["export_compared_tab"] = "Review queue"
    app.switch_page("pages/export.py").run()
    expect_calm(app)
    assert "to check**" in words(app)
    assert "restarts" not in words(app)
    assert "Select a row to see why" not in words(app)
    assert _downloads(app) == ["Download the review queue"]


@pytest.mark.parametrize("damaged", [False, True])
@pytest.mark.parametrize("page", ["compare", "export"])
def test_labels_that_are_missing_or_damaged_get_a_sentence(open_compare, compared, app, damaged, page):
    run = compared["truth"]
    (run.path / "checksums.json").unlink()  # as earlier versions left it; with them the whole run is damaged
    path = run.labels("ds")
    content = path.read_bytes()
    path.unlink()
    if damaged:
        path.write_bytes(content[:400])
    app.query_params[state.RUN], app.query_params[state.METHOD] = run.id, "ds"
    open_compare(run)
    app.switch_page(f"pages/{page}.py").run()
    expect_calm(app)
    said = "labels of this run are damaged. Run it again." if damaged else "has no labels of ds to export"
    assert said in words(app)
    assert not [label for label in _downloads(app) if label.startswith(("Labels as", "Download"))]
    _method(app).set_value("mv").run()
    assert said not in words(app)


@pytest.mark.parametrize("page", ["compare", "export"])
def test_a_comparison_with_damaged_labels_is_damaged(open_compare, compared, app, page):
    run = compared["truth"]
    path = run.labels("ds")
    path.write_bytes(path.read_bytes()[:400])
    app.query_params[state.RUN], app.query_params[state.METHOD] = run.id, "ds"
    open_compare(run)
    app.switch_page(f"pages/{page}.py").run()
    expect_calm(app)
    if page == "compare":
        assert "labels_ds.parquet is damaged" in words(app)
    assert not [label for label in _downloads(app) if label.startswith("Labels as")]


def test_a_comparison_of_an_earlier_version_says_what_to_do(open_compare, compared, app):
    run = compared["truth"]
    for path in [*run.path.glob("labels_*.parquet"), run.path / "checksums.json"]:
        path.unlink()
    open_compare(run)
    expect_calm(app)
    assert "an earlier version kept only the scores" in words(app)
    assert "Compare again to get them." in words(app)
    assert app.dataframe[0].value["method"].tolist()  # all else is there


def test_where_probabilities_were_not_kept_the_pages_say_so(open_compare, workspace, monkeypatch, app):
    monkeypatch.setattr("deem_core.runs.kinds.MOST_CELLS", 1)
    run = done(workspace, "compare", add_votes(workspace, experts(100)), METHODS)
    open_compare(run)
    expect_calm(app)
    assert "probabilities of these labels were not kept" in words(app)
    button(app, "Open on the Export page").click().run()
    app.switch_page("pages/export.py").run()
    expect_calm(app)
    toggle = next(each for each in app.toggle if each.label.startswith("Probabilities of"))
    assert (toggle.value, toggle.disabled) == (False, True)
    assert _downloads(app) == ["Download 100 rows as CSV"]


@pytest.mark.parametrize(
    ("ended", "said"),
    [
        (State("failed", "There was not enough memory."), "There was not enough memory."),
        (State("cancelled"), "Cancelled."),
    ],
)
def test_a_comparison_that_did_not_end_well_says_so_and_shows_what_there_is(open_compare, compared, ended, said):
    run = compared["truth"]
    write_state(run.path, ended)
    app = open_compare(run)
    assert not app.exception
    assert not app.error
    assert said in words(app)
    so_far = app.dataframe[0].value
    assert so_far["method"].tolist()[:2] == ["Majority vote", "Dawid-Skene"]
    assert so_far["state"].tolist()[:2] == ["done", "done"]
    assert not so_far.isna().any(axis=None)
