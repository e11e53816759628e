"""A running app and a Chromium page for the tests in this folder."""

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

from deem_core.runs import Workspace
from tests.browser import chromium

HERE = Path(__file__).parent
APP_ROOT = HERE.parent.parent
APP_LOG = pytest.StashKey[Path]()
FAILED = pytest.StashKey[bool]()
SIZE = {"width": 1400, "height": 1000}
LONG = ("accessibility", "train", "export", "runs", "learning_rate", "data", "inspect")
"""Files that take longest; they begin first, so that nobody waits for the last of them alone."""

expect.set_options(timeout=30_000)  # a busy machine is slow, not wrong


@pytest.hookimpl(tryfirst=True)  # before -m chooses by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)
    places = {HERE / f"test_{name}.py": at for at, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    log = item.config.stash.get(APP_LOG, None)
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    if report.failed and log is not None:
        report.sections.append(("app log, last lines", _tail(log)))
    return report


@contextmanager
def serve(home: Path, log: Path, *more: str, **environment: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run the app on a workspace, with more options and variables; gives its address and the server."""
    port = _free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    options = ["--server.port", str(port), "--server.headless", "true"]
    with log.open("ab") as output:
        server = subprocess.Popen(
            [*command, *options, *more],
            cwd=APP_ROOT,
            env=os.environ | {"DEEM_HOME": str(home)} | environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait_until_healthy(server, port, log)
        yield f"http://127.0.0.1:{port}", server
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The workspace of the app, empty at first; tests may look at it and put files into it."""
    return Workspace(tmp_path_factory.mktemp("deem_home"))


@pytest.fixture(scope="session")
def app_url(
    workspace: Workspace, tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[str]:
    """Address of the app, started once."""
    log = tmp_path_factory.mktemp("app") / "log.txt"
    pytestconfig.stash[APP_LOG] = log
    with serve(workspace.root, log) as (url, _):
        yield url


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = chromium.find()
    if executable is None:
        pytest.fail("There is no Chromium: `make test` fetches one, or set DEEM_CHROMIUM.")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable, args=list(chromium.LAUNCH_ARGS))
        yield running
        running.close()


class Tab:
    """A page of the app in a context of its own, handed on from test to test.

    A new one would compile Streamlit and Plotly anew, which is half of what a page costs.
    """

    def __init__(self, browser: Browser, url: str, theme: str, *, moving: bool = False) -> None:
        motion = "no-preference" if moving else "reduce"  # animations take as much of the processor as drawing does
        self.context = browser.new_context(base_url=url, viewport=SIZE, color_scheme=theme, reduced_motion=motion)
        self.errors: list[Error] = []
        self.context.on("weberror", lambda event: self.errors.append(event.error))
        self.page = self.context.new_page()

    def raised(self) -> str:
        """Return the uncaught JavaScript errors so far."""
        self.page.wait_for_timeout(0)  # lets errors that are on their way arrive
        return "\n".join(error.stack or str(error) for error in self.errors)

    def forget(self) -> None:
        """Become the page of somebody who was never here."""
        for other in self.context.pages:
            if other is not self.page:
                other.close()
        self.page.unroute_all()
        if self.page.url.startswith("http"):
            self.page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
        self.page.goto("about:blank")
        self.page.set_viewport_size(SIZE)
        self.context.clear_cookies()
        self.errors.clear()


@pytest.fixture(scope="session")
def tabs(browser: Browser) -> Iterator[dict[str, Tab]]:
    """The pages that tests hand on, by theme."""
    waiting: dict[str, Tab] = {}
    yield waiting
    for tab in waiting.values():
        tab.context.close()


@pytest.fixture
def page(browser: Browser, app_url: str, tabs: dict[str, Tab], request: pytest.FixtureRequest) -> Iterator[Page]:
    """A blank page, so ``page.goto("/train")`` opens the app; any uncaught JavaScript error fails the test.

    The light theme, unless ``@pytest.mark.parametrize("page", ["light", "dark"], indirect=True)`` says otherwise. A
    test that failed takes its page with it. One that does what cannot be undone, or looks at what moves, is marked
    ``page_of_its_own``; elsewhere the browser asks for reduced motion.
    """
    theme = getattr(request, "param", "light")
    own = request.node.get_closest_marker("page_of_its_own") is not None
    tab = Tab(browser, app_url, theme, moving=own) if own or theme not in tabs else tabs.pop(theme)
    yield tab.page
    raised = tab.raised()
    if own or raised or request.node.stash.get(FAILED, False):
        tab.context.close()
    else:
        tab.forget()
        tabs[theme] = tab
    if raised:
        pytest.fail(f"The page raised:\n{raised}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_healthy(server: subprocess.Popen[bytes], port: int, log: Path, patience: float = 90) -> None:
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline and server.poll() is None:
        # http.client, since urllib would ask a proxy where one is set.
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/_stcore/health")
            if connection.getresponse().status == 200:
                return
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(0.1)
    ending = "did not answer" if server.poll() is None else f"ended with code {server.returncode}"
    pytest.fail(f"The app {ending}. Its log:\n{_tail(log)}")


def _tail(log: Path, lines: int = 60) -> str:
    return "\n".join(log.read_text("utf-8", errors="replace").splitlines()[-lines:])
