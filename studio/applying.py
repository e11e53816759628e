"""New data for a trained model: bring a file, watch it being labelled, take the labels."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import streamlit as st

from deem_core.errors import InputError
from deem_core.inputs import recode
from deem_core.model_files import ModelFile, peek
from deem_core.runs import Run, State
from studio import datasets, jobs, results, state, text
from studio.errors import told
from studio.widgets import plain_list
from studio.workspace import workspace

MODEL = "deem_model"
"""The digest and name of a model file that somebody brought."""
LABELLED = "deem_labelled"
"""The id of the run that labels new data, by where it was started."""


def bring_model(key: str) -> None:
    """Keep the model file in an uploader; for its ``on_change``."""
    file: Any = state.value(key)
    if file is None:
        return
    with told():
        kept = workspace()
        digest = kept.store(file)
        peek(kept.input(digest), os.path.basename(file.name))
        st.session_state[MODEL] = (digest, os.path.basename(file.name))
    state.uploaded()


def brought_model() -> tuple[str, str, ModelFile] | None:
    """Return digest, name and contents of the model that somebody brought, if any."""
    kept = st.session_state.get(MODEL)
    if kept is None:
        return None
    digest, name = kept
    return digest, name, peek(workspace().input(digest), name)


def label_new(key: str, digest: str, place: str) -> None:
    """Label the file in an uploader with a model; for its ``on_change``.

    Parameters
    ----------
    key : str
        Of the uploader.
    digest : str
        Of the stored model.
    place : str
        Where the result is to be shown.
    """
    file: Any = state.value(key)
    if file is None:
        return
    with told():
        kept = workspace()
        model = peek(kept.input(digest))
        dataset = kept.add_dataset(os.path.basename(file.name), file)
        try:
            votes = kept.read(dataset).votes
            if not set(votes.learners) & set(model.learners):
                raise InputError(
                    f"{dataset.name} has no learner in common with the model, which knows "
                    f"{', '.join(model.learners[:8])}{' …' if len(model.learners) > 8 else ''}. Name its columns so."
                )
            recode(votes, model.learners, model.classes)
        except Exception:
            kept.delete_dataset(dataset.id)
            raise
        run = kept.start_run("apply", dataset, {"model": digest}, f"Labels for {dataset.name}")
        st.session_state[f"{LABELLED}_{place}"] = run.id
    state.uploaded()


def card(digest: str, place: str) -> None:
    """Show the uploader for new data, and what became of the last file."""
    key = state.uploader(f"new_{place}")
    st.file_uploader(
        "New data with votes of the same learners", key=key, on_change=label_new, args=(key, digest, place)
    )
    run = jobs.find(st.session_state.get(f"{LABELLED}_{place}"))
    if run is not None:
        jobs.watch([run], _outcome)


def _outcome(known: Sequence[tuple[Run, State]]) -> None:
    run, now = known[0]
    with st.container(border=True, key="applied"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{text.plain(jobs.title(run))}**", width="stretch")
            jobs.badge(now)
            if now.state == "done":
                opened = datasets.open_dataset(run.dataset_id)
                st.download_button(
                    "Download the labels",
                    data=results.fused_csv(run),
                    file_name=results.file_name(opened),
                    mime="text/csv",
                    key=f"download_applied_{run.id}",
                    type="primary",
                    icon=":material/download:",
                    on_click="ignore",
                )
        jobs.progress(run, now, "applied")
        if now.state == "failed":
            st.markdown(text.plain(now.reason))
        summary = run.summary()
        if summary is not None:
            st.markdown(
                f"{text.count(summary['n_rows'], 'row')} labelled by a model trained on "
                f"{text.count(summary['trained_rows'], 'row')}; {text.count(summary['changed'])} labels differ from "
                "the majority vote."
            )
            plain_list(summary["warnings"])
