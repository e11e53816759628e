"""What happens when the server has started."""

import asyncio
import threading

import pytest
from streamlit import config

from studio.serving import opening
from studio.serving.policy import Policy


@pytest.fixture
def start(monkeypatch):
    """Start a server with these rules and options; return the addresses that were opened."""

    def run(rules, **options):
        opened = []
        monkeypatch.setattr(opening, "policy", lambda: rules)
        monkeypatch.setattr(opening.webbrowser, "open", opened.append)
        known = {"server.headless": False, "server.address": "127.0.0.1", "browser.serverAddress": "deem.example"}
        known |= options
        monkeypatch.setattr(
            config, "get_option", lambda name, ask=config.get_option: known[name] if name in known else ask(name)
        )
        monkeypatch.setattr(config, "is_manually_set", lambda name: name in options)

        async def begin():
            async with opening.opening(None):
                for thread in threading.enumerate():
                    if thread.daemon and thread.name.endswith("(_open)"):
                        thread.join()

        asyncio.run(begin())
        return opened

    return run


def test_on_a_desktop_the_browser_opens_by_itself(start):
    port = config.get_option("browser.serverPort")
    assert start(Policy()) == [f"http://127.0.0.1:{port}"]
    assert start(Policy(), **{"server.address": "0.0.0.0"}) == [f"http://localhost:{port}"]  # noqa: S104
    assert start(Policy(), **{"browser.serverAddress": "deem.example"}) == [f"http://deem.example:{port}"]


def test_without_one_it_does_not(start):
    assert start(Policy(), **{"server.headless": True}) == []


def test_who_starts_a_server_for_others_is_told(start, caplog):
    start(Policy())
    assert caplog.text == ""
    start(Policy(is_open=True, shared=True))
    assert "Other computers may reach this server. Each browser has a private space. Anyone may come" in caplog.text
    start(Policy(is_open=True, shared=True, password="open sesame"))
    assert "A passphrase is asked for." in caplog.text
    assert "sesame" not in caplog.text
