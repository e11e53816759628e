"""Every key that the app keeps in a session or in the address, so that no two pages can collide."""

from __future__ import annotations

import streamlit as st

# In the session.
BOOTED = "deem_booted"
"""app.py has run in this session."""
WANTED = "deem_wanted"
"""The page and query that a deep link asked for before app.py had run."""
SCROLL = "deem_scroll"
"""Something was opened just now and should come into view."""

# In the address.
SAMPLE = "sample"
"""The name of the open sample."""

# Widgets and containers; Streamlit also makes CSS classes of them (``st-key-…``).
SAMPLES = "samples"
OPEN_SAMPLE = "open_sample_"
CLOSE_SAMPLE = "close_sample"
INSIDE = "inside"
VOTES_CHART = "votes_chart"
DOWNLOAD = "download_"


def sample() -> str | None:
    """Return the name of the sample that the address asks for, if any."""
    return st.query_params.get(SAMPLE) or None


def choose_sample(name: str) -> None:
    """Open a sample; for the ``on_click`` of a button."""
    st.query_params[SAMPLE] = name
    st.session_state[SCROLL] = True


def close_sample() -> None:
    """Open no sample any more; for the ``on_click`` of a button."""
    st.query_params.pop(SAMPLE, None)


def just_chosen() -> bool:
    """Return whether something was opened by the click that led to this run."""
    return bool(st.session_state.pop(SCROLL, False))
