"""Meaning of labels: classes, steps, or several in a cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from deem_core.readers import knows_order, label_names, steps_text
from studio import state, text
from studio.data import datasets
from studio.data.intake import MEANING
from studio.errors import callback_boundary

OPEN_LABEL = "open_label"
"""Key of the choice of one label among several."""


# ---------------------------------------------------------------------- what clicks do


def give_order(opened: datasets.Opened, steps: list[str] | None = None) -> None:
    """Read the file again with labels that have an order.

    Numbers and known words have their own; other labels keep the order that they stand in.
    """
    labels = opened.reading.votes.classes.tolist()
    known = steps is None and knows_order(labels)
    _read_with(lambda reading: {**reading, "ordered": True if known else steps or list(map(str, labels))})


def take_apart() -> None:
    """Read the file again with cells that hold several labels."""
    _read_with(lambda reading: {**_without(reading), "multilabel": True})


def open_label(label: str) -> None:
    """Open one of several labels as a question of its own."""
    _read_with(lambda reading: {**reading, "one_label": label})


def all_labels() -> None:
    """Go back from one label to all of them."""
    _read_with(lambda reading: {name: told for name, told in reading.items() if name != "one_label"})


def set_empty(key: str) -> None:
    """Read empty cells as no label, or as no vote."""
    means = bool(state.value(key))
    _read_with(lambda reading: {**reading, "empty_is_none": means})


def set_order(key: str) -> None:
    """Follow the switch that gives labels an order or takes it away."""
    opened = None
    with callback_boundary():
        opened = datasets.current()
    if opened is not None and state.value(key):
        give_order(opened)
    else:
        plain()


def plain() -> None:
    """Read the file again with labels that are classes and nothing more."""
    _read_with(_without)


def _without(reading: Mapping[str, Any]) -> dict[str, Any]:
    return {name: told for name, told in reading.items() if name not in MEANING}


def _read_with(change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> None:
    with callback_boundary():
        opened = datasets.current()
        if opened is not None:
            datasets.read_otherwise(opened, change(opened.dataset.reading))


# ---------------------------------------------------------------------- what is shown


def notice(opened: datasets.Opened) -> None:
    """Say what labels are taken for, or what they look like.

    One click changes it.
    """
    votes, reading = opened.reading.votes, opened.dataset.reading
    if reading.get("one_label") is not None:
        _line(
            f":material/filter_alt: Only the label {text.plain(repr(reading['one_label']))} is read: yes where it is "
            "among the labels of a cell, else no.",
            "All labels again",
            all_labels,
        )
    elif votes.separator:
        names = label_names(votes)
        _line(
            f":material/sell: A cell holds several of {text.count(len(names), 'label')}. Each is fused as a yes or no "
            "question; a row gets those that are more likely than not.",
            "Undo",
            plain,
        )
        key = f"empty_{opened.dataset.id}"
        state.set_value(key, bool(reading.get("empty_is_none")))
        st.toggle(
            "An empty cell means that no label applies (else it is no vote)", key=key, on_change=set_empty, args=(key,)
        )
    elif votes.ordered:
        _line(
            f":material/linear_scale: Labels have an order: {text.plain(steps_text(votes.classes.tolist()))}. Each row "
            "gets an expected score beside its label.",
            "Undo",
            plain,
        )
    elif opened.proposed_separator is not None:
        _line(
            f":material/sell: Cells seem to hold several labels, with {text.plain(repr(opened.proposed_separator))} "
            "between them. So far each combination is a class of its own.",
            "Several labels in a cell",
            take_apart,
            offer=True,
        )
    elif opened.proposed_order is not None:
        _line(
            f":material/linear_scale: These labels look like a scale: {text.plain(steps_text(opened.proposed_order))}. "
            "If they have an order, rows get an expected score, too.",
            "Labels have an order",
            give_order,
            offer=True,
            args=(opened,),
        )


def _line(
    words: str, button: str, click: Callable[..., None], *, offer: bool = False, args: tuple[Any, ...] = ()
) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="meaning"):
        st.caption(words, width="stretch")
        st.button(button, key="change_meaning", type="secondary" if offer else "tertiary", on_click=click, args=args)


def order_switch(opened: datasets.Opened, place: str) -> None:
    """Show the switch that gives labels an order."""
    votes = opened.reading.votes
    if votes.separator or votes.n_classes < 3:
        return
    key = f"ordered_{place}_{opened.dataset.id}"
    state.set_value(key, votes.ordered)
    st.toggle(
        "Labels have an order",
        key=key,
        on_change=set_order,
        args=(key,),
        help="From the lowest to the highest, as in the column Order: 1 to 5, or poor, fair, good. Rows get an "
        "expected score, and errors count by how far they are off.",
    )


def choose_label(opened: datasets.Opened, place: str) -> None:
    """Offer to open one of several labels as a dataset."""
    names = label_names(opened.reading.votes)
    key = f"{OPEN_LABEL}_{place}_{opened.dataset.id}"
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"one_label_{place}"):
        chosen = st.selectbox("Open one label", names, key=key, width=240)
        st.button(
            "Open as yes or no",
            key=f"{OPEN_LABEL}_{place}_go",
            icon=":material/filter_alt:",
            on_click=open_label,
            args=(str(chosen),),
        )


def refusal(opened: datasets.Opened) -> None:
    """Say that a page takes one label, and offer to open one."""
    with st.container(border=True, key="several_labels"):
        st.markdown(
            ":material/sell: **This page takes one label.** The cells of this file hold several, each fused as a "
            "question of its own on the Data page. Open one label here to see this page for it."
        )
        choose_label(opened, "page")
