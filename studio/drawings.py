"""Drawings of pictures, kept by what they are drawn from.

To draw takes most of the time of a page, and most pages are drawn again for reasons that change no picture: a click
elsewhere, another visit, another person who looks at the same run.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import CodeType, FunctionType
from typing import Any, Protocol

import numpy as np
import streamlit as st

from deem_core.figures import Picture
from studio import words

MOST_KEPT = 64
"""Figures kept for all sessions; each takes some hundred kilobytes."""

MOST_BYTES = 1 << 24
"""What is drawn from more than that is drawn anew: to read all of it takes as long."""


class _Digest(Protocol):
    def update(self, data: bytes, /) -> object: ...


class _UnknownError(Exception):
    """Something whose content cannot be told."""


def figure(shown: Picture, theme: str, *, titled: bool, clickable: bool) -> Any:
    """Return the figure of a picture, kept or drawn anew.

    Its axes are in the file's own word. It may be the one of another call, so nobody changes it.
    """
    told = shown.question if titled else "", clickable and shown.cells is not None, words.say("Learner")
    content = fingerprint(shown.draw, theme, titled, *told)
    if content is None:
        return _drawn(shown, theme, titled=titled, clickable=clickable)
    return _kept(content, shown, theme, titled=titled, clickable=clickable)


@st.cache_resource(max_entries=MOST_KEPT, show_spinner=False)
def _kept(content: str, _shown: Picture, theme: str, *, titled: bool, clickable: bool) -> Any:
    return _drawn(_shown, theme, titled=titled, clickable=clickable)


def _drawn(shown: Picture, theme: str, *, titled: bool, clickable: bool) -> Any:
    drawn = (shown.clickable if clickable else shown.figure)(theme, titled=titled)
    bars = (each.colorbar for each in (*drawn.select_coloraxes(), *drawn.select_traces("heatmap")))
    for part in (*drawn.select_xaxes(), *drawn.select_yaxes(), *bars, drawn.layout):
        if part.title.text:
            part.title.text = words.say(part.title.text)
    return drawn


def fingerprint(*values: object) -> str | None:
    """Return a hash of the content of values.

    A function is its code and what it holds on to: its closure and its defaults. None if there is something whose
    content cannot be told, or more than `MOST_BYTES`.
    """
    digest = hashlib.blake2b(digest_size=20)
    try:
        _Feed(digest)(values)
    except _UnknownError:
        return None
    return digest.hexdigest()


class _Feed:
    """Content handed to a digest.

    Every value comes with its type and length, so that no two contents read the same.
    """

    def __init__(self, digest: _Digest) -> None:
        self._digest = digest
        self._left = MOST_BYTES
        self._inside: set[int] = set()

    def __call__(self, value: Any) -> None:
        if isinstance(value, np.ndarray) and value.nbytes > self._left:  # before it is copied
            raise _UnknownError
        if (plain := _plain(value)) is not None:
            self._write(*plain)
            return
        kind, parts = _parts(value)
        if id(value) in self._inside:  # a function that calls itself
            raise _UnknownError
        self._inside.add(id(value))
        self._write(kind, struct.pack("<q", len(parts)))
        for part in parts:
            self(part)
        self._inside.discard(id(value))

    def _write(self, kind: str, data: bytes) -> None:
        self._left -= len(data) + 8
        if self._left < 0:
            raise _UnknownError
        head = kind.encode()
        self._digest.update(struct.pack("<qq", len(head), len(data)) + head)
        self._digest.update(data)


def _plain(value: Any) -> tuple[str, bytes] | None:
    """Return type and content of a value without parts."""
    match value:
        case None | bool() | int() | float() | complex() | str() | np.generic():
            return type(value).__name__, repr(value).encode("utf-8", "surrogatepass")
        case bytes():
            return "bytes", value
        case type():
            return "type", f"{value.__module__}.{value.__qualname__}".encode()
        case np.ndarray() if not value.dtype.hasobject:
            return f"array {value.dtype.str} {value.shape}", value.tobytes()
    return None


def _parts(value: Any) -> tuple[str, Sequence[Any]]:
    """Return type and parts of a value that has some."""
    match value:
        case np.ndarray():
            return f"objects {value.shape}", value.ravel().tolist()
        case tuple() | list():
            return type(value).__name__, value
        case Mapping():
            return "mapping", [*value.keys(), *value.values()]
        case CodeType():
            return "code", [value.co_code, value.co_consts, value.co_names, value.co_freevars]
        case FunctionType():
            cells = [cell.cell_contents for cell in value.__closure__ or ()]
            return f"function {value.__module__}", [value.__code__, cells, value.__defaults__, value.__kwdefaults__]
        case _ if is_dataclass(value):
            named = f"{type(value).__module__}.{type(value).__qualname__}"
            return named, [getattr(value, each.name) for each in fields(value)]
    raise _UnknownError
