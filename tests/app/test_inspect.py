"""Learners and Dependence without a browser: every state of a training and of its inspection."""

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from deem_core import simulate
from deem_core.diagnostics.inspection import Inspection
from deem_core.files.atomic import write_json
from deem_core.runs import State, Workspace
from deem_core.runs.process import Worker
from deem_core.runs.run import WORKER, write_state
from studio import jobs, state
from studio.inspect import inspections
from tests.app.conftest import button, expect_calm, words
from tests.in_process import QUICK, add_votes, done, experts, inspected, rewrite

PAGES = ("learners", "dependence")
TABS = ("Scorecard", "Influence", "Expert finder", "Trust", "Confusion", "Why this label?", "Certainty")
GROUPED = simulate("tree", 600, seed=3).votes
EXACT = {"method": "irbm", "random_state": 0}
ODD = ("<b>ann</b>", "**bob**", "[cy](http://x.y)", ":material/home: `d`", "$x$ |", "=1+1", "_f_ &amp;")


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    """A workspace with trainings and their inspections: with truth, without, exact, and with odd names."""
    made = Workspace(tmp_path_factory.mktemp("workshop"))
    votes = experts()
    alone = votes.select_learners(range(5))  # without the copies
    odd = replace(votes.select_rows(range(120)), learners=ODD, classes=votes.classes)
    trainings = {
        "truth": done(made, "train", add_votes(made, votes), QUICK, "Quick"),
        "blind": done(made, "train", add_votes(made, votes.without_truth(), "blind.csv"), QUICK, "Quick"),
        "exact": done(made, "train", add_votes(made, alone, "exact.csv"), EXACT, "Exact"),
        "groups": done(
            made, "train", add_votes(made, GROUPED, "groups.csv"), {"method": "gds", "random_state": 0}, "Groups"
        ),
        "odd": done(made, "train", add_votes(made, odd, "odd.csv"), QUICK, "<i>odd</i>"),
    }
    for run in trainings.values():
        inspected(made, run)
    return made.root, {name: run.id for name, run in trainings.items()}


@pytest.fixture
def trained(workshop, workspace):
    """The trainings by name, in a workspace that the test may spoil."""
    root, ids = workshop
    shutil.copytree(root, workspace.root, dirs_exist_ok=True)
    return {name: workspace.run(run) for name, run in ids.items()}


@pytest.fixture
def open_page(app):
    """Return what opens a page at a training."""

    def open_it(page, run=None, dataset=None):
        if run is not None:
            app.query_params[state.DATA], app.query_params[state.RUN] = run.dataset_id, run.id
        elif dataset is not None:
            app.query_params[state.DATA] = dataset.id
        app.run()
        return app.switch_page(f"pages/{page}.py").run()

    return open_it


def turn_to(app, tab, tabs="learners_tabs"):
    app.session_state[tabs] = tab
    app.run()
    expect_calm(app)


def run_in_address(app):
    """Return the id of the run: a list before the page has written it, a text after."""
    return "".join(app.query_params[state.RUN])


def of_training(workspace, run):
    (inspection,) = (other for other in workspace.runs(kind="inspect") if other.config["training"] == run.id)
    return inspection


@pytest.mark.parametrize("page", PAGES)
def test_without_data_the_page_leads_to_it(open_page, page):
    app = open_page(page)
    expect_calm(app)
    assert "No data yet" in words(app)


def test_without_any_answer_the_scorecard_is_one_click_away(open_page, dataset, monkeypatch):
    started = []
    monkeypatch.setattr(jobs, "start", lambda *told: started.append(told))
    app = open_page("learners", dataset=dataset)
    expect_calm(app)
    assert "No answer yet" in words(app)
    button(app, "Fuse").click().run()
    assert started[0][:3] == ("fuse", dataset.id, jobs.RECOMMENDED)


def test_an_answer_without_a_model_has_a_scorecard(open_page, workspace):
    votes = add_votes(workspace, experts())
    answer = done(workspace, "fuse", votes, {"method": "ds", "random_state": 0})
    app = open_page("learners", answer)
    expect_calm(app)
    assert "average probability that the answer (Dawid-Skene) gives" in words(app)
    assert "has no model" in words(app)
    (table,) = app.dataframe
    shown = table.value.set_index("learner")
    assert shown.loc["ann", "flags"] == "near-copy of ann_2, ann_3"
    assert shown["estimated"].is_monotonic_decreasing
    app.toggle(key="scorecard_flagged").set_value(True).run()
    expect_calm(app)
    assert app.dataframe[0].value["flags"].all()
    app.selectbox(key="scorecard_order").set_value("As in the file").run()
    assert app.dataframe[0].value["learner"].tolist()[0] == "ann"


