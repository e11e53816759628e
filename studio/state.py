"""Keys of the session and of the address, all in one place.

The dataset, the run and the learning rate in use stand in the address, so that a refresh, a second tab or a link
sent to a colleague finds them again. Streamlit drops the address's parameters when people change the page; the
session remembers them, and `sync` writes them back.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

# In the session.
BOOTED = "deem_booted"
"""app.py has run in this session."""
WANTED = "deem_wanted"
"""The page and query that a deep link asked for before app.py had run."""
GO_TO = "deem_go_to"
"""The page that a click wants to open."""
PROBLEM = "deem_problem"
"""A sentence about something that did not work, and where on the page to show it."""
TOP = "top"
"""The place of complaints at the top of a page."""
READING = "reading"
"""The place of complaints beside the roles of columns."""
SPACE = "deem_space"
"""The name of the browser's space on a shared server."""
TOLD = "deem_told"
"""The person has read that others use the server too."""
UPLOADS = "deem_uploads"
"""Counts uploads, so that each gets an empty uploader of its own."""

# In the address.
DATA = "data"
"""The id of the dataset in use."""
RUN = "run"
"""The id of the run in use."""
SWEEP = "sweep"
"""The id of the sweep in use."""
COMPARISON = "comparison"
"""The id of the comparison in use."""
METHOD = "method"
"""The method of a comparison whose labels are in use."""
RATE = "rate"
"""The learning rate that was chosen."""
BESIDE = "beside"
"""The ids of the trainings that are marked to be compared, with commas between."""
ASK = "ask"
"""The id of the run whose rows are to be labelled."""
ROWS = "rows"
"""Which rows are shown, as `deem_core.diagnostics.RowFilter` spells it."""
ORDER = "order"
"""The order of the rows shown."""
REVIEWER = "reviewer"
"""Who labels rows; whatever the dataset."""
ADDRESS = (DATA, RUN, SWEEP, COMPARISON, METHOD, RATE, BESIDE, ASK, ROWS, ORDER, REVIEWER)
_OF_DATASET = tuple(name for name in ADDRESS if name not in (DATA, REVIEWER))

# Widgets and containers; Streamlit also makes CSS classes of them (``st-key-…``).
LIVE = "live_"
"""Blocks that are drawn anew every second."""
SAMPLES = "samples"
OPEN_SAMPLE = "open_sample_"


def sync() -> None:
    """Synchronise address and session; the address wins."""
    if _said(DATA) not in (None, _kept(DATA)):  # another dataset: what belonged to the one before goes
        for name in (DATA, *_OF_DATASET):
            st.session_state.pop(_key(name), None)
    for name in ADDRESS:
        if (said := _said(name)) is not None:
            st.session_state[_key(name)] = said
        elif (kept := _kept(name)) is not None:
            st.query_params[name] = kept


def get(name: str) -> str | None:
    """Return what the address says about one of `ADDRESS`, if anything."""
    return _kept(name)


def put(name: str, value: str | None) -> None:
    """Say something about one of `ADDRESS`, or nothing any more."""
    if value is None:
        st.session_state.pop(_key(name), None)
        st.query_params.pop(name, None)
    else:
        st.session_state[_key(name)] = value
        st.query_params[name] = value


def address() -> Mapping[str, str]:
    """Return all that the address says, for links."""
    return {name: kept for name in ADDRESS if (kept := _kept(name)) is not None}


def use_dataset(id: str | None) -> None:
    """Turn to a dataset, or to none.

    Runs and choices of the one before are left behind.
    """
    if id != get(DATA):
        for name in _OF_DATASET:
            put(name, None)
    put(DATA, id)


def go_to(page: str) -> None:
    """Open a page by name after the current callback."""
    st.session_state[GO_TO] = page


def wished_page() -> str | None:
    """Return the page that the last click wants to open, once."""
    wish: str | None = st.session_state.pop(GO_TO, None)
    return wish


def complain(sentence: str | None, place: str = TOP) -> None:
    """Store a sentence about a problem until the next try."""
    st.session_state[PROBLEM] = None if sentence is None else (sentence, place)


def problem(place: str | None = None) -> str | None:
    """Return the sentence that `complain` kept, for one place or any."""
    kept: tuple[str, str] | None = st.session_state.get(PROBLEM)
    return kept[0] if kept is not None and place in (None, kept[1]) else None


def uploader(name: str) -> str:
    """Return the key of an uploader; a new one after each upload."""
    return f"upload_{name}_{st.session_state.get(UPLOADS, 0)}"


def uploaded() -> None:
    """Count an upload: its uploader is replaced by an empty one."""
    st.session_state[UPLOADS] = st.session_state.get(UPLOADS, 0) + 1


def value(key: str) -> object:
    """Return what a widget holds, if it is there."""
    return st.session_state.get(key)


def set_value(key: str, value: object) -> None:
    """Set a widget's value, in a callback before it is drawn."""
    st.session_state[key] = value


def _key(name: str) -> str:
    return f"deem_{name}"


def _kept(name: str) -> str | None:
    kept: str | None = st.session_state.get(_key(name))
    return kept


def _said(name: str) -> str | None:
    return st.query_params.get(name) or None
