"""The home page: the path, one-click samples, recent runs, and calm words when something is wrong."""

import json
import re
import shutil

import pytest

from studio import launch, state
from studio.data import samples
from tests.app.conftest import SUMMARY, WIDE, button, expect_calm, metrics, words

SAMPLES = json.loads((launch.app_root() / "sample_data" / "samples.json").read_text(encoding="utf-8"))
NAMES = [entry["file"].removesuffix(".csv") for entry in SAMPLES]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of the samples that a test may damage."""
    copy = tmp_path / "sample_data"
    shutil.copytree(samples.folder(), copy)
    monkeypatch.setattr(samples, "folder", lambda: copy)
    return copy


def load_buttons(app):
    return [each for each in app.button if each.label == "Load it"]


def test_home_shows_the_path_every_sample_and_no_runs(app):
    app.run()
    expect_calm(app)
    assert app.title[0].value == "DEEM Studio"
    written = words(app)
    for entry in SAMPLES:
        assert entry["title"] in written
        assert entry["shows"] in written
    assert "10,000 rows × 6 learners × 5 classes" in written
    assert len(load_buttons(app)) == len(SAMPLES)
    assert "**1 · Data**" in written
    assert "Nothing has been run yet" in written
    assert "No data yet" in written  # in the sidebar
    assert re.search(r"cpu · \d+ thread", written)
    assert not app.info


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_loads_with_one_click_and_goes_to_the_data_page(app, name):
    app.run()
    app.button(key=f"{state.OPEN_SAMPLE}{name}").click().run()
    expect_calm(app)
    assert app.title[0].value == "Data"
    assert len(app.query_params[state.DATA]) == 32
    assert {"Rows", "Classes", "Coverage", "Unanimous rows", "Tied rows"} <= set(metrics(app))
    assert "Truth included" in words(app)


def test_the_first_step_leads_to_the_data_page(app):
    app.run()
    app.button(key="step_data").click().run()
    expect_calm(app)
    assert app.title[0].value == "Data"


def test_a_new_session_continues_with_the_last_files(app, dataset):
    app.run()
    app.button(key=f"continue_{dataset.id}").click().run()
    expect_calm(app)
    assert app.query_params[state.DATA] == dataset.id
    assert app.title[0].value == "Data"


def test_steps_that_are_done_are_ticked(app, dataset):
    app.run()
    before = words(app).count(":green[:material/check_circle:]")
    app.query_params[state.DATA] = dataset.id
    app.run()
    assert words(app).count(":green[:material/check_circle:]") == before + 1


def test_only_a_training_that_learned_is_ticked(app, dataset, make_run):
    app.query_params[state.DATA] = dataset.id
    app.run()
    before = words(app).count(":green[:material/check_circle:]")
    make_run(summary=SUMMARY | {"fallback": True})
    app.run()
    assert words(app).count(":green[:material/check_circle:]") == before
    make_run(summary=SUMMARY)
    app.run()
    assert words(app).count(":green[:material/check_circle:]") == before + 1


@pytest.mark.parametrize(
    ("stands", "word"),
    [("queued", "Queued"), ("running", "Running"), ("done", "Done"), ("cancelled", "Cancelled"), ("failed", "Failed")],
)
def test_recent_runs_show_their_state(app, make_run, stands, word):
    make_run(stands)
    app.run()
    expect_calm(app)
    written = words(app)
    assert f" {word}]" in written
    assert "**votes.csv** · Recommended settings" in written


def test_a_recent_run_shows_its_accuracy_and_opens(app, make_run, dataset):
    older, newer = make_run("cancelled", title="The first"), make_run(summary=SUMMARY, title="The second")
    app.run()
    assert "accuracy 97.5% · just now" in words(app)
    app.button(key=f"open_run_{older.id}").click().run()
    expect_calm(app)
    assert app.query_params[state.DATA] == dataset.id
    assert app.query_params[state.RUN] == older.id
    assert newer.id not in str(app.query_params)


def test_a_run_deleted_meanwhile_is_told_calmly(app, make_run, workspace):
    run = make_run()
    app.run()
    workspace.delete_run(run)
    app.button(key=f"open_run_{run.id}").click().run()
    expect_calm(app)
    assert "This run was deleted" in words(app)


def test_a_damaged_sample_gets_a_sentence_and_the_others_still_load(app, folder):
    (folder / "experts_wide.csv").write_bytes(b"\x00\x01\x02 not a table")
    app.run()
    expect_calm(app)
    assert len(app.info) == 1
    assert len(load_buttons(app)) == len(SAMPLES) - 1
    app.button(key=f"{state.OPEN_SAMPLE}crowd_long").click().run()
    assert metrics(app)["Rows"] == "800"


def test_a_missing_sample_file_gets_a_sentence_without_the_servers_paths(app, folder):
    (folder / "digits_soft.csv").unlink()
    app.run()
    expect_calm(app)
    assert len(app.info) == 1
    assert str(folder.parent) not in app.info[0].value


@pytest.mark.parametrize("content", [None, "{", '[{"file": "a.csv"}]', "3"])
def test_a_damaged_list_of_samples_gets_a_sentence_and_the_page_goes_on(app, folder, content):
    (folder / samples.LIST).unlink()
    if content is not None:
        (folder / samples.LIST).write_text(content)
    app.run()
    expect_calm(app)
    assert len(app.info) == 1
    assert "Recent runs" in words(app)


def test_a_bug_shows_an_id_that_the_log_knows_and_the_page_goes_on(app, monkeypatch, caplog):
    def broken(sample):
        raise RuntimeError("secret detail")

    monkeypatch.setattr(samples, "open_sample", broken)
    app.run()
    assert not app.exception
    assert len(app.error) == len(SAMPLES)
    assert "secret detail" not in words(app)
    assert "Recent runs" in words(app)
    number = app.error[-1].value.split("**")[1]
    logged = next(record for record in caplog.records if number in record.getMessage())
    assert "secret detail" in str(logged.exc_info[1])


def test_a_bug_in_a_click_shows_an_id_too(app, monkeypatch, caplog):
    def broken(name):
        raise RuntimeError("secret detail")

    app.run()
    monkeypatch.setattr(samples, "find", broken)
    button(app, "Load it").click().run()
    assert not app.exception
    assert "Something broke, id" in app.warning[0].value
    assert "secret detail" not in words(app)
    number = app.warning[0].value.split("id ")[1].split("\\")[0]
    assert any(number in record.getMessage() and record.exc_info for record in caplog.records)
    assert len(load_buttons(app)) == len(SAMPLES)


def test_rows_pasted_on_home_open_the_data_page(app):
    app.run()
    app.text_area[0].set_value(WIDE).run()
    button(app, "Use these rows").click().run()
    expect_calm(app)
    assert app.title[0].value == "Data"
    assert metrics(app)["Rows"] == "40"


def test_a_file_that_is_no_votes_yet_opens_the_data_page_from_home(app):
    app.run()
    uploader = next(each for each in app.get("file_uploader") if each.key.startswith("upload_votes"))
    uploader.set_value(("alone.csv", b"id,a,label\n1,x,x\n2,y,y\n", "text/csv"))
    app.run()
    expect_calm(app)
    assert app.title[0].value == "Data"
    assert "a single learner" in app.warning[0].value
