"""Heatmaps whose cells lead to their rows."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from deem_core import InputError
from deem_core.diagnostics import RowFilter
from deem_core.figures import Cells, Picture
from studio import state, widgets
from studio.rows.sources import Source
from studio.words import say

MOST_TRIED = 50
"""Cells that are looked at for one with rows, to begin with."""


def picture(shown: Picture, key: str, source: Source, *, note: str = "", titled: bool = False) -> None:
    """Show a heatmap, and below it the way to a cell's rows.

    Parameters
    ----------
    shown : Picture
        One with `Picture.cells`; any other is shown as it is.
    key : str
    source : Source
        Whose labels the picture shows.
    note : str
    titled : bool
    """
    cells = shown.cells
    if cells is None or not (len(cells.down.names) and len(cells.across.names)):
        widgets.picture(shown, key, note=note, titled=titled)
        return
    widgets.picture(shown, key, note=note, titled=titled, on_select=_clicked, args=(key, cells))
    _choice(cells, key, source)


def _clicked(key: str, cells: Cells) -> None:
    place = clicked(state.value(key))
    if place is None:
        return
    for name, at, there in zip(_keys(key), place, _sizes(cells), strict=True):
        if at < there:
            state.set_value(name, at)


def clicked(selection: object) -> tuple[int, int, int] | None:
    """Return row, column and panel of the clicked cell."""
    points = selection.get("selection", {}).get("points", []) if isinstance(selection, Mapping) else []
    told = points[0].get("customdata") if points else None
    if not isinstance(told, (list, tuple)) or len(told) < 3:
        return None
    down, across, panel = (int(at) for at in told[:3])
    return down, across, panel


def _choice(cells: Cells, key: str, source: Source) -> None:
    """Show boxes that choose a cell, and the button to its rows."""
    names = (cells.down.names, cells.across.names, cells.panels)
    titles = (cells.down.title, cells.across.title, "Picture")
    st.caption("**Rows behind a cell:** click it, or choose it here.")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=f"{key}_cell"):
        keys = _keys(key)
        if any(state.value(name) not in range(at) for name, at in zip(keys, _sizes(cells), strict=True)):
            begin = _first(cells, source)  # none is chosen yet, or one of another picture, which had more
            for name, at in zip(keys, begin, strict=True):
                state.set_value(name, at)
        chosen = [0, 0, 0]
        for which, (title, own, own_key) in enumerate(zip(titles, names, keys, strict=True)):
            if len(own) > 1:
                words = [str(name) for name in own]
                chosen[which] = st.selectbox(
                    say(title),
                    list(range(len(own))),
                    format_func=words.__getitem__,
                    width=190,
                    **widgets.keep(own_key),
                )
        rows = cells.rows(chosen[0], chosen[1], chosen[2])
        number = _count(rows, source)
        st.button(
            "No such rows" if not number else f"Show {'this row' if number == 1 else f'these {number:,} rows'}",
            key=f"{key}_rows",
            icon=":material/table_rows:",
            disabled=not number,
            on_click=open_rows,
            args=(source, rows),
        )


def _count(rows: RowFilter | None, source: Source) -> int:
    """Return how many rows are behind a cell."""
    try:
        return 0 if rows is None else int(rows.mask(source.table).sum())
    except InputError:  # labels of another file, or a learner that is gone
        return 0


def _first(cells: Cells, source: Source) -> tuple[int, int, int]:
    """Return the cell to begin with.

    Off the diagonal, and with rows if one of the first has any.
    """
    down, across, _ = _sizes(cells)
    off = [(one, other, 0) for one in range(down) for other in range(across) if one != other][:MOST_TRIED]
    return next((cell for cell in off if _count(cells.rows(*cell), source)), off[0] if off else (0, 0, 0))


def _sizes(cells: Cells) -> tuple[int, int, int]:
    return len(cells.down.names), len(cells.across.names), max(len(cells.panels), 1)


def _keys(key: str) -> tuple[str, str, str]:
    return f"{key}_down", f"{key}_across", f"{key}_panel"


def open_rows(source: Source, rows: RowFilter | None) -> None:
    """Turn to the Rows page with a filter; for ``on_click``."""
    if source.run is not None:
        state.put(state.RUN, source.run.id)
        state.put(state.METHOD, source.method or None)
    state.put(state.ROWS, "" if rows is None else rows.text)
    state.go_to("rows")


def link(source: Source, rows: RowFilter, key: str, words: str = "Show these rows") -> None:
    """Show a button that leads to rows."""
    st.button(words, key=key, icon=":material/table_rows:", on_click=open_rows, args=(source, rows))
