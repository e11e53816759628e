"""Pieces of pages that look and behave the same everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from deem_core.diagnostics.checkup import Finding
from deem_core.readers import Report
from studio import state
from studio.numbers import Number
from studio.text import plain

_NOTE_ICONS = {
    "understood": ":green[:material/check_circle:]",
    "changed": ":blue[:material/edit:]",
    "left out": ":gray[:material/do_not_disturb_on:]",
    "warning": ":orange[:material/warning:]",
}
PICTURE_FORMAT = "picture_format"

_NO_NOTES = {"changed": "nothing changed", "left out": "nothing left out", "warning": "no warnings"}


def header(title: str, question: str) -> DeltaGenerator:
    """Show the title row of a page, its question below, and return the place for badges at its right."""
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    row.title(title, anchor=False, width="stretch")
    st.caption(question)
    return row


def complaint() -> None:
    """Show the sentence about what could not be done, if there is one, until it is closed or something succeeds."""
    sentence = state.problem()
    if not sentence:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="complaint"):
        st.warning(plain(sentence), icon=":material/info:")
        st.button(
            "Close",
            key="close_complaint",
            type="tertiary",
            icon=":material/close:",
            on_click=state.complain,
            args=(None,),
        )


def empty_state(icon: str, title: str, sentence: str, button: str, page: str) -> None:
    """Show, centred, what a page is waiting for, and a button that leads there.

    Parameters
    ----------
    icon, title, sentence, button : str
    page : str
        Name of the page to go to.
    """
    with st.container(
        border=True, height=380, horizontal_alignment="center", vertical_alignment="center", key="empty_state"
    ):
        st.markdown(f"## {icon}", width="content")
        st.markdown(f"**{title}**", width="content")
        st.caption(sentence, width="content")
        st.button(
            button, key="empty_go", type="primary", icon=":material/arrow_forward:", on_click=state.go_to, args=(page,)
        )


def theme() -> str:
    """Return "light" or "dark", whichever the visitor's browser shows."""
    return st.context.theme.type or "light"


def number_cards(numbers: Iterable[Number], columns: int, min_width: int = 140) -> None:
    """Show numbers as cards of equal height.

    Parameters
    ----------
    numbers : iterable of Number
    columns : int
        The most cards side by side.
    min_width : int
        Pixels below which a card moves to the next line.
    """
    grid = st.grid(columns, min_column_width=min_width)
    for number in numbers:
        grid.metric(
            number.label,
            number.value,
            delta=number.note,
            delta_color="off",
            delta_arrow="off",
            help=number.help,
            border=True,
            height="stretch",
        )


def report(reading: Report) -> None:
    """Show what a reader understood, changed and left out, one line per note, and say so where it is nothing."""
    for note in reading.notes:
        with st.container(horizontal=True, wrap=False, gap="xsmall"):
            st.markdown(_NOTE_ICONS[note.kind], width="content")
            st.markdown(plain(note.text))
    absent = [words for kind, words in _NO_NOTES.items() if not any(note.kind == kind for note in reading.notes)]
    if absent:
        sentence = ", ".join(absent)
        st.caption(f"{sentence[:1].upper()}{sentence[1:]}.")


def chart(
    figure: Any,
    key: str,
    alt: str,
    *,
    on_select: Callable[..., None] | None = None,
    args: tuple[Any, ...] = (),
    min_width: int | None = None,
) -> None:
    """Show a figure; of Plotly's own buttons only the camera, which saves it as a picture.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
    key, alt : str
        For tests, and for those who cannot see it.
    on_select : callable, optional
        Called with ``args`` when a point was clicked.
    min_width : int, optional
        Pixels below which the figure is moved sideways instead of squeezed, as on a telephone.
    """
    if min_width is not None:
        st.html(
            f"<style>.st-key-{key} {{ overflow-x: auto }} "
            f".st-key-{key} > *, .st-key-{key} [data-testid='stPlotlyChart'] {{ min-width: {min_width}px }}</style>"
        )
    st.plotly_chart(
        figure,
        key=key,
        config={
            "displaylogo": False,
            "modeBarButtons": [["toImage"]],
            "toImageButtonOptions": {"format": picture_format(), "filename": key, "scale": 2},
        },
        alt=alt,
        on_select="ignore" if on_select is None else lambda: on_select(*args),
        selection_mode="points",
    )


def picture_format() -> str:
    """Return the format in which figures are saved."""
    return "svg" if state.value(PICTURE_FORMAT) == "SVG" else "png"


def choose_picture_format() -> None:
    """Show the choice of the format in which figures are saved."""
    st.segmented_control(
        "Pictures as", ["PNG", "SVG"], default="PNG", key=PICTURE_FORMAT, required=True, persist_state="session"
    )


def truth_badge(n_truth: int) -> None:
    """Say whether a dataset has true labels."""
    if n_truth:
        st.badge("Truth included", icon=":material/verified:", color="green")
    else:
        st.badge("No truth", icon=":material/help:", color="gray")


def finding(found: Finding, number: int, on_leave_out: Callable[[Sequence[str]], None]) -> None:
    """Show what was found about the votes, what it means, what to do, and a button that does it.

    The number tells findings of the same kind apart.
    """
    warns = found.severity == "warning"
    icon = ":orange[:material/warning:]" if warns else ":blue[:material/info:]"
    with st.container(
        border=True, horizontal=True, vertical_alignment="center", gap="small", key=f"found_{found.kind}_{number}"
    ):
        st.markdown(f"{icon} **{plain(found.title)}.** {plain(found.sentence)} {plain(found.advice)}")
        if found.leave_out:
            names = found.leave_out
            st.button(
                f"Leave {plain(names[0])} out" if len(names) == 1 else f"Leave these {len(names)} out",
                key=f"leave_out_{found.kind}_{number}",
                icon=":material/person_remove:",
                on_click=on_leave_out,
                args=(names,),
                help=plain(", ".join(names)),
            )


def plain_list(sentences: Sequence[str]) -> None:
    """Show sentences below each other, small."""
    for sentence in sentences:
        st.caption(plain(sentence))
