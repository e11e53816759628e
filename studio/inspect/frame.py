"""Frame of the Inspect pages: training, inspection, progress, downloads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from deem_core import InputError
from deem_core.diagnostics import Inspection
from deem_core.figures import pictures
from deem_core.runs import FusionSummary, Run, State
from studio import errors, jobs, state, text, widgets
from studio.data import datasets
from studio.export import results
from studio.inspect import inspections

View = Callable[[datasets.Opened, Run, Inspection], None]

EVALUATION = "evaluation_"
"""How the names of tables that need the truth begin."""

PAIRS = "pairs_of_learners"
"""Name of the table of all pairs in every class and layer."""


def page(title: str, question: str, icon: str, view: View) -> None:
    """Show a page about a finished training, or an empty state."""
    badges = widgets.header(title, question)
    chosen = training(icon, "This page looks into a trained model.")
    if chosen is None:
        return
    opened, _, run = chosen
    with badges:
        st.badge(text.plain(jobs.title(run)), icon=":material/model_training:", color="blue")
        widgets.truth_badge(opened.facts.n_truth)
    with errors.boundary():
        _inspected(opened, run, view)


def training(icon: str, sentence: str) -> tuple[datasets.Opened, list[Run], Run] | None:
    """Return the dataset, its finished trainings and the one in use.

    If there is none, say so and return None.
    """
    opened = None
    with errors.boundary():
        opened = datasets.current()
    widgets.complaint()
    if opened is None:
        widgets.empty_state(icon, "No data yet", "Bring a file and train on it first.", "Bring data", "data")
        return None
    done = jobs.with_models(opened.dataset.id)
    if not done:
        widgets.empty_state(icon, "No trained model yet", sentence, "Go to Train", "train")
        return None
    return opened, done, next((run for run in done if run.id == state.get(state.RUN)), done[0])


def run_words(run: Run) -> str:
    """Return a training with its age."""
    return f"{jobs.title(run)} · {jobs.when(run)}"


def why_chart(run: Run, opened: datasets.Opened, row: int, key: str) -> None:
    """Show why one row got its label, asking the model."""
    show_reason(inspections.reason(inspections.reasons(run, opened, row), 0), key)


def show_reason(one: inspections.Reason, key: str) -> None:
    """Show why a row got its label."""
    st.markdown(
        f"Row **{text.plain(one.id)}** is fused to **{text.plain(one.fused)}** ({text.percent(one.confidence)}); the "
        f"runner-up is {text.plain(one.runner_up)} ({text.percent(one.runner_up_probability)})."
    )
    widgets.picture(
        pictures.why(one.learners, one.votes, one.contributions, fused=one.fused, runner_up=one.runner_up),
        key,
        titled=True,
    )
    for name, value in one.voices:
        side = one.fused if value >= 0 else one.runner_up
        st.caption(f"Taken together, the {text.plain(name)}: {abs(value):.3g} nats for {text.plain(side)}.")


def _inspected(opened: datasets.Opened, training: Run, view: View) -> None:
    run = inspections.of_training(training)
    try:
        inspection = inspections.result(run)
    except InputError as error:  # files of another version, or damaged ones
        st.warning(text.plain(str(error)), icon=":material/error:")
        st.button(
            "Look into it again",
            key="inspect_anew",
            icon=":material/replay:",
            on_click=jobs.delete,
            args=([run.id],),  # whoever finds none starts one
        )
        return
    if inspection is not None:
        training_notes(training)
        view(opened, training, inspection)
        return

    def waiting(states: Sequence[tuple[Run, State]]) -> None:
        _, now = states[0]
        jobs.progress(run, now, "inspect")
        if now.active:
            st.caption("Looking into the model. This is done once and kept beside the training.")
        else:
            st.warning(text.plain(now.reason or "The inspection was stopped."), icon=":material/error:")
            st.button("Try again", key="inspect_again", icon=":material/replay:", on_click=jobs.resume, args=(run.id,))

    jobs.watch([run], waiting)


def is_majority(training: Run) -> bool:
    """Return whether a failed training answers with the majority vote."""
    return bool((training.summary() or {}).get("fallback"))


def training_notes(training: Run) -> None:
    """Say that a training failed, or how it treated near-copies."""
    if is_majority(training):
        instead = "mean of the probabilities" if training.config.get("method") == "deem_soft" else "majority vote"
        st.warning(
            f"This training did not succeed, so its answer is the **{instead}**. What you see here is how the votes "
            "decide among themselves, each counting as one nat; nothing was learnt about anybody. Train again with "
            "another learning rate to see whom a model trusts.",
            icon=":material/warning:",
        )
        return
    if training.config.get("method") == "deem_soft":
        st.caption(
            ":material/percent: Soft DEEM reads probabilities. Influence and reasons are of all that a learner "
            "believes; confusion, dependence and correlation are of its most probable class, and layers are shown "
            "that class as a certain vote. It has no near-copy guard, no groups and no parameters of the learners "
            "themselves."
        )
    summary = FusionSummary.of(training)
    for sentence in () if summary is None else (*summary.training.findings, *_misfit(summary)):
        st.caption(f":material/info: {text.plain(sentence)}")


def _misfit(summary: FusionSummary) -> Sequence[str]:
    """Return why a grouped model does not fit, if it does not."""
    groups = summary.training.groups
    return () if groups is None or groups.fits else (groups.reason,)


def downloads(opened: datasets.Opened, inspection: Inspection, names: Sequence[str]) -> None:
    """Offer some tables as CSV, and the format of pictures.

    Tables are made only on request.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name in names:
            if _missing(inspection, name):
                continue
            download_csv(
                name.replace("_", " "), partial(_table, inspection, name), results.file_name(opened, f"{name}.csv")
            )
        st.space("stretch")
        widgets.choose_picture_format()


def download_csv(what: str, table: Callable[[], pd.DataFrame], file_name: str) -> None:
    """Offer a table as CSV, safe for spreadsheets."""
    widgets.download(
        f"{what[:1].upper()}{what[1:]} as CSV",
        lambda: results.frame_bytes(table()),
        file_name,
        f"csv_{what.replace(' ', '_')}",
    )


def _missing(inspection: Inspection, name: str) -> bool:
    """Say whether there is no table, without making it."""
    if name.startswith(EVALUATION):
        part = name.removeprefix(EVALUATION)
        return inspection.evaluation is None or getattr(inspection.evaluation, part) is None
    return hasattr(inspection, name) and getattr(inspection, name) is None


def _table(inspection: Inspection, name: str) -> pd.DataFrame:
    if name == PAIRS:
        return pd.concat([layer.to_frame() for layer in inspection.dependence.layers], ignore_index=True)
    return inspection.frames()[name]
