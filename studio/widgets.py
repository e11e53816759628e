"""Pieces of pages that look and behave the same everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from deem_core import Alarm
from deem_core.diagnostics import Finding
from deem_core.figures import MOST_MARKS, Picture, has_numbers, numbers, written_width
from deem_core.model import missing_torch
from deem_core.readers import Report
from studio import drawings, errors, plot, state, words
from studio.data import datasets, meaning
from studio.data.numbers import Number
from studio.export import results
from studio.text import plain
from studio.workspace import bound

_NOTE_ICONS = {
    "understood": ":green[:material/check_circle:]",
    "changed": ":blue[:material/edit:]",
    "left out": ":gray[:material/do_not_disturb_on:]",
    "warning": ":orange[:material/warning:]",
}
PERCENT = "%.1f%%"
"""How percentages look in tables; Streamlit's own "percent" has two decimals."""
PICTURE_FORMAT = "picture_format"
NUMBERS = "numbers"
"""Ends the keys of what shows a picture's numbers."""
BESIDE_CELLS = 230
"""Pixels of a phone that a heatmap's names, colour bar and margins take."""
NUMBERS_WIDTH = 680
"""Pixels of a table of numbers where there is room."""

_NO_NOTES = {"changed": "nothing changed", "left out": "nothing left out", "warning": "no warnings"}


def header(title: str, question: str) -> DeltaGenerator:
    """Show the title and question; return the place for badges."""
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    row.title(title, anchor=False, width="stretch")
    st.caption(words.say(question))
    return row


def complaint(place: str = state.TOP) -> None:
    """Show the last problem until it is closed or something succeeds."""
    sentence = state.problem(place)
    if not sentence:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="complaint"):
        st.warning(plain(words.say(sentence)), icon=":material/info:")
        st.button(
            "Close",
            key="close_complaint",
            type="tertiary",
            icon=":material/close:",
            on_click=state.complain,
            args=(None,),
        )


def empty_state(icon: str, title: str, sentence: str, button: str, page: str) -> None:
    """Show what a page needs, and a button that leads there.

    Parameters
    ----------
    icon, title, sentence, button : str
    page : str
        Name of the page to go to.
    """
    with st.container(
        border=True, height=260, horizontal_alignment="center", vertical_alignment="center", key="empty_state"
    ):
        st.markdown(icon, width="content")  # no heading: it would have no words
        st.markdown(f"**{title}**", width="content")
        st.caption(sentence, width="content")
        st.button(
            button, key="empty_go", type="primary", icon=":material/arrow_forward:", on_click=state.go_to, args=(page,)
        )


def torch_is_there() -> bool:
    """Tell whether PyTorch is installed; if not, say what to do."""
    missing = missing_torch()
    if missing:
        st.info(plain(missing), icon=":material/info:")
    return not missing


def tabs(views: Mapping[str, Callable[[], None]], key: str) -> None:
    """Show views in tabs; only the open one is drawn."""
    for tab, view in zip(st.tabs(list(views), key=key, on_change="rerun"), views.values(), strict=True):
        if tab.open:
            with tab, errors.boundary():
                view()


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
            words.say(number.label),
            number.value,
            delta=plain(words.say(number.note)),
            delta_color="off",
            delta_arrow="off",
            help=words.say(number.help),
            border=True,
            height="stretch",
        )


def report(reading: Report) -> None:
    """Show the notes of a reading, one line each.

    What there was nothing of is said too.
    """
    for note in reading.notes:
        st.markdown(f"{_NOTE_ICONS[note.kind]} {plain(words.say(note.text))}")
    absent = [sentence for kind, sentence in _NO_NOTES.items() if not any(note.kind == kind for note in reading.notes)]
    if absent:
        sentence = ", ".join(absent)
        st.caption(f"{sentence[:1].upper()}{sentence[1:]}.")


def in_percent(table: pd.DataFrame, shares: Iterable[str]) -> pd.DataFrame:
    """Return a table whose shares are percentages, to be shown by `PERCENT`."""
    return table.assign(**{name: 100 * table[name].astype(float) for name in shares if name in table})


