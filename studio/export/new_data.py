"""New data for a trained model: upload, progress, labels."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any

import streamlit as st

from deem_core import InputError
from deem_core.estimators.peek import ModelFile, peek
from deem_core.runs import Dataset, FusionSummary, Run, State
from deem_core.votes.recode import recode
from studio import cluster, errors, jobs, machines, mishaps, state, text
from studio.errors import callback_boundary
from studio.export import fused_file, results
from studio.widgets import alarms, plain_list
from studio.words import say
from studio.workspace import workspace

MODEL = "deem_model"
"""The digest and name of a model file that somebody brought."""
_STARTING = Lock()

LABELLED = "deem_labelled"
"""The id of the run that labels new data, by where it was started."""


def bring_model(key: str) -> None:
    """Keep the model file in an uploader; for its ``on_change``."""
    file: Any = state.value(key)
    if file is None:
        return
    with callback_boundary():
        name = os.path.basename(file.name)
        with tempfile.NamedTemporaryFile() as copy:  # what is not a model is not kept
            shutil.copyfileobj(file, copy)
            copy.flush()
            peek(copy.name, name)
        st.session_state[MODEL] = (workspace().store(file), name)
    state.uploaded()


def brought_model() -> tuple[str, str, ModelFile] | None:
    """Return digest, name and contents of the model in use.

    It was brought, or is that of the labelling in the address.
    """
    model = _in_use()
    if model is None:
        return None
    digest, name = model
    return digest, name, peek(workspace().input(digest), name)


def in_use() -> bool:
    """Return whether the home page has a model in use."""
    return _in_use() is not None


def _in_use() -> tuple[str, str] | None:
    model: tuple[str, str] | None = st.session_state.get(MODEL)
    named = jobs.find(state.get(state.RUN))
    if model is None and named is not None and named.kind == "apply":
        return str(named.config.get("model", "")), f"The model of “{jobs.title(named)}”"
    return model


def label_new(key: str, store: Callable[[], str], place: str, readings: Sequence[Mapping[str, Any]] = ({},)) -> None:
    """Label the file in an uploader with a model; for its ``on_change``.

    Parameters
    ----------
    key : str
        Of the uploader.
    store : callable
        Keeps the model and returns its digest.
    place : str
        Where the result is to be shown.
    readings : sequence of mapping
        Ways to read the file, the first that works is taken.
    """
    file: Any = state.value(key)
    if file is None:
        return
    with callback_boundary():
        digest = store()
        model = peek(workspace().input(digest))
        dataset = _taken(os.path.basename(file.name), file, model, readings)
        run = _labelling(dataset, digest)
        st.session_state[f"{LABELLED}_{place}"] = run.id
    state.uploaded()


def _labelling(dataset: Dataset, digest: str) -> Run:
    """Return the run that labels a file with a model.

    A new one, unless one is at work already.
    """
    with _STARTING:  # a browser may hand over one upload twice
        for run in workspace().runs(dataset=dataset.id, kind="apply"):
            if run.config.get("model") == digest and run.is_active():
                return run
        config = {"model": digest, **cluster.chosen(cluster.LABELLING)}
        return workspace().start_run("apply", dataset, config, f"Labels for {dataset.name}")


def _taken(name: str, file: Any, model: ModelFile, readings: Sequence[Mapping[str, Any]]) -> Dataset:
    """Store a file that is readable and shares learners with the model.

    A dataset that was there before stays.
    """
    space = workspace()
    before = {dataset.id for dataset in space.datasets()}
    terms = {"classes": [str(label) for label in model.classes], "known_learners": list(model.learners)}
    for at, reading in enumerate(readings):
        dataset = space.add_dataset(name, file, reading={**reading, **terms})
        try:
            recode(space.read(dataset).votes, model.learners, model.classes)
        except Exception as error:
            if dataset.id not in before:
                space.delete_dataset(dataset.id)
            if not isinstance(error, InputError) or at == len(readings) - 1:
                raise
        else:
            return dataset
    raise InputError(f"{name} could not be read.")


def readings_like(reading: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return ways to read new data, the most likely first.

    As in training, or only with the same signs for "no vote", or as it looks.
    """
    missing = {name: told for name, told in reading.items() if name in ("missing", "merge_spellings", "labels")}
    ways = [dict(reading), missing, {}]
    return [way for at, way in enumerate(ways) if way not in ways[:at]]


