"""The Data page in every state: empty, loaded, with each state of a run, and when something is wrong."""

import gzip
import io
import time

import numpy as np
import pandas as pd
import pytest

from deem_core import readers, simulation
from studio import state
from studio.data.samples import LAYOUTS
from tests.app.conftest import SUMMARY, WIDE, button, expect_calm, metrics, open_tab, words


@pytest.fixture
def data(app):
    """The Data page without data."""
    return go(app)


@pytest.fixture
def loaded(app, dataset):
    """The Data page with the small file."""
    app.query_params[state.DATA] = dataset.id
    return go(app)


def go(app):
    """Open the app and follow the first step to the Data page."""
    app.run()
    return app.button(key="step_data").click().run()


def upload(app, name, content, which="votes"):
    uploader = next(each for each in app.get("file_uploader") if each.key.startswith(f"upload_{which}"))
    uploader.set_value((name, content, "text/csv"))
    return app.run()


# ------------------------------------------------------------------ empty


def test_without_data_the_page_asks_for_a_file(data):
    expect_calm(data)
    assert data.title[0].value == "Data"
    assert len(data.get("file_uploader")) == 1
    assert len([each for each in data.button if each.key.startswith(state.OPEN_SAMPLE)]) == 8
    assert not data.metric


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: layout.name)
def test_the_examples_are_shown_and_are_what_they_say(data, layout):
    assert layout.example.strip() in [block.value for block in data.code]
    reading = readers.read(layout.example.encode())
    assert reading.report.layout == layout.name
    assert not reading.report.sentences("warning")
    assert not reading.report.sentences("left out")


def test_files_brought_before_are_offered(app, dataset):
    go(app)
    button(app, "Open").click().run()
    expect_calm(app)
    assert app.query_params[state.DATA] == dataset.id
    assert metrics(app)["Rows"] == "40"


@pytest.mark.parametrize(
    ("name", "id"),
    [
        (state.DATA, "0" * 32),
        (state.DATA, "../../etc/passwd"),
        (state.DATA, "[x](http://example.org)"),
        (state.RUN, "0" * 32),
        (state.RUN, "<b>"),
    ],
)
def test_a_link_to_something_that_is_not_there_gets_a_sentence(app, name, id):
    app.query_params[name] = id
    go(app)
    expect_calm(app)
    assert len(app.info) == 1
    assert "](http" not in app.info[0].value
    assert len(app.get("file_uploader")) == 1


def test_a_link_that_names_only_a_run_brings_its_data(app, make_run, dataset):
    run = make_run(kind="fuse", summary=SUMMARY)
    app.query_params[state.RUN] = run.id
    go(app)
    expect_calm(app)
    assert app.query_params[state.DATA] == dataset.id
    assert metrics(app)["Labels changed"] == "4"


# ------------------------------------------------------------------ bringing


def compressed(text):
    return gzip.compress(text.encode())


def parquet(text):
    stream = io.BytesIO()
    pd.read_csv(io.StringIO(text)).to_parquet(stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("votes.csv", WIDE.encode()),
        ("votes.tsv", WIDE.replace(",", "\t").encode()),
        ("votes.csv.gz", compressed(WIDE)),
        ("votes.parquet", parquet(WIDE)),
        ("excel.csv", WIDE.replace(",", ";").encode("utf-16")),
    ],
)
def test_an_uploaded_file_is_read_kept_and_shown(data, workspace, name, content):
    upload(data, name, content)
    expect_calm(data)
    shown = metrics(data)
    assert (shown["Rows"], shown["Learners"], shown["Classes"]) == ("40", "3", "3")
    assert [dataset.name for dataset in workspace.datasets()] == [name]
    assert workspace.input(workspace.datasets()[0].data).read_bytes() == content
    assert f"**{name}** · in use" in words(data)
    assert str(workspace.root) in words(data)


def test_the_same_file_twice_is_kept_once(data, workspace):
    upload(data, "votes.csv", WIDE.encode())
    upload(data, "votes.csv", WIDE.encode())
    assert len(workspace.datasets()) == 1