class Kept(TypedDict):
    """Arguments of a widget whose value outlives a visit to another page."""

    key: str
    persist_state: Literal["session"]


def keep(key: str) -> Kept:
    """Return the arguments of a widget that keeps its value.

    ``st.toggle("…", **keep("key"))`` holds for the session.
    """
    return {"key": key, "persist_state": "session"}


def picture(
    shown: Picture,
    key: str,
    *,
    note: str = "",
    titled: bool = False,
    on_select: Callable[..., None] | None = None,
    args: tuple[Any, ...] = (),
) -> None:
    """Show a picture with its caption.

    Of Plotly's buttons only the camera is left, which saves it.

    Parameters
    ----------
    shown : Picture
    key : str
        Also the name of the file that the camera saves.
    note : str
        Markdown after the caption: what holds on this page only.
    titled : bool
        Whether the question stands above the picture.
    on_select : callable, optional
        Called with ``args`` when a point was clicked.
    """
    if shown.scrolls:  # moved sideways instead of squeezed, as on a telephone
        st.html(
            f"<style>.st-key-{key} {{ overflow-x: auto }} .st-key-{key} > *, "
            f".st-key-{key} [data-testid='stPlotlyChart'] {{ min-width: {shown.min_width}px }}</style>"
        )
    figure = drawings.figure(shown, _theme(), titled=titled, clickable=on_select is not None)
    if width := written_width(figure):  # cells too narrow for their numbers are left to their colours
        narrow = f"@media (max-width: {width + BESIDE_CELLS}px)"
        st.html(f"<style>{narrow} {{ .st-key-{key} .textpoint {{ display: none }} }}</style>")
    st.plotly_chart(
        figure,
        key=key,
        config=_figure_config(key),
        alt=words.say(shown.alt),
        on_select="ignore" if on_select is None else lambda: on_select(*args),
        selection_mode="points",
    )
    _below(shown, key, note, with_numbers=has_numbers(figure))


def _below(shown: Picture, key: str, note: str, *, with_numbers: bool) -> None:
    """Show a picture's caption, and its numbers as a table on request.

    The table serves those who cannot see the picture; it is made when it is opened.
    """
    if shown.caption or note:
        st.caption(words.say(f"{shown.caption} {note}".strip()))
    if not with_numbers:
        return
    table = st.popover(
        "Numbers", icon=":material/table_chart:", type="tertiary", key=f"{key}_{NUMBERS}", on_change="rerun"
    )
    if table.open:
        with table:
            frame = numbers(shown.figure("light"))
            if len(frame) == MOST_MARKS:
                st.caption(f"The first {MOST_MARKS:,} numbers of this picture.")
            frame = frame.rename(columns=words.say)
            st.dataframe(frame, hide_index=True, width=NUMBERS_WIDTH, alt=words.say(shown.alt))
            download("Download as CSV", lambda: results.frame_bytes(frame), f"{key}.csv", f"{key}_numbers_csv")


def live_picture(
    shown: Picture,
    key: str,
    *,
    note: str = "",
    on_pick: Callable[[Any], None] | None = None,
    with_numbers: bool = True,
) -> None:
    """Show a picture that is drawn in place when data change.

    Zoom and hidden curves stay; see `studio.plot`.

    Parameters
    ----------
    shown : Picture
    key : str
        Also the name of the file that the camera saves.
    note : str
        Markdown after the caption: what holds on this page only.
    on_pick : callable, optional
        Called with what a clicked point stands for.
    with_numbers : bool
        Whether its numbers can be shown as a table.
    """
    figure = drawings.figure(shown, _theme(), titled=False, clickable=False)
    plot.show(figure.to_json(), key, alt=words.say(shown.alt), config=_figure_config(key), on_pick=on_pick)
    _below(shown, key, note, with_numbers=with_numbers and has_numbers(figure))


def _theme() -> str:
    return st.context.theme.type or "light"


def _figure_config(name: str) -> dict[str, Any]:
    return {
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": picture_format(), "filename": name, "scale": 2},
    }


