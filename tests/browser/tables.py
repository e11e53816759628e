"""Tables in a browser: they are drawn on a canvas, so that rows are marked with the mouse."""

from playwright.sync_api import Locator, Page

ROW = 35
"""Pixels."""


def rows(page: Page, key: str) -> Locator:
    """The rows of the table whose key begins so, the names of its columns first."""
    return page.locator(f"[class*='st-key-{key}'] [role='row']")


def mark(page: Page, key: str, row: int) -> None:
    """Click the box in front of a row, counted from 0."""
    rows(page, key).nth(row + 1).wait_for(state="attached")
    place = page.locator(f"[class*='st-key-{key}'] .dvn-scroller").first
    place.click(position={"x": 16, "y": ROW * (row + 1.5)})
