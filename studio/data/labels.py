"""Labels of a file: merge spellings, rename, order and ignore them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from deem_core import InputError
from deem_core.diagnostics import Finding
from deem_core.readers import LabelMap, LabelRow, Wish, may_be_one, wished_map
from studio import jobs, state, text
from studio.data import datasets, intake, meaning
from studio.errors import callback_boundary

LABEL, ALSO, NAME, VOTES, LEARNERS, ORDER, USED = "label", "also", "class", "votes", "learners", "order", "use"
"""Columns of the editor."""

MERGED, EDITED = ("spellings",), ("rare_classes", "unpredicted_classes", "few_rows", "similar_labels")
"""Findings that merging spellings mends, and those that the editor may."""

MOST_SUGGESTED = 4
"""Suggestions that are shown at once."""

SPELLINGS_SHOWN = 6
"""Spellings of a class that the preview names."""


# ---------------------------------------------------------------------- what clicks do


def merge_spellings() -> None:
    """Read the file again with its spellings merged."""
    _read_with(lambda reading: {**reading, "merge_spellings": True})


def apply(labels: LabelMap) -> None:
    """Read the file again with other names of its labels."""
    _read_with(lambda reading: _renamed(reading) | labels.to_options())


def reset() -> None:
    """Read the file again with the labels as it spells them."""
    _read_with(_without)


def merge_and_train(config: Mapping[str, Any], title: str) -> None:
    """Merge spellings and train again with the same settings."""
    merge_spellings()
    dataset = state.get(state.DATA)
    if state.problem() is None and dataset is not None:
        jobs.start("train", dataset, dict(config), title)


def _read_with(change: Any) -> None:
    with callback_boundary():
        opened = datasets.current()
        if opened is not None:
            datasets.read_otherwise(opened, change(opened.dataset.reading))


def _renamed(reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options without names.

    An order that was named follows the new names.
    """
    options = _without(reading)
    return options | ({"ordered": True} if options.get("ordered") else {})


def _without(reading: Mapping[str, Any]) -> dict[str, Any]:
    return {name: told for name, told in reading.items() if name not in intake.LABELS}


# ---------------------------------------------------------------------- what is shown


def remedy(opened: datasets.Opened, finding: Finding, number: int) -> None:
    """Show the buttons of a finding about labels."""
    if finding.kind in MERGED:
        st.button(
            "Merge spellings",
            key="merge_spellings",
            type="primary",
            icon=":material/merge:",
            on_click=merge_spellings,
        )
    if finding.kind in (*MERGED, *EDITED) and st.button(
        "Edit labels", key=f"edit_labels_{finding.kind}_{number}", icon=":material/edit:"
    ):
        _dialog(opened)


def told(opened: datasets.Opened) -> None:
    """Say that labels were changed, with an undo."""
    labels = opened.reading.labels
    if not changed(opened):
        return
    spelled = sum(1 + len(row.also) for row in opened.labels)
    classes = opened.reading.votes.n_classes
    how = "Spellings are merged" if labels.merge_spellings and not labels.names else "Labels have the names you gave"
    with st.container(horizontal=True, vertical_alignment="center", key="labels_told"):
        st.caption(
            f":material/label: {how}: {text.count(spelled, 'label')} in the file, "
            f"{text.count(classes, 'class', 'classes')} now. The file itself does not change.",
            width="stretch",
        )
        st.button("Undo", key="undo_labels", icon=":material/undo:", type="tertiary", on_click=reset)


def changed(opened: datasets.Opened) -> bool:
    """Return whether labels were merged or named."""
    return any(opened.dataset.reading.get(name) for name in intake.LABELS)


@st.dialog("Labels", width="large")
def _dialog(opened: datasets.Opened) -> None:
    editor(opened, "dialog")


