"""Review in a browser: rows are labelled by keys alone, and nothing that was said is lost."""

import re

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from deem_core.runs import Dataset, Workspace
from tests.browser.looking import expect_calm, scrolls_sideways
from tests.browser.working import WORKER, finished
from tests.core.runs.test_ask import camps

ROWS = 200


@pytest.fixture(scope="module")
def panel(workspace: Workspace) -> Dataset:
    """Two camps of judges, with a text that wants to come alive, the truth, and rows to ask for."""
    votes, labels = camps(ROWS), np.array(["no", "yes"], object)
    table = pd.DataFrame(labels[votes.codes], columns=votes.learners)
    table.insert(0, "id", votes.ids)
    table.insert(1, "prompt", [f"Is **{row}** <script>fine</script>?" for row in range(ROWS)])
    table["ground truth of the board"] = [f"SECRET-{label}" for label in labels[votes.truth]]
    table["label"] = labels[votes.truth]
    dataset = workspace.add_dataset("judges.csv", table.to_csv(index=False).encode())
    finished(workspace.start_run("ask", dataset, {"n": 20, "random_state": 0}, "20 rows to label"))
    return dataset


def open_desk(page: Page, dataset: Dataset, reviewer: str) -> None:
    page.goto(f"/review?data={dataset.id}&reviewer={reviewer}")
    expect(page.locator(".st-key-labels")).to_be_visible()
    expect(page.get_by_text("Known labels from a file")).to_be_visible()  # the end of the page, drawn last
    expect_calm(page)
    page.wait_for_timeout(1000)  # Streamlit listens to keys a moment after it has drawn the buttons


def press(page: Page, key: str) -> None:
    """Press a key and wait until another row is on the desk."""
    expect_calm(page)
    before = row_of(page)
    page.keyboard.press(key)
    expect(page.locator(f".st-key-label_{before}_0")).to_have_count(0)
    expect(page.locator(".st-key-labels")).to_be_visible()
    expect_calm(page)


def row_of(page: Page) -> str:
    """The number of the row on the desk, by its buttons."""
    names = page.locator(".st-key-labels [class*='st-key-label_']").first.get_attribute("class") or ""
    match = re.search(r"st-key-label_(\d+)_", names)
    assert match is not None
    return match[1]


def answers(workspace: Workspace, dataset: Dataset, reviewer: str) -> dict[int, str | None]:
    """What a reviewer said, as the book keeps it."""
    replies = workspace.answer_book(dataset).answers()
    return {reply.row: reply.label for reply in replies if reply.reviewer == reviewer}


def test_keys_alone_label_rows_and_a_refresh_loses_nothing(page: Page, panel: Dataset, workspace: Workspace) -> None:
    open_desk(page, panel, "keys")
    expect(page.get_by_text("<script>fine</script>").first).to_be_visible()
    first = row_of(page)
    press(page, "1")
    press(page, "2")
    press(page, "s")
    press(page, "2")
    last = row_of(page)
    press(page, "u")
    press(page, "ArrowLeft")
    press(page, "ArrowRight")
    press(page, "1")
    expect(page.get_by_text("3 of 20 answered · 1 skipped")).to_be_visible()
    expect(page.locator(".st-key-verdict").get_by_text("3 gold rows are too few")).to_be_visible()
    said = answers(workspace, panel, "keys")
    assert list(said.values()) == ["no", "yes", None, "no"]
    assert first in map(str, said)
    page.reload()
    expect(page.get_by_text("3 of 20 answered · 1 skipped")).to_be_visible()
    expect(page.locator(".st-key-labels")).to_be_visible()
    assert row_of(page) == last
    expect(page.get_by_label("Your name")).to_have_value("keys")
    page.get_by_label("Your name").fill("Sue 1 2")  # letters in a field are no shortcuts
    page.keyboard.press("Enter")
    expect(page.get_by_text("0 of 20 answered · others: keys 3")).to_be_visible()
    assert answers(workspace, panel, "Sue 1 2") == {}
    page.set_viewport_size({"width": 420, "height": 900})
    expect_calm(page)
    assert not scrolls_sideways(page)


def test_a_key_that_is_held_down_labels_one_row(page: Page, panel: Dataset, workspace: Workspace) -> None:
    open_desk(page, panel, "heavy hand")
    row = row_of(page)
    page.keyboard.down("1")
    for _ in range(20):
        page.wait_for_timeout(100)
        page.keyboard.down("1")  # as a keyboard repeats it
    page.keyboard.up("1")
    expect_calm(page)
    assert answers(workspace, panel, "heavy hand") == {int(row): "no"}
    press(page, "2")
    assert list(answers(workspace, panel, "heavy hand").values()) == ["no", "yes"]


def test_two_tabs_keep_all_answers_and_contradictions_are_said(
    page: Page, panel: Dataset, workspace: Workspace
) -> None:
    workspace.answer_book(panel).forget()
    open_desk(page, panel, "ann")
    other = page.context.new_page()
    open_desk(other, panel, "bob")
    press(page, "1")
    press(other, "2")
    press(page, "1")
    press(other, "1")
    assert list(answers(workspace, panel, "ann").values()) == ["no", "no"]
    assert list(answers(workspace, panel, "bob").values()) == ["yes", "no"]
    conflicts = other.locator(".st-key-conflicts")
    expect(conflicts.get_by_text("ann says no; bob says yes.")).to_be_visible()
    conflicts.get_by_role("button", name="It is no").click()
    expect(conflicts).to_have_count(0)
    other.get_by_role("button", name="Fuse with 2 gold rows").click()
    expect(other.locator(".st-key-gold_answer").get_by_text("Used 2 gold rows")).to_be_visible(timeout=WORKER)
    expect_calm(other)


def test_the_truth_is_never_on_the_desk(page: Page, panel: Dataset) -> None:
    open_desk(page, panel, "eve")
    for _ in range(3):
        desk = page.locator(".st-key-desk")
        expect(desk.get_by_text("prompt", exact=True)).to_be_visible()
        text = desk.inner_text()
        assert "SECRET" not in text
        assert "truth" not in text
        assert "\nlabel\n" not in text
        press(page, "ArrowRight")
