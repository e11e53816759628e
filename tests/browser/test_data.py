"""The Data page in a real browser: good files, bad files, column roles, refreshing, deleting."""

import gzip
import io
import re
import zipfile

from playwright.sync_api import Page, expect

from deem_core.runs import Workspace
from tests.browser.looking import card, choose, expect_calm, expect_loaded, small_file


def upload(page: Page, name: str, content: bytes) -> None:
    """Bring a file, from the empty page or beside the one that is there."""
    if page.get_by_role("button", name="Upload another file").count() and not page.locator("input[type=file]").count():
        page.get_by_role("button", name="Upload another file").click()
    page.locator("input[type=file]").first.set_input_files({"name": name, "mimeType": "text/csv", "buffer": content})


def loaded(page: Page, workspace: Workspace, name: str, content: bytes) -> None:
    """Open the Data page by a link to a file."""
    page.goto(f"/data?data={workspace.add_dataset(name, content).id}")


def workbook() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as book:
        book.writestr("xl/workbook.xml", "<workbook/>")
    return stream.getvalue()


BAD = {
    "empty.csv": b"",
    "blank.csv": b"\n\n   \n",
    "junk.csv": bytes(range(256)) * 20,
    "book.csv": workbook(),
    "damaged.csv.gz": gzip.compress(small_file(0))[:-200],
    "page.csv": b"<!DOCTYPE html><html><body>Please log in</body></html>",
}


def test_a_good_file_is_read_shown_and_found_again_after_a_refresh(page: Page) -> None:
    page.goto("/data")
    upload(page, "good.csv.gz", gzip.compress(small_file(1)))
    expect_loaded(page, "good.csv.gz", rows="300", learners="5")
    expect(page).to_have_url(re.compile(r"/data\?data=[0-9a-f]{32}$"))
    address = page.url
    page.reload()
    expect_loaded(page, "good.csv.gz", rows="300", learners="5")
    assert page.url == address
    page.get_by_role("tab", name="Accuracy").click()
    expect(page.get_by_text("Evaluation only, never used in training").first).to_be_visible()


def test_bad_files_get_a_sentence_and_the_file_before_stays(page: Page, workspace: Workspace) -> None:
    loaded(page, workspace, "before.csv", small_file(2))
    expect_loaded(page, "before.csv", rows="300", learners="5")
    address = page.url
    complaint = page.locator(".st-key-complaint [data-testid=stAlert]")
    said = ""
    for name, content in BAD.items():
        upload(page, name, content)
        expect(complaint).not_to_have_text(said or "nothing was said yet")
        expect(complaint).to_be_visible()
        said = complaint.inner_text()
        assert said.rstrip().endswith("."), name
        expect_loaded(page, "before.csv", rows="300", learners="5")
        assert page.url == address, name


def test_a_column_gets_another_role_and_keeps_it(page: Page, workspace: Workspace) -> None:
    loaded(page, workspace, "roles.csv", small_file(3))
    expect_loaded(page, "roles.csv", rows="300", learners="5")
    before = page.url
    page.get_by_role("tab", name="Columns and reading").click()
    choose(page.get_by_role("combobox", name=re.compile("^Role of ")).nth(1), "ignore")  # the first one is the id
    expect(card(page, "Learners").first).to_have_text("4")
    expect_calm(page)
    assert page.url != before
    page.reload()
    expect_loaded(page, "roles.csv", rows="300", learners="4")
    expect(page.get_by_text(re.compile("Column .* was left out"))).to_be_visible()


def test_a_file_that_is_no_votes_yet_is_mended_by_its_roles(page: Page) -> None:
    page.goto("/data")
    codes = "".join(f"r{i},{i % 7 / 2},{'fg'[i % 2]},{'ab'[i % 3 == 0]},{'xy'[i % 2]}\n" for i in range(40))
    upload(page, "strange.csv", f"id,score,first,second,third\n{codes}".encode())
    expect(page.get_by_text("No learner column is left in strange.csv")).to_have_count(1)
    expect_calm(page)
    for name in ("first", "second"):  # after the first of them there is a single learner still
        choose(page.get_by_role("combobox", name=f"Role of {name}"), "learner")
        expect_calm(page)
    expect_loaded(page, "strange.csv", rows="40", learners="2")


def test_a_file_is_deleted_after_a_question(page: Page, workspace: Workspace) -> None:
    dataset = workspace.add_dataset("doomed.csv", small_file(4))
    page.goto(f"/data?data={dataset.id}")
    expect_loaded(page, "doomed.csv", rows="300", learners="5")
    page.get_by_role("tab", name="Files").click()
    expect(page.get_by_text(str(workspace.root))).to_be_visible()
    page.locator(f".st-key-delete_file_{dataset.data} button:visible").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete permanently").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_text("What a file can look like")).to_be_visible()
    expect_calm(page)
    assert dataset.id not in [kept.id for kept in workspace.datasets()]
