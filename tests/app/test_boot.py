"""Every session passes through app.py, wherever its first address points."""

from pathlib import Path

import pytest
import streamlit as st

from studio import boot, state

PAGES = Path(__file__).parents[2] / "pages"


class Switched(Exception):  # noqa: N818  # a signal, as Streamlit's own
    """What st.switch_page was asked for."""

    def __init__(self, page, query_params):
        super().__init__(page)
        self.page, self.query = page, query_params


@pytest.fixture
def session(monkeypatch):
    """A session without Streamlit around it."""

    def switch(page, *, query_params=None):
        raise Switched(page, query_params)

    class Query(dict):
        get_all = dict.__getitem__

    kept = {}
    monkeypatch.setattr(st, "session_state", kept)
    monkeypatch.setattr(st, "query_params", Query(sample=["experts_wide"], tag=["a", "b"]))
    monkeypatch.setattr(st, "switch_page", switch)
    monkeypatch.setattr(st, "Page", lambda path, **options: path)
    monkeypatch.setattr(st, "navigation", lambda pages: "current page")
    return kept


HOME = {"Prepare": [boot.Entry("home", "Home", ":material/home:")]}


def test_a_page_that_runs_alone_goes_to_the_app_and_remembers_where_it_was(session):
    with pytest.raises(Switched) as switched:
        boot.guard("somewhere/pages/home.py")
    assert switched.value.page == "app.py"
    assert session[state.WANTED] == boot.Wanted("pages/home.py", {"sample": ["experts_wide"], "tag": ["a", "b"]})


def test_the_app_follows_the_remembered_link_once(session):
    session[state.WANTED] = boot.Wanted("pages/home.py", {"sample": ["experts_wide"]})
    with pytest.raises(Switched) as switched:
        boot.start(HOME)
    assert (switched.value.page, switched.value.query) == ("pages/home.py", {"sample": ["experts_wide"]})
    assert boot.start(HOME) == "current page"


def test_a_booted_session_runs_its_pages(session):
    assert boot.start(HOME) == "current page"
    boot.guard("pages/home.py")
    assert state.WANTED not in session


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.py")), ids=lambda page: page.name)
def test_every_page_starts_with_the_guard(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    statements = [line for line in lines if line and not line.startswith((" ", '"', "import ", "from ", "#", ")"))]
    assert statements[0] == "boot.guard(__file__)"


def test_the_app_lists_exactly_the_pages_that_are_there():
    listed = (PAGES.parent / "app.py").read_text(encoding="utf-8")
    for page in PAGES.glob("*.py"):
        assert f'boot.Entry("{page.stem}"' in listed
    assert listed.count("boot.Entry(") == len(list(PAGES.glob("*.py")))
