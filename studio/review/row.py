"""One row on the desk: evidence, votes and label buttons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import streamlit as st

from deem_core.runs import RowNames
from deem_core.text import clip
from deem_core.votes import Votes
from studio import text
from studio.review import desk as desks
from studio.review import evidence, images
from studio.review.desk import Desk
from studio.words import say

DIGITS = "123456789"
"""Keys of the labels."""
FOLDED = 12
"""Learners from which the names of those who voted are folded away."""
HEIGHT, HEIGHT_WITH_IMAGE = 330, 440
"""Pixels of the evidence, so that the buttons below stay where they are."""
IMAGE_HEIGHT = 290
"""Pixels of an image at most, so that it is seen whole."""
NAMES = 8
"""Learners of a label that are named at once."""

_EVIDENCE_LOOKS = (
    "<style>.st-key-evidence { scrollbar-color: #8888 transparent } "
    ".st-key-evidence::-webkit-scrollbar-thumb { background: #8888 } "
    f".st-key-evidence img {{ max-height: {IMAGE_HEIGHT}px; width: auto !important; object-fit: contain }} "
    "@media (max-width: 640px) { .st-key-evidence, [data-testid='stLayoutWrapper']:has(> .st-key-evidence) "
    "{ height: auto !important; max-height: none !important; flex-basis: auto !important } }</style>"
)
"""Evidence that goes on has a scroll bar, images are seen whole, and phones, whose page scrolls anyway, show it all."""

_KIND_LOOKS = {
    "disputed": (":material/call_split:", "orange", "Disputed"),
    "check": (":material/fact_check:", "blue", "Check"),
}


def show(desk: Desk, position: int) -> None:
    """Show a row of the queue with everything to judge it by."""
    row = desk.queue.rows[position]
    desks.shown(desk.run.id, row)
    with st.container(border=True, key="desk"):
        _heading(desk, position)
        left, right = st.columns([3, 2], gap="medium")
        st.html(_EVIDENCE_LOOKS)
        with left.container(height=_height(desk, row), border=False, key="evidence"):
            evidence.show(desk.opened, row)
        with right.container(key="row_votes"):
            _votes(desk, position)
        _labels(desk, position)
        _tools(desk, position)


def _heading(desk: Desk, position: int) -> None:
    row = desk.queue.rows[position]
    name = RowNames(desk.votes).of(row)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        short = "" if name is None or len(name) > evidence.SHORT_ID else f" · {text.plain(name)}"
        st.header(f"Row {row + 1:,}{short}", anchor=False, width="content")
        icon, color, word = _KIND_LOOKS.get(desk.queue.kinds[position], _KIND_LOOKS["check"])
        st.badge(word, icon=icon, color=color)  # type: ignore[arg-type]
        reply = desk.mine.get(row)
        if reply is not None:
            said = "Skipped" if reply.label is None else f"You said {text.plain(clip(reply.label))}"
            st.badge(said, icon=":material/edit:", color="gray")
        st.space("stretch")
        st.caption(f"{position + 1} of {len(desk.queue)}", width="content")


def _height(desk: Desk, row: int) -> int | Literal["content"]:
    cells = evidence.of(desk.opened).cells(desk.opened, row).values()
    if not cells:
        return "content"
    return HEIGHT_WITH_IMAGE if any(images.is_image(cell) and not images.host_of(cell) for cell in cells) else HEIGHT


def _votes(desk: Desk, position: int) -> None:
    show_votes(desk.votes, desk.queue.rows[position], desk.queue.likeliest[position])
    st.caption(f"**Why this row?** {text.plain(desk.queue.reasons[position])}")


def show_votes(votes: Votes, row: int, likeliest: tuple[int, int] = (-1, -1)) -> None:
    """Show a row's votes by label, the two likeliest with stars."""
    said = evidence.votes_of(votes, row)
    total = sum(map(len, said.values()))
    st.caption(say(f"{total:,} of {text.count(votes.n_learners, 'learner')} voted"))
    for code, learners in said.items():
        star = f" {_star(likeliest, code)}" if code in likeliest else ""
        names = text.plain(text.listing(learners, NAMES)) if total <= FOLDED else ""
        st.markdown(f"**{text.plain(clip(str(votes.classes[code])))}** · {len(learners)}{star}  \n{names}")
    if total > FOLDED:
        with st.expander("Who says what"):
            for code, learners in said.items():
                label = text.plain(clip(str(votes.classes[code])))
                st.markdown(f"**{label}**: {text.plain(text.listing(learners, 200))}")


