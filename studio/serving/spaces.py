"""Spaces of browsers: keys that nobody guesses, and names of folders."""

from __future__ import annotations

import hashlib
import re
import secrets

COOKIE = "deem_space"
KEEP_SECONDS = 400 * 24 * 3600
"""How long a browser keeps its key after its last visit; browsers allow no more."""

_KEY = re.compile(r"[A-Za-z0-9_-]{43}")


def new_key() -> str:
    """Return a key of 256 random bits."""
    return secrets.token_urlsafe(32)


def is_key(text: str | None) -> bool:
    """Tell whether a text could be a key."""
    return text is not None and _KEY.fullmatch(text) is not None


def name_of(key: str) -> str:
    """Return the name of a key's space: a hash."""
    return hashlib.sha256(b"deem space " + key.encode("ascii")).hexdigest()
