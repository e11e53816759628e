"""Files kept in the workspace: opened again, or deleted with their runs."""

from __future__ import annotations

import time
from dataclasses import dataclass

import streamlit as st

from deem_core import InputError
from deem_core.runs import Dataset, Wreck
from studio import errors, jobs, sharing, state, text
from studio.data import datasets
from studio.workspace import workspace

SHOWN = 12


@dataclass(frozen=True)
class StoredFile:
    """A file and the ways in which it was read.

    Attributes
    ----------
    datasets : tuple of deem_core.runs.Dataset
        Newest first; all of the same content.
    """

    datasets: tuple[Dataset, ...]

    @property
    def newest(self) -> Dataset:
        """The way in which it was read as votes last, if ever."""
        return next((dataset for dataset in self.datasets if not dataset.unread), self.datasets[0])

    @property
    def bytes(self) -> int:
        """Its size."""
        try:
            return workspace().inputs.place(self.newest.data).stat().st_size
        except (InputError, OSError):
            return 0


def files() -> list[StoredFile]:
    """Return the files, the one uploaded or read last first."""
    by_content: dict[str, list[Dataset]] = {}
    for dataset in workspace().datasets():
        by_content.setdefault(dataset.data, []).append(dataset)
    return [StoredFile(tuple(same)) for same in by_content.values()]


def damaged() -> list[Wreck]:
    """Return the records of files that cannot be read."""
    return [wreck for wreck in workspace().wrecks() if wreck.what == "dataset"]


def table() -> None:
    """Show the stored files, each to be opened or deleted."""
    st.markdown(sharing.where_files_are())
    stored = files()
    jobs.wrecks(damaged())
    with st.container(border=True, gap="xsmall", key="kept_files"):
        for stored_file in stored[:SHOWN]:
            _row(stored_file)
    if len(stored) > SHOWN:
        st.caption(f"And {text.count(len(stored) - SHOWN, 'older file')}.")


def _row(stored_file: StoredFile) -> None:
    newest, here = stored_file.newest, state.get(state.DATA)
    in_use = any(dataset.id == here for dataset in stored_file.datasets)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{text.plain(newest.name)}**" + (" · in use" if in_use else ""), width="stretch")
        if newest.unread:
            st.badge("Not read as votes yet", icon=":material/help:", color="orange")
        st.caption(f"{text.size(stored_file.bytes)} · {text.ago(time.time() - newest.created)}", width="content")
        if not in_use:
            st.button(
                "Open", key=f"open_file_{newest.data}", type="tertiary", on_click=state.use_dataset, args=(newest.id,)
            )
        if st.button("Delete", key=f"delete_file_{newest.data}", type="tertiary", icon=":material/delete:"):
            _confirm(stored_file)


@st.dialog("Delete this file?")
def _confirm(stored_file: StoredFile) -> None:
    with errors.boundary():
        runs = sum(len(workspace().runs(dataset=dataset.id)) for dataset in stored_file.datasets)
        st.markdown(
            f"**{text.plain(stored_file.newest.name)}** ({text.size(stored_file.bytes)}) will be deleted permanently"
            + (f", with {text.count(runs, 'run')} and {'its' if runs == 1 else 'their'} results." if runs else ".")
        )
    if st.button(
        "Delete permanently",
        key="delete_for_good",
        type="primary",
        icon=":material/delete:",
        on_click=_go,
        args=(stored_file,),
    ):
        st.rerun()  # closes the dialog


def _go(stored_file: StoredFile) -> None:
    with errors.callback_boundary():
        delete(stored_file)


def delete(stored_file: StoredFile) -> None:
    """Delete a file, everything read from it, and the runs.

    Raises
    ------
    InputError
        If a run of it is going on; then nothing is deleted.
    """
    space = workspace()
    if any(run.is_active() for dataset in stored_file.datasets for run in space.runs(dataset=dataset.id)):
        raise InputError(f"A run on {stored_file.newest.name} is still running; cancel it before you delete the file.")
    for dataset in stored_file.datasets:
        space.delete_dataset(dataset.id)
        if state.get(state.DATA) == dataset.id:
            state.use_dataset(None)
    datasets.forget()