def _star(likeliest: tuple[int, int], code: int) -> str:
    return ":material/star:" if code == likeliest[0] else ":material/star_half:"


def labels_with_keys(desk: Desk, position: int) -> Sequence[int]:
    """Return the classes that have a button.

    All in their own order if keys reach, so that a key always means the same; else those that the row's votes name
    most, then the likeliest.
    """
    n_classes = desk.votes.n_classes
    if n_classes <= len(DIGITS) or all(_is_digit(label) for label in desk.votes.classes):
        return range(n_classes)
    voted = evidence.votes_of(desk.votes, desk.queue.rows[position])
    ranked = dict.fromkeys([*voted, *(code for code in desk.queue.likeliest[position] if code >= 0)])
    return list(ranked)[: len(DIGITS)]


def keys_of(labels: Sequence[str]) -> list[str]:
    """Return the key of each label: a digit is its own."""
    left = iter(digit for digit in DIGITS if digit not in labels)
    return [label if _is_digit(label) else next(left) for label in labels]


def _is_digit(label: object) -> bool:
    return str(label) in {"0", *DIGITS}


def _labels(desk: Desk, position: int) -> None:
    row, dataset, run = desk.queue.rows[position], desk.opened.dataset.id, desk.run.id
    likeliest, reply = desk.queue.likeliest[position], desk.mine.get(row)
    shown = labels_with_keys(desk, position)
    st.markdown("**Which label is right?** Choose it or press its key. If you cannot tell, skip the row.")
    with st.container(horizontal=True, gap="small", key="labels"):
        names = [str(desk.votes.classes[code]) for code in shown]
        for code, label, key in zip(shown, names, keys_of(names), strict=True):
            chosen = reply is not None and reply.label == label
            st.button(
                text.plain(clip(label)),
                key=f"label_{row}_{code}",
                type="primary" if chosen else "secondary",
                icon=_star(likeliest, code) if code in likeliest else None,
                shortcut=key,
                on_click=desks.answer,
                args=(dataset, run, row, label),
            )
        if len(shown) < desk.votes.n_classes:
            other = f"other_label_{row}"
            st.selectbox(
                "Another label",
                [str(label) for code, label in enumerate(desk.votes.classes.tolist()) if code not in shown],
                index=None,
                key=other,
                placeholder="Another label",
                label_visibility="collapsed",
                on_change=desks.answer_chosen,
                args=(dataset, run, row, other),
                width=220,
            )


def _tools(desk: Desk, position: int) -> None:
    row, dataset, run = desk.queue.rows[position], desk.opened.dataset.id, desk.run.id
    last = len(desk.queue) - 1
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="desk_tools"):
        st.button(
            "Back",
            key=f"back_{row}",
            type="tertiary",
            icon=":material/arrow_back:",
            shortcut="Left",
            disabled=position == 0,
            on_click=desks.move,
            args=(run, position - 1),
        )
        st.button(
            "Forward",
            key=f"forward_{row}",
            type="tertiary",
            icon=":material/arrow_forward:",
            shortcut="Right",
            disabled=position == last,
            on_click=desks.move,
            args=(run, position + 1),
        )
        st.button(
            "Skip",
            key=f"skip_{row}",
            type="tertiary",
            icon=":material/redo:",
            shortcut="S",
            on_click=desks.skip,
            args=(dataset, run, row),
        )
        take_back(desk, f"take_back_{row}")
        st.space("stretch")
        st.caption(":material/star: most likely by the votes, :material/star_half: second most likely", width="content")


def take_back(desk: Desk, key: str) -> None:
    """Show the button that takes the last answer back."""
    st.button(
        "Undo",
        key=key,
        type="tertiary",
        icon=":material/undo:",
        shortcut="U",
        on_click=desks.take_back,
        args=(desk.opened.dataset.id, desk.run.id),
    )
