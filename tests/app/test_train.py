"""Train without a browser: settings, and how every kind of ending looks."""

import json
import re
import time

import pyarrow.parquet
import pytest

from deem_core import simulation, sweep
from deem_core.answers.answer import Answer
from deem_core.comparison.evaluation import evaluate
from deem_core.errors import InputError
from deem_core.files.atomic import write_json
from deem_core.files.plain import to_plain
from deem_core.files.seals import SEAL
from deem_core.model.records import Record
from deem_core.runs import RowNames, Workspace
from deem_core.runs.answer_book import Reply
from deem_core.runs.control import RunControl
from deem_core.runs.status import Status
from studio import state
from tests.app.conftest import button, expect_calm, metrics, open_tab, words


@pytest.fixture
def open_train(app, dataset):
    """Return what opens the page, perhaps at a run."""

    def open_it(run=None, **address):
        app.query_params[state.DATA] = dataset.id
        if run is not None:
            app.query_params[state.RUN] = getattr(run, "id", run)
        for name, value in address.items():
            app.query_params[name] = value
        app.run()
        return app.switch_page("pages/train.py").run()

    return open_it


@pytest.fixture
def finish(workspace, dataset):
    """Return what writes the results of a run: the majority vote with three labels changed, by default."""

    def write(run, changed=3, **story):
        votes = workspace.read(dataset).votes
        codes = votes.majority_vote.codes.copy()
        codes[:changed] = (codes[:changed] + 1) % votes.n_classes
        posterior = 0.05 + 0.85 * (codes[:, None] == range(votes.n_classes))
        answer = Answer(votes, posterior)
        pyarrow.parquet.write_table(answer.to_table(), run.path / "result.parquet")
        summary = {
            **to_plain(answer.summary()),
            "method": "deem",
            "settings": {"learning_rate": {"value": 0.5, "reason": "given"}, "restarts": {"value": 3, "reason": ""}},
            "restarts": [{"kept": True, "reason": "", "share_ratio": 0.9, "agreement": 0.98, "training": 0, "seed": 1}]
            * 3,
            "warnings": [],
            "near_copies": [],
            "hedged": False,
            "fallback": False,
            "device": "cpu",
            "seconds": 3.2,
            "evaluation": to_plain(evaluate(answer)),
            **story,
        }
        write_json(summary, run.path / "summary.json")
        return run

    return write


def test_without_data_the_page_leads_to_it(app):
    app.run()
    app.switch_page("pages/train.py").run()
    expect_calm(app)
    assert "No data yet" in words(app)


def test_the_settings_start_as_recommended_and_what_is_left_empty_is_not_sent(app, open_train, monkeypatch):
    started = []
    monkeypatch.setattr("studio.jobs.workspace", lambda: _Starter(started))
    open_train()
    expect_calm(app)
    button(app, "Train").click()
    app.run()
    assert started == [("train", {"method": "deem", "restarts": 5, "device": "auto", "random_state": 0})]


class _Starter:
    """A workspace that only writes down what is started."""

    def __init__(self, started):
        self.started = started

    def dataset(self, id):
        return id

    def run(self, id):
        return Workspace().run(id)

    def runs(self, **which):
        return []

    def start_run(self, kind, dataset, config, title):
        self.started.append((kind, dict(config)))
        raise InputError("The disk is full; make room and try again.")


def test_what_cannot_be_started_is_said(app, open_train, monkeypatch):
    monkeypatch.setattr("studio.jobs.workspace", lambda: _Starter([]))
    open_train()
    button(app, "Train").click()
    app.run()
    assert "The disk is full" in words(app)
    assert not app.exception


@pytest.mark.parametrize("exact", ["irbm", "gds"])
def test_the_exact_methods_have_no_rate_and_no_restarts(app, open_train, exact):
    open_train()
    method = next(each for each in app.get("button_group") if each.label == "Method")
    method.set_value(exact).run()
    expect_calm(app)
    assert "Restarts" not in [each.label for each in app.number_input]


def test_a_chosen_rate_is_filled_in(app, open_train):
    open_train(rate="0.25")
    expect_calm(app)
    assert next(each for each in app.number_input if each.label == "Rate").value == 0.25


