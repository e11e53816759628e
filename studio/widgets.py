"""Pieces of pages that look and behave the same everywhere."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from deem_core.readers import Report
from studio.numbers import Number
from studio.text import plain

_NOTE_ICONS = {
    "understood": ":green[:material/check_circle:]",
    "changed": ":blue[:material/edit:]",
    "left out": ":gray[:material/do_not_disturb_on:]",
    "warning": ":orange[:material/warning:]",
}
_NO_NOTES = {"changed": "nothing changed", "left out": "nothing left out", "warning": "no warnings"}


def theme() -> str:
    """Return "light" or "dark", whichever the visitor's browser shows."""
    return st.context.theme.type or "light"


def number_cards(numbers: Iterable[Number], columns: int, min_width: int = 150) -> None:
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


def bring_into_view(key: str) -> None:
    """Scroll to a container that lies far down, as opened samples do on a telephone."""
    st.html(
        f"""<script>
        const target = document.querySelector(".st-key-{key}");
        if (target && target.getBoundingClientRect().top > 0.7 * window.innerHeight) {{
          target.style.scrollMarginTop = "4rem";
          target.scrollIntoView({{ block: "start", behavior: "smooth" }});
        }}
        </script>""",
        unsafe_allow_javascript=True,
    )
