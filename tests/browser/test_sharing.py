"""A shared server in two browsers, its passphrase and its private links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect

from deem_core.runs import Workspace
from tests.browser.conftest import serve
from tests.browser.looking import expect_calm, expect_loaded, scrolls_sideways, small_file
from tests.browser.test_accessibility import violations
from tests.browser.test_data import upload
from tests.browser.working import WORKER

WORDS = "open sesame, please"
ELSEWHERE = "not in your private space"


@dataclass(frozen=True)
class Shared:
    """A server that others reach, and what makes browsers."""

    url: str
    home: Path
    browser: Browser
    opened: list[BrowserContext]
    errors: list[Error]

    def visitor(self, theme: str = "light", width: int = 1400) -> Page:
        """Return a page of a browser that was never here."""
        context = self.browser.new_context(
            base_url=self.url, viewport={"width": width, "height": 900}, color_scheme=theme
        )
        context.on("weberror", lambda event: self.errors.append(event.error))
        self.opened.append(context)
        return context.new_page()

    def member(self) -> Page:
        """Return a page of a new browser that knows the passphrase."""
        page = self.visitor()
        page.goto("/")
        enter(page)
        expect(page.locator(".st-key-sharing_banner")).to_be_visible(timeout=WORKER)
        return page


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("shared")
    listening = ("--server.address", "0.0.0.0")  # noqa: S104
    with serve(folder / "home", folder / "log.txt", *listening, DEEM_PASSWORD=WORDS) as (url, _):
        yield url, folder / "home"


@pytest.fixture
def shared(served: tuple[str, Path], browser: Browser) -> Iterator[Shared]:
    opened: list[BrowserContext] = []
    errors: list[Error] = []
    yield Shared(*served, browser, opened, errors)
    for context in opened:
        context.close()
    assert errors == []


def enter(page: Page, words: str = WORDS) -> None:
    page.get_by_label("Passphrase").fill(words)
    page.get_by_role("button", name="Continue").click()


@pytest.mark.slow
def test_what_one_browser_uploads_and_runs_no_other_sees_or_reaches(shared: Shared) -> None:
    ann, bob = shared.member(), shared.member()
    ann.goto("/data")
    upload(ann, "anns_votes.csv", small_file(901))
    expect_loaded(ann, "anns_votes.csv", rows="300", learners="5")
    ann.get_by_role("button", name="Fuse").first.click()
    expect(ann.locator(".st-key-side_run_fuse").get_by_text("Done")).to_be_visible(timeout=WORKER)
    expect(ann).to_have_url(re.compile("run=[0-9a-f]{32}"))
    address = ann.url
    with ann.expect_download(timeout=WORKER) as saved:  # made in a thread that belongs to no session
        ann.get_by_role("button", name="Download the fused CSV").click()
    assert len(saved.value.path().read_bytes().splitlines()) == 301

    bob.goto("/")
    expect(bob.get_by_text("Nothing has been run yet")).to_be_visible(timeout=WORKER)
    expect(bob.get_by_text("anns_votes.csv")).to_have_count(0)
    run = re.search("run=[0-9a-f]{32}", address)
    assert run is not None
    for pasted in (address, f"{shared.url}/export?{run[0]}", address.replace("/data", "/train")):
        bob.goto(pasted)
        expect(bob.get_by_text(ELSEWHERE).first).to_be_visible(timeout=WORKER)
        expect(bob.get_by_text("anns_votes.csv")).to_have_count(0)
        expect(bob.get_by_role("button", name="Delete")).to_have_count(0)
        expect_calm(bob)

    spaces = [Workspace(path) for path in (shared.home / "spaces").iterdir()]
    assert sorted(len(space.runs()) for space in spaces)[-2:] == [0, 1]
    assert Workspace(shared.home).datasets() == []


@pytest.mark.slow
def test_a_private_link_opens_the_same_space_in_another_browser(shared: Shared) -> None:
    ann = shared.member()
    ann.goto("/data")
    upload(ann, "taken_along.csv", small_file(902))
    expect_loaded(ann, "taken_along.csv", rows="300", learners="5")
    ann.get_by_role("button", name="Use it in another browser").click()
    dialog = ann.get_by_role("dialog")
    expect(dialog.get_by_text("Whoever has this link can see, change and delete")).to_be_visible()
    link = dialog.locator("code").inner_text()

    other = shared.visitor()
    other.goto(link)
    enter(other, "a wrong guess")  # the link stays whole meanwhile
    expect(other.get_by_role("alert")).to_have_text("That is not the passphrase.")
    enter(other)
    expect(other.get_by_role("heading", name="Open this private space?")).to_be_visible()
    assert "#" not in other.url
    other.get_by_role("button", name="Open the space").click()
    expect(other.get_by_role("button", name="taken_along.csv")).to_be_visible(timeout=WORKER)

    other.goto(link[:-1])
    expect(other.get_by_role("alert")).to_contain_text("not complete")
    expect(other.get_by_role("button", name="Open the space")).to_be_disabled()


def test_the_banner_is_there_until_it_was_read(shared: Shared) -> None:
    page = shared.member()
    banner = page.locator(".st-key-sharing_banner")
    for name in ("data", "train"):
        page.goto(f"/{name}")
        expect(banner).to_contain_text("Other computers can reach this server.", timeout=WORKER)
        expect_calm(page)
        assert violations(page) == []
    banner.get_by_role("button", name="Got it").click()
    expect(banner).to_have_count(0)
    expect(page.get_by_text("Private space of this browser")).to_be_visible()


def test_a_phone_shows_the_banner_without_scrolling_sideways(shared: Shared) -> None:
    page = shared.visitor("dark", 420)
    page.goto("/data")
    enter(page)
    expect(page.locator(".st-key-sharing_banner")).to_be_visible(timeout=WORKER)
    assert not scrolls_sideways(page)


def test_no_page_can_frame_the_app(shared: Shared, app_url: str) -> None:
    page = shared.visitor()
    page.route(f"{app_url}/framing", lambda route: route.fulfill(body=f"<iframe src='{app_url}/data'></iframe>"))
    with page.expect_console_message(lambda said: "frame-ancestors" in said.text):
        page.goto(f"{app_url}/framing")
    expect(page.frame_locator("iframe").get_by_test_id("stApp")).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 420])
def test_the_pages_before_the_app_are_for_everybody(shared: Shared, theme: str, width: int) -> None:
    page = shared.visitor(theme, width)
    page.goto("/data?data=x")
    for look in (lambda: None, lambda: enter(page, "a wrong guess")):
        look()
        expect(page.get_by_label("Passphrase")).to_be_focused()
        found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        assert found == []
        assert not scrolls_sideways_plainly(page)


def scrolls_sideways_plainly(page: Page) -> bool:
    """Whether a page that is not the app's is wider than the window."""
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))