@pytest.mark.parametrize(("rate", "start"), [(None, "auto"), ("0.25", "majority")])
def test_a_rate_from_a_sweep_is_used_from_where_the_sweep_started(app, open_train, rate, start):
    open_train(**({} if rate is None else {"rate": rate}))
    expect_calm(app)
    assert next(each for each in app.selectbox if each.label == "Start").value == start


def test_a_training_from_groups_says_where_it_started(app, open_train, make_run, finish):
    start = {"value": "groups", "reason": "2 groups of learners were found. The model fits."}
    finish(make_run(), near_copies=["Near-copies: a, b."], near_copies_found=True, settings={"start": start})
    open_train()
    expect_calm(app)
    said = words(app)
    assert "Training started from the grouped model. 2 groups" in said
    assert "Near-copies: a, b." in said
    assert "Train again with every vote counted" not in [each.label for each in app.button]


@pytest.mark.parametrize("rate", ["abc", "-1", "nan", "inf"])
def test_nonsense_in_the_address_is_no_rate(app, open_train, rate):
    open_train(rate=rate)
    expect_calm(app)
    assert "Rate" not in [each.label for each in app.number_input]


def test_reset_brings_the_recommended_settings_back(app, open_train):
    open_train()
    restarts = next(each for each in app.number_input if each.label == "Restarts")
    restarts.set_value(9).run()
    assert next(each for each in app.number_input if each.label == "Restarts").value == 9
    button(app, "Reset to recommended").click()
    app.run()
    assert next(each for each in app.number_input if each.label == "Restarts").value == 5


def test_a_finished_training_shows_cards_and_what_it_is_worth(app, open_train, make_run, finish):
    open_train(finish(make_run()))
    expect_calm(app)
    assert metrics(app)["Fused classes"] == "3 of 3"
    assert metrics(app)["Same as majority"] == "92.5%"
    assert metrics(app)["Restarts kept"] == "3 of 3"
    assert "DEEM changed 3 of 40 labels against the majority vote." in words(app)
    assert [tab.label for tab in app.tabs] == [
        *("Class shares", "What changed", "Confidence", "Overruled rows", "Restarts", ":material/lock: Evaluation")
    ]
    open_tab(app, "answer_tabs", ":material/lock: Evaluation")
    expect_calm(app)
    assert "40 rows with known truth" in words(app)
    assert "95% intervals cover what other rows" in words(app)
    assert "the 3 restarts that were kept agree with each other on 98.0% of the rows" in words(app)


def test_without_truth_gain_cannot_be_known(app, open_train, make_run, finish):
    open_train(finish(make_run(), evaluation=None))
    expect_calm(app)
    assert "Without true labels there is no telling whether that is a gain." in words(app)
    assert ":material/lock: Evaluation" not in [tab.label for tab in app.tabs]


def test_a_method_without_restarts_records_and_rate(app, open_train, make_run, finish):
    settings = {"method": {"value": "exact", "reason": "x"}, "iterations": {"value": 35, "reason": "x"}}
    open_train(finish(make_run(), method="irbm", restarts=[], settings=settings))
    expect_calm(app)
    assert "Restarts kept" not in metrics(app)
    assert "iRBM, exact changed 3 of 40 labels" in words(app)


def test_a_grouped_model_shows_its_groups_instead_of_curves(app, open_train, make_run, finish):
    groups = {
        "groups": [["ann", "bob"], ["cy", "<b>dan"]],
        "label_group": None,
        "fits": True,
        "reason": "The model fits.",
        "excess": 0.001,
        "within_excess": None,
        "log_likelihood": -7.25,
        "iterations": 16,
        "converged": True,
        "moved": 0.01,
        "runners_up": [{"groups": [["ann", "bob"]], "behind": 3.5, "changed": 0.25}],
        "sentences": ["2 groups of learners that make the same mistakes: ann, bob; cy, <b>dan."],
    }
    open_train(finish(make_run(), method="gds", restarts=[], settings={}, groups=groups))
    expect_calm(app)
    assert metrics(app)["Groups"] == "2"
    assert "Log-likelihood -7.25 nats a row after 16 rounds of EM" in words(app)
    assert "Restarts kept" not in metrics(app)
    assert "Grouped Dawid-Skene changed 3 of 40 labels" in words(app)
    assert "2 groups of learners that make the same mistakes" in words(app)
    assert "explain the votes about as well" in words(app)
    assert "Energies" not in [tab.label for tab in app.tabs]


