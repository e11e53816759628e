"""Filters of the Rows page: conditions as a form and as chips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, get_args

import streamlit as st

from deem_core.diagnostics import RowFilter, RowTable
from deem_core.diagnostics.rows import (
    FUSED,
    MAJORITY,
    TRUTH,
    Between,
    Column,
    Condition,
    Contains,
    Flag,
    Is,
    Order,
    Pair,
)
from studio import state, text, widgets
from studio.errors import callback_boundary
from studio.words import say

ANY = "any"
ANY_VOTE = "anything"
CHANGED, WRONG = Pair(FUSED, MAJORITY), Pair(FUSED, TRUTH)
ORDER_WORDS: dict[Order, str] = {
    "row": "As in the file",
    "least confident": "Least confident first",
    "most confident": "Most confident first",
    "most disputed": "Most disputed first",
}


def current() -> RowFilter:
    """Return the filter in the address.

    Raises
    ------
    InputError
        If it is broken.
    """
    return RowFilter.of(state.get(state.ROWS) or "")


def order(rows: RowTable) -> Order:
    """Return the order in the address, if these rows have it."""
    wished = state.get(state.ORDER)
    return next((one for one in orders(rows) if one == wished), "row")


def orders(rows: RowTable) -> list[Order]:
    """Return the orders that these rows have."""
    return [one for one in get_args(Order) if rows.confidence is not None or not one.endswith("confident")]


def use(chosen: RowFilter) -> None:
    """Put a filter into the address; for callbacks."""
    state.put(state.ROWS, chosen.text or None)


def _change(out: Sequence[Condition], into: Sequence[Condition]) -> None:
    """Replace conditions of the filter in the address."""
    with callback_boundary():
        use(current().without(*out).having(*into))


# ---------------------------------------------------------------------- the form


def show(rows: RowTable, chosen: RowFilter) -> None:
    """Show the filter: common conditions, a popover of others, and chips."""
    classes = [str(label) for label in rows.votes.classes]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="row_filters"):
        _search(chosen)
        if rows.fused is not None:
            _label("Fused label", FUSED, classes, chosen)
        _label("Majority vote", MAJORITY, classes, chosen)
        if rows.votes.truth is not None:
            _label("True label (evaluation)", TRUTH, [*classes, *map(str, rows.votes.truth_only)], chosen)
        with st.popover("More filters", icon=":material/filter_list:"):
            _vote(rows, classes)
            _pair(rows)
            if rows.confidence is not None:
                _confidence(chosen)
    _flags(rows, chosen)
    _chips(chosen)


def _search(chosen: RowFilter) -> None:
    own = [one for one in chosen.conditions if isinstance(one, Contains)]
    state.set_value("rows_search", own[0].words_sought if own else "")

    def sought() -> None:
        words = str(state.value("rows_search") or "").strip()
        _change(own, [Contains(words)] if words else [])

    st.text_input("Search", key="rows_search", placeholder="id or text", on_change=sought, width=170)


def _label(title: str, column: Column, labels: Sequence[str], chosen: RowFilter) -> None:
    key = f"rows_is_{column.kind}"
    own = [one for one in chosen.conditions if isinstance(one, Is) and one.column == column]
    label = own[0].label if own else ""
    state.set_value(key, label if label in labels else None)

    def picked() -> None:
        value = state.value(key)
        _change(own, [] if value is None else [Is(column, str(value))])

    st.selectbox(title, labels, key=key, placeholder=ANY, index=None, on_change=picked, width=170)


def choose_order(rows: RowTable) -> None:
    """Show the choice of the order, which stands in the address."""
    state.set_value("rows_order", order(rows))
    st.selectbox(
        "Order",
        orders(rows),
        label_visibility="collapsed",
        key="rows_order",
        format_func=ORDER_WORDS.__getitem__,
        on_change=lambda: state.put(state.ORDER, str(state.value("rows_order"))),
        width=210,
    )


def _vote(rows: RowTable, classes: Sequence[str]) -> None:
    st.markdown(say("**A learner’s vote**"))
    first, second, third = st.columns([3, 3, 1], vertical_alignment="bottom")
    learner = first.selectbox(say("Learner"), rows.votes.learners, **widgets.keep("rows_learner"))
    label = second.selectbox("says", [ANY_VOTE, *classes], **widgets.keep("rows_says"))
    wanted = Is(Column("vote", learner), "" if label == ANY_VOTE else label)
    third.button("Add", key="rows_add_vote", on_click=_change, args=([], [wanted]))


def _pair(rows: RowTable) -> None:
    columns = columns_of(rows)
    st.markdown("**Two columns**")
    first, second, third, fourth = st.columns([3, 2, 3, 1], vertical_alignment="bottom")
    one = first.selectbox("First", columns, format_func=_words, **widgets.keep("rows_first"))
    how = second.selectbox("How", ["differs from", "same as"], label_visibility="hidden", **widgets.keep("rows_how"))
    others = [column for column in columns if column != one]
    other = third.selectbox("Second", others, format_func=_words, **widgets.keep("rows_second"))
    pair = Pair(Column.of(one), Column.of(other), how == "same as")
    fourth.button("Add", key="rows_add_pair", on_click=_change, args=([], [pair]))


def columns_of(rows: RowTable) -> list[str]:
    """Return the keys of the columns that can be compared."""
    columns = [*([FUSED] if rows.fused is not None else []), MAJORITY]
    columns += [Column("vote", learner) for learner in rows.votes.learners]
    columns += [Column("label", method) for method in rows.methods]
    return [column.key for column in (*columns, *([TRUTH] if rows.votes.truth is not None else []))]


def _words(key: str) -> str:
    column = Column.of(key)
    evaluation = " (evaluation)" if column == TRUTH else ""
    return f"{column.words}{' (method)' if column.kind == 'label' else evaluation}"


def _confidence(chosen: RowFilter) -> None:
    own = [one for one in chosen.conditions if isinstance(one, Between)]
    st.markdown("**Confidence of the fused label, in percent**")
    first, second, third = st.columns([3, 3, 1], vertical_alignment="bottom")
    low = first.number_input("From", 0.0, 100.0, 100 * (own[0].low if own else 0.0), 1.0, key="rows_low")
    high = second.number_input("To", 0.0, 100.0, 100 * (own[0].high if own else 1.0), 1.0, key="rows_high")
    wanted = Between(round(low / 100, 6), round(high / 100, 6))
    third.button("Set", key="rows_set_confidence", on_click=_change, args=(own, [wanted]))


def _flags(rows: RowTable, chosen: RowFilter) -> None:
    flags: dict[str, Condition] = {}
    if rows.fused is not None:
        flags = {"Differs from majority vote": CHANGED, "Unanimous overruled": Flag("overruled")}
    if rows.needs_review is not None:
        flags["Needs review"] = Flag("review")
    flags["Tied"] = Flag("tied")
    if (rows.votes.votes_per_row == 0).any():
        flags["No votes"] = Flag("silent")
    if rows.votes.gold is not None:
        flags["Gold label known"] = Flag("gold")
    if rows.fused is not None and rows.votes.truth is not None:
        flags["Wrong (evaluation)"] = WRONG
    state.set_value("rows_only", [words for words, flag in flags.items() if flag in chosen.conditions])

    def turned() -> None:
        on = cast(list[str], state.value("rows_only"))
        _change(list(flags.values()), [flags[words] for words in on])

    st.pills(
        "Only rows",
        list(flags),
        selection_mode="multi",
        key="rows_only",
        on_change=turned,
        label_visibility="collapsed",
    )


# ---------------------------------------------------------------------- what holds


def _chips(chosen: RowFilter) -> None:
    """Show each remaining condition as a button that removes it."""
    others = [one for one in chosen.conditions if not _has_widget(one, chosen)]
    if not chosen.conditions:
        return
    with st.container(horizontal=True, gap="small", key="row_chips"):
        for at, one in enumerate(others):
            st.button(
                text.plain(one.words),
                key=f"rows_chip_{at}",
                icon=":material/close:",
                on_click=_change,
                args=([one], []),
                help="Click to remove this filter.",
            )
        st.button("Clear all filters", key="rows_clear", type="tertiary", on_click=use, args=(RowFilter(),))


def _has_widget(one: Condition, chosen: RowFilter) -> bool:
    if isinstance(one, Is):
        same = [other for other in chosen.conditions if isinstance(other, Is) and other.column == one.column]
        return one.column in (FUSED, MAJORITY, TRUTH) and bool(one.label) and same[0] == one
    return isinstance(one, (Flag, Contains)) or one in (CHANGED, WRONG)
