"""WRENCH: rows by number, each with data, a label and weak labels."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deem_core.errors import InputError
from deem_core.readers.bounds import Packed
from deem_core.readers.formats.ballots import Ballots
from deem_core.readers.formats.content import Content
from deem_core.readers.notes import Note
from deem_core.readers.objects import Number, members
from deem_core.readers.records import spelled
from deem_core.text import count

NAMES_FILE = "label.json"
"""The file of class names beside the others."""

MOST_NAMES_BYTES = 8_000_000

_WRENCH = re.compile(rb'\s*\{\s*"[^"\\]{1,40}"\s*:\s*\{')
_WEAK = "weak_labels"


def is_wrench(data: bytes) -> bool:
    """Tell a file of WRENCH by how it begins."""
    return _WRENCH.match(data, 0, 4096) is not None and b'"weak_labels"' in data[: 1 << 20]


def read_wrench(packed: Packed, data: bytes, encoding: str, names: Mapping[str, str]) -> Content:
    """Return rows with a column for each labelling function."""
    ballots, width = Ballots(packed), None
    for key, record in members(packed.name, data):
        weak = record.get(_WEAK) if isinstance(record, dict) else None
        if not isinstance(weak, list):
            raise InputError(f"Row {key[:40]!r} of {packed.name} has no list of weak labels.")
        width = len(weak) if width is None else width
        if len(weak) != width:
            raise InputError(f"Row {key[:40]!r} of {packed.name} has {len(weak):,} weak labels; others have {width:,}.")
        if not all(isinstance(label, (Number, str)) or label is None for label in weak):
            raise InputError(f"Row {key[:40]!r} of {packed.name} has a weak label that is neither number nor text.")
        fields = record.get("data")
        row = ballots.add_row(key, fields if isinstance(fields, dict) else {} if fields is None else {"data": fields})
        for number, label in enumerate(weak):
            ballots.vote(row, _WEAK, f"lf_{number}", "" if label in (None, "-1") else spelled(label))
        truth = record.get("label")
        if isinstance(truth, str) and truth != "-1":  # numbers are texts as well
            ballots.know(row, _WEAK, spelled(truth))
    notes = [Note("understood", "-1 is read as no vote: rules abstain by it.")]
    if names:
        notes.append(Note("understood", f"{count(len(names), 'class name')} from {NAMES_FILE} beside the file."))
    title = "WRENCH dataset"
    made = ballots.content(None, format="wrench", title=title, encoding=encoding, notes=notes, names=names)
    return Content(made.columns, made.format, made.title, made.encoding, made.roles, None, made.notes)


def names_beside(path: Path) -> dict[str, str]:
    """Return the class names in the file beside one of WRENCH.

    Raises
    ------
    InputError
        If it is there and no object of number and name.
    """
    file = path.parent / NAMES_FILE
    try:
        text = file.read_bytes() if file.is_file() and file.stat().st_size <= MOST_NAMES_BYTES else b""
        told: Any = json.loads(text) if text else {}
    except (OSError, ValueError, RecursionError):
        told = None
    if not isinstance(told, dict) or not all(isinstance(name, str) for name in told.values()):
        raise InputError(f'{NAMES_FILE} beside {path.name} is no object of class names, such as {{"0": "ham"}}.')
    return told