def test_the_scorecard_comes_first_and_knows_the_expert(open_page, trained):
    app = open_page("learners", trained["exact"])
    expect_calm(app)
    assert next(tab.label for tab in app.tabs) == "Scorecard"
    shown = app.dataframe[0].value.set_index("learner")
    assert "expert for" in shown.loc["expert", "flags"]
    assert {"influence", "real"} <= set(shown.columns)
    assert [each.label for each in app.get("download_button")] == ["Scorecard as CSV"]


def test_without_a_finished_training_the_page_leads_to_one(open_page, make_run, dataset):
    make_run("failed", reason="The disk is full.")
    app = open_page("dependence", dataset=dataset)
    expect_calm(app)
    assert "No trained model yet" in words(app)
    assert button(app, "Go to Train")


@pytest.mark.parametrize("name", ["truth", "blind", "exact", "groups", "odd"])
def test_every_tab_of_every_kind_of_model_is_shown(open_page, trained, name):
    app = open_page("learners", trained[name])
    for tab in TABS:
        turn_to(app, tab)
    assert ("needs true labels" in words(app)) == (name == "blind")
    app.switch_page("pages/dependence.py").run()
    expect_calm(app)
    labels = [each.label for each in app.tabs]
    for tab in labels:
        turn_to(app, tab, "dependence_tabs")
    assert labels == ["Mutual information", "Layer by layer", "Most dependent pairs", "Correlation with the label"]


def test_a_grouped_model_shows_its_groups(open_page, trained):
    app = open_page("learners", trained["groups"])
    expect_calm(app)
    assert "make the same mistakes" in words(app)
    turn_to(app, "Groups")
    chosen = next(each for each in app.selectbox if each.label == "Group or learner")
    assert list(chosen.options) == ["group 1", "group 2", "group 3", *GROUPED.learners]
    chosen.set_value(len(chosen.options) - 1).run()
    expect_calm(app)
    turn_to(app, "Why this label?")
    assert "Taken together, the group of" in words(app)


def test_other_models_have_no_tab_of_groups(open_page, trained):
    app = open_page("learners", trained["exact"])
    assert "Groups" not in [tab.label for tab in app.tabs]


def test_the_expert_is_named_and_truth_is_marked_as_evaluation(open_page, trained):
    app = open_page("learners", trained["exact"])
    turn_to(app, "Influence")
    assert "Influence is not accuracy" in words(app)
    assert "Whiskers" not in words(app)  # it has a single run
    turn_to(app, "Expert finder")
    assert "“expert” for class “w”" in words(app)
    turn_to(app, "Confusion")
    assert "The real one is for evaluation only" in words(app)
    turn_to(app, "Certainty")
    assert "Evaluation only, never used in training" in words(app)
    assert "of 300 rows with known truth" in words(app)


def test_without_truth_nothing_speaks_of_it(open_page, trained):
    app = open_page("learners", trained["blind"])
    turn_to(app, "Trust")
    assert not app.toggle
    turn_to(app, "Confusion")
    assert "evaluation only" not in words(app)


def test_influence_is_shown_for_chosen_classes_and_by_withholding(open_page, trained):
    app = open_page("learners", trained["truth"])
    turn_to(app, "Influence")
    rows, how = app.get("button_group")[:2]
    rows.set_value("Some classes").run()
    expect_calm(app)
    found = Inspection.load(of_training(Workspace(), trained["truth"]).path)
    assert app.multiselect[0].value == inspections.expert_classes(found.influence)
    app.multiselect[0].set_value([]).run()
    expect_calm(app)
    app.get("button_group")[1].set_value("Withholding votes").run()
    expect_calm(app)
    assert "votes are left out" in words(app)
    assert how.label == "Influence by"


