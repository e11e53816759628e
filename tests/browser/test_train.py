"""Train in a browser: a real training, watched, refreshed, stopped, taken up again, and what came of it."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from deem_core.runs import Run, Workspace
from tests.browser.looking import card, expect_calm, scrolls_sideways, small_file
from tests.browser.tables import mark, rows
from tests.browser.working import WORKER, finished


def train(page: Page) -> str:
    """Press the button, wait for the run in the address, and return its id."""
    page.locator(".st-key-start_training button").click()
    expect(page).to_have_url(re.compile(r"run=[0-9a-f]{32}"))
    return page.url.split("run=")[1][:32]


def expect_state(page: Page, word: str) -> None:
    """The sidebar says where the training stands."""
    expect(page.locator(".st-key-side_run_train")).to_contain_text(word, timeout=2 * WORKER)


def test_a_training_is_watched_refreshed_cancelled_resumed_and_seen_in_a_second_tab(
    page: Page, browser: Browser, workspace: Workspace
) -> None:
    page.goto(f"/train?data={workspace.add_dataset('train.csv', small_file(31)).id}&rate=0.4")
    expect(page.get_by_label("Rate", exact=True)).to_have_value("0.4")  # chosen on the page before
    epochs = page.get_by_label(re.compile(r"^Epochs"))
    for _ in range(3):  # what is filled in while a page is drawn may be lost
        expect_calm(page)
        epochs.fill("10000")  # long enough to be cancelled
        epochs.press("Enter")
        expect_calm(page)
        if epochs.input_value() == "10000":
            break
    started = train(page)
    config = workspace.run(started).config
    assert (config["learning_rate"], config["epochs"]) == (0.4, 10000)
    main = page.get_by_test_id("stMain")
    expect(main.get_by_test_id("stProgress")).to_be_visible(timeout=WORKER)
    expect(page.locator(".st-key-energy_chart .js-plotly-plot .scatterlayer").first).to_be_attached(timeout=WORKER)
    expect(main.get_by_text("updates per second")).to_be_visible()
    page.reload()
    expect(main.get_by_test_id("stProgress")).to_be_visible(timeout=WORKER)
    page.get_by_role("tab", name="Sampler").click()
    page.locator(f".st-key-cancel_train_{started} button:visible").click()
    expect(main.get_by_text("Progress is saved; you can resume.")).to_be_visible(timeout=WORKER)
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    second = context.new_page()
    second.goto(page.url)
    expect(second.get_by_text("Progress is saved; you can resume.")).to_be_visible(timeout=WORKER)
    main.get_by_role("button", name="Resume").click()
    for tab in (page, second):
        if tab is second:
            tab.reload()
        expect_state(tab, "Done")
        expect(card(tab, "Fused classes")).to_have_text("3 of 3")
        expect(card(tab, "Restarts kept")).to_have_text(re.compile(r"^\d of 5$"))
        expect(tab.get_by_text(re.compile(r"DEEM changed .* (on the 300 rows with known truth)"))).to_be_visible()
        expect_calm(tab)
    context.close()
    assert [run.id for run in workspace.runs(dataset=workspace.run(started).dataset_id)] == [started]
    with page.expect_download() as download:
        main.get_by_role("button", name="Download the fused CSV").click()
    assert len(Path(download.value.path()).read_text(encoding="utf-8").splitlines()) == 301


@pytest.fixture(scope="module")
def two_runs(workspace: Workspace) -> list[Run]:
    """Two quick trainings of one file by the exact method."""
    dataset = workspace.add_dataset("compared.csv", small_file(32))
    configs = [{"method": "irbm", "random_state": seed} for seed in (0, 1)]
    runs = [workspace.start_run("train", dataset, config, f"Seed {config['random_state']}") for config in configs]
    return [finished(run) for run in runs]


def test_two_trainings_are_compared_and_one_is_deleted(page: Page, workspace: Workspace, two_runs: list[Run]) -> None:
    first = two_runs[0]
    page.goto(f"/train?data={first.dataset_id}&run={first.id}")
    expect(page.get_by_role("heading", name="Seed 0")).to_be_visible()
    expect(card(page, "Same as majority")).to_be_visible(timeout=WORKER)
    expect(rows(page, "train_runs")).to_have_count(3)
    mark(page, "train_runs", 0)
    expect(page.get_by_role("button", name="Open", exact=True)).to_be_visible()
    mark(page, "train_runs", 1)
    expect(page.get_by_text(re.compile("Rows that differ:"))).to_be_visible(timeout=WORKER)
    mark(page, "train_runs", 1)
    expect(page.get_by_role("button", name="Open", exact=True)).to_be_visible()
    page.get_by_test_id("stPopover").filter(has_text="Delete").get_by_role("button").first.click()
    page.locator(".st-key-delete_trainings button").click()
    expect(rows(page, "train_runs")).to_have_count(2)
    assert [run.id for run in workspace.runs(dataset=first.dataset_id)] == [first.id]
    assert first.id in page.url
    expect_calm(page)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["light", pytest.param("dark", marks=pytest.mark.slow)], indirect=True)
def test_the_page_fits_a_telephone(page: Page, two_runs: list[Run]) -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto(f"/train?data={two_runs[0].dataset_id}&run={two_runs[0].id}")
    expect(card(page, "Same as majority")).to_be_visible(timeout=WORKER)
    expect_calm(page)
    assert not scrolls_sideways(page)
