"""Export without a browser: what it waits for, what it offers, and sentences where something cannot be done."""

import io
import json
import zipfile

import numpy as np
import pytest

from deem_core.answers import Names
from deem_core.estimators.irbm import IRBM
from deem_core.runs import kinds
from deem_core.runs.control import RunControl
from deem_core.runs.job import Job
from deem_core.runs.status import Status
from studio import state
from studio.export import results
from tests.app.conftest import RESTART, SUMMARY, button, expect_calm, metrics, words
from tests.in_process import done, rewrite
from tests.studio.labelling import finished

TABS = ["Fused labels", "Review queue", "New data", "Model", "Report"]


@pytest.fixture
def trained(workspace, dataset):
    """Return what makes a finished training of the small file with a real model."""

    def train(truthless=False):
        data = workspace.vary_dataset(dataset, reading={"ignore": ["label"]}) if truthless else dataset
        votes = workspace.read(data).votes
        model = IRBM(random_state=0).fit(votes)
        posterior = 0.05 + 0.85 * model.fuse_codes(votes.codes)  # of three classes
        run = finished(workspace, data, posterior, np.ones(votes.n_rows))
        model.save(run.path / "model.safetensors")
        return run

    return train


@pytest.fixture
def open_export(app, dataset):
    """Return what opens the page, perhaps at a run and a tab."""

    def open_it(run=None, tab=None, data=dataset.id):
        app.query_params[state.DATA] = data
        if run is not None:
            app.query_params[state.RUN] = getattr(run, "id", run)
        app.run()
        if tab is not None:
            app.session_state["export_tab"] = tab
        return app.switch_page("pages/export.py").run()

    return open_it


def downloads(app):
    """The labels of the buttons that download something."""
    return [each.proto.label for each in app.get("download_button")]


def test_without_data_the_page_leads_to_it(app):
    app.run()
    app.switch_page("pages/export.py").run()
    expect_calm(app)
    assert "No data yet" in words(app)


@pytest.mark.parametrize("now", [None, "failed", "cancelled", "running"])
def test_before_a_training_is_done_there_is_nothing_to_export(app, open_export, make_run, now):
    if now is not None:
        make_run(now)
    open_export()
    expect_calm(app)
    assert "No labels yet" in words(app)
    assert downloads(app) == []


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_offers_its_files(app, open_export, trained, tab):
    open_export(trained(), tab)
    expect_calm(app)
    assert (
        downloads(app)
        == {
            "Fused labels": ["Download 40 rows as CSV"],
            "Review queue": ["Download the review queue"],
            "New data": [],
            "Model": ["Download the model"],
            "Report": ["Download the report", "The same numbers as JSON"],
        }[tab]
    )


def test_the_threshold_says_what_it_does(app, open_export, trained):
    open_export(trained())
    assert metrics(app)["Rows to review"] == "4"  # a tenth of forty
    app.slider(key="export_share").set_value(50).run()
    expect_calm(app)
    assert metrics(app)["Rows to review"] == "20"
    assert app.toggle(key="export_blank").label == "Leave these 20 labels blank"
    app.toggle(key="export_by_confidence").set_value(True).run()
    expect_calm(app)
    slider = next(each for each in app.select_slider if each.key.startswith("export_below"))
    assert "labels)" in slider.options[-1]
    app.toggle(key="export_blank").set_value(True).run()
    expect_calm(app)
    assert downloads(app) == ["Download 40 rows as CSV"]


def test_without_truth_nobody_promises_accuracy(app, open_export, trained):
    run = trained(truthless=True)
    open_export(run, data=run.dataset_id)
    assert set(metrics(app)) == {"Rows to review", "Confidence of the rest"}


def test_with_truth_the_accuracy_of_the_rest_is_evaluation(app, open_export, trained):
    open_export(trained())
    assert set(metrics(app)) == {"Rows to review", "Accuracy of the rest"}
    assert any("Evaluation only" in each.help for each in app.metric)


def test_labels_of_a_training_that_failed_say_so(app, open_export, make_run, trained):
    run = trained()
    rewrite(run, "summary.json", json.dumps(SUMMARY | {"fallback": True, "restarts": [RESTART | {"kept": False}]}))
    open_export(run)
    expect_calm(app)
    (said,) = [warning.value for warning in app.warning]
    assert said.replace("\\", "").startswith("Training failed (0 of 1 restarts usable). These labels are the plain ")
    assert downloads(app) == ["Download majority vote as CSV"]