def download(
    label: str,
    data: Callable[[], bytes],
    file_name: str,
    key: str,
    *,
    mime: str = "text/csv",
    primary: bool = False,
) -> None:
    """Show a button that makes and downloads a file."""
    st.download_button(
        label,
        data=bound(data),
        file_name=file_name,
        mime=mime,
        key=key,
        type="primary" if primary else "secondary",
        icon=":material/download:",
        on_click="ignore",
    )


def picture_format() -> str:
    """Return the format in which figures are saved."""
    return "svg" if state.value(PICTURE_FORMAT) == "SVG" else "png"


def choose_picture_format() -> None:
    """Show the choice of the format in which figures are saved."""
    st.segmented_control("Pictures as", ["PNG", "SVG"], default="PNG", required=True, **keep(PICTURE_FORMAT))


def truth_badge(n_truth: int) -> None:
    """Say whether a dataset has true labels."""
    if n_truth:
        st.badge("Truth included", icon=":material/verified:", color="green")
    else:
        st.badge("No truth", icon=":material/help:", color="gray")


def evaluation_badge(sentence: str = "Evaluation only, never used in training") -> None:
    """Say that what follows rests on true labels."""
    st.badge(sentence, icon=":material/lock:", color="orange")


def finding(
    shown_finding: Finding,
    number: int,
    on_leave_out: Callable[[Sequence[str]], None],
    more: Callable[[Finding, int], None] | None = None,
) -> None:
    """Show a finding, its advice, and buttons that follow it.

    The number tells findings of the same kind apart; ``more`` shows further buttons.
    """
    warns = shown_finding.severity == "warning"
    icon = ":orange[:material/warning:]" if warns else ":blue[:material/info:]"
    with st.container(
        border=True,
        horizontal=True,
        vertical_alignment="center",
        gap="small",
        key=f"found_{shown_finding.kind}_{number}",
    ):
        st.markdown(
            f"{icon} **{plain(words.say(shown_finding.title))}.** {plain(words.say(shown_finding.sentence))} "
            f"{plain(words.say(shown_finding.advice))}"
        )
        if shown_finding.leave_out:
            names = shown_finding.leave_out
            st.button(
                f"Leave {plain(names[0])} out" if len(names) == 1 else f"Leave these {len(names)} out",
                key=f"leave_out_{shown_finding.kind}_{number}",
                icon=":material/person_remove:",
                on_click=on_leave_out,
                args=(names,),
                help=plain(", ".join(names)),
            )
        if more is not None:
            more(shown_finding, number)


def plain_list(sentences: Sequence[str]) -> None:
    """Show sentences below each other, small."""
    for sentence in sentences:
        st.caption(plain(words.say(sentence)))


def alarms(raised: Iterable[Alarm]) -> None:
    """Show alarms below each other."""
    for one in raised:
        alarm(one)


def alarm(raised: Alarm) -> None:
    """Show one alarm: in short, what was seen, what to do."""
    st.markdown(f":orange[:material/warning:] **{plain(words.say(raised.title))}.** {plain(words.say(raised.text))}")


def with_data(
    title: str, question: str, icon: str, sentence: str, *, several: bool = False
) -> tuple[DeltaGenerator, datasets.Opened] | None:
    """Show the head of a page; return badges and dataset.

    Without a dataset the page says so in the middle, with a button that leads to one, and None is returned.

    Parameters
    ----------
    title, question : str
    icon, sentence : str
        Of the empty page: what will be seen here.
    several : bool
        Whether the page takes cells that hold several labels; others say that they do not.
    """
    badges = header(title, question)
    opened = data_or_empty(icon, sentence, several=several)
    return None if opened is None else (badges, opened)


def data_or_empty(icon: str, sentence: str, *, several: bool = False) -> datasets.Opened | None:
    """Return the dataset in use; without one, say what is needed."""
    found = None
    with errors.boundary():
        found = datasets.at_hand()
    complaint()
    if isinstance(found, datasets.Unread):
        title = f"{plain(found.dataset.name)} cannot be read as votes yet"
        empty_state(icon, title, plain(found.sketch.problem), "Set its columns", "data")
        return None
    if found is None:
        empty_state(icon, "No data yet", sentence, "Upload data", "data")
    elif found.reading.votes.separator and not several:
        meaning.refusal(found)
        return None
    return found
