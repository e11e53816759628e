"""Devices of this machine, asked of a process of its own so that the app itself need not load torch."""

from __future__ import annotations

import streamlit as st

from deem_core.devices import Device, cpu
from studio.background import Asked, command

FRESH_SECONDS = 60.0
"""How long an answer about free memory is believed."""


def devices() -> list[Device]:
    """Return where to train, the best place first; just the processor until torch has answered."""
    answer, _ = _asked().get("devices", _ask)
    return answer or [cpu()]


@st.cache_resource(show_spinner=False)
def _asked() -> Asked[list[Device]]:
    return Asked(FRESH_SECONDS)


def _ask() -> list[Device] | None:
    content = command(["devices"])
    try:
        return None if content is None else [Device(**each) for each in content["devices"]]
    except (KeyError, TypeError):
        return None
