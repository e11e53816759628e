"""Runs: an answer by one click, a training beside it, and runs that live when the server does not."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from deem_core.runs import Run, Workspace
from tests.browser.conftest import serve
from tests.browser.looking import expect_calm, expect_loaded, small_file

TRAINING = 90_000
"""Milliseconds that a training of a small file may take on a busy machine; five seconds on an idle one."""


NOTIFY = """
  localStorage.setItem("deem_notify", "on");
  window.told = [];
  window.Notification = class {
    static permission = "granted";
    constructor(title, { body }) { window.told.push(`${title} / ${body}`); }
  };
"""
"""Stands for a browser that may notify, asked to by somebody."""


def fuse(page: Page) -> str:
    """Press the button, wait for the run in the address, and return its id."""
    page.get_by_role("button", name="Fuse the votes").click()
    expect(page).to_have_url(re.compile(r"run=[0-9a-f]{32}"))
    return page.url.split("run=")[1][:32]


def badge(page: Page, kind: str, word: str | re.Pattern[str]) -> None:
    """The sidebar shows this state of a run."""
    expect(page.locator(f".st-key-side_run_{kind}")).to_contain_text(word, timeout=TRAINING)


def test_one_click_gives_an_answer_with_its_reason_that_a_second_tab_sees(
    page: Page, browser: Browser, workspace: Workspace
) -> None:
    page.goto(f"/data?data={workspace.add_dataset('two tabs.csv', small_file(11)).id}")
    expect_loaded(page, "two tabs.csv", rows="300", learners="5")
    fuse(page)
    context = browser.new_context()
    second = context.new_page()
    second.goto(page.url)
    page.reload()  # nothing is lost
    for tab in (page, second):
        badge(tab, "fuse", "Done")
        expect(tab.locator(".st-key-fuse")).to_contain_text(re.compile("Answered by .*, because"))
        expect(tab.get_by_test_id("stProgress")).to_have_count(0)
        expect_calm(tab)
    context.close()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the fused CSV").click()
    assert download.value.suggested_filename == "two tabs_fused.csv"
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert len(lines) == 301
    assert lines[0].startswith("id,good_1,")
    assert "fused_label,confidence" in lines[0]
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Home").click()
    recent = page.locator(".st-key-recent_runs")
    expect(recent.get_by_text(re.compile(r"accuracy \d")).first).to_be_visible()


@pytest.mark.page_of_its_own
def test_deem_is_trained_beside_an_answer_that_stays(page: Page, workspace: Workspace) -> None:
    page.add_init_script(NOTIFY)
    page.goto(f"/data?data={workspace.add_dataset('beside.csv', small_file(12)).id}")
    expect_loaded(page, "beside.csv", rows="300", learners="5")
    answer = fuse(page)
    badge(page, "fuse", "Done")
    page.get_by_role("button", name="Train DEEM alongside").click()
    badge(page, "train", re.compile("Queued|Running"))
    page.locator(".st-key-side_run_train").get_by_role("button", name="Cancel").click()
    badge(page, "train", "Cancelled")
    expect(page.locator(".st-key-deem_beside")).to_contain_text("has no labels")
    assert answer in page.url
    page.get_by_role("button", name="Open the run").click()
    page.get_by_role("button", name=re.compile("Resume|Start over")).click()
    expect(page.get_by_role("button", name="Notification is on")).to_be_visible()
    badge(page, "train", "Done")
    expect(page).to_have_title("✓ Done · DEEM Studio")
    ends = ["✓ Done · DEEM Studio / Answer by auto", "⚠ Cancelled · DEEM Studio / DEEM", "✓ Done · DEEM Studio / DEEM"]
    page.wait_for_function("() => window.told.length >= 3")
    assert page.evaluate("() => window.told") == [f"{end} · beside.csv" for end in ends]  # each once
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Data").click()
    expect(page.locator(".st-key-deem_beside")).to_contain_text(re.compile("a different label to .* of the rows"))
    expect(page.locator(".st-key-fuse")).to_contain_text("Answered by")
    expect_calm(page)


def test_a_run_outlives_its_server_and_a_link_is_the_first_thing_a_new_server_sees(
    browser: Browser, tmp_path: Path
) -> None:
    workspace = Workspace(tmp_path / "home")
    link = f"/train?data={workspace.add_dataset('lasting.csv', small_file(13)).id}"
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    with serve(workspace.root, tmp_path / "log.txt") as (url, server):
        page.goto(url + link)
        page.locator(".st-key-start_training button").click()
        expect(page).to_have_url(re.compile(r"run=[0-9a-f]{32}"))
        run = workspace.run(page.url.split("run=")[1][:32])
        badge(page, "train", "Running")
        worker = worker_of(run)
        server.kill()
        server.wait()
    assert run.state().active
    page.goto("about:blank")
    with serve(workspace.root, tmp_path / "log.txt") as (url, _):
        page.goto(f"{url}{link}&run={run.id}")
        badge(page, "train", "Done")
        expect_calm(page)
        assert worker_of(run) == worker  # it was never started again
        assert len(workspace.runs()) == 1
    context.close()


def worker_of(run: Run) -> str:
    """Return who works on a run."""
    return (run.path / "worker.json").read_text(encoding="utf-8")
