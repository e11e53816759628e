"""What clicks on the Data page do: take a file, read it otherwise, leave learners out, delete it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from studio import datasets, roles, samples, state
from studio.errors import told

DELIMITERS: Mapping[str, str] = {",": "comma", "\t": "tab", ";": "semicolon", "|": "pipe"}
ENCODINGS = ("utf-8", "cp1252", "latin-1", "utf-16", "mac-roman", "cp1251", "shift-jis", "gb18030")
FOUND = "found by itself"


def take_upload(key: str) -> None:
    """Take the file in an uploader; if it cannot be read, the dataset in use stays."""
    file: Any = state.value(key)
    if file is None:
        return
    with told():
        datasets.bring(file.name, file)
    state.uploaded()


def take_sample(name: str, page: str | None = None) -> None:
    """Take a bundled sample, and go to a page if one is named."""
    with told():
        datasets.bring_sample(samples.find(name))
        if page is not None:
            state.go_to(page)


def take_truth(key: str) -> None:
    """Take a second file of true labels for the dataset in use."""
    file: Any = state.value(key)
    opened = _opened()
    if file is None or opened is None:
        return
    with told():
        datasets.add_truth(opened, file.name, file)
    state.uploaded()


def change_roles(key: str) -> None:
    """Read the file again with the roles that were edited."""
    opened = _opened()
    edited: Any = state.value(key)
    if opened is None or not edited:
        return
    played = opened.roles()
    wished = dict(zip(played["column"], played["role"], strict=True))
    for row, change in edited["edited_rows"].items():
        wished[played["column"].iloc[int(row)]] = change["role"]
    with told():
        datasets.read_otherwise(opened, roles.reading_of(opened.reading.report.layout, wished, opened.dataset.reading))


def leave_out(learners: Sequence[str]) -> None:
    """Read the file again without some learners."""
    opened = _opened()
    if opened is not None:
        with told():
            datasets.read_otherwise(opened, roles.without(learners, opened.dataset.reading))


def option(
    name: str, label: str, choices: Sequence[str] | Mapping[str, str], found: str | None, opened: datasets.Opened
) -> None:
    """Show a choice of how to read the file: what was found, or something else."""
    told = opened.dataset.reading.get(name)
    listed = [*choices.values()] if isinstance(choices, Mapping) else [*choices]
    shown = choices.get(found or "", found) if isinstance(choices, Mapping) else found
    key = f"reading_{name}_{opened.dataset.id}"
    st.selectbox(
        label,
        [FOUND, *listed],
        index=listed.index(told) + 1 if told in listed else 0,
        format_func=lambda choice: f"{shown} ({FOUND})" if choice == FOUND else choice,
        key=key,
        on_change=_change_option,
        args=(name, key),
        disabled=found is None or found == "parquet",
        help="A Parquet file has neither delimiter nor encoding." if found in (None, "parquet") else None,
    )


def _change_option(name: str, key: str) -> None:
    opened = _opened()
    wish = state.value(key)
    if opened is None:
        return
    # Another layout, delimiter or encoding makes other columns: roles given before no longer mean anything.
    kept = {
        each: told
        for each, told in opened.dataset.reading.items()
        if each in ("layout", "delimiter", "encoding", "missing")
    }
    kept.pop(name, None)
    if wish != FOUND:
        kept[name] = wish
    with told():
        datasets.read_otherwise(opened, kept)
    if state.problem():  # it did not work: show what holds
        state.set_value(key, opened.dataset.reading.get(name, FOUND))


def read_as_found() -> None:
    """Read the file again as if nothing had been said about how to."""
    opened = _opened()
    if opened is not None:
        with told():
            datasets.read_otherwise(opened, {})


def _opened() -> datasets.Opened | None:
    opened = None
    with told():
        opened = datasets.current()
    return opened  # noqa: RET504  # None if there was something to tell
