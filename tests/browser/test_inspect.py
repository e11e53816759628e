"""Learners and Dependence in a browser: pictures, tabs, a click on a bar, a marked row, tables to take home."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from deem_core.diagnostics.inspection import Inspection
from deem_core.runs import Run, Workspace
from tests.browser.looking import expect_calm, scrolls_sideways
from tests.browser.tables import mark
from tests.browser.working import WORKER
from tests.in_process import QUICK, add_votes, done, experts, inspected


@pytest.fixture(scope="module")
def training(workspace: Workspace) -> Run:
    """A quick training of a file with an expert and two near-copies, and its inspection."""
    run = done(workspace, "train", add_votes(workspace, experts(), "inspected.csv"), QUICK, "Quick")
    inspected(workspace, run)
    return run


def address(page: str, run: Run) -> str:
    return f"/{page}?data={run.dataset_id}&run={run.id}"


def expect_chart(page: Page, key: str) -> None:
    expect(page.locator(f".st-key-{key} .js-plotly-plot .main-svg").first).to_be_visible(timeout=WORKER)
    expect_calm(page)


@pytest.mark.parametrize("page", ["light", pytest.param("dark", marks=pytest.mark.slow)], indirect=True)
def test_every_tab_of_learners_shows_its_picture(page: Page, training: Run) -> None:
    page.goto(address("learners", training))
    expect_chart(page, "scorecard_chart")
    page.get_by_role("tab", name="Influence").click()
    expect_chart(page, "influence_chart")
    expect(page.get_by_text("Influence is not accuracy")).to_be_visible()
    for tab, key in (
        ("Expert finder", "experts_chart"),
        ("Trust", "trust_chart"),
        ("Confusion", "confusion_chart"),
        ("Why this label?", "why_chart"),
        ("Certainty", "reliability_chart"),
    ):
        page.get_by_role("tab", name=tab).click()
        expect_chart(page, key)
    expect(page.get_by_text("of 300 rows with known truth")).to_be_visible()


def test_a_click_on_a_bar_leads_to_the_confusion_of_its_learner(
    page: Page, workspace: Workspace, training: Run
) -> None:
    page.goto(address("learners", training))
    expect_chart(page, "scorecard_chart")
    page.get_by_role("tab", name="Influence").click()
    expect_chart(page, "influence_chart")
    bars = page.locator(".st-key-influence_chart .bars").last.locator(".point path")
    expect(bars).to_have_count(7)
    page.wait_for_timeout(500)  # until the picture has found its place
    place = bars.first.bounding_box()
    assert place is not None
    page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    expect_chart(page, "confusion_chart")
    (inspection,) = workspace.runs(dataset=training.dataset_id, kind="inspect")
    found = Inspection.load(inspection.path)
    expect(page.get_by_role("combobox", name="Learner")).to_have_value(found.learners[found.influence.order[0]])


def test_a_marked_row_and_a_typed_one_are_explained(page: Page, training: Run) -> None:
    page.goto(address("learners", training))
    page.get_by_role("tab", name="Why this label?").click(timeout=WORKER)
    expect_chart(page, "why_chart")
    field = page.get_by_label("Another row")
    field.fill("r42")
    field.press("Enter")
    expect(page.get_by_text("Row r42 is labelled")).to_be_visible(timeout=WORKER)
    mark(page, "why_rows", 1)
    expect(page.get_by_text("Row r42 is labelled")).to_have_count(0, timeout=WORKER)
    expect(field).to_have_value("")
    expect_chart(page, "why_chart")


@pytest.mark.parametrize("page", ["light", pytest.param("dark", marks=pytest.mark.slow)], indirect=True)
def test_every_tab_of_dependence_shows_its_picture_and_its_pairs_can_be_taken_home(page: Page, training: Run) -> None:
    page.goto(address("dependence", training))
    expect_chart(page, "dependence_chart")
    expect(page.get_by_text("The strongest cell is")).to_be_visible()
    page.get_by_role("tab", name="Layer by layer").click()
    expect_chart(page, "summary_chart")
    page.get_by_role("tab", name="Most dependent pairs").click()
    expect(page.get_by_text("ann, ann_2, ann_3 behave like one learner.")).to_be_visible()
    page.get_by_role("tab", name="Correlation with the label").click()
    expect_chart(page, "correlation_chart")
    with page.expect_download(timeout=WORKER) as download:
        page.get_by_role("button", name="Pairs of learners as CSV").click()
    assert "ann_2" in Path(download.value.path()).read_text(encoding="utf-8")
    expect_calm(page)


@pytest.mark.slow
def test_the_pages_fit_a_telephone(page: Page, training: Run) -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    for name, key in (("learners", "scorecard_chart"), ("dependence", "dependence_chart")):
        page.goto(address(name, training))
        expect_chart(page, key)
        assert not scrolls_sideways(page)
    page.get_by_role("tab", name="Correlation with the label").click()
    expect_chart(page, "correlation_chart")
    numbers = page.locator(".st-key-correlation_chart .textpoint").first
    expect(numbers).to_be_hidden()  # they would lie on each other
    page.set_viewport_size({"width": 1400, "height": 900})
    expect(numbers).to_be_visible()


def test_the_scorecard_keeps_its_order_and_its_run_over_a_refresh(page: Page, training: Run) -> None:
    page.goto(f"/learners?data={training.dataset_id}")
    expect_chart(page, "scorecard_chart")
    page.get_by_text("Only flagged learners").click()
    expect(page).to_have_url(re.compile(rf"run={training.id}.*scorecard_flagged=true"), timeout=WORKER)
    page.reload()
    expect_chart(page, "scorecard_chart")
    expect(
        page.get_by_role("switch", name="Only flagged learners").or_(page.get_by_label("Only flagged learners"))
    ).to_be_checked()
    with page.expect_download(timeout=WORKER) as download:
        page.get_by_role("button", name="Scorecard as CSV").click()
    assert "near-copy of ann_2" in Path(download.value.path()).read_text(encoding="utf-8")
