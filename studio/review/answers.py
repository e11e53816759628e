"""Answers so far: who gave them, contradictions, files in and out."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import streamlit as st

from deem_core import InputError
from deem_core.gold import next_order
from deem_core.runs import REVIEWER, Conflict, Ledger, Run, overruled, written
from deem_core.text import clip
from studio import errors, jobs, state, text, widgets
from studio.data.datasets import Opened
from studio.data.intake import FILE_TYPES
from studio.export import results
from studio.review import desk as desks
from studio.review.desk import Desk
from studio.words import say

CONFLICTS = 5
"""Contradictions that are listed at once."""
ORDERS = 200
"""Answers in the next order to a crowd."""
CROWD_COVERAGE = 0.95
"""Share of the votes cast below which more of them can be ordered."""
LABELS = 6
"""Labels of a contradiction that have a button."""

_NOTE_LOOKS = {"understood": ":green[:material/check_circle:]", "changed": ":blue[:material/info:]"}


def who(desk: Desk) -> None:
    """Show who answers, how far it is, and what the others did."""
    kept = state.get(state.REVIEWER) or ""
    if state.value(desks.NAME) is None:
        state.set_value(desks.NAME, kept)
    left, right = st.columns([1, 3], gap="medium", vertical_alignment="bottom")
    left.text_input("Your name", key=desks.NAME, placeholder=REVIEWER, max_chars=60, on_change=desks.choose_reviewer)
    others = counts(desk.ledger, desk.reviewer)
    names = [f"{name} {count:,}" for name, count in others.items()]
    told = f" · others: {text.plain(text.listing(names, 6))}" if others else ""
    n, skipped = len(desk.queue), f" · {desk.skipped} skipped" if desk.skipped else ""
    share = min((desk.answered + desk.skipped) / n, 1.0)
    right.progress(share, text=f"{desk.answered} of {n} answered{skipped}{told}")


def counts(answers: Ledger, me: str) -> dict[str, int]:
    """Return how many rows every other reviewer labelled, most first."""
    told = Counter(reply.reviewer for reply in answers.replies if reply.label is not None and reply.reviewer != me)
    return dict(told.most_common())


def conflicts(opened: Opened, answers: Ledger) -> None:
    """Show contradictory answers, each with the buttons that settle it."""
    if answers.absent:
        st.caption(
            f"{text.count(answers.absent, 'answer')} about rows that are not in the file as it is read now: not used."
        )
    votes = opened.reading.votes
    if n := overruled(votes.gold, answers.gold(), votes.n_classes):
        st.caption(
            f"{text.count(n, 'answer')} here {'differs' if n == 1 else 'differ'} from the gold labels in the file: "
            f"{'the answer is' if n == 1 else 'the answers are'} used."
        )
    if not answers.conflicts:
        return
    with st.container(border=True, key="conflicts"):
        n = len(answers.conflicts)
        st.markdown(
            f":orange[:material/warning:] **{text.count(n, 'row')} with contradictory answers.** "
            f"{'It is' if n == 1 else 'They are'} not used until {'it is' if n == 1 else 'they are'} settled."
        )
        for conflict in answers.conflicts[:CONFLICTS]:
            _conflict(opened, conflict)
        if n > CONFLICTS:
            st.caption(f"And {text.count(n - CONFLICTS, 'more row')}.")


def _conflict(opened: Opened, conflict: Conflict) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(text.plain(conflict.sentence), width="stretch")
        for at, label in enumerate(list(conflict.said)[:LABELS]):
            st.button(
                f"It is {text.plain(clip(label))}",
                key=f"settle_{conflict.row}_{at}",
                on_click=desks.settle,
                args=(opened.dataset.id, conflict.row, label),
            )


@errors.boundary()
def bring(opened: Opened) -> None:
    """Show the uploader of known labels, and what was understood."""
    key = state.uploader("gold")
    st.file_uploader(
        "Upload known labels",
        key=key,
        type=FILE_TYPES,
        on_change=desks.take_file,
        args=(opened.dataset.id, key),
        help="A file of id and label, or a downloaded queue with its column gold_label filled in. Its labels count "
        "as the answers of a reviewer named after the file; a file of the same name replaces them. Downloaded answers "
        "come back under the names of those who gave them.",
    )
    for note in desks.notes():
        icon = _NOTE_LOOKS.get(note.kind, ":orange[:material/warning:]")
        st.markdown(f"{icon} {text.plain(note.text)}")


@errors.boundary()
def files(desk: Desk) -> None:
    """Show the downloads: the queue, the answers, and the next order."""
    opened = desk.opened
    with st.container(horizontal=True, gap="small", key="review_files"):
        widgets.download(
            "Download the queue",
            lambda: results.frame_bytes(desk.queue.to_frame(desk.votes)),
            results.file_name(opened, "queue.csv"),
            "download_queue",
        )
        download_answers(opened, desk.ledger)
        run = _ordered_by(opened)
        if run is not None:
            widgets.download(
                "Download the next order",
                lambda: results.frame_bytes(_order(run)),
                results.file_name(opened, "next_order.csv"),
                "download_order",
            )
    if _is_crowd(opened):
        st.caption(
            say(
                f"The next order lists the {ORDERS} answers that would help most: which row to send to which learner."
                if run is not None
                else "Fuse the votes, and the next order can be downloaded: which row to send to which learner next."
            )
        )


def download_answers(opened: Opened, answers: Ledger) -> None:
    """Show the button that downloads all answers."""
    if any(reply.label is not None for reply in answers.replies):
        widgets.download(
            "Download the answers",
            lambda: written(answers),
            results.file_name(opened, "answers.csv"),
            "download_answers",
        )


def _is_crowd(opened: Opened) -> bool:
    return opened.reading.votes.coverage < CROWD_COVERAGE


def _ordered_by(opened: Opened) -> Run | None:
    """Return the answer behind the next order, if there is one."""
    if not _is_crowd(opened):
        return None
    runs = jobs.of_dataset(opened.dataset.id, "fuse")
    return next((run for run in runs if run.state().state == "done"), None)


def _order(run: Run) -> pd.DataFrame:
    """Return the next order, or why there is none."""
    try:
        return next_order(results.labelled(run).answer, ORDERS).to_frame()
    except InputError as error:
        return pd.DataFrame({"note": [str(error)]})


def forget(opened: Opened, answers: Ledger) -> None:
    """Show the button that deletes all answers, after a question."""
    if answers.replies and st.button(
        "Delete these answers", key="forget_answers", type="tertiary", icon=":material/delete:"
    ):
        _confirm(opened, answers)


@st.dialog("Delete these answers?")
def _confirm(opened: Opened, answers: Ledger) -> None:
    n = sum(reply.label is not None for reply in answers.replies)
    names = sorted({reply.reviewer for reply in answers.replies})
    st.markdown(
        f"{text.count(n, 'answer')} by {text.plain(text.listing(names, 6))} about "
        f"**{text.plain(opened.dataset.name)}** will be deleted permanently. Fused labels that used them stay as "
        "they are."
    )
    if st.button(
        "Delete permanently",
        key="forget_for_good",
        type="primary",
        icon=":material/delete:",
        on_click=desks.forget,
        args=(opened.dataset.id,),
    ):
        st.rerun()  # closes the dialog
