"""The Data page with files that hold several tables or questions: one is chosen there and stays chosen."""

import pytest

from deem_core.reporting.command import reading_words
from studio import state
from tests.app.conftest import expect_calm, metrics, words
from tests.app.test_data import go, upload
from tests.core.readers.formats.test_exports import BOTH, dumped
from tests.core.readers.formats.test_workbook import TWO
from tests.core.readers.test_judging import table


@pytest.fixture
def data(app):
    """The Data page without data."""
    return go(app)


def choice(app, label):
    return next(each for each in app.selectbox if each.label == label)


def test_a_sheet_is_picked_and_belongs_to_the_dataset(data, workspace):
    upload(data, "votes.xlsx", TWO)
    expect_calm(data)
    assert metrics(data)["Rows"] == "3"
    assert choice(data, "Sheet").options == ["Votes (detected)", "Votes", "Answers"]
    assert choice(data, "Encoding").disabled
    choice(data, "Sheet").set_value("Answers").run()
    expect_calm(data)
    assert metrics(data)["Rows"] == "5"
    dataset = workspace.dataset(data.query_params[state.DATA])
    assert dataset.reading == {"sheet": "Answers"}
    assert workspace.read(dataset).report.sheet == "Answers"
    assert reading_words(dataset.inputs()) == ["--sheet", "Answers"]
    choice(data, "Layout").set_value("long").run()  # other choices keep the sheet
    assert workspace.dataset(data.query_params[state.DATA]).reading == {"sheet": "Answers", "layout": "long"}
    choice(data, "Sheet").set_value("Votes").run()  # another sheet is another table: its layout is found anew
    assert workspace.dataset(data.query_params[state.DATA]).reading == {"sheet": "Votes"}
    assert metrics(data)["Learners"] == "3"
    assert "Excel workbook, sheet 'Votes'" in words(data)


def test_a_question_of_an_export_is_asked_for_and_kept(data, workspace):
    upload(data, "export.json", dumped(BOTH))
    expect_calm(data)
    assert "2 questions" in words(data)
    assert "Choose the question to be read" in words(data)
    choice(data, "Question").set_value("topic").run()
    expect_calm(data)
    assert metrics(data)["Annotators"] == "3"
    assert workspace.dataset(data.query_params[state.DATA]).reading == {"label": "topic"}
    role = next(each for each in data.selectbox if each.label.startswith("Role of annotator") and "3" in each.label)
    role.set_value("ignore").run()
    expect_calm(data)
    assert metrics(data)["Annotators"] == "2"
    kept = workspace.dataset(data.query_params[state.DATA])
    assert (kept.reading["label"], kept.reading["layout"]) == ("topic", "wide")
    assert reading_words(kept.inputs())[:4] == ["--layout", "wide", "--id", "id"]


def test_judges_of_both_orders_have_a_picture_and_boxes_to_swap_and_merge(data, workspace):
    upload(data, "judges.csv", table(by_position=True))
    expect_calm(data)
    assert metrics(data)["Learners"] == "5"
    assert "Both answers count as votes" in words(data)
    assert "Position bias" in [tab.label for tab in data.tabs]
    box = next(each for each in data.checkbox if "answer shown first" in each.label)
    assert not box.value
    box.check().run()
    expect_calm(data)
    dataset = workspace.dataset(data.query_params[state.DATA])
    assert dataset.reading == {"swap_ba": True}
    assert reading_words(dataset.inputs()) == ["--swap-ba"]
    assert workspace.read(dataset).report.position_bias[1].contradicted == 0
    next(each for each in data.checkbox if "one vote" in each.label).check().run()
    expect_calm(data)
    assert metrics(data)["Learners"] == "3"
    assert "the judge has no vote" in words(data)
    dataset = workspace.dataset(data.query_params[state.DATA])
    assert dataset.reading == {"swap_ba": True, "one_voice": True}
    assert reading_words(dataset.inputs()) == ["--swap-ba", "--one-voice"]
    next(each for each in data.selectbox if each.label == "Role of rex").set_value("ignore").run()
    kept = workspace.dataset(data.query_params[state.DATA]).reading
    assert (kept["swap_ba"], kept["one_voice"]) == (True, True)
    assert metrics(data)["Learners"] == "2"
