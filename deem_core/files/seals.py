"""Seals: checksums kept inside JSON objects and tensor files.

Disks and cables flip bits. What carries a seal is known to be what was written, or known not to be; what has none was
written by an earlier version and is taken as it is.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

SEAL = "checksum"
"""Key of the seal in a JSON object, and in the metadata of tensors."""

_MOST_DIGITS = 18  # of a whole number: more fit neither a count nor a time


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain values with a seal."""
    plain = json.loads(json.dumps(content))  # keys are text, so that they are sorted as they will be when read
    return {**content, SEAL: _json_sum(plain)}


def parse_object(text: bytes) -> dict[str, Any] | None:
    """Return the object in a JSON text, without its seal.

    None if it is damaged: no JSON, no object, with numbers that nobody writes, or with a seal that does not fit.
    """
    try:
        content = json.loads(text, parse_constant=_refuse, parse_float=_finite, parse_int=_short)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    seal = content.pop(SEAL, None)
    return content if seal is None or seal == _json_sum(content) else None


def tensor_sum(texts: Iterable[str], tensors: Iterable[tuple[str, str, tuple[int, ...], Any]]) -> str:
    """Return the checksum of texts and tensors.

    Parameters
    ----------
    texts : iterable of str
        Such as notes beside the tensors.
    tensors : iterable of (name, dtype, shape, bytes)
        In any order; the bytes are anything that gives a buffer.
    """
    total = hashlib.sha256()
    for text in texts:
        total.update(f"{len(text)}:{text}".encode(errors="backslashreplace"))
    for name, dtype, shape, content in sorted(tensors, key=lambda tensor: tensor[0]):
        total.update(f"{len(name)}:{name}{dtype}{shape}".encode(errors="backslashreplace"))
        total.update(content)
    return total.hexdigest()


def _json_sum(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _refuse(digits)


def _short(digits: str) -> int:
    return int(digits) if len(digits) <= _MOST_DIGITS + 1 else int(_refuse(digits))