def test_any_row_is_explained_by_its_id_or_its_number(open_page, trained):
    app = open_page("learners", trained["truth"])
    turn_to(app, "Why this label?")
    field = app.text_input[0]
    field.set_value("r17").run()
    expect_calm(app)
    assert "Row **r17** is labelled" in words(app)
    app.text_input[0].set_value("18").run()
    assert "Row **r17** is labelled" in words(app)
    app.text_input[0].set_value("<b>none</b>").run()
    assert not app.exception
    assert "There is no row '<b>none</b>'" in words(app)


def test_the_tables_of_the_open_tab_can_be_taken_home(open_page, trained):
    app = open_page("learners", trained["truth"])
    turn_to(app, "Influence")
    labels = [each.label for each in app.get("download_button")]
    assert labels == ["Learners as CSV", "Influence by class as CSV"]
    turn_to(app, "Confusion")
    labels = [each.label for each in app.get("download_button")]
    assert labels == ["Confusion as CSV", "Evaluation confusion as CSV"]


def test_learners_that_copy_each_other_are_named(open_page, trained):
    app = open_page("dependence", trained["truth"])
    expect_calm(app)
    assert "The strongest cell is" in words(app)
    turn_to(app, "Most dependent pairs", "dependence_tabs")
    assert "ann, ann_2, ann_3 behave like one learner." in words(app)
    turn_to(app, "Layer by layer", "dependence_tabs")
    assert "When it does not fall" in words(app)
    turn_to(app, "Mutual information", "dependence_tabs")
    app.selectbox[0].set_value("Every class").run()
    expect_calm(app)
    app.selectbox[0].set_value("w").run()
    expect_calm(app)
    app.get("button_group")[0].set_value("the true label (evaluation)").run()
    expect_calm(app)
    assert "Evaluation only, never used in training" in words(app)


@pytest.mark.parametrize("page", PAGES)
def test_an_inspection_under_way_shows_its_progress(open_page, trained, page):
    run = of_training(Workspace(), trained["truth"])
    write_json(Worker.of(os.getpid()).to_dict(), run.path / WORKER)  # this process stands for the worker
    write_state(run.path, State("running", share=0.5, step="Influence of learners", created=run.created))
    app = open_page(page, trained["truth"])
    expect_calm(app)
    assert "done once and saved with the training" in words(app)
    assert app.button(key=f"cancel_inspect_{run.id}")


@pytest.mark.parametrize("page", PAGES)
def test_a_failed_inspection_says_why_and_can_be_tried_again(open_page, trained, monkeypatch, page):
    run = of_training(Workspace(), trained["truth"])
    write_state(run.path, State("failed", "There was not enough memory.", created=run.created))
    resumed = []
    monkeypatch.setattr(Workspace, "resume", lambda self, run: resumed.append(run.id))
    app = open_page(page, trained["truth"])
    assert not app.exception
    assert "There was not enough memory." in words(app)
    button(app, "Try again").click().run()
    assert resumed == [run.id]


def test_a_damaged_inspection_is_done_again(open_page, trained, monkeypatch):
    run = of_training(Workspace(), trained["truth"])
    (run.path / "inspection.npz").write_bytes(b"nonsense")
    monkeypatch.setattr(Workspace, "start", lambda self, run: None)
    app = open_page("learners", trained["truth"])
    expect_calm(app)
    assert "inspection.npz is damaged" in words(app)
    button(app, "Try again").click().run()
    expect_calm(app)
    assert run.state().state == "queued"
    assert app.button(key=f"cancel_inspect_{run.id}")


def test_a_damaged_inspection_of_an_earlier_version_is_done_again(open_page, trained, monkeypatch):
    run = of_training(Workspace(), trained["truth"])
    (run.path / "checksums.json").unlink()
    (run.path / "inspection.npz").write_bytes(b"nonsense")
    started = []
    monkeypatch.setattr(Workspace, "start", lambda self, run: started.append(run.kind))
    app = open_page("learners", trained["truth"])
    assert not app.exception
    assert not app.error
    button(app, "Inspect again").click().run()
    assert not app.exception
    assert started == ["inspect"]
    assert not run.path.exists()


def test_a_training_without_an_inspection_starts_one(open_page, trained, workspace, monkeypatch):
    training = trained["truth"]
    workspace.delete_run(of_training(workspace, training))
    started = []
    monkeypatch.setattr(Workspace, "start", lambda self, run: started.append(run.config["training"]))
    app = open_page("dependence", training)
    assert not app.exception
    assert started == [training.id]