def editor(opened: datasets.Opened, place: str) -> None:
    """Show the labels to edit, and what comes of it.

    Parameters
    ----------
    opened : Opened
    place : str
        Tells two editors on a page apart.
    """
    rows = opened.labels
    key = f"labels_{place}_{opened.dataset.id}"
    st.caption(
        "One row for each label in the file. Give labels the same class name to merge them, rename codes, and untick "
        "a label that is not a vote. Truth, known labels and answers follow; the file itself does not change."
    )
    edited = st.data_editor(
        frame(rows),
        key=key,
        hide_index=True,
        disabled=[LABEL, ALSO, VOTES, LEARNERS],
        height=min(35 * (len(rows) + 1) + 3, 565),
        column_config={
            USED: st.column_config.CheckboxColumn("Use", help="Untick a label that is not a vote.", width="small"),
            LABEL: st.column_config.TextColumn("Label in the file"),
            ALSO: st.column_config.TextColumn("Also written", help="Spellings that are merged with it."),
            NAME: st.column_config.TextColumn("Class", help="Click to rename.", max_chars=200),
            VOTES: st.column_config.NumberColumn("Votes", format="localized"),
            LEARNERS: st.column_config.NumberColumn(opened.noun.many.capitalize(), format="localized"),
            ORDER: st.column_config.NumberColumn("Order", help="Position of the class, lowest first.", width="small"),
        },
        column_order=[USED, LABEL, *([ALSO] if any(row.also for row in rows) else []), NAME, VOTES, LEARNERS, ORDER],
    )
    meaning.order_switch(opened, place)
    labels = opened.reading.labels
    try:
        wish = wished_map(rows, wishes(edited), labels)
    except InputError as error:
        st.warning(text.plain(str(error)), icon=":material/info:")
        wish = labels
    same = wish.to_options() == labels.to_options()
    if not same:
        st.markdown("**What will change**")
        st.dataframe(preview(rows, edited), hide_index=True, key=f"preview_{key}", height="content")
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Apply", key=f"apply_{place}", type="primary", disabled=same, on_click=apply, args=(wish,)):
            st.rerun()
        if not labels.merge_spellings and st.button(
            "Merge spellings", key=f"merge_{place}", icon=":material/merge:", on_click=merge_spellings
        ):
            st.rerun()
        if changed(opened) and st.button(
            "Reset to the file's labels", key=f"reset_{place}", icon=":material/undo:", on_click=reset
        ):
            st.rerun()
    _suggest(rows, labels, place)


def _suggest(rows: Sequence[LabelRow], labels: LabelMap, place: str) -> None:
    """Offer to merge classes that may be one."""
    for at, group in enumerate(may_be_one(rows)[:MOST_SUGGESTED]):
        merged = frame(rows)
        merged.loc[merged[NAME].isin(group), NAME] = group[0]
        try:
            wish = wished_map(rows, wishes(merged), labels)
        except InputError:
            continue
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"May be the same: {text.plain(', '.join(map(repr, group)))}.", width="content")
            if st.button(
                f"Merge into {text.plain(repr(group[0]))}",
                key=f"suggest_{place}_{at}",
                type="tertiary",
                on_click=apply,
                args=(wish,),
            ):
                st.rerun()


def frame(rows: Sequence[LabelRow]) -> pd.DataFrame:
    """Return the labels as the editor shows them."""
    classes = list(dict.fromkeys(row.name for row in rows if row.name))
    return pd.DataFrame(
        {
            USED: [bool(row.name) for row in rows],
            LABEL: [row.label for row in rows],
            ALSO: [", ".join(row.also) for row in rows],
            NAME: [row.name or row.label for row in rows],
            VOTES: [row.votes for row in rows],
            LEARNERS: [row.learners for row in rows],
            ORDER: [classes.index(row.name) + 1 if row.name else len(classes) + 1 for row in rows],
        }
    )


def wishes(edited: pd.DataFrame) -> list[Wish]:
    """Return what an edited table says about each label."""
    said = []
    for used, label, name, order in zip(edited[USED], edited[LABEL], edited[NAME], edited[ORDER], strict=True):
        name = "" if not used or name is None or name != name else str(name).strip()  # noqa: PLR0124, PLW2901  # NaN
        said.append(Wish(str(label), name, float(order) if order == order and order is not None else float("inf")))  # noqa: PLR0124
    return said


def preview(rows: Sequence[LabelRow], edited: pd.DataFrame) -> pd.DataFrame:
    """Return the classes that an edited table makes, and from what."""
    votes = {row.label: row.votes for row in rows}
    spelled = {row.label: (row.label, *row.also) for row in rows}
    groups: dict[str, list[Wish]] = {}
    for wish in sorted(wishes(edited), key=lambda each: (not each.name, each.order)):
        groups.setdefault(wish.name, []).append(wish)
    return pd.DataFrame(
        {
            "Class": [name or "(no vote)" for name in groups],
            "Made of": [
                text.listing([label for wish in group for label in spelled[wish.label]], SPELLINGS_SHOWN)
                for group in groups.values()
            ],
            "Votes": [sum(votes[wish.label] for wish in group) for group in groups.values()],
        }
    )
