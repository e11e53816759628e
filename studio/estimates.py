"""How long a sweep would take, from a few real updates on this machine, shown before it is started."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from studio import text
from studio.background import Asked, command

POLL_SECONDS = 1.0


def show(dataset_id: str, config: Mapping[str, Any]) -> None:
    """Show the expected time of a sweep; it is worked out in the background."""
    key = json.dumps([dataset_id, dict(config)], sort_keys=True)
    _, asking = _asked().get(key, lambda: _ask(dataset_id, config))

    @st.fragment(run_every=POLL_SECONDS if asking else None)
    def fragment() -> None:
        seconds, still = _asked().get(key, lambda: _ask(dataset_id, config))
        if seconds is not None:
            st.caption(f":material/timer: About {text.duration(seconds)} on this machine", width="content")
        elif still:
            st.caption(":material/timer: Working out how long it takes…", width="content")
        else:
            st.caption(":material/timer: How long it takes could not be worked out", width="content")
        if asking and not still:
            st.rerun()

    fragment()


@st.cache_resource(show_spinner=False)
def _asked() -> Asked[float]:
    return Asked()


def _ask(dataset_id: str, config: Mapping[str, Any]) -> float | None:
    content = command(["estimate", dataset_id, "--config", json.dumps(dict(config))])
    seconds = None if content is None else content.get("seconds")
    return float(seconds) if isinstance(seconds, (int, float)) else None
