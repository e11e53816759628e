"""The home page in a real browser."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.looking import SAMPLES, expect_calm, expect_loaded, scrolls_sideways


def test_home_by_its_name_and_by_the_bare_address(page: Page) -> None:
    for address in ("/home", "/"):
        page.goto(address)
        expect(page.get_by_role("heading", name="DEEM Studio")).to_be_visible()
        expect(page).to_have_title("DEEM Studio")
        expect_calm(page)


def test_cards_of_a_line_are_equally_high(page: Page) -> None:
    page.goto("/")
    buttons = page.get_by_role("button", name="Load it")
    expect(buttons).to_have_count(len(SAMPLES))
    expect_calm(page)
    tops = [buttons.nth(i).bounding_box()["y"] for i in range(len(SAMPLES))]
    lines = [tops[at : at + 3] for at in range(0, len(tops), 3)]  # three cards in a line
    assert all(max(line) - min(line) < 1 for line in lines)
    assert [line[0] for line in lines] == sorted({line[0] for line in lines})


def test_one_click_loads_a_sample_and_leads_to_its_data(page: Page) -> None:
    page.goto("/")
    page.locator(".st-key-open_sample_crowd_long button:visible").click()
    expect_loaded(page, "crowd_long.csv", rows="800", learners="40", word="Workers")
    expect(page).to_have_url(re.compile(r"/data\?data=[0-9a-f]{32}$"))
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Home").click()
    expect(page.locator(".st-key-side_dataset").get_by_text("crowd_long.csv")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/\?data=[0-9a-f]{32}$"))


def test_an_unknown_link_is_told_calmly(page: Page) -> None:
    page.goto("/data?data=%5Bclick%5D(http%3A%2F%2Fexample.org)")
    alert = page.get_by_test_id("stAlert")
    expect(alert).to_be_visible()
    expect(alert.get_by_role("link")).to_have_count(0)
    expect(page.get_by_text("What a file can look like")).to_be_visible()
    expect_calm(page)


@pytest.mark.parametrize("page", ["light", pytest.param("dark", marks=pytest.mark.slow)], indirect=True)
def test_pictures_follow_the_theme(page: Page, request: pytest.FixtureRequest) -> None:
    page.goto("/")
    page.locator(".st-key-open_sample_experts_wide button:visible").click()
    expect_loaded(page, "experts_wide.csv", rows="10,000", learners="6")
    theme = request.node.callspec.params["page"]
    bar = page.locator(".st-key-votes_chart .bars .point path").first
    expect(bar).to_have_css("fill", {"light": "rgb(59, 91, 219)", "dark": "rgb(116, 143, 252)"}[theme])
    background = page.get_by_test_id("stApp").evaluate("element => getComputedStyle(element).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 21, 30)"}[theme]


@pytest.mark.slow
def test_a_telephone_does_not_scroll_sideways(page: Page) -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto("/")
    expect(page.get_by_role("button", name="Load it")).to_have_count(len(SAMPLES))
    expect_calm(page)
    assert not scrolls_sideways(page)
    page.locator(".st-key-open_sample_moderation_missing button:visible").click()
    expect(page.locator(".st-key-votes_chart .bars .point").first).to_be_attached()
    assert not scrolls_sideways(page)


@pytest.mark.page_of_its_own
def test_nothing_is_fetched_from_elsewhere(page: Page, app_url: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/")
    page.locator(".st-key-open_sample_digits_soft button:visible").click()
    expect_loaded(page, "digits_soft.csv", rows="1,300", learners="7")
    ours = (app_url, app_url.replace("http", "ws"), "data:", "blob:")
    assert [url for url in asked if not url.startswith(ours)] == []
