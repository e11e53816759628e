"""Host names of requests, and which of them are known.

A page of a stranger can make its own name lead to this machine (DNS rebinding): the browser then takes our answers for
that page's own. What gives it away is the name itself, which stands in every request.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Names that always lead to this machine itself."""

_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Host:
    """Name and port, as a header spells them.

    Attributes
    ----------
    name : str
        In small letters; addresses in their usual spelling.
    port : int, optional
        None if it is not named.
    """

    name: str
    port: int | None

    @classmethod
    def of(cls, header: str) -> Host | None:
        """Return what a Host header names; None if it is none."""
        match = _HOST.fullmatch(header.strip())
        if match is None:
            return None
        port = None if match[2] is None else int(match[2])
        return None if port is not None and port > 65535 else cls(plain_name(match[1]), port)


def plain_name(text: str) -> str:
    """Return a name in the spelling in which names are compared."""
    name = text.strip().strip("[]").casefold().removesuffix(".")
    address = _address(name)
    return name if address is None else str(address)


def is_loopback(name: str) -> bool:
    """Tell whether a name leads to this machine alone."""
    address = _address(plain_name(name))
    return plain_name(name) in LOOPBACK if address is None else address.is_loopback


def is_known(name: str, known: Iterable[str], here: str) -> bool:
    """Tell whether a name may be served.

    Parameters
    ----------
    name : str
        Of the request, as `plain_name` spells it.
    known : iterable of str
        Names, ``*.name`` for all below one, ``*`` for all.
    here : str
        The address at which the request arrived. Whoever names it has no name that could be turned elsewhere.
    """
    if _address(name) is not None and name == plain_name(here):
        return True
    return any(pattern in ("*", name) or (pattern.startswith("*.") and name.endswith(pattern[1:])) for pattern in known)


def agrees(origin: str, host: Host) -> bool:
    """Tell whether an Origin header speaks of the host itself."""
    try:
        parts = urlsplit(origin)
        port = parts.port
    except ValueError:
        return False
    usual = _PORTS.get(parts.scheme)
    if usual is None or not parts.hostname:
        return False
    return (plain_name(parts.hostname), port or usual) == (host.name, host.port or usual)


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
