"""Three newcomers reach a right file of labels without leaving the app."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.looking import expect_calm
from tests.browser.working import WORKER
from tests.walks import judges, paper, tickets
from tests.walks.walking import download_button, expect_dimensions, fuse, labels, share_right, upload

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252"])
def test_a_labelling_lead_merges_spellings_and_gets_right_labels(page: Page, encoding: str) -> None:
    made = tickets.tickets(encoding=encoding)
    upload(page, f"tickets_{encoding}.csv", made.content)
    expect_dimensions(page, "1,200 rows × 12 .* × 12 classes")
    expect(page.get_by_text("12 spellings look like 4 classes").first).to_be_visible()
    page.get_by_role("button", name="Merge spellings", exact=True).first.click()
    expect_dimensions(page, "1,200 rows × 12 .* × 4 classes")
    expect(page.get_by_text(tickets.CONSTANT).first).to_be_visible()  # who says spam to everything is named
    expect_calm(page)
    fuse(page)
    assert share_right(labels(page, download_button(page), "Ticket"), made.truth) > 0.98


@pytest.mark.parametrize("form", judges.FORMS)
def test_an_engineer_of_judges_fuses_every_form_of_the_file(page: Page, form: str) -> None:
    made = judges.panel()
    upload(page, form, judges.FORMS[form](made))
    expect_dimensions(page, "600 rows × 5 .* × 3 classes")
    if form.endswith(".csv"):  # these hold probabilities, which are read as such
        expect(page.locator(".st-key-probabilities")).to_be_visible()
    fuse(page)
    found = labels(page, download_button(page), "item" if form.endswith(".jsonl") else judges.ID)
    assert share_right(found, made.right) > 0.93


def test_a_reader_of_the_paper_chooses_a_rate_by_its_curves_and_exports(page: Page) -> None:
    content, truth = paper.ensemble()
    upload(page, "ensemble.csv", content)
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Learning rate").click()
    expect(page.locator(".st-key-start_sweep")).to_be_visible(timeout=WORKER)
    expect_calm(page)
    page.locator(".st-key-start_sweep button").click()
    expect(page.locator(".st-key-side_run_sweep")).to_contain_text("Done", timeout=4 * WORKER)
    expect_calm(page)
    page.locator(".st-key-train_with_rate button").click()
    expect(page).to_have_url(re.compile(r"/train\?.*rate="))
    rate = float(re.search(r"rate=([\d.]+)", page.url)[1])
    assert 0.1 <= rate <= 4  # neither one that never settles nor one that loses a class
    expect_calm(page)
    page.locator(".st-key-start_training button").click()
    expect(page.locator(".st-key-side_run_train")).to_contain_text("Done", timeout=4 * WORKER)
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Export").click()
    expect(page.get_by_role("heading", name="Export", exact=True)).to_be_visible()
    expect_calm(page)
    found = labels(page, page.locator(".st-key-download_export button:visible").first, "id")
    assert share_right(found, truth) > 0.88  # the majority vote has 77%
