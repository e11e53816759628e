"""Names from a file stay names in a real browser: no formula, colour, icon, picture, link or script comes of them."""

import pytest
from playwright.sync_api import Page, expect

from deem_core.runs import Workspace
from studio import state
from tests import nasty
from tests.browser.looking import expect_calm
from tests.in_process import QUICK, done, inspected

ALIVE = """() => {
    const found = [];
    const named = node => (node.textContent || "").includes("zq");
    const look = (selector, what, holds) => document.querySelectorAll(selector).forEach(node => {
        if (holds(node)) found.push(what + ": " + node.outerHTML.slice(0, 200));
    });
    look(".katex", "formula", () => true);
    look("img[src*='zq'], script[src*='zq']", "picture or script", () => true);
    look("a[href*='zq']", "link", node => !node.href.startsWith(location.origin));
    look(".stMarkdownColoredText, [data-testid=stMarkdownContainer] span[style*=color]", "colour",
        node => /^zq( learner|$)/.test(node.textContent.trim()));
    look(".stMarkdownBadge", "badge", node => node.textContent.trim() === "zq");
    look("b, strong, em, s, del, code", "emphasis", node => /^(zq|bold|text)$/.test(node.textContent.trim()));
    look("[data-testid=stMarkdownContainer]", "turned text",  // each text of a picture or table stands alone
        node => /[\u202a-\u202e\u2066-\u2069]/.test(node.textContent));
    look("[data-testid=stElementToolbarButton] [aria-label^='Download as CSV']", "download of cells as they are",
        node => node.checkVisibility());
    return found;
}"""
PAGES = ("", "data", "learning_rate", "train", "learners", "dependence", "rows", "review", "compare", "export")


@pytest.fixture(scope="module")
def address(workspace: Workspace) -> str:
    """What the address says of a file of such names, with a run of every kind."""
    data = workspace.add_dataset(nasty.FILE, nasty.votes())
    train = done(workspace, "train", data, QUICK, ":red[zq] $zq$ <b>zq</b>")
    inspected(workspace, train)
    compare = done(workspace, "compare", data, {"methods": ["mv", "ds"], "seeds": 1, "random_state": 0}, "$zq$")
    ask = done(workspace, "ask", data, {"n": 20, "random_state": 0})
    known = {state.DATA: data.id, state.RUN: train.id, state.COMPARISON: compare.id, state.ASK: ask.id}
    return "&".join(f"{name}={value}" for name, value in known.items())


@pytest.mark.slow
@pytest.mark.page_of_its_own
@pytest.mark.parametrize("name", PAGES)
def test_names_of_a_file_do_nothing(page: Page, address: str, name: str) -> None:
    page.on("dialog", lambda dialog: pytest.fail(f"a name ran: {dialog.message}"))
    page.goto(f"/{name}?{address}")
    expect(page.locator(".st-key-side_dataset")).to_be_visible()
    expect_calm(page)
    tabs = page.get_by_role("tab")
    for at in range(max(1, tabs.count())):
        if tabs.count():
            tabs.nth(at).click()
            page.wait_for_timeout(500)
            expect_calm(page)
        assert page.evaluate(ALIVE) == []
    if name in {"data", "learners", "review"}:
        assert nasty.MARK in page.inner_text("body")
