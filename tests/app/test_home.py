"""The home page: samples as cards, one of them open, and calm words when something is wrong."""

import json
import shutil

import pytest

from deem_core import readers
from studio import launch, samples, state
from studio.layouts import COMMAND, LAYOUTS

SAMPLES = json.loads((launch.app_root() / "sample_data" / "samples.json").read_text(encoding="utf-8"))
NAMES = [entry["file"].removesuffix(".csv") for entry in SAMPLES]


def words(app):
    """Everything that is written on the page."""
    kinds = (app.title, app.header, app.markdown, app.caption, app.info, app.error, app.code)
    return "\n".join(str(element.value) for kind in kinds for element in kind)


def metrics(app):
    return {metric.label: metric.value for metric in app.metric}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of the samples that a test may damage."""
    copy = tmp_path / "sample_data"
    shutil.copytree(samples.folder(), copy)
    monkeypatch.setattr(samples, "folder", lambda: copy)
    return copy


def test_home_shows_every_sample_and_opens_none(app):
    app.run()
    assert not app.exception
    assert app.title[0].value == "DEEM Studio"
    written = words(app)
    for entry in SAMPLES:
        assert entry["title"] in written
        assert entry["shows"] in written
    assert [button.label for button in app.button] == ["Look inside"] * len(SAMPLES)
    assert "10,000 rows × 6 learners × 5 classes" in written
    assert not app.metric
    assert not app.info
    assert not app.error


@pytest.mark.parametrize("name", NAMES)
def test_each_sample_opens_by_its_button_and_closes_again(app, name):
    app.run()
    app.button(key=f"{state.OPEN_SAMPLE}{name}").click().run()
    assert not app.exception
    assert not app.error
    assert app.query_params[state.SAMPLE] == name
    assert {"Rows", "Learners", "Classes", "Coverage", "Unanimous rows", "Tied rows"} <= set(metrics(app))
    assert len(app.get("plotly_chart")) == 1
    assert len(app.dataframe) == 1
    app.button(key=state.CLOSE_SAMPLE).click().run()
    assert state.SAMPLE not in app.query_params
    assert not app.metric


def test_a_sample_opens_by_the_address_with_the_right_numbers(app):
    app.query_params[state.SAMPLE] = "experts_wide"
    app.run()
    shown = metrics(app)
    assert (shown["Rows"], shown["Learners"], shown["Classes"]) == ("10,000", "6", "5")
    assert (shown["Coverage"], shown["Unanimous rows"], shown["Tied rows"]) == ("100 %", "733", "1,691")
    assert app.dataframe[0].value.columns.tolist()[:2] == ["id", "common_1"]
    assert "Column 'label' is taken as the truth" in words(app)


def test_numbers_that_need_the_truth_say_what_they_are_for(app):
    app.query_params[state.SAMPLE] = "experts_wide"
    app.run()
    assert metrics(app)["Majority vote"] == "81.1 %"
    assert "Evaluation only, never used in training" in words(app)


def test_without_truth_nothing_is_evaluated(app, folder):
    listed = json.loads((folder / samples.LIST).read_text())
    for entry in listed:
        entry.pop("truth_file", None)
    (folder / samples.LIST).write_text(json.dumps(listed))
    app.query_params[state.SAMPLE] = "crowd_long"
    app.run()
    assert "Majority vote" not in metrics(app)
    assert "Evaluation only" not in words(app)
    assert "No truth" in words(app)


@pytest.mark.parametrize("name", ["nothing", "../../etc/passwd", "[x](http://example.org)", ":material/home:", "<b>"])
def test_an_unknown_sample_in_the_address_gets_a_calm_sentence(app, name):
    app.query_params[state.SAMPLE] = name
    app.run()
    assert not app.exception
    assert not app.error
    assert len(app.info) == 1
    assert app.info[0].value.startswith("There is no sample named")
    assert "](http" not in app.info[0].value
    assert len(app.button) == len(SAMPLES)


def test_a_damaged_sample_gets_a_sentence_and_the_others_still_work(app, folder):
    (folder / "experts_wide.csv").write_bytes(b"\x00\x01\x02 not a table")
    app.query_params[state.SAMPLE] = "experts_wide"
    app.run()
    assert not app.exception
    assert not app.error
    assert len(app.info) == 2  # on its card, and where it would open
    assert "Traceback" not in words(app)
    app.button(key=f"{state.OPEN_SAMPLE}crowd_long").click().run()
    assert metrics(app)["Rows"] == "800"


def test_a_missing_sample_file_gets_a_sentence_without_the_servers_paths(app, folder):
    (folder / "digits_soft.csv").unlink()
    app.query_params[state.SAMPLE] = "digits_soft"
    app.run()
    assert not app.exception
    assert len(app.info) == 2
    assert str(folder.parent) not in words(app)


@pytest.mark.parametrize("content", [None, "{", '[{"file": "a.csv"}]', "3"])
def test_a_damaged_list_of_samples_gets_a_sentence(app, folder, content):
    (folder / samples.LIST).unlink()
    if content is not None:
        (folder / samples.LIST).write_text(content)
    app.run()
    assert not app.exception
    assert not app.error
    assert len(app.info) == 1
    assert "Bring your own file" in words(app)


def test_a_bug_shows_an_id_that_the_log_knows(app, monkeypatch, caplog):
    def broken(sample):
        raise RuntimeError("secret detail")

    monkeypatch.setattr(samples, "open_sample", broken)
    app.query_params[state.SAMPLE] = "experts_wide"
    app.run()
    assert not app.exception
    assert len(app.error) == len(SAMPLES) + 1
    assert "secret detail" not in words(app)
    number = app.error[-1].value.split("**")[1]
    logged = next(record for record in caplog.records if number in record.getMessage())
    assert "secret detail" in str(logged.exc_info[1])


def test_a_changed_file_is_read_anew(app, folder):
    app.query_params[state.SAMPLE] = "experts_wide"
    app.run()
    lines = (folder / "experts_wide.csv").read_text().splitlines(keepends=True)
    (folder / "experts_wide.csv").write_text("".join(lines[:-1]))
    app.run()
    assert metrics(app)["Rows"] == "9,999"


def test_both_themes_draw(app):
    charts = []
    for theme in ("light", "dark"):
        app.context["theme"] = theme
        app.query_params[state.SAMPLE] = "experts_wide"
        app.run()
        assert not app.error
        charts.append(app.get("plotly_chart")[0].proto.spec)
    assert charts[0] != charts[1]


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: layout.name)
def test_the_examples_are_shown_and_are_what_they_say(app, layout):
    app.run()
    assert layout.example.strip() in [block.value for block in app.code]
    assert COMMAND in [block.value for block in app.code]
    reading = readers.read(layout.example.encode())
    assert reading.report.layout == layout.name
    assert not reading.report.sentences("warning")
    assert not reading.report.sentences("left out")
