"""Spaces: workspaces of several people inside that of one server.

Each is a workspace of its own, with files, datasets, runs and answers that no other sees. Only the queues are those of
the workspace around them: people share the processor, so their runs wait for each other.
"""

from __future__ import annotations

import re
from pathlib import Path

from deem_core.errors import InputError
from deem_core.runs.private import make_folder

SPACES = "spaces"
"""The folder of all spaces in the workspace around them."""

_NAME = re.compile(r"[0-9a-f]{64}")  # a hash: it tells nothing of the key that leads there


def space_folder(root: Path, name: str) -> Path:
    """Return the folder of a space, made private if it is new.

    Parameters
    ----------
    root : Path
        Of the workspace around it.
    name : str
        64 hexadecimal digits.
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"{name[:80]!r} is not the name of a space: that is 64 digits of 0–9 and a–f.")
    return make_folder(make_folder(root / SPACES) / name)


def queue_root(root: Path) -> Path:
    """Return the workspace whose queues the runs of this one wait in.

    Of a space the one around it; of any other workspace itself.
    """
    inside = root.parent.name == SPACES and _NAME.fullmatch(root.name) is not None
    return root.parent.parent if inside else root