BAD = {
    "empty.csv": b"",
    "blank.csv": b"\n \n\n",
    "junk.csv": bytes(range(256)) * 20,
    "book.csv": b"PK\x03\x04" + bytes(200),
    "damaged.csv.gz": gzip.compress(WIDE.encode())[:-60],
    "page.csv": b"<!DOCTYPE html><html><body>Please log in</body></html>",
    "not.parquet": b"PAR1 and then nothing of the kind",
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gets_a_sentence_and_the_dataset_before_stays(loaded, dataset, workspace, name):
    upload(loaded, name, BAD[name])
    expect_calm(loaded)
    assert len(loaded.warning) == 1
    assert "Traceback" not in words(loaded)
    assert loaded.query_params[state.DATA] == dataset.id
    assert metrics(loaded)["Rows"] == "40"
    assert [each.id for each in workspace.datasets()] == [dataset.id]
    assert len(list((workspace.root / "inputs").rglob("*"))) == 1  # the bad file is not kept
    assert not loaded.toast  # the sentence stands there once


UNREAD = {
    "ragged.csv": (b"id,a,b,c\n1,x,y,x\n2,x,y\n3,x,y,x,y\n", "Line 3"),
    "twice.csv": (b"id,a,a,b\n1,x,y,x\n2,y,y,x\n", "two columns named"),
    "header.csv": (b"id,a,b,c\n", "no rows below it"),
    "lonely.csv": (b"name\nann\nbob\n", "one column"),
    "alone.csv": (b"id,a,label\n1,x,x\n2,y,y\n", "a single learner"),
}
"""Text that is no votes."""


@pytest.mark.parametrize("name", UNREAD)
def test_a_file_that_is_no_votes_yet_is_kept_and_shown_with_its_sentence(loaded, dataset, workspace, name):
    content, sentence = UNREAD[name]
    upload(loaded, name, content)
    expect_calm(loaded)
    assert [sentence in warning.value for warning in loaded.warning] == [True]
    assert not loaded.toast
    assert not loaded.metric  # the file before is not shown as if it were this one
    here = loaded.query_params[state.DATA]
    assert here != dataset.id
    assert "Columns and reading" in [each.value for each in loaded.subheader]
    assert {"Layout", "Delimiter", "Encoding"} <= {each.label for each in loaded.selectbox}
    shown = "".join(block.value for block in loaded.code) + "".join(map(str, (t.value for t in loaded.dataframe)))
    assert "a" in shown
    assert workspace.dataset(here).unread
    assert f"**{name}** · in use" in words(loaded)
    loaded.run()  # as a refresh does
    assert [sentence in warning.value for warning in loaded.warning] == [True]


def test_a_kept_file_can_be_opened_again_and_deleted(app, workspace):
    data = go(app)
    upload(data, "alone.csv", UNREAD["alone.csv"][0])
    kept = workspace.datasets()[0]
    data.button(key=f"delete_file_{kept.data}").click().run()
    data.button(key="delete_for_good").click().run()
    expect_calm(data)
    assert not workspace.datasets()
    assert not [path for path in (workspace.root / "inputs").rglob("*") if path.is_file()]


def test_a_file_is_mended_by_saying_its_layout_and_fused(data, workspace, monkeypatch):
    lines = [f"p{i},w{j},{'ab'[(i + (j == i % 4)) % 2]}" for i in range(30) for j in range(4)]
    upload(data, "clicks.csv", "\n".join(["photo,who,says", *lines]).encode())
    expect_calm(data)
    assert len(data.warning) == 1
    assert "Not read as votes yet" in words(data)
    next(each for each in data.selectbox if each.label == "Layout").set_value("long").run()
    expect_calm(data)
    assert not data.warning
    assert (metrics(data)["Rows"], metrics(data)["Learners"]) == ("30", "4")
    assert not workspace.dataset(data.query_params[state.DATA]).unread
    asked = []
    monkeypatch.setattr("deem_core.runs.Workspace.start", lambda self, run: asked.append(run))
    button(data, "Fuse the votes").click().run()
    assert workspace.read_inputs(asked[0].spec["inputs"]).votes.n_learners == 4


def test_a_file_is_mended_by_the_roles_of_its_columns(data, workspace):
    rows = "".join(f"r{i},{'fg'[i % 2]},{'ab'[i % 3 == 0]},{'xy'[i % 2]}\n" for i in range(40))
    upload(data, "strange.csv", f"id,first,second,third\n{rows}".encode())
    roles = {each.label: each for each in data.selectbox if each.label.startswith("Role of")}
    assert [each.value for each in roles.values()] == ["id", "ignore", "ignore", "ignore"]
    assert "gold" in roles["Role of first"].options
    roles["Role of first"].set_value("learner").run()
    expect_calm(data)
    assert "a single learner, 'first'" in data.warning[0].value  # kept as edited, with the sentence
    roles = {each.label: each for each in data.selectbox if each.label.startswith("Role of")}
    assert roles["Role of first"].value == "learner"
    roles["Role of second"].set_value("id").run()
    expect_calm(data)
    assert any("Only one column can be the id" in warning.value for warning in data.warning)
    roles = {each.label: each for each in data.selectbox if each.label.startswith("Role of")}
    assert [each.value for each in roles.values()] == ["id", "learner", "id", "ignore"]
    roles["Role of second"].set_value("learner").run()
    expect_calm(data)
    assert not data.warning
    assert (metrics(data)["Rows"], metrics(data)["Learners"]) == ("40", "2")


def test_other_pages_say_that_a_file_is_not_read_yet(data):
    upload(data, "alone.csv", UNREAD["alone.csv"][0])
    data.switch_page("pages/train.py").run()
    expect_calm(data)
    assert "alone.csv cannot be read as votes yet" in words(data)
    assert "a single learner" in words(data)


@pytest.mark.parametrize(
    ("pasted", "name"),
    [(WIDE.replace(",", "\t"), "pasted_rows.txt"), (WIDE, "pasted_rows.txt")],
)
def test_pasted_rows_are_read_like_a_file(data, workspace, pasted, name):
    data.text_area[0].set_value(pasted).run()
    button(data, "Use these rows").click().run()
    expect_calm(data)
    assert metrics(data)["Rows"] == "40"
    assert [each.name for each in workspace.datasets()] == [name]
    assert not data.text_area[0].value


JUDGES = "\n".join(
    f'{{"id": "q{i}", "votes": [{{"judge": "gpt", "label": "{"ab"[i % 2]}", "prob": 0.9}}, '
    f'{{"judge": "claude", "label": "{"ab"[i % 3 == 0]}", "prob": 0.7}}, {{"judge": "llama", "label": "a"}}]}}'
    for i in range(40)
)


def test_records_of_judges_are_read_uploaded_or_pasted(data, workspace):
    upload(data, "judges.jsonl", JUDGES.encode())
    expect_calm(data)
    assert (metrics(data)["Rows"], metrics(data)["Learners"]) == ("40", "3")
    assert "Soft layout" in words(data)
    data.text_area[0].set_value(JUDGES).run()
    button(data, "Use these rows").click().run()
    expect_calm(data)
    assert workspace.datasets()[0].name == "pasted_rows.jsonl"
    assert metrics(data)["Rows"] == "40"


def test_unused_probabilities_are_an_amber_finding(data):
    rows = "".join(f"r{i},{i % 2},{i % 3 % 2},{i % 5 % 2},0.{i % 9 + 1}\n" for i in range(40))
    upload(data, "unused.csv", f"id,a,b,c,other_prob\n{rows}".encode())
    expect_calm(data)
    assert "1 probability column is unused" in words(data)
    assert "Ready to train" not in words(data)


def test_nothing_pasted_gets_a_sentence(data):
    button(data, "Use these rows").click().run()
    expect_calm(data)
    assert "Nothing was pasted" in data.warning[0].value


def test_a_sentence_goes_when_it_is_closed_or_something_succeeds(loaded):
    upload(loaded, "empty.csv", b"")
    button(loaded, "Close").click().run()
    assert not loaded.warning
    upload(loaded, "empty.csv", b"")
    assert loaded.warning
    upload(loaded, "other.csv", WIDE.replace("eve", "zoe").encode())
    assert not loaded.warning


def test_a_bad_first_file_leaves_the_empty_page(data):
    upload(data, "empty.csv", b"")
    expect_calm(data)
    assert len(data.warning) == 1
    assert len(data.get("file_uploader")) == 1
    assert state.DATA not in data.query_params


def test_names_from_files_stay_words(data):
    upload(data, "a](http://x.org).csv", WIDE.replace("ann", "[ann](http://x.org)").replace("eve", "<b>eve").encode())
    expect_calm(data)
    assert all("](http" not in element.value for kind in (data.markdown, data.caption) for element in kind)


# ------------------------------------------------------------------ loaded


def test_facts_report_and_pictures_are_there(loaded):
    expect_calm(loaded)
    written = words(loaded)
    assert "Column 'id' names the rows (id)" in written
    assert "UTF-8, separated by comma, 40 rows and 5 columns" in written
    assert metrics(loaded)["Unanimous rows"] == "20"
    labels = ["Votes per class", "Who agrees with whom", "How many agree", "Coverage", ":material/lock: Accuracy"]
    assert [tab.label for tab in loaded.tabs if tab.label in labels] == labels
    for label in labels:
        open_tab(loaded, "data_tabs", label)
        expect_calm(loaded)
        assert len(loaded.get("plotly_chart")) == 2  # the other one is the panel's


def test_a_tab_that_the_next_file_lacks_gives_way_to_the_first(data):
    upload(data, "rules.csv", RULES.encode())
    open_tab(data, "data_tabs", "Rules")
    upload(data, "small.csv", WIDE.encode())
    expect_calm(data)
    assert "Rules" not in [tab.label for tab in data.tabs]
    assert data.session_state["data_tabs"] == "Votes per class"


def test_the_health_of_the_panel_is_told_in_numbers_and_sentences(loaded):
    told, written = metrics(loaded), words(loaded)
    assert float(told["Effective votes"]) <= 3
    assert told["Camps"] == "–"
    assert told["One-class rules"] == "0 of 3"
    assert "worth about" in written
    assert "Camps cannot be looked for: it takes at least four learners." in written


def test_with_truth_the_real_figure_stands_beside_and_is_marked(data):
    made = simulation.make("tree", 300, seed=0)
    lines = [",".join(map(str, [*codes, truth])) for codes, truth in zip(made.votes.codes, made.truth, strict=True)]
    upload(data, "tree.csv", "\n".join([",".join([*made.votes.learners, "label"]), *lines]).encode())
    expect_calm(data)
    assert "From the true labels: evaluation only" in words(data)
    assert 1 < float(metrics(data)[":material/lock: From true labels"]) < 12


def test_a_large_file_is_looked_at_in_the_background(app, dataset, monkeypatch):
    monkeypatch.setattr("studio.panel.QUICK_VOTES", 0)
    app.query_params[state.DATA] = dataset.id
    go(app)
    for _ in range(600):
        if "Effective votes" in metrics(app):
            break
        time.sleep(0.1)
        app.run()
    expect_calm(app)
    assert "Effective votes" in metrics(app)


def test_truth_is_marked_as_evaluation_only(loaded):
    open_tab(loaded, "data_tabs", ":material/lock: Accuracy")
    assert "Evaluation only, never used in training" in words(loaded)
    assert "Truth included" in words(loaded)


def test_without_truth_nothing_is_evaluated_until_a_second_file_comes(data, workspace):
    lines = [f"t{i},w{j},{'ab'[(i + (j == i % 4)) % 2]}" for i in range(30) for j in range(4)]
    upload(data, "answers.csv", "\n".join(["task,worker,label", *lines]).encode())
    expect_calm(data)
    assert "No truth" in words(data)
    assert "Evaluation only" not in words(data)
    assert "rom the true labels" not in words(data)
    assert ":material/lock: Accuracy" not in [tab.label for tab in data.tabs]
    truth = "\n".join(["task,truth", *(f"t{i},{'ab'[i % 2]}" for i in range(30))])
    upload(data, "truth.csv", truth.encode(), which="truth")
    expect_calm(data)
    open_tab(data, "data_tabs", ":material/lock: Accuracy")
    expect_calm(data)
    assert "Evaluation only, never used in training" in words(data)
    assert workspace.datasets()[0].truth_name == "truth.csv"
    before = data.query_params[state.DATA]
    upload(data, "nonsense.csv", b"", which="truth")  # replacing it with nonsense changes nothing
    assert len(data.warning) == 1
    assert data.query_params[state.DATA] == before


def test_rows_that_the_report_names_are_shown_as_they_are_spelled(data):
    upload(data, "gaps.csv", b"id,a,b,c\nr1,x,y,x\nr2,,,\nr3,y,y,x\nr4,x,x,x\nr5,,,\n")
    expect_calm(data)
    tables = [table.value for table in data.dataframe if "row" in table.value.columns]
    assert len(tables) == 1
    assert tables[0]["row"].tolist() == [2, 5]
    assert tables[0]["id"].tolist() == ["r2", "r5"]


def test_a_learner_is_left_out_with_one_click_and_comes_back(loaded, dataset):
    wide = WIDE.replace("label\n", "label\n").splitlines()
    rng = np.random.default_rng(0)
    more = [f"{line},{rng.integers(3)},{'9' if i else 'stuck'}".replace(",9", ",1") for i, line in enumerate(wide)]
    more[0] = f"{wide[0]},dan,stuck"
    upload(loaded, "five.csv", "\n".join(more).encode())
    expect_calm(loaded)
    assert metrics(loaded)["Learners"] == "5"
    found = loaded.query_params[state.DATA]
    button(loaded, "Leave stuck out").click().run()
    expect_calm(loaded)
    assert metrics(loaded)["Learners"] == "4"
    assert loaded.query_params[state.DATA] != found
    loaded.button(key="read_as_found").click().run()
    assert metrics(loaded)["Learners"] == "5"
    assert loaded.query_params[state.DATA] == found


def test_another_delimiter_reads_the_stored_file_again(data):
    text = "id|a|b|c,d\n" + "".join(f"{i}|x|{'xy'[i % 2]}|{'xy'[i % 3 == 0]}\n" for i in range(9))
    upload(data, "odd.csv", text.encode())
    expect_calm(data)
    assert metrics(data)["Learners"] == "3"
    choice = next(each for each in data.selectbox if each.label == "Delimiter")
    choice.set_value("comma").run()
    expect_calm(data)
    assert len(data.warning) == 1  # nothing sensible can be read that way
    assert not data.metric
    assert next(each for each in data.selectbox if each.label == "Delimiter").value == "comma"
    next(each for each in data.selectbox if each.label == "Delimiter").set_value("pipe").run()
    expect_calm(data)
    assert not data.warning
    assert metrics(data)["Learners"] == "3"


def test_both_themes_draw(app, dataset):
    app.query_params[state.DATA] = dataset.id
    go(app)
    charts = []
    for theme in ("light", "dark"):
        app.context["theme"] = theme
        app.run()
        expect_calm(app)
        charts.append(app.get("plotly_chart")[0].proto.spec)
    assert charts[0] != charts[1]


def test_a_bug_in_one_picture_leaves_the_rest_alive(app, dataset, monkeypatch, caplog):
    monkeypatch.setattr("deem_core.figures.agreement.agreement_heatmap", lambda *_, **__: 1 / 0)
    app.query_params[state.DATA] = dataset.id
    go(app)
    open_tab(app, "data_tabs", "Who agrees with whom")
    assert not app.exception
    assert len(app.error) == 1
    assert len(app.get("plotly_chart")) == 1  # the panel's
    assert "ZeroDivisionError" not in words(app)
    assert any("ZeroDivisionError" in str(record.exc_info) for record in caplog.records)


# ------------------------------------------------------------------ runs


def test_nothing_was_fused_yet(loaded):
    assert "Ready to fuse" in words(loaded)
    assert button(loaded, "Fuse the votes")


def test_fusing_asks_auto(loaded, dataset, monkeypatch):
    asked = []

    def start(self, run):
        asked.append(run)

    monkeypatch.setattr("deem_core.runs.Workspace.start", start)
    button(loaded, "Fuse the votes").click().run()
    expect_calm(loaded)
    assert [(run.kind, run.dataset_id, run.config["method"]) for run in asked] == [("fuse", dataset.id, "auto")]
    assert loaded.query_params[state.RUN] == asked[0].id
    assert "Queued" in words(loaded) or loaded.get("progress")


@pytest.mark.parametrize("stands", ["queued", "running"])
def test_a_run_that_goes_on_shows_its_progress_and_can_be_cancelled(app, make_run, dataset, stands):
    run = make_run(stands, kind="fuse", share=0.42, step="Looking for groups", seconds_left=30)
    app.query_params[state.DATA] = dataset.id
    go(app)
    expect_calm(app)
    assert "Looking for groups" in words(app) + str([each.proto.text for each in app.get("progress")])
    assert button(app, "Cancel")
    app.button(key=f"cancel_card_{run.id}").click().run()
    expect_calm(app)
    assert (run.path / "cancel").exists()


@pytest.mark.parametrize(("stands", "sentence"), [("cancelled", "Cancelled."), ("failed", "The disk is full.")])
def test_a_run_that_ended_early_can_be_resumed(app, make_run, monkeypatch, stands, sentence):
    resumed = []
    monkeypatch.setattr("deem_core.runs.Workspace.resume", lambda self, run: resumed.append(run.id))
    run = make_run(stands, kind="fuse", reason="The disk is full." if stands == "failed" else "")
    app.query_params[state.DATA] = run.dataset_id
    go(app)
    expect_calm(app)
    assert sentence in words(app)
    button(app, "Start over").click().run()
    assert resumed == [run.id]


ANSWER = SUMMARY | {
    "method": "auto",
    "answered_by": "mv",
    "why": ["Answered by the majority vote, because no model explains these votes.", "Train DEEM alongside."],
    "restarts": [],
}


def test_a_finished_answer_says_who_gave_it_and_why(app, make_run, dataset):
    make_run(kind="fuse", summary=ANSWER)
    app.query_params[state.DATA] = dataset.id
    go(app)
    expect_calm(app)
    shown = metrics(app)
    assert (shown["Answered by"], shown["Labels changed"], shown["Mean confidence"]) == ("Majority", "4", "93.0%")
    assert shown["Accuracy (evaluation)"] == "97.5%"
    assert "because no model explains these votes" in words(app)
    assert [each.proto.label for each in app.get("download_button")] == ["Download the fused CSV"]


def test_deem_is_offered_beside_an_answer_and_started_only_when_asked(app, make_run, dataset, monkeypatch):
    asked = []
    monkeypatch.setattr("deem_core.runs.Workspace.start", lambda self, run: asked.append(run))
    answer = make_run(kind="fuse", summary=ANSWER)
    app.query_params[state.DATA] = dataset.id
    go(app)
    assert not asked
    button(app, "Train DEEM alongside").click().run()
    expect_calm(app)
    assert [(run.kind, run.config["method"]) for run in asked] == [("train", "deem")]
    assert app.query_params.get(state.RUN, answer.id) == answer.id


def test_a_training_without_labels_has_nothing_to_compare(app, make_run, dataset):
    make_run(kind="fuse", summary=ANSWER)
    make_run("failed", reason="No.")
    app.query_params[state.DATA] = dataset.id
    go(app)
    expect_calm(app)
    assert "has no labels to compare" in words(app)


def test_the_run_of_the_address_is_shown_and_not_just_the_latest(app, make_run, dataset):
    older = make_run(kind="fuse", summary=ANSWER, title="The first")
    make_run("failed", kind="fuse", reason="No.", title="The second")
    app.query_params[state.DATA], app.query_params[state.RUN] = dataset.id, older.id
    go(app)
    assert "**The first**" in words(app)
    assert "**The second**" not in words(app)


# ------------------------------------------------------------------ files


def test_deleting_a_file_asks_first_and_takes_all_that_was_made_from_it(loaded, workspace, dataset, make_run):
    workspace.vary_dataset(dataset, reading={"ignore": ["eve"]})
    make_run(summary=SUMMARY)
    loaded.run()
    loaded.button(key=f"delete_file_{dataset.data}").click().run()
    assert workspace.datasets()
    loaded.button(key="delete_for_good").click().run()
    expect_calm(loaded)
    assert not workspace.datasets()
    assert not workspace.runs()
    assert not [path for path in (workspace.root / "inputs").rglob("*") if path.is_file()]
    assert state.DATA not in loaded.query_params
    assert not loaded.metric


def test_a_file_in_work_is_not_deleted(loaded, workspace, dataset, make_run):
    make_run("running")
    loaded.button(key=f"delete_file_{dataset.data}").click().run()
    loaded.button(key="delete_for_good").click().run()
    expect_calm(loaded)
    assert "still running" in loaded.warning[0].value
    assert [each.id for each in workspace.datasets()] == [dataset.id]


def test_a_dataset_deleted_meanwhile_leaves_a_page_that_can_go_on(loaded, workspace, dataset):
    workspace.delete_dataset(dataset.id)
    loaded.run()
    expect_calm(loaded)
    assert "was deleted" in loaded.info[0].value
    assert len(loaded.get("file_uploader")) == 1


# ------------------------------------------------------------------ labelling rules


RULES = "id,a,b,c\n" + "".join(
    f"r{i},{'SPAM' if i % 3 == 0 else ''},{'SPAM' if i % 4 == 0 else ''},{'HAM' if i % 5 == 0 else ''}\n"
    for i in range(120)
)
"""Rules that know one class each; half of the rows have no vote."""


def test_labelling_rules_are_shown_with_their_table(data):
    upload(data, "rules.csv", RULES.encode())
    expect_calm(data)
    assert "Rules" in [tab.label for tab in data.tabs]
    table = next(each.value for each in data.dataframe if "conflict" in each.value.columns)
    assert table["votes_for"].tolist() == ["SPAM", "SPAM", "HAM"]
    assert table["coverage"].tolist() == pytest.approx([100 / 3, 25, 20])  # in percent


def test_other_files_have_no_tab_of_rules(loaded):
    assert "Rules" not in [tab.label for tab in loaded.tabs]