def test_a_fallback_says_so_and_a_collapse_offers_what_to_try(app, open_train, make_run, finish):
    dropped = [{"kept": False, "reason": "Class '1' died.", "share_ratio": 0.0, "training": 0, "seed": 1}] * 3
    open_train(finish(make_run(), changed=0, fallback=True, restarts=dropped))
    expect_calm(app)
    told = words(app)
    assert "Training failed (0 of 3 restarts usable)." in told
    assert told.count("These labels are the plain majority vote.") == 1  # by the alarm
    assert "no clear gain" not in told
    assert re.search(r"Dawid-Skene is right on [\d.]+% of \d+ rows with known truth, these labels on", told)
    assert "Fell back to majority vote" in told
    assert "40 rows with votes are few for 3 classes" in told
    assert {"Train the exact iRBM instead", "Merge labels"} <= {each.label for each in app.button}
    assert [each.proto.label for each in app.get("download_button")][:1] == ["Download majority vote"]
    assert metrics(app)["Restarts kept"] == "0 of 3"


def test_an_alarm_advises_the_rate_that_a_sweep_of_the_dataset_recommends(app, open_train, make_run, finish):
    votes = simulation.make("condind", 120, seed=0, n_learners=4).votes
    swept = sweep(votes, [0.1, 0.5], updates=20, batch_size=40, n_layers=0, random_state=0).to_dict()
    swept |= {"recommended": 0.1, "recommendation": {"kind": "recommended", "index": 0, "to_try": ""}}
    make_run(kind="sweep", summary=swept)
    settings = swept["settings"] | {"learning_rate": {"value": 0.5, "reason": ""}, "start": {"value": "majority"}}
    settings = {name: {"reason": "", **item} for name, item in settings.items()}
    dropped = [{"kept": False, "reason": "Class '1' died.", "share_ratio": 0.0, "training": 0, "seed": 1}]
    open_train(finish(make_run(), restarts=dropped, settings=settings))
    expect_calm(app)
    assert "A sweep of these votes recommends the learning rate 0.1." in words(app)
    assert [each.label for each in app.button if "the rate" in each.label] == ["Train with the rate 0.1"]


def test_near_copies_are_named_and_a_second_run_stands_beside_the_first(app, open_train, make_run, finish):
    told = ["Near-copies: ann, bob (mean κ 1.00). Each group counts once, by its own majority vote."]
    first = finish(make_run(), near_copies=told, near_copies_found=True)
    open_train(first)
    expect_calm(app)
    assert "mean κ 1.00" in words(app)
    assert "Train again with every vote counted" in [each.label for each in app.button]
    second = make_run(title="All voices")
    spec = json.loads((second.path / "spec.json").read_text(encoding="utf-8"))
    spec["config"]["near_copies"] = "keep"
    del spec[SEAL]
    write_json(spec, second.path / "spec.json")
    finish(second, changed=1)
    app.run()
    expect_calm(app)
    assert "Train again with every vote counted" not in [each.label for each in app.button]
    beside = next(table.value for table in app.dataframe if "near-copies: keep" in table.value.columns)
    assert beside["near-copies: guard"].tolist()[0] == "3"
    assert beside["near-copies: keep"].tolist()[0] == "1"


def test_a_failed_training_gives_its_reason_and_can_be_resumed(app, open_train, make_run):
    run = make_run("failed", reason="The machine ran out of memory; take a smaller batch.")
    open_train(run)
    expect_calm(app)
    assert "ran out of memory" in words(app)
    assert button(app, "Start over")
    (run.path / "checkpoint").mkdir()
    (run.path / "checkpoint" / "training-0-0.safetensors").write_bytes(b"")
    app.run()
    assert button(app, "Resume")


