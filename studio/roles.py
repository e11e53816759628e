"""Column roles as people edit them, turned into options for reading the file again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deem_core.errors import InputError

ROLES = {
    "wide": ("id", "learner", "truth", "ignore"),
    "long": ("id", "worker", "label", "truth", "ignore"),
    "soft": ("id", "learner", "truth", "ignore"),
}
"""What a column can be, by layout."""

_SINGLE = ("id", "truth", "worker", "label")


def reading_of(layout: str, roles: Mapping[str, str], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reading options that give every column of a file its role.

    Parameters
    ----------
    layout : "wide", "long" or "soft"
        As the file was read.
    roles : mapping
        Column → role.
    before : mapping
        The options so far; what does not concern roles is kept.

    Raises
    ------
    InputError
        If two columns want a role that only one can play, or a long file lacks one.
    """
    options = {name: value for name, value in before.items() if name in ("missing", "delimiter", "encoding")}
    options["layout"] = layout
    for role in _SINGLE:
        names = [name for name, played in roles.items() if played == role]
        if len(names) > 1:
            raise InputError(f"Only one column can be the {role}; {_listed(names)} are. Change all but one.")
        if names:
            options[role] = names[0]
    options["ignore"] = [name for name, played in roles.items() if played == "ignore"]
    if layout == "long":  # workers that were left out are no columns
        options["ignore"] += [name for name in before.get("ignore", ()) if name not in roles]
    if layout == "wide":
        options["learners"] = [name for name, played in roles.items() if played == "learner"]
    if layout == "long":
        for role in ("id", "worker", "label"):
            if role not in options:
                raise InputError(f"A long file needs a column for the {role}. Give the role to one.")
    return options


def without(learners: Sequence[str], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reading options that leave some learners out."""
    options = dict(before)
    if options.get("learners") is not None:
        options["learners"] = [name for name in options["learners"] if name not in learners]
    options["ignore"] = [
        *options.get("ignore", ()),
        *(name for name in learners if name not in options.get("ignore", ())),
    ]
    return options


def _listed(names: Sequence[str]) -> str:
    return " and ".join(repr(name) for name in names[:4]) + (" …" if len(names) > 4 else "")
