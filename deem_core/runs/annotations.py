"""Annotations: name, tags, note and pin of a run, stored beside it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from deem_core.errors import InputError
from deem_core.runs.private import read_json, write_private_json
from deem_core.text import clip

FILE = "annotations.json"
MOST_LETTERS = {"name": 80, "tag": 30, "note": 2000}
MOST_TAGS = 12


@dataclass(frozen=True)
class Annotations:
    """What people say of a run; the run itself never reads it.

    Attributes
    ----------
    name : str
        Instead of the title it was made with; empty for that one.
    tags : tuple of str
    note : str
    pinned : float, optional
        When it was pinned as the baseline of its dataset, in Unix seconds.
    """

    name: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    pinned: float | None = None

    def named(self, name: str) -> Annotations:
        """Return them with another name; empty for the run's own title."""
        return replace(self, name=_line(name, "name"))

    def tagged(self, tags: Iterable[str]) -> Annotations:
        """Return them with these tags and no others."""
        lines = (_line(tag, "tag") for tag in tags)
        unique = tuple(dict.fromkeys(line for line in lines if line))
        if len(unique) > MOST_TAGS:
            raise InputError(f"A run has at most {MOST_TAGS} tags; these are {len(unique)}. Leave some out.")
        return replace(self, tags=unique)

    def noted(self, note: str) -> Annotations:
        """Return them with another note, whose lines are kept."""
        lines = "\n".join(_printable(line) for line in note.strip().splitlines())
        return replace(self, note=_short(lines, "note"))

    def pinned_now(self) -> Annotations:
        """Return them pinned."""
        return replace(self, pinned=time.time())

    def unpinned(self) -> Annotations:
        """Return them not pinned."""
        return replace(self, pinned=None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "tags": list(self.tags)}

    def write(self, folder: Path) -> None:
        """Replace the file in a run's folder atomically."""
        write_private_json(self.to_dict(), folder / FILE)

    @classmethod
    def read(cls, folder: Path) -> Annotations:
        """Return those of a run; none of what is missing or damaged."""
        content = read_json(folder / FILE) or {}
        name, tags, note, pinned = (content.get(key) for key in ("name", "tags", "note", "pinned"))
        return cls(
            name if isinstance(name, str) else "",
            tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
            note if isinstance(note, str) else "",
            float(pinned) if isinstance(pinned, (int, float)) and not isinstance(pinned, bool) else None,
        )


def _line(words: str, what: str) -> str:
    """Return words on one line, without control characters."""
    return _short(_printable(" ".join(words.split())), what)


def _printable(words: str) -> str:
    return "".join(character for character in words if character.isprintable())


def _short(words: str, what: str) -> str:
    most = MOST_LETTERS[what]
    if len(words) > most:
        raise InputError(
            f"The {what} “{clip(words)}” has {len(words):,} letters; at most {most:,} are kept. Shorten it."
        )
    return words