def test_a_training_that_goes_on_shows_progress_pace_and_curves(app, open_train, make_run):
    run = make_run("running", share=0.4, step="Training", seconds_left=30, device="cpu")
    with (run.path / "progress.jsonl").open("w", encoding="utf-8") as stream:
        for restart in range(2):
            for update in (10, 20, 30):
                stream.write(json.dumps(_record(restart, update)) + "\n")
        stream.write('{"type": "record", "rest')  # a line that is being written
    open_train(run)
    expect_calm(app)
    assert "Training · 40% · about 30 s left" in {each.proto.text for each in app.get("progress")}
    assert "20 updates per second over all restarts, on cpu" in words(app)
    assert [tab.label for tab in app.tabs] == ["Energies", "Classes while training", "Sampler"]
    app.button(key=f"cancel_train_{run.id}").click().run()
    assert (run.path / "cancel").exists()
    asked = app.button(key=f"cancel_train_{run.id}")
    assert (asked.label, asked.disabled) == ("Cancelling…", True)
    assert "Cancelling…" in {each.proto.text for each in app.get("progress")}


def test_what_went_wrong_and_was_put_right_is_told_once_while_it_runs_and_afterwards(open_train, make_run, finish):
    sentence = "A process of the cluster was lost, and its piece of the work was done again."
    for run in (make_run("running"), finish(make_run())):
        control = RunControl(Status(run))
        control.note("Nothing of that.")
        control.mishap(sentence)
        assert words(open_train(run)).count(sentence) == 1
        control.part(0, 1).mishap(sentence)
        said = words(open_train(run))
        assert said.count(f"{sentence} (2 times)") == 1
        assert "Nothing of that" not in said


def _record(restart, update):
    known = dict.fromkeys(Record.__dataclass_fields__, 0.5)
    known |= {"restart": restart, "update": update, "epoch": update / 10, "seconds": update / 10}
    return {"type": "record", **known, "shares": [0.4, 0.3, 0.3]}


def test_an_older_summary_that_says_less_does_not_break_the_page(app, open_train, make_run):
    open_train(make_run(summary={"changed": 4, "evaluation": {"accuracy": 0.9}}))
    expect_calm(app)
    assert "made by an earlier version of the app" in words(app)


@pytest.mark.parametrize("link", ["foreign", "0" * 32, "../../etc"])
def test_a_link_to_a_run_that_is_gone_or_belongs_elsewhere_shows_the_latest(app, open_train, make_run, workspace, link):
    mine = make_run("cancelled", title="Mine")
    if link == "foreign":
        other = workspace.add_dataset("other.csv", b"id,a,b,c\n1,x,y,x\n2,y,y,x\n3,x,x,y\n")
        link = workspace.new_run("train", other, {"method": "deem"}, title="Foreign").id
    open_train(run=link)
    expect_calm(app)
    assert app.query_params[state.RUN] in (mine.id, [mine.id])
    assert "Foreign" not in words(app)


def test_a_deleted_dataset_in_the_address_is_said_calmly(app, dataset, workspace):
    app.query_params[state.DATA] = dataset.id
    workspace.delete_dataset(dataset.id)
    app.run()
    app.switch_page("pages/train.py").run()
    assert not app.exception
    assert not app.error


def test_the_list_shows_every_training_with_what_is_known(app, open_train, make_run, finish):
    finish(make_run(title="Good"))
    make_run("failed", title="Bad", reason="It broke.")
    open_train()
    expect_calm(app)
    table = next(each.value for each in app.dataframe if "took" in each.value.columns)
    assert dict(zip(table["run"], table["took"], strict=True)) == {"Good": "3 s", "Bad": "–"}


def test_draws_of_the_layers_are_a_setting_of_the_run(app, open_train, make_run, finish, monkeypatch):
    started = []
    monkeypatch.setattr(Workspace, "start", lambda self, run: started.append((run.config, run.title)))
    open_train(finish(make_run()))
    next(each for each in app.number_input if each.label == "Draws of layers").set_value(50).run()
    next(each for each in app.button if each.label == "Train").click().run()
    ((config, title),) = started
    assert config["draws"] == 50
    assert title == "DEEM · 50 draws"


# ---------------------------------------------------------------------- trainings of this dataset


def _field(app, label):
    return next(each for each in (*app.text_input, *app.text_area) if each.label == label)


def _table(app, column):
    return next(each.value for each in app.dataframe if column in each.value)


