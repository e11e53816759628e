"""The walks need the app and a browser, as the tests of single pages do."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import app_url, browser, page, workspace
from tests.browser.working import WORKER

__all__ = ["app_url", "browser", "page", "workspace"]

HERE = Path(__file__).parent
USUAL = 30_000
"""Milliseconds that tests of single pages wait."""


@pytest.hookimpl(tryfirst=True)  # before -m chooses by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents and "page" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    """A walk is long: one slow page must not end it."""
    expect.set_options(timeout=WORKER)
    yield
    expect.set_options(timeout=USUAL)
