"""Pictures of the running app for README and docs: ``python -m tests.browser.screenshots [NAME …]``.

The app runs on a free port with a workspace of its own that is deleted afterwards; every picture begins with a bundled
sample, opened and worked on as a person would.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests.browser import chromium
from tests.browser.conftest import APP_ROOT, serve
from tests.browser.looking import expect_calm

FOLDER = APP_ROOT / "docs" / "images"
SIZE = {"width": 1400, "height": 1000}
PATIENCE = 600_000
"""Milliseconds that a training or a sweep may take, and compiling the kernel before the first."""


def main() -> None:
    """Make the pictures that were named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PICTURES)} (default: all)")
    names = parser.parse_args().names or list(PICTURES)
    if unknown := sorted(set(names) - set(PICTURES)):
        parser.error(f"there is no picture {unknown[0]!r}; there are {', '.join(PICTURES)}")
    FOLDER.mkdir(exist_ok=True)
    expect.set_options(timeout=PATIENCE)  # nobody waits for this, and a busy machine is slow
    with (
        tempfile.TemporaryDirectory() as place,
        serve(Path(place) / "home", Path(place) / "log.txt") as (url, _),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium.ensure(), args=list(chromium.LAUNCH_ARGS))
        for name in names:
            page = new_page(browser, url)
            shoot(page, name, PICTURES[name](page))
            page.context.close()
        browser.close()


def new_page(browser: Browser, url: str) -> Page:
    """Return a page in the light theme."""
    context = browser.new_context(base_url=url, viewport=SIZE, color_scheme="light", reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    return context.new_page()


def shoot(page: Page, name: str, part: Locator | None) -> None:
    """Write what the page shows, or a part of it."""
    expect_calm(page)
    page.mouse.move(SIZE["width"] - 5, SIZE["height"] - 5)  # off every button
    page.wait_for_timeout(1500)  # drawings fade in
    expect_calm(page)  # what began in the meantime
    path = FOLDER / f"{name}.png"
    (part or page).screenshot(path=path)
    slim(path)
    sys.stdout.write(f"Written: {path.relative_to(APP_ROOT)}\n")


def slim(path: Path) -> None:
    """Keep at most 256 colours, which nobody sees and which halves the file."""
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def open_sample(page: Page, name: str) -> None:
    """Load a bundled sample from the home page."""
    page.goto("/")
    page.locator(f".st-key-open_sample_{name} button:visible").click()
    expect(page.locator(".st-key-side_dataset")).to_contain_text(name, timeout=60_000)
    expect_calm(page)


def turn_to(page: Page, title: str) -> None:
    """Turn to another page by the sidebar."""
    page.get_by_test_id("stSidebarNavLink").filter(has_text=title).click()
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
    expect_calm(page)


def learning_rate(page: Page) -> None:
    """Sweep the sample of digits, with default settings."""
    open_sample(page, "digits_soft")
    turn_to(page, "Learning rate")
    page.locator(".st-key-start_sweep button").click()
    expect(page.locator("[class*='st-key-rate_panel']").first).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("Verdicts", exact=True)).to_be_visible(timeout=PATIENCE)


def why(page: Page) -> Locator:
    """Fuse the sample with one expert, and ask why the most doubtful row got its label."""
    fused(page, "experts_wide")
    turn_to(page, "Learners")
    page.get_by_role("tab", name="Why this label?").click(timeout=PATIENCE)
    chart = page.locator(".st-key-why_chart .js-plotly-plot").first
    expect(chart).to_be_visible(timeout=PATIENCE)
    page.set_viewport_size({"width": SIZE["width"], "height": 1800})  # all of it, where nothing scrolls
    return chart


def panel(page: Page) -> Locator:
    """Look at the panel of judges, where two camps contradict each other."""
    open_sample(page, "judges_text")
    card = page.locator(".st-key-panel_health")
    expect(card.locator(".js-plotly-plot").first).to_be_visible(timeout=PATIENCE)
    page.set_viewport_size({"width": SIZE["width"], "height": 3000})
    return card


def fused(page: Page, name: str) -> None:
    """Load a sample and take the answer of auto, unless an earlier picture has done so."""
    open_sample(page, name)
    ready = page.locator("[class*=st-key-download_fused_] button")
    begin = page.locator(".st-key-fuse_recommended button")
    expect(ready.or_(begin).first).to_be_visible(timeout=PATIENCE)
    if begin.is_visible():
        begin.click()
    expect(ready).to_be_visible(timeout=PATIENCE)
    expect_calm(page)


def drawn(page: Page) -> None:
    """Wait until the first figure is there and nothing loads any more."""
    expect(page.locator(".js-plotly-plot:visible .main-svg").first).to_be_visible(timeout=PATIENCE)
    expect_calm(page)


# ---------------------------------------------------------------------- the gallery: each page as it is met


def home_page(page: Page) -> None:
    """Look at the home page before anything was done."""
    page.goto("/")
    expect(page.locator(".st-key-open_sample_experts_wide button:visible")).to_be_visible(timeout=PATIENCE)


def data_page(page: Page) -> None:
    """Take the answer of auto on judges' votes."""
    fused(page, "judges_text")
    drawn(page)


def train_page(page: Page) -> None:
    """Train DEEM on votes with gaps."""
    open_sample(page, "moderation_missing")
    turn_to(page, "Train")
    page.locator(".st-key-start_training button").click()
    expect(page.get_by_role("tab", name="Class shares")).to_be_visible(timeout=PATIENCE)
    drawn(page)


def learners_page(page: Page) -> None:
    """Look at the learners of a fused sample."""
    fused(page, "experts_wide")
    turn_to(page, "Learners")
    expect(page.get_by_role("tab", name="Why this label?")).to_be_visible(timeout=PATIENCE)  # it was inspected
    drawn(page)


def dependence_page(page: Page) -> None:
    """Look at who depends on whom."""
    fused(page, "experts_wide")
    turn_to(page, "Dependence")
    drawn(page)


def compare_page(page: Page) -> None:
    """Compare the fast methods."""
    open_sample(page, "experts_wide")
    turn_to(page, "Compare")
    page.locator(".st-key-start_compare button").click()
    expect(page.locator(".st-key-compare_dots .js-plotly-plot")).to_be_visible(timeout=PATIENCE)
    drawn(page)


def rows_page(page: Page) -> None:
    """Look at single rows with their text."""
    fused(page, "judges_text")
    turn_to(page, "Rows")
    expect(page.get_by_test_id("stDataFrame").first).to_be_visible(timeout=PATIENCE)


def review_page(page: Page) -> None:
    """Ask which rows to label."""
    fused(page, "judges_text")
    turn_to(page, "Review")
    page.locator(".st-key-ask_rows button").click()
    expect(page.locator(".st-key-desk")).to_be_visible(timeout=PATIENCE)


def export_page(page: Page) -> None:
    """Look at the fused file and the rows to review."""
    fused(page, "experts_wide")
    turn_to(page, "Export")
    drawn(page)


PICTURES: dict[str, Callable[[Page], Locator | None]] = {
    "page_home": home_page,
    "page_data": data_page,
    "learning_rate": learning_rate,
    "page_train": train_page,
    "page_learners": learners_page,
    "page_dependence": dependence_page,
    "page_compare": compare_page,
    "page_rows": rows_page,
    "page_review": review_page,
    "page_export": export_page,
    "why": why,
    "panel": panel,
}
"""Name of the file → what is done before it is taken."""

if __name__ == "__main__":
    main()
