"""Does the app stay quick while a training runs? Click-to-paint of pages, idle and with a training at work.

Usage: python -m benchmarks.bench_ui [--rounds N] [--rows N]

Starts its own server on an empty workspace and a Chromium. A round clicks through the other pages in the sidebar; the
clock runs from the click until the page's heading and its last element are painted and the script has ended. The
training fills all threads that it takes by itself, and is cancelled afterwards. Idle is measured before and after it,
so that a machine that is busy with something else does not count as ours. Limit: the ratio stays below 2.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from deem_core import simulation
from deem_core.runs import Run, Workspace
from tests.browser import chromium
from tests.browser.conftest import serve

LIMIT = 2.0
PAGES = {"Data": ".st-key-votes_chart .js-plotly-plot .bars .point", "Home": ".st-key-path"}
"""Links in the sidebar, and what is painted last on their pages."""

PAINTED = """([title, last]) =>
  document.querySelector("[data-testid=stApp][data-test-script-state=notRunning]") !== null &&
  document.querySelector(last) !== null &&
  [...document.querySelectorAll("[data-testid=stSidebarNavLink]")].some(
    (each) => each.getAttribute("aria-current") === "page" && each.textContent.includes(title))"""


def main() -> None:
    """Print medians for every page and their ratio."""
    parser = argparse.ArgumentParser(description="Measure click-to-paint, idle and while a training runs.")
    parser.add_argument("--rounds", type=int, default=10, help="rounds through the pages in each state")
    parser.add_argument("--rows", type=int, default=60_000, help="rows of the file that is trained on")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder) / "home")
        votes = simulation.make("condind", options.rows, seed=0).votes
        lines = [",".join(votes.learners), *(",".join(map(str, row)) for row in votes.codes.tolist())]
        dataset = workspace.add_dataset("votes.csv", "\n".join(lines).encode())
        with serve(workspace.root, Path(folder) / "log.txt") as (url, _), sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium.ensure(), args=list(chromium.LAUNCH_ARGS))
            page = browser.new_page(base_url=url, viewport={"width": 1400, "height": 1000})
            page.goto(f"/data?data={dataset.id}")
            page.wait_for_selector(PAGES["Data"], state="attached", timeout=120_000)
            _rounds(page, 2)  # caches and libraries warm up
            before = _rounds(page, options.rounds)
            run = workspace.start_run("train", dataset, {"method": "deem", "epochs": 10_000, "random_state": 0})
            _await_records(run)
            busy = _rounds(page, options.rounds)
            if not run.is_active():
                raise SystemExit(f"The training ended too early ({run.state().reason or 'done'}): take more --rows.")
            workspace.cancel(run)
            while run.is_active():
                time.sleep(0.1)
            after = _rounds(page, options.rounds)
            browser.close()
    _report({title: before[title] + after[title] for title in PAGES}, busy)


def _rounds(page: Page, number: int) -> dict[str, list[float]]:
    """Return the seconds from click to paint of every page."""
    took: dict[str, list[float]] = {title: [] for title in PAGES}
    for _ in range(number):
        for title, last in reversed(PAGES.items()):
            link = page.get_by_test_id("stSidebarNavLink").filter(has_text=title)
            started = time.perf_counter()
            link.click()
            page.wait_for_function(PAINTED, arg=[title, last], timeout=120_000)
            took[title].append(time.perf_counter() - started)
    return took


def _await_records(run: Run, patience: float = 300.0) -> None:
    deadline = time.monotonic() + patience
    while not any(line.get("type") == "record" for line in run.progress()[0]):
        if time.monotonic() > deadline or not run.is_active():
            raise SystemExit(f"The training did not begin: {run.state().reason or run.log()[-500:]}")
        time.sleep(0.2)


def _report(idle: dict[str, list[float]], busy: dict[str, list[float]]) -> None:
    print(f"{'page':<8}{'idle, ms':>10}{'training, ms':>14}{'ratio':>7}")
    ratios = []
    for title in PAGES:
        quiet, loaded = statistics.median(idle[title]), statistics.median(busy[title])
        ratios.append(loaded / quiet)
        print(f"{title:<8}{1000 * quiet:>10.0f}{1000 * loaded:>14.0f}{loaded / quiet:>7.2f}")
    verdict = "" if max(ratios) < LIMIT else f"  above the limit of {LIMIT:g}"
    print(f"worst ratio {max(ratios):.2f}{verdict}")


if __name__ == "__main__":
    main()
