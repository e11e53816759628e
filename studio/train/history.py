"""Trainings of a dataset: open, name, pin, resume, compare, delete."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from deem_core.runs import Run
from studio import jobs, state
from studio.data.datasets import Opened
from studio.train import beside, naming, trainings

HINT = "Select one to open, name, pin, resume or delete it; select two or more to compare them."


def show(opened: Opened) -> None:
    """Show the trainings of a dataset.

    Select one to open, name, pin, resume or delete it, more to compare them.
    """
    runs = jobs.of_dataset(opened.dataset.id, "train")
    if not runs:
        return
    st.header("Training runs on this dataset", anchor=False)
    key = f"train_runs_{trainings.fingerprint(runs)}"  # what was marked must not pass to another run
    wished = (state.get(state.BESIDE) or "").split(",")
    picked = st.dataframe(
        trainings.runs_table(runs),
        key=key,
        hide_index=True,
        on_select=lambda: _marked(key, [run.id for run in runs]),
        selection_mode="multi-row",
        selection_default={"selection": {"rows": [at for at, run in enumerate(runs) if run.id in wished]}},
        column_config={
            "run": "Training",
            "baseline": "Baseline",
            "state": st.column_config.ListColumn("State", width=190),  # "Fell back to majority vote"
            "when": "When",
            "took": "Took",
            "changed": "Labels changed",
            "accuracy": "Accuracy (evaluation)",
            "tags": st.column_config.ListColumn("Tags"),
            "note": "Note",
        },
    )
    chosen = [runs[row] for row in picked["selection"]["rows"] if row < len(runs)]
    if not chosen:
        st.caption(HINT)
        return
    with st.container(horizontal=True):
        if len(chosen) == 1:
            st.button(
                "Open",
                key="open_training",
                icon=":material/open_in_new:",
                on_click=state.put,
                args=(state.RUN, chosen[0].id),
            )
            naming.pin_button(chosen[0])
            jobs.again(chosen[0], chosen[0].state(), "resume_training")
        _delete(chosen)
    if len(chosen) == 1:
        naming.show(chosen[0])
    else:
        beside.show(opened, chosen)


def _delete(chosen: list[Run]) -> None:
    words = "Delete" if len(chosen) == 1 else f"Delete these {len(chosen)}"
    with st.popover(words, icon=":material/delete:"):
        st.caption("The labels, the model and its inspection will be deleted permanently; the data stay.")
        st.button(
            f"{words} permanently",
            key="delete_trainings",
            on_click=jobs.delete,
            args=([run.id for run in chosen],),
        )


def _marked(key: str, ids: list[str]) -> None:
    """Keep the marked trainings in the address."""
    picked = state.value(key)
    rows = picked["selection"]["rows"] if isinstance(picked, Mapping) else []
    state.put(state.BESIDE, ",".join(ids[row] for row in rows if row < len(ids)) or None)
