"""The shortest way: fuse with the recommended settings, watch it, take the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from deem_core.runs import Run, State
from studio import errors, jobs, recent, results, text
from studio.datasets import Opened
from studio.numbers import Number
from studio.widgets import number_cards, plain_list


def card(opened: Opened) -> None:
    """Show the button that fuses, or the run in use with its progress and its file."""
    run = recent.in_use("train")
    if run is None:
        _invite(opened)
        return
    jobs.watch([run], lambda known: _run(opened, known))


def _invite(opened: Opened) -> None:
    words, button = st.columns([5, 3], vertical_alignment="center")
    words.markdown(
        "**Ready to fuse.** One click trains DEEM with settings that follow from these votes, without any truth, "
        "and gives you the file back with a label for every row."
    )
    with button.container(horizontal=True, horizontal_alignment="right"):
        _button(opened, "Fuse with the recommended settings", "primary")


def _button(opened: Opened, label: str, type: str) -> None:
    st.button(
        label,
        key="fuse_recommended",
        type=type,  # type: ignore[arg-type]
        icon=":material/bolt:",
        on_click=jobs.start,
        args=("train", opened.dataset.id, dict(jobs.RECOMMENDED), "Recommended settings"),
    )


@errors.shown()
def _run(opened: Opened, known: Sequence[tuple[Run, State]]) -> None:
    run, now = known[0]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{text.plain(jobs.title(run))}**", width="content")
        jobs.badge(now)
        st.space("stretch")
        if now.resumable:
            st.button("Resume", key="resume", icon=":material/play_arrow:", on_click=jobs.resume, args=(run.id,))
        if not now.active:
            _button(opened, "Fuse again", "secondary")
        if now.state == "done":
            download(run, opened)
    jobs.progress(run, now, "card")
    if now.state == "failed":
        st.markdown(text.plain(now.reason))
    if now.state == "cancelled":
        st.caption("Stopped as you asked; what there is was kept.")
    if now.state == "done":
        summary = run.summary()
        if summary is not None:
            number_cards(_numbers(opened, summary), columns=4)
            plain_list([*summary["near_copies"], *summary["warnings"]])


def download(run: Run, opened: Opened, *, primary: bool = True, label: str = "Download the fused CSV") -> None:
    """Show the button that makes the fused file of a finished run and hands it over."""
    st.download_button(
        label,
        data=results.fused_csv(run),
        file_name=results.file_name(opened),
        mime="text/csv",
        key=f"download_fused_{run.id}",
        type="primary" if primary else "secondary",
        icon=":material/download:",
        on_click="ignore",
    )


def _numbers(opened: Opened, summary: dict[str, Any]) -> list[Number]:
    n = opened.reading.votes.n_rows
    changed = summary["changed"]
    cards = [
        Number(
            "Labels changed",
            text.count(changed),
            f"{text.percent(changed / max(n, 1))} of rows",
            "Rows whose fused label differs from the majority vote.",
        ),
        Number(
            "Mean confidence",
            text.percent(summary["mean_confidence"]) if summary["mean_confidence"] is not None else "–",
            "usually optimistic",
            "Mean probability of the fused labels. Models like this are usually too sure of themselves.",
        ),
        Number(
            "Restarts kept",
            f"{sum(each['kept'] for each in summary['restarts'])} of {len(summary['restarts'])}",
            f"{text.duration(summary['seconds'])} on {summary['device']}",
            "Trainings that take part in the answer; collapsed ones are left out.",
        ),
    ]
    evaluation = summary.get("evaluation")
    if evaluation:
        cards.append(
            Number(
                "Accuracy (evaluation)",
                text.percent(evaluation["accuracy"]),
                f"majority vote {text.percent(evaluation['majority_vote_accuracy'])}",
                "Share of right labels where the truth is known; the truth was never used in training.",
            )
        )
    return cards
