"""Compare in a browser: a finished comparison with its pictures, tabs and tables."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from deem_core.answers import StoredAnswer
from deem_core.runs import Run, Workspace
from tests.browser.looking import choose, expect_calm, scrolls_sideways
from tests.browser.working import WORKER
from tests.in_process import add_votes, done, experts


@pytest.fixture(scope="module")
def compared(workspace: Workspace) -> Run:
    config = {"methods": ["mv", "ds", "onecoin"], "seeds": 1, "random_state": 0}
    return done(workspace, "compare", add_votes(workspace, experts(), "compared_methods.csv"), config)


def open_compared(page: Page, run: Run) -> None:
    page.goto(f"/compare?data={run.dataset_id}&comparison={run.id}")
    expect(page.locator(".st-key-compare_chart .js-plotly-plot .scatterlayer .point").first).to_be_attached(
        timeout=WORKER
    )
    expect_calm(page)


@pytest.mark.parametrize("page", ["light", pytest.param("dark", marks=pytest.mark.slow)], indirect=True)
def test_methods_are_ranked_with_a_conclusion_and_every_tab_opens(page: Page, compared: Run) -> None:
    open_compared(page, compared)
    expect(page.get_by_text("DEEM was not among the methods.")).to_be_visible()
    expect(page.get_by_text("Evaluation only, never used in training").first).to_be_visible()
    expect(page.locator(".st-key-methods_chart .js-plotly-plot")).to_be_visible()
    page.get_by_role("tab", name="Class by class").click()
    expect(page.locator(".st-key-class_chart .js-plotly-plot .bars .point").first).to_be_attached()
    page.get_by_role("tab", name="Disputed rows").click()
    expect(page.get_by_text(re.compile(r"\d+ rows disputed"))).to_be_visible()
    expect_calm(page)


def test_the_table_can_be_taken_home(page: Page, compared: Run) -> None:
    open_compared(page, compared)
    with page.expect_download(timeout=WORKER) as download:
        page.get_by_role("button", name="Methods as CSV").click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert len(lines) == 5  # a header, three methods, and the majority vote with ties to the first class
    assert lines[0].startswith("method,accuracy,95% interval")


def test_labels_of_any_method_come_home_and_open_on_the_export_page(page: Page, compared: Run) -> None:
    open_compared(page, compared)
    choose(page.get_by_role("combobox", name="Export the labels of"), "Dawid-Skene")
    expect(page).to_have_url(re.compile("method=ds"))
    page.reload()
    open_export = page.get_by_role("button", name="Open on the Export page")
    expect(open_export).to_be_visible(timeout=WORKER)
    expect_calm(page)
    for kind in ("CSV", "Parquet"):
        with page.expect_download(timeout=WORKER) as download:
            page.get_by_role("button", name=f"Labels as {kind}").click()
        assert download.value.suggested_filename == f"compared_methods_fused_ds.{kind.lower()}"
        read = pd.read_csv if kind == "CSV" else pd.read_parquet
        table = read(download.value.path())
        codes = StoredAnswer(compared.labels("ds"), 4).codes
        assert table["fused_label"].tolist() == [*np.array(list("wxyz"))[codes]]
        assert {"id", "ann", "confidence", "p_w", "majority_vote", "needs_review"} <= set(table)
    open_export.click()
    expect(page).to_have_url(re.compile(f"/export.*run={compared.id}"))
    expect(page.get_by_role("button", name="Download 300 rows as CSV")).to_be_visible(timeout=WORKER)
    expect(page.get_by_role("combobox", name="Method")).to_have_value("Dawid-Skene")
    expect_calm(page)


@pytest.mark.slow
def test_the_page_fits_a_telephone(page: Page, compared: Run) -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    open_compared(page, compared)
    assert not scrolls_sideways(page)
