"""Workspace of a session: the user's, or the browser's space."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeVar

import streamlit as st

from deem_core import InputError
from deem_core.runs import Dataset, Run, Workspace, space_folder
from studio import state
from studio.serving import spaces
from studio.serving.policy import policy

Made = TypeVar("Made")

NO_SPACE = (
    "This server keeps everybody's files apart by a cookie, and your browser sent none. Allow cookies for this site, "
    "then reload the page."
)

ELSEWHERE = (
    "This address leads to a file or run that is not in your private space: it was deleted, or it is in somebody "
    "else's. Upload the file again, or open the space it is in by its private link."
)


_bound: ContextVar[Workspace | None] = ContextVar("workspace", default=None)


class Space(Workspace):
    """A workspace to which addresses of others may lead."""

    def dataset(self, id: str) -> Dataset:
        """Return a dataset; InputError if it is not in here."""
        try:
            return super().dataset(id)
        except InputError:
            raise InputError(ELSEWHERE) from None

    def run(self, id: str) -> Run:
        """Return a run; InputError if it is not in here."""
        try:
            return super().run(id)
        except InputError:
            raise InputError(ELSEWHERE) from None


def workspace() -> Workspace:
    """Return the workspace that ``$DEEM_HOME`` names, or the user's own.

    On a shared server that of the browser, inside it. Threads that belong to no session have one by `bound`.

    Raises
    ------
    InputError
        If its folder cannot be made, or the browser has none.
    """
    here = _bound.get()
    return here or _open(os.environ.get("DEEM_HOME"), _space() if policy().shared else None)


def bound(make: Callable[[], Made]) -> Callable[[], Made]:
    """Return a function that finds this session's workspace in any thread.

    Streamlit makes a download when it is clicked, in a thread that knows neither session nor cookies.
    """
    here = workspace()

    def made() -> Made:
        token = _bound.set(here)
        try:
            return make()
        finally:
            _bound.reset(token)

    return made


def key() -> str | None:
    """Return the key with which this browser finds its space again."""
    sent = st.context.cookies.get(spaces.COOKIE)
    return sent if spaces.is_key(sent) else None


def leads_here(key: str) -> bool:
    """Tell whether a key is that of this session's space."""
    return spaces.name_of(key) == _space()


def _space() -> str:
    """Return the name of the space; sessions stay in their first."""
    kept: str | None = st.session_state.get(state.SPACE)
    if kept is None:
        sent = key()
        if sent is None:
            raise InputError(NO_SPACE)
        kept = st.session_state[state.SPACE] = spaces.name_of(sent)
    return kept


@st.cache_resource(show_spinner=False)
def _open(home: str | None, space: str | None) -> Workspace:
    around = Workspace(home)
    return around if space is None else Space(space_folder(around.root, space))