def test_a_training_is_named_tagged_noted_and_pinned(app, open_train, make_run, finish, workspace):
    run = finish(make_run())
    open_train(beside=run.id)
    expect_calm(app)
    assert "baseline" not in _table(app, "run")
    _field(app, "Name").set_value("Without *copies*")
    _field(app, "Tags").set_value("paper, small,")
    _field(app, "Note").set_value("first\nsecond")
    button(app, "Save").click().run()
    expect_calm(app)
    said = workspace.run(run.id).annotations()
    assert (said.name, said.tags, said.note) == ("Without *copies*", ("paper", "small"), "first\nsecond")
    assert r"Without \*copies\*" in [each.value for each in app.header]
    button(app, "Pin as baseline").click().run()
    assert workspace.baseline(run.dataset_id).id == run.id
    row = _table(app, "run").iloc[0]
    assert (row["run"], row["baseline"], list(row["tags"])) == ("Without *copies*", "Baseline", ["paper", "small"])
    assert row["note"] == "first second"
    button(app, "Unpin").click().run()
    assert workspace.baseline(run.dataset_id) is None


def test_what_is_too_long_is_said_and_stays_in_its_box(app, open_train, make_run, finish, workspace):
    run = finish(make_run())
    open_train(beside=run.id)
    _field(app, "Name").set_value("n" * 81)
    _field(app, "Note").set_value("kept")
    button(app, "Save").click().run()
    assert "has 81 letters; at most 80" in words(app)
    assert not app.exception
    assert (_field(app, "Name").value, _field(app, "Note").value) == ("n" * 81, "kept")
    assert workspace.run(run.id).annotations().note == ""


def test_marked_trainings_are_compared_with_the_pinned_baseline(app, open_train, make_run, finish, workspace):
    first, second = finish(make_run(title="One"), changed=0), finish(make_run(title="Two"), changed=3)
    pinned = finish(make_run(title="Pinned"), changed=1)
    workspace.pin(pinned)
    workspace.annotate(second, name="Renamed")
    open_train(beside=f"{first.id},{second.id}")
    expect_calm(app)
    assert "Pinned is the pinned baseline" in words(app)
    table = _table(app, "same label as Pinned").set_index("training")
    assert table["same label as Pinned"].to_dict() == {"Pinned": "100%", "One": "97.5%", "Renamed": "95.0%"}
    assert "accuracy (evaluation)" in table
    assert "All have the same settings" in words(app)
    rows = _table(app, "Renamed")
    assert rows["row"].tolist() == [1, 2, 3]
    assert rows.columns.tolist() == ["row", "id", "Pinned", "Renamed", "One", "ann", "bob", "eve"]
    assert rows["Pinned"].tolist()[1:] == rows["One"].tolist()[1:]


def test_trainings_of_one_name_are_told_apart(app, open_train, make_run, finish):
    runs = [finish(make_run(), changed=changed, settings=_rate(rate)) for changed, rate in ((0, 0.5), (1, 1.0))]
    open_train(beside=",".join(run.id for run in runs))
    expect_calm(app)
    settings = _table(app, "setting")
    assert settings["setting"].tolist() == ["Learning rate"]
    assert settings["Recommended settings (1)"].tolist() == ["0.5"]
    assert settings["Recommended settings (2)"].tolist() == ["1"]


def _rate(rate):
    return {"learning_rate": {"value": rate, "reason": "given"}}


@pytest.mark.parametrize("use", [True, False])
def test_labels_from_review_are_used_unless_switched_off(open_train, workspace, dataset, monkeypatch, use):
    monkeypatch.setattr(type(workspace), "start", lambda self, run: None)
    app = open_train()
    assert not [each for each in app.toggle if "labelled in Review" in each.label]
    votes = workspace.read(dataset).votes
    name = str(votes.classes[0])
    workspace.answer_book(dataset).add(Reply(0, RowNames(votes).of(0), name, "ann", time.time()))
    app.run()
    switch = next(each for each in app.toggle if each.label == "Use the 1 gold row labelled in Review")
    assert switch.value
    if not use:
        switch.set_value(False).run()
    button(app, "Train").click().run()
    expect_calm(app)
    (run,) = workspace.runs(kind="train")
    assert ("gold" in run.config) == run.title.endswith("gold rows") == use
    if use:
        assert name in workspace.input(run.config["gold"]).read_text()
