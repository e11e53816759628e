"""What browser tests look for on every page."""

import json
from pathlib import Path

from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as Late

from deem_core import simulation

SAMPLES = json.loads((Path(__file__).parents[2] / "sample_data" / "samples.json").read_text(encoding="utf-8"))

FRESH = ":not([data-stale='true'])"
"""What a page was drawn with last; while it is drawn anew, Streamlit keeps the old parts beside the new ones."""


def small_file(seed: int) -> bytes:
    """Return a file of 300 rows and five learners with truth, quick to train; another one for every seed."""
    votes = simulation.make("condind", 300, seed=seed, n_learners=5).votes
    lines = [",".join(["id", *votes.learners, "label"])]
    for row, (codes, truth) in enumerate(zip(votes.codes, votes.truth, strict=True)):
        lines.append(",".join(map(str, [f"r{row}", *codes, truth])))
    return "\n".join(lines).encode()


def expect_calm(page: Page) -> None:
    """The page is ready and nothing broke."""
    expect(page.locator("[data-testid='stApp'][data-test-script-state='notRunning']")).to_be_attached()
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(page.get_by_text("Something broke")).to_have_count(0)
    expect(page.get_by_text("Traceback")).to_have_count(0)
    expect(page.get_by_test_id("stDialog")).to_have_count(0)  # "Page not found" is one


def card(page: Page, label: str) -> Locator:
    """The value on a card of numbers."""
    return page.get_by_test_id("stMetric").filter(has_text=label).get_by_test_id("stMetricValue")


def expect_loaded(page: Page, name: str, *, rows: str, learners: str, word: str = "Learners") -> None:
    """The Data page shows a file, with its picture; ``word`` is the file's own word for its learners."""
    expect(page.locator(".st-key-side_dataset").get_by_text(name, exact=True)).to_be_visible()
    expect(card(page, "Rows").first).to_have_text(rows)
    expect(card(page, word).first).to_have_text(learners)  # while a page is drawn anew, the old cards stand below
    expect(page.locator(".st-key-votes_chart .js-plotly-plot .bars .point").first).to_be_attached()
    expect_calm(page)
    expect(card(page, word)).to_have_count(1)


def choose(box: Locator, option: str, tries: int = 3) -> None:
    """Choose an option of a list; a page that is drawn anew closes the list, which then is opened once more."""
    found = box.page.get_by_role("option", name=option, exact=True)
    for left in reversed(range(tries)):
        expect_calm(box.page)
        if not found.is_visible():
            box.click()
        try:
            found.click(timeout=5_000)
        except Late:
            if not left:
                raise
        else:
            return


def scrolls_sideways(page: Page) -> bool:
    """Whether something is wider than the window."""
    places = ("document.documentElement", "document.querySelector('[data-testid=stMain]')")
    return any(page.evaluate(f"{place}.scrollWidth > {place}.clientWidth") for place in places)
