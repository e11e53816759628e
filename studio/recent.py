"""Recent runs of the workspace as a table, each a click away."""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from deem_core.runs import Run, State
from studio import jobs, state, text
from studio.workspace import workspace

SHOWN = 8


def table() -> None:
    """Show the latest runs of all datasets, with their state and accuracy if known."""
    runs = [run for run in workspace().runs() if run.kind in jobs.PAGES][:SHOWN]
    if not runs:
        st.caption("Nothing was run yet. Load a sample above, or bring your own file, and fuse it with one click.")
        return
    jobs.watch(runs, _rows)


def in_use(kind: str) -> Run | None:
    """Return the run that the address names, or the latest of its kind on the dataset in use."""
    runs = jobs.of_dataset(state.get(state.DATA), kind)
    named = state.get(jobs.ADDRESS_OF[kind])
    return next((run for run in runs if run.id == named), runs[0] if runs else None)


def _rows(known: Sequence[tuple[Run, State]]) -> None:
    with st.container(border=True, gap="xsmall", key="recent_runs"):
        for run, now in known:
            _row(run, now)


def _row(run: Run, now: State) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        jobs.badge(now)
        st.markdown(f"**{text.plain(run.spec['inputs']['name'])}** · {text.plain(jobs.title(run))}", width="stretch")
        st.caption(_words(run, now), width="content")
        st.button("Open", key=f"open_run_{run.id}", type="tertiary", on_click=_open, args=(run.id,))


def _words(run: Run, now: State) -> str:
    if now.active:
        return text.plain(jobs.step_words(now))
    when = text.ago(time.time() - run.created)
    evaluation = (run.summary() or {}).get("evaluation") if now.state == "done" else None
    return f"accuracy {text.percent(evaluation['accuracy'])} · {when}" if evaluation else when


def _open(id: str) -> None:
    run = jobs.find(id)
    if run is None:
        state.complain("This run was deleted.")
        return
    state.use_dataset(run.dataset_id)
    state.put(jobs.ADDRESS_OF[run.kind], run.id)
    state.go_to(jobs.PAGES[run.kind])
