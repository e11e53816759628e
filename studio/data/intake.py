"""Callbacks of the Data page: upload, roles, reading options."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from deem_core import InputError
from deem_core.runs import Dataset
from deem_core.text import clip
from studio import state
from studio.data import datasets, samples
from studio.errors import callback_boundary
from studio.text import plain

ENCODINGS = ("utf-8", "cp1252", "latin-1", "utf-16", "mac-roman", "cp1251", "shift-jis", "gb18030")
FILE_TYPES = (
    "csv",
    "tsv",
    "txt",
    "jsonl",
    "ndjson",
    "json",
    "gz",
    "parquet",
    "pq",
    "xlsx",
    "ods",
    "npz",
    "npy",
    "arrow",
    "feather",
)
"""Endings that the uploader takes."""
FOUND = "detected"
LABELS = ("merge_spellings", "labels")
"""Reading options about labels."""
MEANING = ("ordered", "multilabel", "empty_is_none", "one_label")
"""Reading options about what labels mean."""
KEPT = ("delimiter", "encoding", "sheet", "swap_ba", "one_voice", "missing", *LABELS, *MEANING)
"""Reading options that hold whatever the columns are."""
ORDERS = {
    "swap_ba": "In the order BA, A means the answer shown first: swap A and B there",
    "one_voice": "Make both answers of a judge one vote, and none where they contradict each other",
}
"""Boxes of judges asked in both orders, by their reading options."""
COLUMNS_CHOSEN = 25
"""More columns than this have their roles in a table."""


def uploader(page: str | None = None) -> None:
    """Show the uploader of votes; ``page`` is opened afterwards."""
    key = state.uploader("votes")
    st.file_uploader(
        "Upload a file of votes: CSV, TSV, JSON, Parquet, Excel, …",
        key=key,
        type=FILE_TYPES,
        on_change=take_upload,
        args=(key, page),
    )


def paste(page: str | None = None) -> None:
    """Show a place to paste rows, then open a page if named."""
    key = state.uploader("pasted")
    with st.popover("Paste rows", icon=":material/content_paste:"):
        st.text_area(
            "Rows from a spreadsheet, or the text of a CSV or JSON file",
            key=key,
            height=220,
            placeholder="id,model_a,model_b,model_c\n1,cat,cat,dog\n2,dog,cat,dog",
        )
        st.button(
            "Use these rows",
            key=f"use_{key}",
            type="primary",
            on_click=take_pasted,
            args=(key, page),
        )


def take_pasted(key: str, page: str | None = None) -> None:
    """Take pasted rows as a file."""
    pasted = str(state.value(key) or "")
    with callback_boundary(state.TOP):
        if not pasted.strip():
            raise InputError("Nothing was pasted. Paste the header and the rows below it.")
        datasets.bring(f"pasted_rows.{'jsonl' if pasted.lstrip()[:1] in '[{' else 'txt'}", io.BytesIO(pasted.encode()))
        if page is not None:
            state.go_to(page)
        state.uploaded()


def take_upload(key: str, page: str | None = None) -> None:
    """Take the file in an uploader, then go to a page.

    If it cannot be decoded, the dataset in use stays.
    """
    file: Any = state.value(key)
    if file is None:
        return
    with callback_boundary(state.TOP):
        datasets.bring(file.name, file)
        if page is not None:
            state.go_to(page)
    state.uploaded()


def take_sample(name: str, page: str | None = None) -> None:
    """Take a bundled sample, then go to a page if named."""
    with callback_boundary(state.TOP):
        datasets.bring_sample(samples.find(name))
        if page is not None:
            state.go_to(page)


def take_truth(key: str) -> None:
    """Take a second file of true labels for the dataset in use."""
    file: Any = state.value(key)
    opened = _at_hand()
    if file is None or opened is None:
        return
    with callback_boundary(state.READING):
        datasets.add_truth(opened, file.name, file)
    state.uploaded()


def roles(found: datasets.Opened | datasets.Unread) -> None:
    """Show the role of every column, to be changed.

    A choice for each of a few columns; of many a table, which is quicker.
    """
    columns, choices = found.format.roles(), list(ROLES[found.format.layout])
    if not len(columns):
        return
    if len(columns) > COLUMNS_CHOSEN:
        _roles_table(columns, choices, f"roles_{found.dataset.id}")
        return
    with st.container(border=True, gap="xsmall", key="roles"):
        for row, (name, role, values) in enumerate(columns.itertuples(index=False)):
            key = role_key(found.dataset.id, row)
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f"**{plain(clip(name, 40))}**", width=240)
                st.selectbox(
                    f"Role of {plain(clip(name, 40))}",
                    choices,
                    index=choices.index(role),
                    key=key,
                    label_visibility="collapsed",
                    width=140,
                    on_change=change_role,
                )
                st.caption(plain(clip(values, 80)), width="stretch")


def _roles_table(columns: pd.DataFrame, choices: list[str], key: str) -> None:
    st.caption("Double-click a role to change it.")
    st.data_editor(
        columns,
        key=key,
        hide_index=True,
        height=600,
        disabled=["column", "first values"],
        column_config={
            "column": "Column",
            "role": st.column_config.SelectboxColumn(
                "Role", options=choices, required=True, help="Double-click to change."
            ),
            "first values": "First values",
        },
        on_change=change_roles,
        args=(key,),
    )


def role_key(dataset: str, row: int) -> str:
    """Return the key of the choice of a column's role."""
    return f"role_{row}_{dataset}"


