"""Trainings of a dataset: open, resume, compare, delete."""

from __future__ import annotations

import streamlit as st

from deem_core.runs import Run
from studio import jobs, state, text
from studio.data.datasets import Opened
from studio.train import trainings


def show(opened: Opened) -> None:
    """Show the trainings of a dataset.

    Mark one to open, resume or delete it, two to compare them.
    """
    runs = jobs.of_dataset(opened.dataset.id, "train")
    if not runs:
        return
    st.header("Trainings of this dataset", anchor=False)
    picked = st.dataframe(
        trainings.runs_table(runs),
        key=f"train_runs_{trainings.fingerprint(runs)}",  # what was marked must not pass to another run
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        column_config={
            "run": "Training",
            "state": st.column_config.ListColumn("State"),
            "when": "When",
            "took": "Took",
            "changed": "Labels changed",
            "accuracy": "Accuracy (evaluation)",
        },
    )
    chosen = [runs[row] for row in picked["selection"]["rows"] if row < len(runs)]
    if not chosen:
        st.caption("Mark one to open, resume or delete it, two to compare them.")
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
            if chosen[0].state().resumable:
                st.button("Resume", key="resume_training", on_click=jobs.resume, args=(chosen[0].id,))
        words = "Delete" if len(chosen) == 1 else f"Delete these {len(chosen)}"
        with st.popover(words, icon=":material/delete:"):
            st.caption("The labels, the model and what was found about it go for good; the data stay.")
            st.button(
                f"{words} for good",
                key="delete_trainings",
                on_click=jobs.delete,
                args=([run.id for run in chosen],),
            )
    if len(chosen) == 2:
        _compared(opened, *chosen)


def _compared(opened: Opened, one: Run, other: Run) -> None:
    same = trainings.same_labels(one, other, opened)
    if same is not None:
        st.markdown(f"The same label on **{text.percent(same[0])}** of the rows; {text.count(same[1], 'row')} differ.")
    table = trainings.differences(one, other)
    if len(table):
        st.dataframe(table, hide_index=True)
    else:
        st.caption("Both have the same settings.")
