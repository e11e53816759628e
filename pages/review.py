"""Review: which rows would settle it? Label them one by one."""

from collections.abc import Sequence

import streamlit as st

from deem_core.runs import Run, State
from deem_core.votes import Gold
from studio import boot, errors, examples, jobs, text, widgets
from studio.data import datasets, quick_fuse
from studio.review import answers, desk, row, verdict
from studio.words import say

boot.guard(__file__)


def ask_button(opened: datasets.Opened, label: str, *, primary: bool = False) -> None:
    st.button(
        label,
        key="ask_rows",
        type="primary" if primary else "secondary",
        icon=":material/help_center:",
        on_click=desk.ask,
        args=(opened.dataset.id,),
    )


def fuse_button(opened: datasets.Opened, known: Gold | None) -> None:
    if known is not None:
        st.button(
            f"Fuse with {text.count(known.n_rows, 'gold row')}",
            key="fuse_with_gold",
            type="primary",
            icon=":material/bolt:",
            on_click=desk.fuse,
            args=(opened.dataset.id,),
        )


@errors.boundary()
def invite(opened: datasets.Opened, known: Gold | None) -> None:
    with st.container(border=True, key="invite"):
        st.markdown(
            say(
                "**Gold rows are rows whose right label you know and want used.** A few of them settle what votes "
                "alone cannot: who is right where learners disagree, and how accurate the fused labels are."
            )
        )
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            ask_button(opened, f"Suggest {desk.ROWS} rows", primary=True)
            fuse_button(opened, known)
            jobs.expected("ask", opened.reading.votes, {})
    bring(opened)


@errors.boundary()
def progress(opened: datasets.Opened, states: Sequence[tuple[Run, State]]) -> None:
    run, now = states[0]
    with st.container(border=True, key="asking"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown("**Choosing the most informative rows**", width="content")
            jobs.badge(run, now)
        jobs.progress(run, now, "ask")
        if now.state == "failed":
            st.markdown(text.plain(now.reason))
        if not now.active:
            ask_button(opened, f"Suggest {desk.ROWS} rows", primary=True)


@errors.boundary()
def work(opened: datasets.Opened, run: Run, known: Gold | None) -> None:
    table = desk.open_desk(opened, run)
    answers.who(table)
    at = table.position
    if at is None:
        finished(table)
    else:
        row.show(table, at)
    with st.container(horizontal=True, gap="small", key="review_actions"):
        fuse_button(opened, known)
        ask_button(opened, f"Suggest {desk.ROWS} more")
    answers.conflicts(opened, table.ledger)
    answer(opened)
    verdict.show(table, known)
    answers.files(table)


def finished(table: desk.Desk) -> None:
    with st.container(border=True, key="desk"):
        st.markdown(
            f"**:material/check_circle: All {len(table.queue)} rows are done.** "
            "Fuse with them, or get more: every row narrows the intervals below."
        )
        with st.container(horizontal=True, gap="small", key="desk_tools"):
            st.button(
                "Look at them again",
                key="look_again",
                type="tertiary",
                icon=":material/arrow_back:",
                shortcut="Left",
                on_click=desk.move,
                args=(table.run.id, len(table.queue) - 1),
            )
            row.take_back(table, "take_back_end")


@errors.boundary()
def answer(opened: datasets.Opened) -> None:
    run = jobs.in_use("fuse")
    if run is None or run.config.get("gold") is None:
        return
    with st.container(border=True, key="gold_answer"):
        quick_fuse.answer(opened, run, again=False)


@errors.boundary()
def bring(opened: datasets.Opened) -> None:
    with st.expander("Known labels from a file", expanded=bool(desk.notes()), icon=":material/upload_file:"):
        answers.bring(opened)


def page() -> None:
    head = widgets.with_data(
        "Review",
        "Which rows would settle it?",
        ":material/rate_review:",
        "Upload a file of votes, then label a few rows here and see what they prove.",
    )
    if head is None:
        examples.show("Review")
        return
    badges, opened = head
    book = desk.ledger(opened)
    known = desk.gold(opened, book)
    if known is not None:
        badges.badge(text.count(known.n_rows, "gold row"), icon=":material/workspace_premium:", color="yellow")
    run = jobs.of_page("ask", opened.dataset.id, "ask")
    if run is None:
        answers.conflicts(opened, book)
        invite(opened, known)
        answer(opened)
        with st.container(horizontal=True, gap="small"):
            answers.download_answers(opened, book)
            answers.forget(opened, book)
        return
    if run.state().state == "done":
        work(opened, run, known)
    else:
        jobs.watch([run], lambda states: progress(opened, states))
    bring(opened)
    answers.forget(opened, book)


with errors.boundary():
    page()
