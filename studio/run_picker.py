"""Picker of the run of a page, which the address names."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from deem_core.runs import Run
from studio import jobs, state, text

ANSWERING = ("train", "fuse")
"""Kinds of runs that give labels to the rows of a dataset."""

_ID_SHOWN = 6  # digits of an id: names and ages may be alike


def answers(dataset: str | None) -> list[Run]:
    """Return a dataset's finished trainings and answers, newest first."""
    return [run for run in jobs.of_dataset(dataset) if run.kind in ANSWERING and run.state().state == "done"]


def pinned(choices: Sequence[Run], dataset: str) -> Run | None:
    """Return the run in the address; put one there if missing.

    Whatever its state. By default it is the newest with a model, else the newest. So another run that ends meanwhile
    changes nothing on the page.
    """
    named = jobs.find(state.get(state.RUN))
    if named is not None and named.kind in ANSWERING and named.dataset_id == dataset:
        return named
    chosen = next((run for run in choices if jobs.has_model(run)), choices[0] if choices else None)
    if chosen is not None:
        state.put(state.RUN, chosen.id)
    return chosen


def choose(choices: Sequence[Run], run: Run, key: str, label: str = "Run") -> None:
    """Show the choice of a run; it goes into the address.

    The present run is among the choices in any case. Nothing is shown where there is nothing to choose.
    """
    by_id = {run.id: run for run in (choices if any(run.id == each.id for each in choices) else [run, *choices])}
    if len(by_id) < 2 and run.kind in ANSWERING:
        return
    state.set_value(key, run.id)
    st.selectbox(
        label,
        list(by_id),
        format_func=lambda each: words(by_id[each]),
        key=key,
        on_change=lambda: state.put(state.RUN, str(state.value(key))),
    )


def words(run: Run) -> str:
    """Return a run as lists show it: name, tags, pin, age."""
    known, now = run.annotations(), run.state()
    parts = [
        jobs.title(run),
        *(f"#{tag}" for tag in known.tags),
        "baseline" if known.pinned else "",
        "" if now.state == "done" else now.word,
        jobs.when(run),
        run.id[:_ID_SHOWN],
    ]
    return " · ".join(filter(None, parts))


def badge(run: Run) -> None:
    """Show the name of a run as a badge."""
    icon = ":material/push_pin:" if run.annotations().pinned else ":material/model_training:"
    st.badge(text.plain(jobs.title(run)), icon=icon, color="blue")
