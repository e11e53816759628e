"""Steps that all walks take."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.looking import expect_calm
from tests.browser.working import WORKER


def upload(page: Page, name: str, content: bytes) -> None:
    """Open the app at its bare address and upload a file there; the Data page opens."""
    page.set_default_timeout(WORKER)
    page.goto("/")
    expect(page.get_by_role("heading", name="DEEM Studio")).to_be_visible(timeout=4 * WORKER)
    expect_calm(page)
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    page.locator(".st-key-home_upload input[type=file]").set_input_files(file)
    expect(page).to_have_url(re.compile(r"/data\?data=[0-9a-f]{32}"), timeout=WORKER)
    expect(page.locator(".st-key-side_dataset").get_by_text(name, exact=True)).to_be_visible(timeout=WORKER)
    expect_calm(page)


def expect_dimensions(page: Page, words: str) -> None:
    """The sidebar says what was read, such as "1,200 rows × 12 learners × 4 classes"."""
    expect(page.locator(".st-key-side_dataset")).to_contain_text(re.compile(words), timeout=WORKER)


def fuse(page: Page) -> None:
    """Press the one button that fuses, and wait for the answer."""
    page.locator(".st-key-fuse_recommended button:visible").click()
    expect(download_button(page)).to_be_visible(timeout=4 * WORKER)
    expect_calm(page)


def download_button(page: Page) -> Locator:
    """The button under the answer."""
    return page.locator("[class*=st-key-download_fused_] button:visible").first


def labels(page: Page, button: Locator, id_column: str) -> dict[str, str]:
    """Download the fused file and return id → label."""
    with page.expect_download(timeout=WORKER) as coming:
        button.click()
    data = Path(coming.value.path()).read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:  # as the file that came in
        text = data.decode("cp1252")
    delimiter = csv.Sniffer().sniff(text.splitlines()[0], delimiters=",;\t").delimiter
    rows = list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
    return {row[id_column]: row["fused_label"] for row in rows}


def share_right(found: dict[str, str], truth: dict[str, str]) -> float:
    """Return the share of rows that have the right label, whatever its case; every row has one."""
    assert found.keys() == truth.keys()
    return sum(found[name].lower() == truth[name] for name in truth) / len(truth)
