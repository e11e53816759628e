"""Quick fusing card: recommended settings, progress, download."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from deem_core.runs import FusionSummary, Run, State
from studio import errors, jobs, text, widgets
from studio.data.datasets import Opened
from studio.data.numbers import Number
from studio.export import results


def card(opened: Opened) -> None:
    """Show the button that fuses, or the run in use."""
    run = jobs.in_use("train")
    if run is None:
        _invite(opened)
        return
    jobs.watch([run], lambda states: _run(opened, states))


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


@errors.boundary()
def _run(opened: Opened, states: Sequence[tuple[Run, State]]) -> None:
    run, now = states[0]
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
        summary = FusionSummary.of(run)
        if summary is not None:
            widgets.number_cards(_numbers(opened, summary), columns=4)
            widgets.plain_list([*summary.training.findings, *summary.training.warnings])
            widgets.alarms(summary.alarms)


def download(run: Run, opened: Opened, *, primary: bool = True, label: str = "Download the fused CSV") -> None:
    """Show the button that downloads a run's fused file."""
    widgets.download(
        label, results.fused_csv(run), results.file_name(opened), f"download_fused_{run.id}", primary=primary
    )


def _numbers(opened: Opened, summary: FusionSummary) -> list[Number]:
    n = opened.reading.votes.n_rows
    answer, training, evaluation = summary.answer, summary.training, summary.evaluation
    changed = answer.changed
    cards = [
        Number(
            "Labels changed",
            text.count(changed),
            f"{text.percent(changed / max(n, 1))} of rows",
            "Rows whose fused label differs from the majority vote.",
        ),
        Number(
            "Mean confidence",
            "–" if answer.mean_confidence is None else text.percent(answer.mean_confidence),
            "usually optimistic",
            "Mean probability of the fused labels. Models like this are usually too sure of themselves.",
        ),
    ]
    if training.restarts:
        cards.append(
            Number(
                "Restarts kept",
                f"{len(training.kept_restarts)} of {len(training.restarts)}",
                f"{text.duration(training.seconds)} on {training.device}",
                "Trainings that take part in the answer; collapsed ones are left out.",
            )
        )
    if evaluation is not None:
        cards.append(
            Number(
                "Accuracy (evaluation)",
                text.percent(evaluation.accuracy),
                f"majority vote {text.percent(evaluation.majority_vote_accuracy)}",
                "Share of right labels where the truth is known; the truth was never used in training.",
            )
        )
    return cards
