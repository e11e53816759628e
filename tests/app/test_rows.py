"""Rows without a browser: filters in the address, links from heatmaps, every kind of source."""

import shutil

import pytest

from deem_core.diagnostics import RowFilter
from deem_core.runs import Workspace
from studio import state
from studio.rows import cells
from tests.app.conftest import button, expect_calm, open_tab, words
from tests.in_process import QUICK, add_votes, done, experts, inspected


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    """A workspace with a training, its inspection and a comparison of the same file."""
    made = Workspace(tmp_path_factory.mktemp("workshop"))
    run = done(made, "train", add_votes(made, experts()), QUICK, "Quick")
    inspected(made, run)
    compare = {"methods": ["mv", "ds", "onecoin"], "seeds": 1, "budget": 60, "random_state": 0, "device": "cpu"}
    compared = done(made, "compare", made.dataset(run.dataset_id), compare, "Three")
    return made.root, run.id, compared.id


@pytest.fixture
def runs(workshop, workspace):
    """The training and the comparison, in a workspace that the test may spoil."""
    root, *ids = workshop
    shutil.copytree(root, workspace.root, dirs_exist_ok=True)
    return [workspace.run(run) for run in ids]


@pytest.fixture
def open_rows(app):
    """Return what opens the page with a filter."""

    def open_it(run, text="", **address):
        app.query_params[state.DATA], app.query_params[state.RUN] = run.dataset_id, run.id
        for name, value in {state.ROWS: text, **address}.items():
            app.query_params[name] = value
        app.run()
        return app.switch_page("pages/rows.py").run()

    return open_it


def rows_shown(app):
    return [int(row) for row in app.dataframe[0].value["row"]]


def expected(text):
    """Rows by the votes alone, counted from 1; for filters without fused labels."""
    from deem_core.diagnostics import RowTable

    mask = RowFilter.of(text).mask(RowTable(experts()))
    return [int(row) + 1 for row in mask.nonzero()[0]][:50]


def test_without_data_the_page_leads_to_it(app):
    app.run()
    app.switch_page("pages/rows.py").run()
    expect_calm(app)
    assert "No data yet" in words(app)


def test_before_fusing_there_are_votes_alone(app, dataset):
    app.query_params[state.DATA], app.query_params[state.ROWS] = dataset.id, "vote.eve=1"
    app.run()
    app.switch_page("pages/rows.py").run()
    expect_calm(app)
    assert "Nothing has been fused yet" in words(app)
    assert set(app.dataframe[0].value["eve"]) == {"1"}
    assert "fused_label" not in app.dataframe[0].value


def test_the_filter_in_the_address_chooses_the_rows(open_rows, runs):
    app = open_rows(runs[0], "vote.ann=w&vote.bob=x")
    expect_calm(app)
    assert rows_shown(app) == expected("vote.ann=w&vote.bob=x")
    assert "ann says w" in [each.label for each in app.button]
    button(app, "ann says w").click().run()
    assert rows_shown(app) == expected("vote.bob=x")
    assert app.query_params[state.ROWS] == "vote.bob=x"
    button(app, "Clear all filters").click().run()
    assert "**300 rows**" in words(app)
    assert state.ROWS not in app.query_params


def test_widgets_write_the_address(open_rows, runs):
    app = open_rows(runs[0])
    next(each for each in app.selectbox if each.label == "Majority vote").set_value("y").run()
    expect_calm(app)
    assert app.query_params[state.ROWS] == "majority=y"
    assert set(app.dataframe[0].value["majority_vote"]) == {"y"}
    next(each for each in app.text_input if each.label == "Search").set_value("R12").run()
    assert rows_shown(app)
    assert all("r12" in name for name in app.dataframe[0].value["id"])
    app.get("button_group")[0].set_value(["Differs from majority vote"]).run()
    expect_calm(app)
    assert app.query_params[state.ROWS] == "majority=y&search=R12&differ=fused|majority"


def test_the_order_stands_in_the_address(open_rows, runs):
    app = open_rows(runs[0], order="least confident")
    sure = app.dataframe[0].value["confidence"].tolist()
    assert sure == sorted(sure)
    assert sure[0] < sure[-1]


def test_a_broken_link_is_told_and_can_be_cleared(open_rows, runs):
    app = open_rows(runs[0], "fused=elephant")
    expect_calm(app)
    assert "There is no class 'elephant'" in words(app)
    button(app, "Clear all filters").click().run()
    assert "**300 rows**" in words(app)


def test_no_row_is_said(open_rows, runs):
    app = open_rows(runs[0], "vote.ann=w&vote.ann=x")
    expect_calm(app)
    assert "No row matches all these filters" in words(app)


def test_methods_of_a_comparison_can_be_held_against_each_other(open_rows, runs):
    app = open_rows(runs[1], "differ=label.mv|label.onecoin", method="mv")
    expect_calm(app)
    shown = app.dataframe[0].value
    assert len(shown)
    assert (shown["Majority vote"] != shown["One-coin Dawid-Skene"]).all()


def test_pages_of_rows_do_not_repeat(open_rows, runs):
    app = open_rows(runs[0])
    first = rows_shown(app)
    key = next(each.key for each in app.get("pagination"))
    app.session_state[key] = 2
    app.run()
    expect_calm(app)
    assert first == list(range(1, 51))
    assert rows_shown(app) == list(range(51, 101))


@pytest.mark.parametrize(
    ("tabs", "tab", "key"),
    [
        ("learners", "Confusion", "confusion_chart"),
        ("learners", "Expert finder", "experts_chart"),
        ("dependence", "Mutual information", "dependence_chart"),
        ("dependence", "Correlation with the label", "correlation_chart"),
        ("answer", "What changed", "changes_chart"),
        ("data", "Who agrees with whom", "agreement_chart"),
    ],
)
def test_every_heatmap_leads_to_the_rows_of_a_cell(app, runs, tabs, tab, key):
    app.query_params[state.DATA], app.query_params[state.RUN] = runs[0].dataset_id, runs[0].id
    app.run()
    app.switch_page(f"pages/{'train' if tabs == 'answer' else tabs}.py").run()
    open_tab(app, f"{tabs}_tabs", tab)
    link = app.button(key=f"{key}_rows")
    number = 1 if "this row" in link.label else int(link.label.split()[2])
    link.click().run()
    app.switch_page("pages/rows.py").run()  # a test does not follow by itself
    expect_calm(app)
    assert app.title[0].value == "Rows"
    assert f"**{number} row" in words(app)
    assert app.query_params[state.ROWS]


def test_methods_heatmap_leads_to_rows_of_the_comparison(app, runs):
    app.query_params[state.DATA], app.query_params[state.COMPARISON] = runs[1].dataset_id, runs[1].id
    app.run()
    app.switch_page("pages/compare.py").run()
    link = app.button(key="methods_chart_rows")
    number = int(link.label.split()[2])
    link.click().run()
    app.switch_page("pages/rows.py").run()
    expect_calm(app)
    assert app.query_params[state.RUN] == runs[1].id
    assert f"**{number} rows**" in words(app)


@pytest.mark.parametrize(
    ("selection", "place"),
    [
        ({"selection": {"points": [{"customdata": [2, 1, 0, "words"]}]}}, (2, 1, 0)),
        ({"selection": {"points": []}}, None),
        ({"selection": {"points": [{"x": 1}]}}, None),
        (None, None),
    ],
)
def test_a_click_tells_its_cell(selection, place):
    assert cells.clicked(selection) == place
