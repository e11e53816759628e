"""Opening: what happens once, when the server has started."""

from __future__ import annotations

import logging
import threading
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from streamlit import config
from streamlit.web.server import server_util

from studio.serving.policy import PASSWORD, Policy, policy

_log = logging.getLogger(__name__)


@asynccontextmanager
async def opening(_app: Any) -> AsyncIterator[None]:
    """Say who may come, and open the browser on a desktop; for `st.App`."""
    if said := words(policy()):
        _log.warning(said)
    if not config.get_option("server.headless"):
        # Streamlit opens it for apps without a gate only. A thread, as some systems wait until the browser is closed.
        threading.Thread(target=_open, args=(_address(),), daemon=True).start()
    yield


def words(rules: Policy) -> str:
    """Return what whoever starts a server should know; empty for nothing."""
    if not rules.is_open:
        return ""
    whose = (
        "Each browser has a private space."
        if rules.shared
        else "All who come see, change and delete the same files and runs."
    )
    enter = "A passphrase is asked for." if rules.password else f"Anyone may come: set {PASSWORD} to ask a passphrase."
    return f"Other computers may reach this server. {whose} {enter} SECURITY.md says what else to mind."


def _open(address: str) -> None:
    webbrowser.open(address)


def _address() -> str:
    """Return the address to open."""
    if config.is_manually_set("browser.serverAddress"):
        name = config.get_option("browser.serverAddress")
    else:
        name = server_util.get_display_address(config.get_option("server.address") or "localhost")
    return server_util.get_url(name)
