"""Sidebar of every page: dataset, runs and device in use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from deem_core import DeemError
from deem_core.model import Device
from deem_core.runs import Run, State
from studio import background, errors, jobs, sharing, signals, text, words
from studio.data import datasets
from studio.workspace import workspace


def show() -> None:
    """Draw the sidebar."""
    jobs.see_anew()
    with st.sidebar, errors.boundary():
        _dataset()
        runs = [run for kind in ("fuse", "sweep", "train", "compare") if (run := jobs.in_use(kind)) is not None]
        if runs:
            jobs.watch(runs, _runs)
        sharing.place()
        _wrecks()
        words.glossary()
        _device(background.devices()[0])


def _wrecks() -> None:
    """Say on every page that something is damaged."""
    number = Counter(wreck.what for wreck in workspace().wrecks())
    if number["run"]:
        st.caption(f":material/heart_broken: {text.count(number['run'], 'damaged run')}, listed on Home")
    if number["dataset"]:
        st.caption(f":material/heart_broken: {text.count(number['dataset'], 'damaged file record')}, listed on Data")


def _dataset() -> None:
    with st.container(border=True, key="side_dataset", gap="xsmall"):
        try:
            found = datasets.at_hand()
        except DeemError:
            found = None
        if found is None:
            st.caption(":material/table_chart: No data yet")
            return
        st.markdown(f"**{text.plain(found.dataset.name)}**")
        if isinstance(found, datasets.Opened):
            st.caption(found.noun.say(found.reading.votes.dimensions))
            if one := found.dataset.reading.get("one_label"):
                st.caption(f":material/filter_alt: Only the label {text.plain(one)}")
        else:
            st.caption("Not read as votes yet")


def _runs(states: Sequence[tuple[Run, State]]) -> None:
    for run, now in states:
        with st.container(border=True, key=f"side_run_{run.kind}", gap="xsmall"):
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                st.markdown(f"**{text.plain(jobs.title(run))}**", width="stretch")
                jobs.badge(run, now)
            if now.active:
                st.progress(min(max(now.share, 0.0), 1.0))
                with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                    st.caption(text.plain(jobs.step_words(now)), width="stretch")
                    jobs.cancel_button(run, now, "side", type="tertiary")
            signals.copy_link(run)
    signals.show(states)


def _device(device: Device) -> None:
    st.caption(f":material/memory: {text.plain(background.device_words(device))}")
