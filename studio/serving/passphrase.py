"""Passphrase: what was given, how often, and who is remembered."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import math
import secrets
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

KEEP_SECONDS = 30 * 24 * 3600
"""How long a browser is remembered; no longer than the server runs."""
OWN, OWN_SECONDS = 5, 20.0
"""Tries of an address at once, and the seconds until it has one more."""
ALL, ALL_SECONDS = 60, 2.0
"""The same of all addresses together."""
MOST_ADDRESSES = 10_000


@dataclass
class Bucket:
    """Tries that are left, filled up again by and by.

    Attributes
    ----------
    most : int
    seconds : float
        Until there is one more.
    left : float
    at : float
        When it was looked at last.
    """

    most: int
    seconds: float
    left: float
    at: float

    def fill(self, now: float) -> None:
        """Add what came back since the last look."""
        self.left = min(self.left + max(now - self.at, 0.0) / self.seconds, float(self.most))
        self.at = now

    @property
    def wait(self) -> float:
        """Seconds until there is a try."""
        return max(1.0 - self.left, 0.0) * self.seconds


class Tries:
    """Tries of each address and of all together.

    Those of all together do not bind an address from which the passphrase was given before, so that strangers who use
    them up keep no one out who was in.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._all = Bucket(ALL, ALL_SECONDS, ALL, clock())
        self._own: OrderedDict[str, Bucket] = OrderedDict()
        self._trusted: OrderedDict[str, None] = OrderedDict()

    def take(self, address: str) -> float:
        """Take a try; return the seconds to wait if there is none."""
        place, now = _place(address), self._clock()
        own = self._own.pop(place, None) or Bucket(OWN, OWN_SECONDS, OWN, now)
        self._own[place] = own
        while len(self._own) > MOST_ADDRESSES:
            self._own.popitem(last=False)
        buckets = (own,) if place in self._trusted else (own, self._all)
        for bucket in buckets:
            bucket.fill(now)
        wait = max(bucket.wait for bucket in buckets)
        if wait > 0:
            return wait
        for bucket in buckets:
            bucket.left -= 1
        return 0.0

    def succeeded(self, address: str) -> None:
        """Give a try back that was right."""
        place = _place(address)
        for bucket in (self._own.get(place), None if place in self._trusted else self._all):
            if bucket is not None:
                bucket.left = min(bucket.left + 1, bucket.most)
        self._trusted[place] = None
        while len(self._trusted) > MOST_ADDRESSES:
            self._trusted.popitem(last=False)


class Passphrase:
    """Passphrase, and cookies of those who knew it.

    Parameters
    ----------
    words : str
    clock : callable
        Unix seconds.
    """

    def __init__(self, words: str, clock: Callable[[], float] = time.time) -> None:
        self._digest = _digest(words)
        self._secret = secrets.token_bytes(32)  # a server that starts anew remembers nobody
        self._clock = clock

    def is_right(self, words: str) -> bool:
        """Tell whether these are the words, in a time that says nothing."""
        return hmac.compare_digest(_digest(words), self._digest)

    def token(self) -> str:
        """Return a cookie for someone who knew it."""
        until = str(math.ceil(self._clock()) + KEEP_SECONDS)
        return f"{until}.{self._sign(until)}"

    def remembers(self, token: str | None) -> bool:
        """Tell whether a cookie came from here and still holds."""
        until, _, signature = (token or "").partition(".")
        if not hmac.compare_digest(signature.encode(), self._sign(until).encode()):
            return False
        return int(until) > self._clock()

    def _sign(self, until: str) -> str:
        return hmac.new(self._secret, until.encode(), "sha256").hexdigest()


def _digest(words: str) -> bytes:
    return hashlib.sha256(unicodedata.normalize("NFC", words).encode(errors="replace")).digest()


def _place(address: str) -> str:
    """Return whose tries an address uses: an IPv6 network shares them."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    mapped = getattr(parsed, "ipv4_mapped", None)
    if isinstance(parsed, ipaddress.IPv6Address) and mapped is None:
        return str(ipaddress.ip_network(f"{parsed}/64", strict=False))
    return str(mapped or parsed)
