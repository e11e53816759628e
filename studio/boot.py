"""Boot: every session starts in app.py, wherever its first address points.

Streamlit knows two ways to find pages. On a fresh server, before any session has called `st.navigation`, the
address of a page runs that file alone, without the app around it. So each page starts with `guard`, which sends
such a session through app.py, and `start` then brings it back to where it wanted to go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import Page

from studio import look, state


@dataclass(frozen=True)
class Entry:
    """A page in the navigation.

    Attributes
    ----------
    name : str
        Name of its file in pages/, without ending; also its address.
    title : str
    icon : str
    """

    name: str
    title: str
    icon: str

    @property
    def path(self) -> str:
        """The file, as Streamlit wants it."""
        return f"pages/{self.name}.py"


@dataclass(frozen=True)
class Wanted:
    """Where a session wanted to go before it was booted.

    Attributes
    ----------
    path : str
        The page's file.
    query : dict
        Query parameter → all its values.
    """

    path: str
    query: dict[str, list[str]]


def guard(file: str) -> None:
    """Send a session that bypassed app.py there; first in every page.

    Parameters
    ----------
    file : str
        The page's ``__file__``.
    """
    if not st.session_state.get(state.BOOTED):
        st.session_state[state.WANTED] = Wanted(f"pages/{Path(file).name}", _query())
        st.switch_page("app.py")


def start(sections: Mapping[str, Sequence[Entry]]) -> Page:
    """Build the navigation and return the page to run.

    Parameters
    ----------
    sections : mapping
        Heading → pages. The very first page is the one at the bare address.

    Returns
    -------
    streamlit.navigation.page.Page
        The current page; does not return if a deep link waits to be followed.
    """
    st.session_state[state.BOOTED] = True
    state.sync()
    look.apply()
    first = next(entry for entries in sections.values() for entry in entries)
    pages: dict[str, list[Page]] = {
        heading: [
            st.Page(entry.path, title=entry.title, icon=entry.icon, url_path=_address(entry, first))
            for entry in entries
        ]
        for heading, entries in sections.items()
    }
    # The first page lives at "/". Its own name is an address too, which leads there.
    pages[""] = [st.Page(partial(_go, first.path), title=first.title, url_path=first.name, visibility="hidden")]
    current = st.navigation(pages)
    wanted = st.session_state.pop(state.WANTED, None)
    if wanted is not None:
        st.switch_page(wanted.path, query_params=wanted.query)
    if (page := state.wished_page()) is not None:
        st.switch_page(f"pages/{page}.py", query_params=dict(state.address()))
    return current


def _address(entry: Entry, first: Entry) -> str:
    return "start" if entry is first else entry.name


def _go(path: str) -> None:
    st.switch_page(path, query_params=_query())


def _query() -> dict[str, list[str]]:
    return {name: st.query_params.get_all(name) for name in st.query_params}