def card(digest: str, place: str, store: Callable[[], str], readings: Sequence[Mapping[str, Any]] = ({},)) -> None:
    """Show the uploader for new data, and the last labelling."""
    key = state.uploader(f"new_{place}")
    machines.choose(cluster.LABELLING)
    st.file_uploader(
        say("New data with votes of the same learners"),
        key=key,
        on_change=label_new,
        args=(key, store, place, readings),
    )
    run = _last(digest, place)
    if run is not None:
        jobs.watch([run], lambda states: _outcome(states, place))


def _last(digest: str, place: str) -> Run | None:
    """Return the labelling to show.

    The one in the address, the last of this session, or the last of this model.
    """
    named = (jobs.find(state.get(state.RUN)), jobs.find(st.session_state.get(f"{LABELLED}_{place}")))
    for run in (*reversed(named), *workspace().runs(kind="apply")):
        if run is not None and run.kind == "apply" and run.config.get("model") == digest:
            return run
    return None


@errors.boundary()
def _outcome(states: Sequence[tuple[Run, State]], place: str) -> None:
    run, now = states[0]
    with st.container(border=True, key="applied"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{text.plain(jobs.title(run))}**", width="stretch")
            st.caption(jobs.when(run), width="content")
            jobs.badge(run, now)
        jobs.progress(run, now, "applied")
        mishaps.show(run)
        if now.state == "failed":
            st.markdown(text.plain(now.reason))
        summary = FusionSummary.of(run) if now.state == "done" else None
        if summary is None:
            return
        st.markdown(
            f"{text.count(summary.answer.n_rows, 'row')} labelled by a model trained on "
            f"{text.count(summary.training.trained_rows or 0, 'row')}; {text.count(summary.answer.changed, 'label')} "
            f"{'differs' if summary.answer.changed == 1 else 'differ'} from the majority vote."
        )
        unread = _spelled(run, place)
        plain_list([told for told in summary.training.warnings if told not in unread])
        alarms(summary.alarms)
        fused_file.show(results.labelled(run), f"applied_{place}")


@st.cache_data(max_entries=50, show_spinner=False)
def _differs(run_id: str, root: str) -> tuple[list[str], bool]:
    """Return whose labels are unknown, in words, and whether merging helps."""
    run = workspace().run(run_id)
    model = peek(workspace().input(str(run.config["model"])))
    found = recode(workspace().read_inputs(run.spec["inputs"]).votes, model.learners, model.classes)
    return found.unread_words(), found.spelled


def _spelled(run: Run, place: str) -> list[str]:
    """Say whose labels are unknown, with a way to match them.

    Returns the sentences that need not be said again.
    """
    unread, spelled = _differs(run.id, str(workspace().root))
    if not unread and not spelled:
        return []
    whose = " ".join(unread) if unread else "Some labels are unknown."
    advice = "They look like known labels in another spelling." if spelled else "Are they the labels of this model?"
    with st.container(horizontal=True, vertical_alignment="center", key=f"spelled_{place}"):
        st.warning(text.plain(f"{whose} {advice}"), icon=":material/warning:")
        if spelled:
            st.button(
                "Match ignoring case and spelling",
                key=f"match_{place}",
                icon=":material/merge:",
                on_click=_match,
                args=(run.id, place),
            )
    return unread


def _match(run_id: str, place: str) -> None:
    """Label the same file again with spellings merged."""
    with callback_boundary():
        space = workspace()
        run = space.run(run_id)
        before = space.dataset(run.dataset_id)
        dataset = space.vary_dataset(before, reading={**before.reading, "merge_spellings": True})
        again = space.start_run("apply", dataset, cluster.placed(run.config), f"Labels for {dataset.name}")
        st.session_state[f"{LABELLED}_{place}"] = again.id
        if jobs.find(state.get(state.RUN)) is not None and state.get(state.RUN) == run_id:
            state.put(state.RUN, again.id)
