"""Pictures of the figures on a page, for readers who see no HTML."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser import chromium

WIDTH = 1100
FIGURE = ".plotly-graph-div"


def photograph(page: Path) -> list[Path]:
    """Write NAME-1.png, NAME-2.png … beside a page, one for each of its figures; none without a Chromium."""
    executable = chromium.find()
    if executable is None:
        print(f"No pictures of {page.name}: there is no Chromium here (make chromium).")
        return []
    for old in page.parent.glob(f"{page.stem}-*.png"):
        old.unlink()
    made = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(chromium.LAUNCH_ARGS))
        sheet = browser.new_page(viewport={"width": WIDTH, "height": 900})
        sheet.goto(page.resolve().as_uri())
        for at, figure in enumerate(sheet.locator(FIGURE).all()):
            figure.locator(".main-svg").first.wait_for()
            made.append(page.with_name(f"{page.stem}-{at + 1}.png"))
            figure.screenshot(path=made[-1])
        browser.close()
    return made
