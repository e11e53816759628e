"""What people need who use a keyboard or a screen reader, on every page and in both themes.

axe-core looks for violations of WCAG 2.2 AA and of good practice; a tab is looked at when it is open, since what is
hidden cannot be judged.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from deem_core.runs import Run, Workspace
from tests.browser.looking import expect_calm
from tests.browser.working import WORKER
from tests.in_process import QUICK, done, inspected

JUDGES = Path(__file__).parents[2] / "sample_data" / "judges_text.csv"

PAGES = (
    *("home", "data", "learning_rate", "train", "learners", "dependence"),
    *("compare", "rows", "review", "export"),
)

STREAMLITS = {
    "list": "the navigation in the sidebar: its list holds a <div> for each section",
    "listitem": "the navigation in the sidebar: its items lie in these <div>s instead of a list",
    "presentation-role-conflict": "the place to drop files: a <section role=presentation> that can have the focus",
    "empty-table-header": "tables with rows that can be marked: the column of boxes has no name",
}
"""Rules that Streamlit's own markup violates, and where; what else violates them fails (see `OWN_MARKUP`)."""

OWN_MARKUP = {
    "list": "[data-testid=stSidebarNavItems]",
    "listitem": "[data-testid=stSidebarNav] li",
    "presentation-role-conflict": "[data-testid=stFileUploaderDropzone]",
    "empty-table-header": "[data-testid=stDataFrame] th, [data-testid=stDataFrameResizable] th",
}

ENOUGH = {"light": PAGES, "dark": ("data", "learning_rate", "compare")}
"""Pages of the quick tour; the slow one visits all of them in both themes, and all their tabs."""

BY_KEYBOARD = ("data", "review")
"""Pages of the quick tour by keyboard; the slow one visits all of them."""


@pytest.fixture(scope="module")
def worked_on(workspace: Workspace) -> str:
    """A file with a run of each kind, as an address names them."""
    dataset = workspace.add_dataset("judges_text.csv", JUDGES.read_bytes())

    def made(kind: str, **config: object) -> Run:
        return done(workspace, kind, dataset, config | {"random_state": 0})

    made("fuse", method="auto")
    training = done(workspace, "train", dataset, QUICK, "Quick look")
    inspected(workspace, training)
    sweep = made("sweep", rates=[0.1, 0.5, 16.0], updates=32, batch_size=64, device="cpu")
    comparison = made("compare", methods=["mv", "ds", "lsml"])
    asked = made("ask")
    parts = {"data": dataset.id, "run": training.id, "sweep": sweep.id, "comparison": comparison.id, "ask": asked.id}
    return "&".join(f"{name}={value}" for name, value in parts.items())


@pytest.mark.parametrize("page", ["light", "dark"], indirect=True)
def test_pages_have_no_violation_but_streamlits_own(page: Page, worked_on: str, request: pytest.FixtureRequest) -> None:
    for name in ENOUGH[request.node.callspec.params["page"]]:
        open_page(page, name, worked_on)
        assert violations(page) == [], name


@pytest.mark.slow
@pytest.mark.parametrize("page", ["light", "dark"], indirect=True)
def test_every_tab_has_no_violation_but_streamlits_own(page: Page, worked_on: str) -> None:
    for address in (worked_on, ""):
        for name in PAGES:
            open_page(page, name, address)
            for place in tabs(page):
                assert violations(page) == [], f"{name}, {place}"


@pytest.mark.slow
def test_every_chart_says_what_it_shows_and_has_its_numbers(page: Page, worked_on: str) -> None:
    seen = set()
    for name in PAGES:
        open_page(page, name, worked_on)
        for _ in tabs(page):
            for chart in page.locator("[data-testid=stPlotlyChart]:visible, .deem-plot:visible").all():
                key = chart.evaluate(
                    "(e) => [...e.closest('[class*=st-key-]').classList].find((c) => /^st-key/.test(c))"
                )
                said = chart.evaluate(
                    "(e) => [e, ...e.querySelectorAll('[aria-label]')].map((x) => x.ariaLabel).find((x) => x)"
                )
                assert said, key
                assert said.endswith("."), key
                if key not in seen and not key.startswith("st-key-shapes"):
                    expect(page.locator(f".{key}_numbers button").first).to_be_attached()
                seen.add(key)
    assert len(seen) > 20


