"""Policy: who may come to this server, and what each may see.

It is decided once, from the environment and Streamlit's settings, when the server starts.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from streamlit import config

from deem_core import InputError
from studio.serving import hosts

HOSTS = "DEEM_HOSTS"
"""Names under which people reach the server, with commas between."""
SHARED = "DEEM_SHARED"
"""1 for a private space for every browser, 0 for one workspace for all."""
PASSWORD = "DEEM_PASSWORD"  # noqa: S105  # the name of the variable
"""What people have to know before they see anything."""

_YES, _NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


@dataclass(frozen=True)
class Policy:
    """Rules of this server.

    Attributes
    ----------
    names : frozenset of str
        Host names that are served; `hosts.is_known` tells their spelling.
    is_open : bool
        Whether other computers may reach it.
    shared : bool
        Whether each browser has a space of its own.
    password : str
        Empty for none. It is never shown.
    base : str
        What the paths of all pages begin with, as ``/deem``; empty for nothing.
    """

    names: frozenset[str] = frozenset(hosts.LOOPBACK)
    is_open: bool = False
    shared: bool = False
    password: str = field(default="", repr=False)
    base: str = ""

    @property
    def guards(self) -> bool:
        """Whether anything depends on who asks."""
        return self.shared or bool(self.password)


def decide(
    environment: Mapping[str, str],
    *,
    address: str | None,
    named: str | None = None,
    allowed: list[str] | None = None,
    base: str = "",
) -> Policy:
    """Return the policy that follows from what was set.

    Parameters
    ----------
    environment : mapping
    address : str, optional
        Where the server listens; None for every address of the machine.
    named : str, optional
        The name under which people open it (``browser.serverAddress``).
    allowed : list of str, optional
        Streamlit's own list (``server.allowedHosts``).
    base : str
        Streamlit's ``server.baseUrlPath``.

    Raises
    ------
    InputError
        If DEEM_SHARED is neither yes nor no.
    """
    wanted = environment.get(HOSTS, "").replace(",", " ").split()
    given = [hosts.plain_name(_host_part(each)) for each in (*wanted, *(allowed or ()), named or "")]
    if address is not None and not _is_everywhere(address):
        given.append(hosts.plain_name(address))
    names = frozenset((*hosts.LOOPBACK, *filter(None, given)))
    listens_beyond = address is None or not hosts.is_loopback(address)
    is_open = listens_beyond or any(not hosts.is_loopback(name) for name in names)
    said = environment.get(SHARED, "").strip().casefold()
    if said not in ("", *_YES, *_NO):
        raise InputError(f"{SHARED} is {said[:40]!r}; write 1 for a private space for every browser, or 0 for none.")
    shared = said in _YES or (is_open and said not in _NO)
    path = base.strip("/")
    return Policy(names, is_open, shared, environment.get(PASSWORD, ""), f"/{path}" if path else "")


@cache
def policy() -> Policy:
    """Return the policy of this process."""
    return decide(
        os.environ,
        address=config.get_option("server.address"),
        named=config.get_option("browser.serverAddress") if config.is_manually_set("browser.serverAddress") else None,
        allowed=config.get_option("server.allowedHosts"),
        base=config.get_option("server.baseUrlPath") or "",
    )


def _is_everywhere(address: str) -> bool:
    return hosts.plain_name(address) in ("0.0.0.0", "::")  # noqa: S104  # it is looked for, not listened at


def _host_part(text: str) -> str:
    """Return the name alone, of ``name``, ``name:port`` or ``https://name``."""
    text = text.split("//", 1)[-1].split("/", 1)[0]
    host = hosts.Host.of(text)
    return text if host is None else host.name