def test_two_tabs_at_once_start_one_inspection_and_a_finished_one_is_preferred(trained, workspace, monkeypatch):
    training = trained["truth"]
    finished = of_training(workspace, training)
    again = workspace.new_run("inspect", workspace.dataset(training.dataset_id), finished.config, title="Again")
    assert inspections.of_training(training).id == finished.id
    workspace.cancel(again)
    for run in (finished, again):
        workspace.delete_run(run)
    monkeypatch.setattr(Workspace, "start", lambda self, run: None)
    with ThreadPoolExecutor(4) as tabs:
        found = {run.id for run in tabs.map(inspections.of_training, [training] * 4)}
    assert len(found) == 1


@pytest.mark.parametrize("page", PAGES)
def test_a_training_that_fell_back_to_the_majority_vote_says_so(open_page, trained, page):
    training = trained["truth"]
    rewrite(training, "summary.json", json.dumps(training.summary() | {"fallback": True}))
    app = open_page(page, training)
    expect_calm(app)
    assert "the answer is the **majority vote**" in words(app)
    if page == "learners":
        turn_to(app, "Expert finder")
        assert "it has no experts" in words(app)


@pytest.mark.parametrize("page", PAGES)
def test_another_finished_training_does_not_change_the_page(open_page, trained, workspace, page):
    first = trained["truth"]
    app = open_page(page, dataset=workspace.dataset(first.dataset_id))
    assert run_in_address(app) == first.id
    newer = done(workspace, "train", workspace.dataset(first.dataset_id), EXACT, "Newer")
    inspected(workspace, newer)
    workspace.annotate(newer, name="<b>mine</b>", tags=["paper"])
    app.run()
    expect_calm(app)
    assert run_in_address(app) == first.id
    picker = next(each for each in app.selectbox if each.label == "Run")
    assert picker.value == first.id
    assert any(option.startswith("<b>mine</b> · #paper · ") for option in picker.options)
    picker.set_value(newer.id).run()
    expect_calm(app)
    assert run_in_address(app) == newer.id
    assert "<b>mine</b>" in words(app)


def test_a_run_without_a_model_says_so_and_leads_to_one(open_page, trained, workspace):
    training = trained["truth"]
    answer = done(workspace, "fuse", workspace.dataset(training.dataset_id), {"method": "ds", "random_state": 0})
    app = open_page("dependence", answer)
    expect_calm(app)
    assert "This answer (Dawid-Skene) has no model" in words(app)
    app.button(key="show_other_model").click().run()
    expect_calm(app)
    assert run_in_address(app) == training.id
    assert "The strongest cell is" in words(app)


def test_a_training_that_goes_on_is_awaited(open_page, trained):
    run = trained["truth"]
    write_json(Worker.of(os.getpid()).to_dict(), run.path / WORKER)
    write_state(run.path, State("running", share=0.5, step="Restart 1", created=run.created))
    app = open_page("dependence", run)
    expect_calm(app)
    assert "This run is not finished yet" in words(app)
    write_state(run.path, State("cancelled", created=run.created))
    app.run()
    assert "was cancelled, so there is no model" in words(app)


def test_deleting_a_training_deletes_its_inspection(trained, workspace):
    training = trained["truth"]
    jobs.delete([training.id])
    assert not [run for run in workspace.runs() if training.id in (run.id, run.config.get("training"))]
    assert len(workspace.runs(kind="inspect")) == 4


def test_another_dataset_is_shown_with_its_own_learners(open_page, app, trained):
    open_page("learners", trained["odd"])
    turn_to(app, "Confusion")
    app.selectbox[0].set_value(ODD[3]).run()
    other = trained["blind"]
    app.session_state["deem_data"], app.session_state["deem_run"] = other.dataset_id, other.id
    app.query_params.clear()
    app.run()
    expect_calm(app)
    assert app.selectbox[0].value == "ann"


def test_deleting_a_training_stops_an_inspection_that_still_waits(trained, workspace):
    training = trained["blind"]
    dataset = workspace.dataset(training.dataset_id)
    waiting = workspace.new_run("inspect", dataset, {"training": training.id})
    assert waiting.is_active()
    jobs.delete([training.id])
    assert not workspace.runs(dataset=dataset.id)