def test_the_numbers_of_a_chart_are_a_table(page: Page, worked_on: str) -> None:
    open_page(page, "data", worked_on)
    page.locator(".st-key-votes_chart_numbers button").click()
    table = page.get_by_test_id("stPopoverBody").get_by_test_id("stDataFrame")
    expect(table.locator("[role=columnheader]")).to_have_text(
        ["series", "learner", "votes cast (number of rows)", "in words"]
    )
    expect(table.locator("[role=gridcell]").filter(has_text="mini-a; class A:").first).to_be_attached()


@pytest.mark.parametrize(
    "name", [page if page in BY_KEYBOARD else pytest.param(page, marks=pytest.mark.slow) for page in PAGES]
)
def test_every_control_is_reached_by_the_keyboard_and_shows_it(page: Page, worked_on: str, name: str) -> None:
    open_page(page, name, worked_on)
    page.wait_for_function(f"({_CONTROLS})().length > 3")
    wanted = page.evaluate(_CONTROLS)
    reached: dict[str, bool] = {}
    page.evaluate("document.activeElement?.blur()")
    for _ in range(60 + 2 * len(wanted)):  # the sidebar comes first
        page.keyboard.press("Tab")
        told = page.evaluate(_FOCUSED)
        if told is None:
            break  # the end of the page
        reached[told["id"]] = told["seen"]
    assert "\n".join(each for each in wanted if each not in reached) == ""
    assert "\n".join(each for each, seen in reached.items() if not seen) == ""


def open_page(page: Page, name: str, address: str) -> None:
    """Open a page and wait until it is drawn."""
    page.goto(f"/{'' if name == 'home' else name}?{address}")
    expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=WORKER)
    expect_calm(page)
    page.wait_for_timeout(300)


def tabs(page: Page) -> Iterator[str]:
    """Open all tabs of a page, one after the other; a page without any is one place."""
    found = page.get_by_role("tab")
    if not found.count():
        yield "no tabs"
    for at in range(found.count()):
        found.nth(at).click()
        expect_calm(page)
        page.wait_for_timeout(300)
        yield found.nth(at).inner_text()


def violations(page: Page) -> list[str]:
    """What axe-core finds, without what is Streamlit's own.

    A page that is drawn anew fades for a moment; what stays is meant.
    """
    found = _found(page)
    if found:
        page.wait_for_timeout(2000)
        expect(page.locator("[data-stale='true']")).to_have_count(0)
        expect_calm(page)
        found = _found(page)
    return found


def _found(page: Page) -> list[str]:
    options = {"resultTypes": ["violations"]}
    response = Axe().run(page, context={"exclude": [[".js-plotly-plot svg"]]}, options=options).response
    return [
        f"{found['id']} ({found['impact']}): {node['html'][:200]}"
        for found in response["violations"]
        for node in found["nodes"]
        if not page.evaluate(_IS_OWN, [node["target"][-1], OWN_MARKUP.get(found["id"], "")])
    ]


_IS_OWN = "([target, own]) => own !== '' && document.querySelector(target)?.matches(own)"

_NAME = """
const group = (e) => e.closest("[data-testid=stButtonGroup], [role=radiogroup]");
const key = (e) => e.closest("[class*='st-key-']")?.className.match(/st-key-\\S+/)?.[0];
const id = (e) => (group(e) ? ["group", key(group(e))]
  : [e.tagName, e.ariaLabel ?? "", key(e), e.innerText?.slice(0, 40), e.getAttribute("href") ?? ""]).join("|");
"""

_CONTROLS = (
    "() => {"
    + _NAME
    + """
const shown = (e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest("[aria-hidden=true]");
const found = document.querySelectorAll("[data-testid=stMain] :is(a[href], button, input, textarea, [role=tab])");
// Of tabs and of buttons in a group one is reached by Tab, the others by arrows.
return [...new Set([...found].filter((e) => shown(e) && !e.disabled && e.tabIndex >= 0).map(id))];
}"""
)

_FOCUSED = (
    "() => {"
    + _NAME
    + """
const host = document.activeElement;
if (!host || host === document.body) return null;
const e = host.shadowRoot?.activeElement ?? host;
const marked = (x) => {
  const style = getComputedStyle(x);
  return (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none";
};
const around = [e];
for (let x = e.parentElement; x && around.length < 6; x = x.parentElement) around.push(x);
const framed = (x) => x.matches(":focus-within") && /rgb/.test(getComputedStyle(x).borderColor);
// A table is a canvas, in which Streamlit draws the frame of the cell that has the focus.
const table = e.closest("[data-testid=stDataFrame] canvas") !== null;
const seen = table || around.some(marked) || (e.matches("input, textarea") && around.some(framed));
return { id: id(host), seen: seen || host.matches("main") };  // the page itself, which arrows scroll
}"""
)
