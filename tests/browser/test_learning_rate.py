"""Learning rate in a browser: a sweep that is really run, watched while it grows, and a rate picked in every way."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from deem_core.runs import Run, Workspace
from tests.browser.looking import FRESH, expect_calm, scrolls_sideways, small_file
from tests.browser.tables import mark
from tests.browser.working import WORKER, finished

RATES = "0.05, 0.2, 1, 20"

WATCH = """() => {
  window.seen = [];
  const look = () => {
    const plot = document.querySelector("[class*=st-key-rate_curves] .deem-plot");
    let opacity = 1;
    for (let each = plot; each; each = each.parentElement) opacity = Math.min(opacity, +getComputedStyle(each).opacity);
    const range = plot?._fullLayout?.xaxis3?.range?.map((end) => end.toFixed(3)).join();
    window.seen.push({ drawn: plot?.querySelectorAll(".scatterlayer .js-line").length ?? 0, opacity, range });
    requestAnimationFrame(look);
  };
  look();
}"""
"""Looks at the curves whenever the browser paints."""

POINT = """([panel, name, number]) => {
  const plot = document.querySelector("[class*=st-key-rate_curves] .js-plotly-plot");
  const trace = plot._fullData.filter((each) => each.name === name && each.mode === "lines+markers")[panel];
  const axis = (id) => plot._fullLayout[id.replace(/^([xy])/, "$1axis")];
  const [x, y] = [axis(trace.xaxis), axis(trace.yaxis)];
  const box = plot.getBoundingClientRect();
  return [box.left + x._offset + x.d2p(trace.x[number]), box.top + y._offset + y.d2p(trace.y[number])];
}"""
"""Where a point of a curve is in the window."""


@pytest.fixture(scope="module")
def swept(workspace: Workspace) -> Run:
    """A finished sweep of a small file."""
    dataset = workspace.add_dataset("swept.csv", small_file(21))
    config = {"rates": [0.05, 0.2, 1.0, 20.0], "updates": 40, "batch_size": 64, "n_layers": 0, "random_state": 0}
    return finished(workspace.start_run("sweep", dataset, config, "4 rates, 0.05 to 20"))


def link(run: Run) -> str:
    """The address of a sweep."""
    return f"/learning_rate?data={run.dataset_id}&sweep={run.id}"


def pills(page: Page) -> Locator:
    """The pills that choose a rate."""
    return page.locator(f"[class*='st-key-rate_pills']{FRESH}")


def expect_chosen(page: Page, rate: str) -> None:
    """Address, pills, curves, table and button all say that this rate is the chosen one."""
    expect(page).to_have_url(re.compile(rf"[?&]rate={re.escape(rate)}(&|$)"))
    expect(pills(page).locator("[aria-checked='true'], [aria-pressed='true']")).to_have_text(re.compile(rf"^{rate}\b"))
    expect(page.get_by_role("button", name=f"Train with {rate}", exact=False)).to_be_visible()
    page.wait_for_function(
        """(rate) => {
          const plot = document.querySelector("[class*=st-key-rate_curves] .js-plotly-plot");
          const wide = (plot?._fullData ?? []).filter((each) => each.line.width > 3);
          return wide.length === 3 && wide.every((each) => each.name === rate);
        }""",
        arg=rate,
    )
    expect(page.locator(f"[class*='st-key-rate_table']{FRESH}")).to_be_visible()


def expect_marked_row(page: Page, row: int) -> None:
    """The table marks this row, counted from 0."""
    marked = page.locator(f"[class*='st-key-rate_table']{FRESH} [role='row'][aria-selected='true']")
    expect(marked).to_have_attribute("aria-rowindex", str(row + 2))  # the first one names the columns


@pytest.mark.page_of_its_own
def test_a_sweep_grows_before_the_eyes_and_keeps_what_people_set_meanwhile(page: Page, workspace: Workspace) -> None:
    page.goto(f"/learning_rate?data={workspace.add_dataset('growing.csv', small_file(22)).id}")
    expect(page.locator(".st-key-start_sweep")).to_be_visible()
    page.get_by_text("Enter rates by hand").click()
    box = page.get_by_label("Learning rates", exact=True)
    box.fill("0.1, fast")
    box.press("Enter")
    expect(page.get_by_text("is not a list of numbers")).to_be_visible()
    expect(page.locator(".st-key-start_sweep")).to_have_count(0)
    expect(page.get_by_label("Length (updates)", exact=True)).to_be_visible()  # the other settings stay
    box.fill(RATES)
    box.press("Enter")
    for label, value in (("Length (updates)", "150"), ("Batch (rows)", "64")):
        page.get_by_label(label, exact=True).fill(value)
        page.get_by_label(label, exact=True).press("Enter")
    expect(page.get_by_text(re.compile(r"About .+ on this machine"))).to_be_visible(timeout=WORKER)
    page.get_by_role("button", name="Start the sweep").click()
    expect(page).to_have_url(re.compile(r"sweep=[0-9a-f]{32}"))
    expect(page.get_by_test_id("stMain").get_by_test_id("stProgress")).to_be_visible(timeout=WORKER)
    expect(page.locator("[class*='st-key-rate_curves'] .js-plotly-plot .scatterlayer").first).to_be_attached(
        timeout=WORKER
    )
    page.evaluate(WATCH)
    page.get_by_role("button", name="Reading the curves").click()
    page.get_by_text("Hardly anything moves").first.wait_for()
    expect(page.get_by_text("4 rates, 0.05 to 20").first).to_be_visible()
    expect(page.locator(".st-key-side_run_sweep")).to_contain_text("Done", timeout=WORKER)
    expect(page.get_by_test_id("stMain").get_by_test_id("stProgress")).to_have_count(0)
    expect_calm(page)
    seen = page.evaluate("() => window.seen")
    assert len(seen) > 10
    assert all(each["drawn"] and each["opacity"] == 1 for each in seen)  # never blank, never grey


def test_points_rows_pills_and_keys_choose_and_stay_in_step(page: Page, swept: Run) -> None:
    page.goto(link(swept))
    expect(page.locator(".st-key-train_with_rate")).to_be_visible(timeout=WORKER)
    for panel, rate in enumerate(("1", "0.05", "1")):
        expect(page.locator("[class*='st-key-rate_curves'] .js-plotly-plot .points").first).to_be_attached()
        page.wait_for_timeout(500)  # the picture is drawn anew after every choice
        x, y = page.evaluate(POINT, [panel, rate, 20 + panel])
        page.mouse.click(x, y)
        expect_chosen(page, rate)
    expect_marked_row(page, 2)
    pills(page).get_by_text("0.2", exact=False).click()
    expect_chosen(page, "0.2")
    expect_marked_row(page, 1)
    mark(page, "rate_table", 0)
    expect_chosen(page, "0.05")
    expect_marked_row(page, 0)
    pills(page).get_by_role("radio").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect_chosen(page, "0.2")
    expect_calm(page)


def test_the_choice_survives_a_refresh_and_leads_to_train(page: Page, swept: Run) -> None:
    page.goto(f"{link(swept)}&rate=1")
    expect_chosen(page, "1")
    page.reload()
    expect_chosen(page, "1")
    page.get_by_role("button", name="Train with 1").click()
    expect(page).to_have_url(re.compile(r"/train\?.*rate=1"))
    expect(page.get_by_role("heading", name="Train", exact=True)).to_be_visible()
    expect(page.get_by_label("Rate", exact=True)).to_have_value("1")
    expect_calm(page)


def test_curves_are_taken_home_as_csv(page: Page, swept: Run) -> None:
    page.goto(link(swept))
    with page.expect_download(timeout=WORKER) as download:
        page.get_by_role("button", name="Curves as CSV").click(timeout=WORKER)
    assert download.value.suggested_filename == "swept_curves.csv"
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert "learning_rate" in lines[0]
    assert len(lines) > 4 * 40


@pytest.mark.slow
@pytest.mark.parametrize("page", ["light", pytest.param("dark", marks=pytest.mark.slow)], indirect=True)
def test_the_page_fits_a_telephone(page: Page, swept: Run) -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto(link(swept))
    expect(page.locator(".st-key-train_with_rate")).to_be_visible(timeout=WORKER)
    expect_calm(page)
    assert not scrolls_sideways(page)
    tops = page.locator("[class*='st-key-rate_curves'] .js-plotly-plot").evaluate(
        "each => ['yaxis3', 'yaxis', 'yaxis2'].map((axis) => each._fullLayout[axis]._offset)"
    )
    assert tops == sorted(set(tops))  # the difference first, then both energies below each other