def test_a_label_column_without_a_name_gets_a_sentence_instead_of_a_button(app, open_export, trained):
    open_export(trained())
    app.text_input(key="export_name").set_value("  ").run()
    expect_calm(app)
    assert "The column of labels needs a name." in words(app)
    assert downloads(app) == []
    app.text_input(key="export_name").set_value("ann").run()
    assert "A column ann exists already, so the new one is named ann_2." in words(app)
    assert downloads(app) == ["Download 40 rows as CSV"]


def test_a_full_disk_gets_a_sentence_instead_of_a_button(app, open_export, trained, monkeypatch):
    monkeypatch.setattr(results.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 1}))
    open_export(trained())
    expect_calm(app)
    assert "The file cannot be written" in words(app)
    assert downloads(app) == []


def test_a_run_that_was_deleted_is_said_and_the_latest_is_shown(app, open_export, trained):
    trained()
    open_export("0" * 32)
    expect_calm(app)
    assert "was deleted" in words(app)
    assert downloads(app) == ["Download 40 rows as CSV"]


def test_a_training_that_lost_its_files_gets_sentences(app, open_export, trained):
    run = trained()
    for name in ("result.parquet", "model.safetensors"):
        (run.path / name).unlink()
    for tab in TABS[:4]:
        open_export(run, tab)
        expect_calm(app)
        assert "it is not finished, or was deleted" in words(app)
        assert downloads(app) == []


def test_one_of_several_trainings_is_chosen_and_stays_in_the_address(app, open_export, trained):
    first, second = trained(), trained()
    open_export(first)
    assert app.selectbox(key="export_run").value == first.id
    app.selectbox(key="export_run").set_value(second.id).run()
    expect_calm(app)
    assert app.query_params[state.RUN] in (second.id, [second.id])
    assert app.selectbox(key="export_run").value == second.id


def test_a_comparison_stands_beside_the_trainings_and_alone_without_them(app, open_export, trained, workspace, dataset):
    compared = done(workspace, "compare", dataset, {"methods": ["mv", "ds"], "random_state": 0}, "2 methods compared")
    open_export()
    expect_calm(app)
    assert "Labels of" in [each.label for each in app.selectbox]
    assert downloads(app) == ["Download 40 rows as CSV"]
    training = trained()
    open_export()
    assert app.selectbox(key="export_run").value == training.id  # a training comes first
    assert [tab.label for tab in app.tabs] == TABS
    app.selectbox(key="export_run").set_value(compared.id).run()
    expect_calm(app)
    assert [tab.label for tab in app.tabs] == TABS[:2]


def test_a_comparison_that_kept_no_labels_is_not_offered(app, open_export, workspace, dataset):
    compared = done(workspace, "compare", dataset, {"methods": ["mv"], "random_state": 0})
    compared.labels("mv").unlink()
    (compared.path / "checksums.json").unlink()
    open_export()
    assert "No labels yet" in words(app)


def test_a_comparison_in_the_address_that_kept_no_labels_says_why(app, open_export, workspace, dataset):
    compared = done(workspace, "compare", dataset, {"methods": ["mv"], "random_state": 0})
    compared.labels("mv").unlink()
    (compared.path / "checksums.json").unlink()
    open_export(compared)
    expect_calm(app)
    assert "an earlier version kept only the scores" in words(app)


def new_file(app, text):
    uploader = next(each for each in app.get("file_uploader") if each.label.startswith("New data"))
    uploader.set_value(("new.csv", text.encode(), "text/csv")).run()


def test_new_data_of_strangers_are_refused_with_a_sentence(app, open_export, trained, workspace):
    open_export(trained(), "New data")
    new_file(app, "u,v,w\n0,1,1\n1,1,1\n2,2,1\n")
    assert not app.exception
    assert "None of the model's learners (ann, bob, eve) is in these votes; theirs are u, v, w." in words(app)
    assert workspace.runs(kind="apply") == []


def model_file(app, name, data):
    uploader = next(each for each in app.get("file_uploader") if each.label.startswith("A model file"))
    uploader.set_value((name, data, "application/octet-stream")).run()


def test_a_model_is_brought_to_the_home_page_and_a_foreign_file_is_refused(app, trained, workspace):
    data = (trained().path / "model.safetensors").read_bytes()
    app.run()
    model_file(app, "mine.safetensors", b"not a model at all")
    assert not app.exception
    assert "'mine.safetensors' is damaged or not a DEEM Studio model" in words(app)
    model_file(app, "mine.safetensors", data.replace(b'"version":"1"', b'"version":"9"'))
    assert "newer DEEM Studio" in words(app)
    stored = set((workspace.root / "inputs").iterdir())
    model_file(app, "mine.safetensors", data)
    expect_calm(app)
    assert "mine.safetensors**: iRBM for 3 learners and 3 classes, trained on 40 rows." in words(app)
    assert len(set((workspace.root / "inputs").iterdir()) - stored) == 1


