"""Callbacks of the Data page: upload, roles, reading options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from deem_core import InputError
from studio import state
from studio.data import datasets, samples
from studio.errors import callback_boundary

ENCODINGS = ("utf-8", "cp1252", "latin-1", "utf-16", "mac-roman", "cp1251", "shift-jis", "gb18030")
FOUND = "found by itself"


def take_upload(key: str) -> None:
    """Take the file in an uploader.

    If it cannot be read, the dataset in use stays.
    """
    file: Any = state.value(key)
    if file is None:
        return
    with callback_boundary():
        datasets.bring(file.name, file)
    state.uploaded()


def take_sample(name: str, page: str | None = None) -> None:
    """Take a bundled sample, then go to a page if named."""
    with callback_boundary():
        datasets.bring_sample(samples.find(name))
        if page is not None:
            state.go_to(page)


def take_truth(key: str) -> None:
    """Take a second file of true labels for the dataset in use."""
    file: Any = state.value(key)
    opened = _opened()
    if file is None or opened is None:
        return
    with callback_boundary():
        datasets.add_truth(opened, file.name, file)
    state.uploaded()


def change_roles(key: str) -> None:
    """Read the file again with the edited roles."""
    opened = _opened()
    edits: Any = state.value(key)
    if opened is None or not edits:
        return
    roles_now = opened.roles()
    roles = dict(zip(roles_now["column"], roles_now["role"], strict=True))
    for row, change in edits["edited_rows"].items():
        roles[roles_now["column"].iloc[int(row)]] = change["role"]
    with callback_boundary():
        datasets.read_otherwise(opened, reading_of(opened.reading.report.layout, roles, opened.dataset.reading))


def leave_out(learners: Sequence[str]) -> None:
    """Read the file again without some learners."""
    opened = _opened()
    if opened is not None:
        with callback_boundary():
            datasets.read_otherwise(opened, without(learners, opened.dataset.reading))


def option(
    name: str, label: str, choices: Sequence[str] | Mapping[str, str], value: str | None, opened: datasets.Opened
) -> None:
    """Show a choice of one reading option."""
    wish = opened.dataset.reading.get(name)
    names = [*choices.values()] if isinstance(choices, Mapping) else [*choices]
    value_name = choices.get(value or "", value) if isinstance(choices, Mapping) else value
    key = f"reading_{name}_{opened.dataset.id}"
    st.selectbox(
        label,
        [FOUND, *names],
        index=names.index(wish) + 1 if wish in names else 0,
        format_func=lambda choice: f"{value_name} ({FOUND})" if choice == FOUND else choice,
        key=key,
        on_change=_change_option,
        args=(name, key),
        disabled=value is None or value == "parquet",
        help="A Parquet file has neither delimiter nor encoding." if value in (None, "parquet") else None,
    )


def _change_option(name: str, key: str) -> None:
    opened = _opened()
    wish = state.value(key)
    if opened is None:
        return
    # Another layout, delimiter or encoding makes other columns: roles given before no longer mean anything.
    options = {
        each: told
        for each, told in opened.dataset.reading.items()
        if each in ("layout", "delimiter", "encoding", "missing")
    }
    options.pop(name, None)
    if wish != FOUND:
        options[name] = wish
    with callback_boundary():
        datasets.read_otherwise(opened, options)
    if state.problem():  # it did not work: show what holds
        state.set_value(key, opened.dataset.reading.get(name, FOUND))


def read_as_found() -> None:
    """Read the file again without any reading options."""
    opened = _opened()
    if opened is not None:
        with callback_boundary():
            datasets.read_otherwise(opened, {})


def _opened() -> datasets.Opened | None:
    opened = None
    with callback_boundary():
        opened = datasets.current()
    return opened  # noqa: RET504  # None if there was something to tell


ROLES = {
    "wide": ("id", "learner", "truth", "gold", "ignore"),
    "long": ("id", "worker", "label", "truth", "gold", "ignore"),
    "soft": ("id", "learner", "truth", "gold", "ignore"),
}
"""What a column can be, by layout."""

_SINGLE = ("id", "truth", "worker", "label", "gold")


def reading_of(layout: str, roles: Mapping[str, str], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reading options for the roles of all columns.

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
