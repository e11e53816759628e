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
from studio import errors, examples, jobs, run_picker, state, text, widgets
from studio.data import datasets
from studio.export import results
from studio.inspect import inspections
from studio.train.settings import method_title
from studio.words import say

View = Callable[[datasets.Opened, Run, Inspection], None]
Page = Callable[[datasets.Opened, Run], None]

EVALUATION = "evaluation_"
"""How the names of tables that need the truth begin."""

TABLES = {"review": "doubtful rows", "importance_by_class": "influence by class"}
"""Tables that the pages call otherwise."""

PAIRS = "pairs_of_learners"
"""Name of the table of all pairs in every class and layer."""


def page(title: str, question: str, icon: str, show: Page, nothing: Callable[[datasets.Opened], None]) -> None:
    """Show a page about a run, or an empty state.

    ``nothing`` shows a dataset without any.
    """
    badges = widgets.header(title, question)
    opened = widgets.data_or_empty(icon, "Upload a file and train on it first.")
    if opened is None:
        examples.show(title)
        return
    choices = run_picker.answers(opened.dataset.id)
    run = run_picker.pinned(choices, opened.dataset.id)
    if run is None:
        nothing(opened)
        return
    with badges:
        run_picker.badge(run)
        widgets.truth_badge(opened.facts.n_truth)
    run_picker.choose(choices, run, "inspected_run")
    with errors.boundary():
        show(opened, run)


def with_model(view: View) -> Page:
    """Return what shows a view of models, or why there is none."""

    def show(opened: datasets.Opened, run: Run) -> None:
        if is_done(run):
            inspection = inspection_of(run)
            if inspection is not None:
                view(opened, run, inspection)

    return show


def no_model_yet(icon: str) -> Callable[[datasets.Opened], None]:
    """Return what shows that nothing was trained yet."""

    def show(_: datasets.Opened) -> None:
        widgets.empty_state(icon, "No trained model yet", "This page inspects a trained model.", "Go to Train", "train")
        examples.show("Dependence")

    return show


def is_done(run: Run) -> bool:
    """Return whether a run is done; else say how it stands."""
    if run.is_active():
        _still_running(run)
        return False
    if run.state().state != "done":
        no_model(run)
        return False
    return True


def looked_into(run: Run) -> bool:
    """Return whether a finished run has a model to look into."""
    return run.kind == "train" or jobs.has_model(run)


def inspection_of(run: Run) -> Inspection | None:
    """Return what was found in the model of a finished run.

    None, and the reason on the page, while there is nothing yet or if there is no model.
    """
    if looked_into(run):
        return _inspected(run)
    no_model(run)
    return None


def no_model(run: Run) -> None:
    """Say why a run has no model, and offer another."""
    st.info(text.plain(_why_no_model(run)), icon=":material/info:")
    others = [other for other in jobs.with_models(run.dataset_id) if other.id != run.id]
    if others:
        st.button(
            f"Show {text.plain(jobs.title(others[0]))}",
            key="show_other_model",
            on_click=state.put,
            args=(state.RUN, others[0].id),
        )
    else:
        st.button("Go to Train", key="go_to_train", on_click=state.go_to, args=("train",))


def _why_no_model(run: Run) -> str:
    now = run.state()
    if now.state != "done":
        ended = "is damaged" if now.damaged else "was cancelled" if now.state == "cancelled" else "failed"
        return f"{jobs.title(run)} {ended}, so there is no model to inspect."
    summary = FusionSummary.of(run)
    method = "" if summary is None else summary.training.answered_by or summary.training.method
    by = f" ({method_title(method)})" if method else ""
    return f"This answer{by} has no model to inspect. Train one to see whom it trusts."


def _still_running(run: Run) -> None:
    def waiting(states: Sequence[tuple[Run, State]]) -> None:
        jobs.progress(run, states[0][1], "awaited")
        st.caption("This run is not finished yet. It appears here as soon as it is.")

    jobs.watch([run], waiting)


def why_chart(run: Run, opened: datasets.Opened, row: int, key: str) -> None:
    """Show why one row got its label, asking the model."""
    show_reason(inspections.reason(inspections.reasons(run, opened, row), 0), key)


def show_reason(one: inspections.Reason, key: str) -> None:
    """Show why a row got its label."""
    st.markdown(
        f"Row **{text.plain(one.id)}** is labelled **{text.plain(one.fused)}** ({text.percent(one.confidence)}); the "
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


def _inspected(training: Run) -> Inspection | None:
    run = inspections.of_training(training)
    try:
        inspection = inspections.result(run)
    except InputError as error:  # files of another version, or damaged ones
        st.warning(text.plain(str(error)), icon=":material/error:")
        st.button(
            "Inspect again",
            key="inspect_anew",
            icon=":material/replay:",
            on_click=jobs.delete,
            args=([run.id],),  # whoever finds none starts one
        )
        return None
    if inspection is not None:
        training_notes(training)
        return inspection

    def waiting(states: Sequence[tuple[Run, State]]) -> None:
        _, now = states[0]
        jobs.progress(run, now, "inspect")
        if now.active:
            st.caption("Inspecting the model. This is done once and saved with the training.")
        else:
            st.warning(text.plain(now.reason or "The inspection was stopped."), icon=":material/error:")
            st.button("Try again", key="inspect_again", icon=":material/replay:", on_click=jobs.resume, args=(run.id,))

    jobs.watch([run], waiting)
    return None


def is_majority(training: Run) -> bool:
    """Return whether a failed training answers with the majority vote."""
    return bool((training.summary() or {}).get("fallback"))


def training_notes(training: Run) -> None:
    """Say that a training failed, or how it treated near-copies."""
    if is_majority(training):
        instead = "mean of the probabilities" if training.config.get("method") == "deem_soft" else "majority vote"
        st.warning(
            f"Training failed, so the answer is the **{instead}**. What you see here is the plain "
            "vote, each vote counting as one nat; nothing was learned about any learner. The Train page says "
            "what is likely to help.",
            icon=":material/warning:",
        )
        return
    if training.config.get("method") == "deem_soft":
        st.caption(
            ":material/percent: Soft DEEM reads probabilities. Influence and reasons use all of a learner's "
            "probabilities; confusion, dependence and correlation use its most probable class, and layers take that "
            "class as a certain vote. There is no near-copy guard, and there are no groups and no parameters for "
            "single learners."
        )
    summary = FusionSummary.of(training)
    for sentence in () if summary is None else (*summary.training.findings, *_misfit(summary)):
        st.caption(f":material/info: {text.plain(say(sentence))}")


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
            what = TABLES.get(name, name.replace("_", " "))
            download_csv(what, partial(_table, inspection, name), results.file_name(opened, f"{name}.csv"))
        st.space("stretch")
        widgets.choose_picture_format()


def download_csv(what: str, table: Callable[[], pd.DataFrame], file_name: str) -> None:
    """Offer a table as CSV, safe for spreadsheets."""
    widgets.download(
        say(f"{what[:1].upper()}{what[1:]} as CSV"),
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