def test_who_spells_labels_otherwise_is_told_once_and_matched_by_a_click(app, workspace, tmp_path, monkeypatch):
    monkeypatch.setattr(type(workspace), "start_run", done)
    old = workspace.add_dataset("old.csv", b"ann,bob,eve\n" + b"spam,spam,ham\nham,ham,ham\nspam,spam,spam\n" * 8)
    IRBM(random_state=0).fit(workspace.read(old).votes).save(tmp_path / "model.safetensors")
    config = {"model": workspace.store(tmp_path / "model.safetensors")}
    terms = {"classes": ["ham", "spam"], "known_learners": ["ann", "bob", "eve"]}
    new = workspace.add_dataset("new.csv", b"ann,bob,eve\nSPAM,spam,ham\nHAM,ham,ham\nSPAM,spam,spam\n", reading=terms)
    run = done(workspace, "apply", new, config)
    app.query_params[state.DATA], app.query_params[state.RUN] = new.id, run.id
    app.run()
    expect_calm(app)
    assert words(app).count("None of ann's labels is known: HAM, SPAM") == 1
    button(app, "Match ignoring case and spelling").click().run()
    expect_calm(app)
    assert "3 rows labelled by a model trained on 24 rows" in words(app)
    assert "None of ann's labels is known" not in words(app)


def test_a_labelling_that_is_opened_from_recent_runs_is_shown_on_the_home_page(app, trained, workspace):
    training = trained()
    digest = workspace.store(training.path / "model.safetensors")
    new = workspace.add_dataset("new.csv", b"ann,bob,zoe\n0,1,1\n1,1,1\n,2,2\n,,1\n")
    run = workspace.new_run("apply", new, {"model": digest}, title="Labels for new.csv")
    status = Status(run)
    status.begin("cpu")
    kinds.apply(Job(workspace, run, RunControl(status)))
    status.end("done")
    app.query_params[state.DATA], app.query_params[state.RUN] = new.id, run.id
    app.run()
    expect_calm(app)
    said = words(app)
    assert "The model of “Labels for new.csv”**: iRBM for 3 learners" in said
    assert "4 rows labelled by a model trained on 40 rows" in said
    assert "No votes from eve; treated as missing." in said
    assert "Learners unknown in training were left out: zoe." in said
    assert "1 row without votes comes with no label." in said
    assert downloads(app) == ["Download 4 rows as CSV"]


def test_files_for_other_tools_are_made_of_the_same_labels(app, open_export, trained):
    run = trained()
    open_export(run)
    result = results.labelled(run)
    tasks = json.loads(results.fused_bytes(result, ".json", {}, names=Names("mine", "image")))
    labels = [task["predictions"][0]["result"][0]["value"]["choices"][0] for task in tasks]
    assert labels == [str(label) for label in result.answer.labels]
    assert tasks[0]["predictions"][0]["result"][0]["from_name"] == "mine"
    with zipfile.ZipFile(io.BytesIO(results.fused_bytes(result, results.DATASET, {}))) as packed:
        assert sorted(packed.namelist()) == ["README.md", "data/train-00000-of-00001.parquet"]
        assert packed.read("README.md").startswith(b"---\npretty_name: ")
    format_box = next(box for box in app.selectbox if box.label == "Format")
    format_box.set_value(results.LABEL_STUDIO).run()
    expect_calm(app)
    assert downloads(app) == ["Download 40 rows as Label Studio predictions"]
    next(box for box in app.text_input if box.label == "Choices: toName").set_value(" ").run()
    assert downloads(app) == []
    assert "may not be empty" in words(app)


def test_a_fused_answer_with_gold_has_a_report(app, open_export, workspace, dataset):
    votes = workspace.read(dataset).votes
    digest = workspace.store(f"row,gold_label,asked\n1,{votes.classes[0]},\n2,{votes.classes[1]},\n".encode())
    run = done(workspace, "fuse", dataset, {"method": "mv", "random_state": 0, "gold": digest})
    open_export(run, "Report")
    expect_calm(app)
    assert downloads(app) == ["Download the report", "The same numbers as JSON"]
    assert "who answered and why, gold rows" in words(app)
    assert "--method mv --seed 0 --gold-file gold.csv" in app.code[0].value