def change_role() -> None:
    """Read the file again with the roles that are chosen."""
    found = _at_hand()
    if found is None:
        return
    columns = found.format.roles()
    chosen = [state.value(role_key(found.dataset.id, row)) for row in range(len(columns))]
    _read_with(
        found,
        {name: str(role or was) for name, was, role in zip(columns["column"], columns["role"], chosen, strict=True)},
    )


def change_roles(key: str) -> None:
    """Read the file again with the roles edited in a table."""
    found = _at_hand()
    edits: Any = state.value(key)
    if found is None or not edits:
        return
    columns = found.format.roles()
    played = dict(zip(columns["column"], columns["role"], strict=True))
    for row, change in edits["edited_rows"].items():
        played[columns["column"].iloc[int(row)]] = change["role"]
    _read_with(found, played)


def _read_with(found: datasets.Opened | datasets.Unread, played: Mapping[str, str]) -> None:
    with callback_boundary(state.READING):
        datasets.read_otherwise(found, reading_of(found.format.layout, played, found.dataset.reading))


def leave_out(learners: Sequence[str]) -> None:
    """Read the file again without some learners."""
    found = _at_hand()
    if found is not None:
        with callback_boundary():
            datasets.read_otherwise(found, without(learners, found.dataset.reading), must_work=True)


def option(
    name: str,
    label: str,
    choices: Sequence[str] | Mapping[str, str],
    value: str | None,
    dataset: Dataset,
    *,
    applies: bool = True,
    undecided: str = FOUND,
) -> None:
    """Show a choice of one reading option.

    ``undecided`` is what stands there where nothing was chosen or found.
    """
    wish = dataset.reading.get(name)
    names = [*choices.values()] if isinstance(choices, Mapping) else [*choices]
    value_name = choices.get(value or "", value) if isinstance(choices, Mapping) else value
    key = f"reading_{name}_{dataset.id}"
    st.selectbox(
        label,
        [FOUND, *names],
        index=names.index(wish) + 1 if wish in names else 0,
        format_func=lambda choice: (
            choice if choice != FOUND else f"{value_name} ({FOUND})" if value_name else undecided
        ),
        key=key,
        on_change=_change_option,
        args=(name, key),
        disabled=not applies,
        help=None if applies else "This kind of file has none.",
    )


def order_options(found: datasets.Opened | datasets.Unread) -> None:
    """Show what to do with judges asked in both orders."""
    reading = found.dataset.reading
    biased = isinstance(found, datasets.Opened) and bool(found.position_bias)
    if not biased and not any(reading.get(name) for name in ORDERS):
        return
    for name, words in ORDERS.items():
        key = f"reading_{name}_{found.dataset.id}"
        st.checkbox(words, value=bool(reading.get(name)), key=key, on_change=_change_order, args=(name, key))


def _change_order(name: str, key: str) -> None:
    found = _at_hand()
    if found is None:
        return
    options = {each: told for each, told in found.dataset.reading.items() if each != name}
    with callback_boundary(state.READING):
        datasets.read_otherwise(found, options | ({name: True} if state.value(key) else {}))
    if state.problem():  # nothing can be read that way: show what holds
        state.set_value(key, bool(found.dataset.reading.get(name)))


def _change_option(name: str, key: str) -> None:
    found = _at_hand()
    wish = state.value(key)
    if found is None:
        return
    # Another layout, delimiter or encoding makes other columns: roles given before no longer mean anything.
    choice = None if found.format.choice is None else found.format.choice.option
    kept = KEPT if name == choice else ("layout", choice, *KEPT)
    options = {each: told for each, told in found.dataset.reading.items() if each in kept and each != name}
    if wish != FOUND:
        options[name] = wish
    with callback_boundary(state.READING):
        datasets.read_otherwise(found, options)
    if state.problem():  # nothing can be shown that way: show what holds
        state.set_value(key, found.dataset.reading.get(name, FOUND))


def read_as_found() -> None:
    """Read the file again without any reading options."""
    found = _at_hand()
    if found is not None:
        with callback_boundary(state.READING):
            datasets.read_otherwise(found, {})


def _at_hand() -> datasets.Opened | datasets.Unread | None:
    found = None
    with callback_boundary():
        found = datasets.at_hand()
    return found  # noqa: RET504  # None if there was something to tell


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
    kept = KEPT if layout == "long" else (*KEPT, "label")  # elsewhere it is no column, but a question of the file
    options = {name: value for name, value in before.items() if name in kept}
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
                raise InputError(f"A long file needs a column for the {role}. Choose one.")
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
