"""The home page in a real browser."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

SAMPLES = json.loads((Path(__file__).parents[2] / "sample_data" / "samples.json").read_text(encoding="utf-8"))
EXPERTS = SAMPLES[0]


def expect_open(page: Page, sample: dict[str, str]) -> None:
    expect(page.get_by_role("heading", name=sample["title"])).to_be_visible()
    expect(page.get_by_test_id("stMetric").filter(has_text="Coverage")).to_be_visible()
    expect(page.locator(".st-key-votes_chart .js-plotly-plot .bars .point").first).to_be_attached()
    expect_calm(page)


def expect_calm(page: Page) -> None:
    expect(page.get_by_text("Bring your own file")).to_be_visible()
    expect(page.locator("[data-testid='stApp'][data-test-script-state='notRunning']")).to_be_attached()
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(page.get_by_text("Something broke")).to_have_count(0)
    expect(page.get_by_role("dialog")).to_have_count(0)  # "Page not found" is one


# Must stay the first test that reaches the server: only then is the deep link also the server's first request.
def test_a_deep_link_opens_its_sample_on_a_fresh_server(page: Page) -> None:
    page.goto("/home?sample=experts_wide")
    expect_open(page, EXPERTS)
    expect(page).to_have_url(re.compile(r"/\?sample=experts_wide$"))
    expect(page).to_have_title("DEEM Studio")


def test_the_same_link_works_on_a_server_that_is_warm(page: Page) -> None:
    page.goto("/")
    expect_calm(page)
    page.goto("/home?sample=experts_wide")
    expect_open(page, EXPERTS)
    page.reload()
    expect_open(page, EXPERTS)


def test_home_shows_every_sample(page: Page) -> None:
    page.goto("/")
    for sample in SAMPLES:
        expect(page.locator(".st-key-samples").get_by_text(sample["title"], exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Look inside")).to_have_count(len(SAMPLES))
    expect_calm(page)


def test_cards_of_a_line_are_equally_high(page: Page) -> None:
    page.goto("/")
    expect_calm(page)
    tops = [page.get_by_role("button", name="Look inside").nth(i).bounding_box()["y"] for i in range(len(SAMPLES))]
    assert max(tops) - min(tops) < 1


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample["file"])
def test_choosing_a_sample_shows_its_numbers_and_picture(page: Page, sample: dict[str, str]) -> None:
    name = sample["file"].removesuffix(".csv")
    page.goto("/")
    page.locator(f".st-key-open_sample_{name} button").click()
    expect_open(page, sample)
    expect(page).to_have_url(re.compile(rf"/\?sample={name}$"))
    expect(page.get_by_text("Evaluation only, never used in training")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name=f"Download {sample['file']}").click()
    source = Path(__file__).parents[2] / "sample_data" / sample["file"]
    assert Path(download.value.path()).read_bytes() == source.read_bytes()
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_test_id("stMetric")).to_have_count(0)


def test_an_unknown_sample_is_told_calmly(page: Page) -> None:
    page.goto("/?sample=%5Bclick%5D(http%3A%2F%2Fexample.org)")
    expect(page.get_by_text("There is no sample named")).to_be_visible()
    expect(page.get_by_test_id("stAlert").get_by_role("link")).to_have_count(0)
    expect_calm(page)


@pytest.mark.parametrize("page", ["light", "dark"], indirect=True)
def test_the_picture_follows_the_theme(page: Page, request: pytest.FixtureRequest) -> None:
    page.goto("/?sample=experts_wide")
    expect_open(page, EXPERTS)
    theme = request.node.callspec.params["page"]
    bar = page.locator(".st-key-votes_chart .bars .point path").first
    expect(bar).to_have_css("fill", {"light": "rgb(59, 91, 219)", "dark": "rgb(116, 143, 252)"}[theme])
    background = page.get_by_test_id("stApp").evaluate("element => getComputedStyle(element).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 21, 30)"}[theme]


@pytest.mark.parametrize("sample", [None, *SAMPLES], ids=lambda sample: sample["file"] if sample else "none")
def test_a_telephone_does_not_scroll_sideways(page: Page, sample: dict[str, str] | None) -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto("/" if sample is None else f"/?sample={sample['file'].removesuffix('.csv')}")
    if sample is None:
        expect_calm(page)
    else:
        expect_open(page, sample)
    for place in ("document.documentElement", "document.querySelector('[data-testid=stMain]')"):
        assert page.evaluate(f"{place}.scrollWidth <= {place}.clientWidth")


def test_on_a_telephone_an_opened_sample_comes_into_view(page: Page) -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto("/")
    page.locator(".st-key-open_sample_experts_wide button").click()
    expect(page.get_by_role("heading", name=EXPERTS["title"])).to_be_in_viewport()


def test_nothing_is_fetched_from_elsewhere(page: Page, app_url: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/?sample=digits_soft")
    expect_open(page, SAMPLES[3])
    assert [
        url for url in asked if not url.startswith((app_url, app_url.replace("http", "ws"), "data:", "blob:"))
    ] == []
