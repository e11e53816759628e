"""What the theme file cannot say: focus that can be seen, icons that are not read aloud, examples."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.looking import expect_calm


@pytest.mark.parametrize("page", ["light", "dark"], indirect=True)
def test_the_keyboards_place_in_the_sidebar_has_an_outline(page: Page) -> None:
    page.goto("/train")
    expect(page.get_by_role("heading", name="Train", exact=True)).to_be_visible()
    expect_calm(page)
    link = page.get_by_test_id("stSidebarNavLink").filter(has_text="Dependence")
    expect(link).to_have_css("outline-style", "none")
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Learners").focus()
    page.keyboard.press("Tab")
    expect(link).to_be_focused()
    expect(link).to_have_css("outline-style", "solid")
    expect(link).to_have_css("outline-width", "2px")


def test_icons_are_not_read_aloud(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("button", name="Load it").first).to_be_visible()
    expect_calm(page)
    spoken = page.locator("[role=img][aria-label$=' icon']:not([aria-hidden=true])")
    expect(page.locator("[role=img][aria-label$=' icon'][aria-hidden=true]").first).to_be_attached()
    expect(spoken).to_have_count(0)
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Train").click()
    expect(page.get_by_text("What you will see here")).to_be_visible()
    expect(spoken).to_have_count(0)  # those of the next page neither
    assert " icon" not in page.locator("body").aria_snapshot()


def test_an_example_is_faint_and_marked(page: Page) -> None:
    page.goto("/learning_rate")
    expect(page.get_by_text("Example with made-up numbers")).to_be_visible()
    chart = page.locator("[class*=st-key-example_] .deem-plot")
    expect(chart.locator(".scatterlayer .trace").first).to_be_attached()
    expect(chart).to_have_css("opacity", "0.5")
