"""Kills of the server and of the browser, with a real app in a real Chromium, while runs of every kind work."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

from benchmarks.faults.kills import LONGER, await_moment, outcome, same, until
from benchmarks.faults.workspaces import CONFIGS, model_config, votes_csv
from deem_core.runs import Run, Workspace
from tests.browser import chromium
from tests.browser.conftest import serve

PLACES = {
    "fuse": ("data", "run"),
    "train": ("train", "run"),
    "sweep": ("learning_rate", "sweep"),
    "compare": ("compare", "comparison"),
    "ask": ("review", "ask"),
    "apply": ("home", "run"),
    "inspect": ("learners", "run"),
}
"""Kind of run → the page that shows it, and its name in the address."""
Launch = Callable[[], Browser]

_PATIENCE = 120_000  # milliseconds
_TRIES = 8


@dataclass(frozen=True)
class Case:
    """What became of a run while the server or the browser was killed.

    Attributes
    ----------
    killed, during, came : str
    right : bool
    """

    killed: str
    during: str
    came: str
    right: bool


def all_cases(root: Path, n: int, seed: int, tell: Callable[[str], None]) -> list[Case]:
    """Kill server and browser in turn, ``n`` times in all."""
    executable = chromium.find()
    if executable is None:
        return [Case("server and browser", "–", "there is no Chromium here: not tried", True)]
    workspace, rng, cases = Workspace(root / "home"), np.random.default_rng(seed), []
    dataset = workspace.add_dataset("tree.csv", votes_csv(300))
    references: dict[str, Run] = {}
    for kind in PLACES:
        config = _config(kind) if kind in CONFIGS else model_config(workspace, kind, references["train"])
        references[kind] = workspace.start_run(kind, dataset, config)
        until(lambda kind=kind: not references[kind].is_active())
    with sync_playwright() as playwright:
        options = {"executable_path": executable, "args": list(chromium.LAUNCH_ARGS)}
        launch = partial(playwright.chromium.launch, **options)
        for at in range(n):
            kind = list(PLACES)[at % len(PLACES)]
            killed = ("server", "browser")[at % 2]
            case = _case(workspace, references[kind], killed, launch, rng)
            tell(str(case))
            cases.append(case)
    return cases


def _config(kind: str) -> dict[str, Any]:
    return dict(CONFIGS[kind]) | LONGER.get(kind, {})


def _case(workspace: Workspace, reference: Run, killed: str, launch: Launch, rng: np.random.Generator) -> Case:
    browser, log = launch(), workspace.root.with_name("log.txt")
    try:
        with serve(workspace.root, log) as (url, server):
            page = browser.new_page()
            page.goto(f"{url}/{PLACES[reference.kind][0]}?data={reference.dataset_id}")
            expect(page.locator(".st-key-side_dataset").first).to_be_visible(timeout=_PATIENCE)
            for _ in range(_TRIES):
                run = workspace.start_run(reference.kind, workspace.dataset(reference.dataset_id), reference.config)
                page.goto(_link(url, run), wait_until="commit")
                await_moment(run, reference, rng)
                state = run.state()
                if state.active:  # else it was quicker than the kill
                    break
            before = (run.path / "worker.json").read_bytes()
            if killed == "server":
                server.kill()
                server.wait()
            else:
                _kill_browser(browser)
        until(lambda: not run.is_active())
        if killed == "browser":
            browser = launch()
        with serve(workspace.root, log) as (url, _):
            shown = _shown(browser.new_page(), _link(url, run), run)
    finally:
        with suppress(Error):  # one that was killed
            browser.close()
    alone = (run.path / "worker.json").read_bytes() == before
    equal = run.state().state == "done" and same(outcome(run), outcome(reference))
    came = f"{run.state().word}, {'equal' if equal else 'NOT equal'} to an uninterrupted one, "
    came += f"{'shown' if shown else 'NOT shown'} by a new {killed}"
    return Case(killed, f"{run.kind}, {state.word}, {state.share:.0%}", came, equal and shown and alone)


def _kill_browser(browser: Browser) -> None:
    """Kill all processes of Chromium that this process started."""
    for process in psutil.Process().children(recursive=True):
        if "chrom" in process.name():
            with suppress(psutil.NoSuchProcess):
                process.kill()


def _link(url: str, run: Run) -> str:
    page, name = PLACES[run.kind]
    shown = run.config["training"] if run.kind == "inspect" else run.id
    return f"{url}/{page}?data={run.dataset_id}&{name}={shown}"


def _shown(page: Page, link: str, run: Run) -> bool:
    page.goto(link)
    if run.kind == "ask":  # the sidebar does not list these
        expect(page.get_by_role("button", name=re.compile("Skip|Next|Start")).first).to_be_visible(timeout=_PATIENCE)
    elif run.kind == "apply":
        expect(page.locator(".st-key-recent_runs")).to_contain_text("Labelling", timeout=_PATIENCE)
    elif run.kind == "inspect":
        expect(page.get_by_role("tab", name="Scorecard")).to_be_visible(timeout=_PATIENCE)
    else:
        expect(page.locator(f".st-key-side_run_{run.kind}")).to_contain_text("Done", timeout=_PATIENCE)
    return page.get_by_text("Something broke").count() == 0
