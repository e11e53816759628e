"""Corruptions of files, drawn by a seed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from deem_core.files.seals import SEAL, sealed

WRONG: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 3, 0.5, -1e300, 1e300, 10**17, 10**40, 10**400),
    *("", "x", "x" * 5000, "\udc80", "../../etc/passwd", "\u202e<b>$x$</b>", "NaN"),
    *([], {}, [[]], [None], [1, 2, 3], ["a"], {"a": 1}, {"data": 3}, [{"a": []}]),
)
"""What stands in a place where something else belongs."""

Corruption = Callable[[Path, np.random.Generator], str]


def corrupt(path: Path, rng: np.random.Generator) -> str:
    """Damage a file in one way and say which.

    JSON is mostly damaged in a way that still reads as JSON, half of it with a seal that fits, so that what reads the
    values is reached.
    """
    structured = [_replace, _delete_key, _replace, _delete_key, _replace, _top_level, _number]
    rough = [_truncate, _empty, _flip, _flip, _garbage, _folder, _link, _lose]
    is_json = path.suffix in (".json", ".jsonl")
    kinds = [*structured, *rough] if is_json else rough
    kind = kinds[int(rng.integers(len(kinds)))]
    return f"{kind.__name__.strip('_')}{kind(path, rng)}"


def _truncate(path: Path, rng: np.random.Generator) -> str:
    content = path.read_bytes()
    path.write_bytes(content[: int(rng.integers(max(len(content), 1)))])
    return ""


def _empty(path: Path, _: np.random.Generator) -> str:
    path.write_bytes(b"")
    return ""


def _flip(path: Path, rng: np.random.Generator) -> str:
    flip_bit(path, rng)
    return ""


def flip_bit(path: Path, rng: np.random.Generator) -> int:
    """Turn one bit of a file and return its place."""
    content = bytearray(path.read_bytes())
    if not content:
        return 0
    at = int(rng.integers(8 * len(content)))
    content[at // 8] ^= 1 << (at % 8)
    path.write_bytes(bytes(content))
    return at


def _garbage(path: Path, rng: np.random.Generator) -> str:
    content = path.read_bytes()
    at = int(rng.integers(len(content) + 1))
    path.write_bytes(content[:at] + b"\xff\xfe\x00{[\xc3\n" + content[at:])
    return ""


def _folder(path: Path, _: np.random.Generator) -> str:
    path.unlink()
    path.mkdir()
    return ""


def _link(path: Path, rng: np.random.Generator) -> str:
    path.unlink()
    path.symlink_to(("/etc/hostname", "nowhere", path.name)[int(rng.integers(3))])
    return ""


def _lose(path: Path, _: np.random.Generator) -> str:
    path.unlink()
    return ""


def _replace(path: Path, rng: np.random.Generator) -> str:
    def change(holder: Any, key: Any) -> None:
        holder[key] = WRONG[int(rng.integers(len(WRONG)))]

    return _change(path, rng, change)


def _delete_key(path: Path, rng: np.random.Generator) -> str:
    def change(holder: Any, key: Any) -> None:
        del holder[key]

    return _change(path, rng, change)


def _top_level(path: Path, rng: np.random.Generator) -> str:
    path.write_text(json.dumps(WRONG[int(rng.integers(len(WRONG)))]))
    return ""


def _number(path: Path, rng: np.random.Generator) -> str:
    """Put a number that JSON does not know, or that is too large, in the place of a digit."""
    text = path.read_text(errors="replace")
    digits = [at for at, letter in enumerate(text) if letter.isdigit()]
    if digits:
        at = digits[int(rng.integers(len(digits)))]
        number = ("NaN", "-Infinity", "1e999", "9" * 5000)[int(rng.integers(4))]
        path.write_text(text[:at] + number + text[at + 1 :])
    return ""


def _change(path: Path, rng: np.random.Generator, change: Callable[[Any, Any], None]) -> str:
    """Change one value of a JSON file, or of one of its lines."""
    text = path.read_text(errors="replace")
    lines = text.splitlines() if path.suffix == ".jsonl" else [text]
    at = int(rng.integers(len(lines))) if lines else 0
    try:
        content = json.loads(lines[at])
    except (ValueError, IndexError):
        return " (not done)"
    holders = [found for found in _holders(content) if len(found)]
    if not holders:
        return " (not done)"
    holder = holders[int(rng.integers(len(holders)))]
    keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
    change(holder, keys[int(rng.integers(len(keys)))])
    fits = isinstance(content, dict) and bool(rng.integers(2))
    if fits:
        content.pop(SEAL, None)
        content = sealed(content)
    lines[at] = json.dumps(content)
    path.write_text("\n".join(lines) + "\n")
    return " with a fitting seal" if fits else ""


def _holders(content: Any) -> list[Any]:
    """Return all objects and lists inside a value, itself included."""
    if not isinstance(content, (dict, list)):
        return []
    inner = content.values() if isinstance(content, dict) else content
    return [content, *(found for item in inner for found in _holders(item))]


def files_of(root: Path) -> list[Path]:
    """Return the files of a workspace that may be damaged, in order."""
    found = [Path(place) / name for place, _, names in os.walk(root) for name in names]
    return sorted(path for path in found if path.name != "lock" and not path.is_symlink())


def copy(source: Path, target: Path) -> None:
    """Put a fresh copy of a workspace in the place of another; links stay links."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, symlinks=True)
