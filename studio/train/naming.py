"""Name, tags, note and pin of a training, as a form."""

from __future__ import annotations

import hashlib

import streamlit as st

from deem_core.runs import Run
from studio import state, text, widgets
from studio.errors import callback_boundary
from studio.workspace import workspace

PLACE = "annotations"
"""Where complaints about what was typed are shown."""


def show(run: Run) -> None:
    """Show the note of a training, and the form to change it."""
    said = run.annotations()
    if said.note:
        with st.container(key="run_note", gap=None):
            for line in filter(str.strip, said.note.splitlines()):
                st.caption(text.plain(line))
    widgets.complaint(PLACE)
    with (
        st.expander("Name, tags and note", icon=":material/edit:", key="annotate"),
        st.form("annotations", border=False),
    ):
        left, right = st.columns(2)
        left.text_input("Name", said.name, key=_key(run, "name"), placeholder=run.title)
        right.text_input(
            "Tags", ", ".join(said.tags), key=_key(run, "tags"), placeholder="paper, small", help="Commas between tags."
        )
        st.text_area("Note", said.note, key=_key(run, "note"), height=90)
        st.form_submit_button("Save", key="save_annotations", icon=":material/save:", on_click=_save, args=(run,))


def pin_button(run: Run) -> None:
    """Show the button that makes a training the baseline, or undoes it."""
    pinned = run.annotations().pinned is not None
    st.button(
        "Unpin" if pinned else "Pin as baseline",
        key="pin_training",
        icon=":material/keep_off:" if pinned else ":material/keep:",
        help="Comparisons show this file's other runs beside the baseline.",
        on_click=_pin,
        args=(run.id, not pinned),
    )


def _save(run: Run) -> None:
    """Store what was typed; the title as a name is none."""
    with callback_boundary(PLACE):
        typed = {name: str(state.value(_key(run, name)) or "") for name in ("name", "tags", "note")}
        name = "" if typed["name"].strip() == run.title else typed["name"]
        workspace().annotate(run, name=name, tags=typed["tags"].split(","), note=typed["note"])


def _pin(id: str, pinned: bool) -> None:
    with callback_boundary():
        run = workspace().run(id)
        if pinned:
            workspace().pin(run)
        else:
            workspace().unpin(run.dataset_id)


def _key(run: Run, name: str) -> str:
    """Return a widget's key, a new one after each change.

    So a refused text stays where it was typed, and an accepted one is shown as it was stored.
    """
    said = hashlib.sha256(repr(run.annotations()).encode()).hexdigest()[:8]
    return f"annotations_{name}_{run.id}_{said}"
