"""Files kept in the workspace: opened again, or deleted with all that was made from them."""

from __future__ import annotations

import time
from dataclasses import dataclass

import streamlit as st

from deem_core.errors import InputError
from deem_core.runs import Dataset
from studio import datasets, errors, state, text
from studio.workspace import workspace

SHOWN = 12


@dataclass(frozen=True)
class Kept:
    """A file and the ways in which it was read.

    Attributes
    ----------
    datasets : tuple of deem_core.runs.Dataset
        Newest first; all of the same content.
    """

    datasets: tuple[Dataset, ...]

    @property
    def newest(self) -> Dataset:
        """The way in which it was read last."""
        return self.datasets[0]

    @property
    def bytes(self) -> int:
        """Its size."""
        try:
            return workspace().input(self.newest.data).stat().st_size
        except (InputError, OSError):
            return 0


def files() -> list[Kept]:
    """Return the files, the one brought or read last first."""
    found: dict[str, list[Dataset]] = {}
    for dataset in workspace().datasets():
        found.setdefault(dataset.data, []).append(dataset)
    return [Kept(tuple(same)) for same in found.values()]


def table() -> None:
    """Show where files are kept and what is there, each to be opened or deleted."""
    st.markdown(f"Files are kept in `{workspace().root}`, on this machine only, until you delete them.")
    listed = files()
    with st.container(border=True, gap="xsmall", key="kept_files"):
        for kept in listed[:SHOWN]:
            _row(kept)
    if len(listed) > SHOWN:
        st.caption(f"And {text.count(len(listed) - SHOWN, 'older file')}.")


def _row(kept: Kept) -> None:
    newest, here = kept.newest, state.get(state.DATA)
    in_use = any(dataset.id == here for dataset in kept.datasets)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{text.plain(newest.name)}**" + (" · in use" if in_use else ""), width="stretch")
        st.caption(f"{text.size(kept.bytes)} · {text.ago(time.time() - newest.created)}", width="content")
        if not in_use:
            st.button(
                "Open", key=f"open_file_{newest.data}", type="tertiary", on_click=state.use_dataset, args=(newest.id,)
            )
        if st.button("Delete", key=f"delete_file_{newest.data}", type="tertiary", icon=":material/delete:"):
            _confirm(kept)


@st.dialog("Delete this file?")
def _confirm(kept: Kept) -> None:
    with errors.shown():
        runs = sum(len(workspace().runs(dataset=dataset.id)) for dataset in kept.datasets)
        st.markdown(
            f"**{text.plain(kept.newest.name)}** ({text.size(kept.bytes)}) goes for good"
            + (f", with {text.count(runs, 'run')} and what they found." if runs else ".")
        )
    if st.button(
        "Delete for good", key="delete_for_good", type="primary", icon=":material/delete:", on_click=_go, args=(kept,)
    ):
        st.rerun()  # closes the dialog


def _go(kept: Kept) -> None:
    with errors.told():
        delete(kept)


def delete(kept: Kept) -> None:
    """Delete a file, everything read from it, and the runs.

    Raises
    ------
    InputError
        If a run of it is going on; then nothing is deleted.
    """
    held = workspace()
    if any(run.is_active() for dataset in kept.datasets for run in held.runs(dataset=dataset.id)):
        raise InputError(f"A run on {kept.newest.name} is still going on; cancel it before you delete the file.")
    for dataset in kept.datasets:
        held.delete_dataset(dataset.id)
        if state.get(state.DATA) == dataset.id:
            state.use_dataset(None)
    datasets.forget()
