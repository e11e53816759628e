"""The user's workspace, opened once for all sessions."""

from __future__ import annotations

import os

import streamlit as st

from deem_core.runs import Workspace


def workspace() -> Workspace:
    """Return the workspace that ``$DEEM_HOME`` names, or the user's own.

    Raises
    ------
    InputError
        If its folder cannot be made.
    """
    return _open(os.environ.get("DEEM_HOME"))


@st.cache_resource(show_spinner=False)
def _open(home: str | None) -> Workspace:
    return Workspace(home)
