"""What the Inspect pages share: the training they are about, its inspection and progress, words and downloads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from deem_core import figures
from deem_core.diagnostics.dependence import Dependence
from deem_core.diagnostics.dependent_units import DependentPair
from deem_core.diagnostics.evaluation import Evaluation
from deem_core.diagnostics.inspection import Inspection
from deem_core.runs import Run, State
from studio import datasets, errors, inspections, jobs, results, state, text, widgets

View = Callable[[datasets.Opened, Run, Inspection], None]

COPIES = 0.6
"""Normalised information from which a pair behaves like one learner."""


def page(title: str, question: str, icon: str, view: View) -> None:
    """Show a page about a finished training, or what it is waiting for."""
    badges = widgets.header(title, question)
    chosen = training(icon, "This page looks into a trained model.")
    if chosen is None:
        return
    opened, _, run = chosen
    with badges:
        st.badge(text.plain(jobs.title(run)), icon=":material/model_training:", color="blue")
        widgets.truth_badge(opened.facts.n_truth)
    with errors.shown():
        _inspected(opened, run, view)


def training(icon: str, sentence: str) -> tuple[datasets.Opened, list[Run], Run] | None:
    """Return the dataset, its finished trainings and the one in use; if there is none, say so and return None."""
    opened = None
    with errors.shown():
        opened = datasets.current()
    widgets.complaint()
    if opened is None:
        widgets.empty_state(icon, "No data yet", "Bring a file and train on it first.", "Bring data", "data")
        return None
    done = [run for run in jobs.of_dataset(opened.dataset.id, "train") if run.state().state == "done"]
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
        f"Row **{text.plain(one.id)}**: **{text.plain(one.fused)}** ({text.percent(one.confidence)}), then "
        f"{text.plain(one.runner_up)} ({text.percent(one.runner_up_probability)})."
    )
    widgets.chart(
        figures.why_bars(
            one.learners,
            one.votes,
            one.contributions,
            fused=one.fused,
            runner_up=one.runner_up,
            theme=widgets.theme(),
        ),
        key,
        "Bars: how much each vote speaks for the fused label against the runner-up.",
    )
    st.caption(
        "How much the odds of the fused label against the runner-up would fall if this vote had not been cast, in "
        "nats. To the right: speaks for the label; to the left: against it."
    )


def _inspected(opened: datasets.Opened, training: Run, view: View) -> None:
    run = inspections.of_training(training)
    found = inspections.found(run)
    if found is not None:
        view(opened, training, found)
        return

    def waiting(known: Sequence[tuple[Run, State]]) -> None:
        _, now = known[0]
        jobs.progress(run, now, "inspect")
        if now.active:
            st.caption("Looking into the model. This is done once and kept beside the training.")
        else:
            st.warning(text.plain(now.reason or "The inspection was stopped."), icon=":material/error:")
            st.button("Try again", key="inspect_again", icon=":material/replay:", on_click=jobs.resume, args=(run.id,))

    jobs.watch([run], waiting)


def downloads(opened: datasets.Opened, found: Inspection, names: Sequence[str]) -> None:
    """Offer some tables as CSV, and the format of pictures."""
    frames = found.frames()
    with st.container(horizontal=True, vertical_alignment="center"):
        for name in names:
            if name in frames:
                st.download_button(
                    f"{name.replace('_', ' ').capitalize()} as CSV",
                    data=partial(_csv, frames[name]),
                    file_name=results.file_name(opened, f"{name}.csv"),
                    mime="text/csv",
                    key=f"csv_{name}",
                    icon=":material/download:",
                    on_click="ignore",
                )
        st.space("stretch")
        widgets.choose_picture_format()


def _csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False).encode()


# ---------------------------------------------------------------------- words and tables


def calibration_words(evaluation: Evaluation) -> str:
    """Return what truth says about confidence."""
    said = (
        f"Right on {text.percent(evaluation.accuracy)} of {evaluation.n_truth:,} rows with known truth; on "
        f"{text.percent(evaluation.ceiling)} at least one learner is right, which no fusion of votes can beat. "
        f"Confidence is off by {100 * evaluation.calibration.error:.1f} points on average."
    )
    if evaluation.temperature is not None:
        said += (
            f" One temperature ({evaluation.temperature.temperature:.2f}), fitted on the other rows each time, would "
            f"bring that to {100 * evaluation.temperature.after.error:.1f} points."
        )
    return said


def dependence_of(given: Dependence, which: str, average: str) -> tuple[list[NDArray[np.float64]], list[str]]:
    """Return the matrices (C, u, u) of every layer to draw, and what they are of: the average, one class, or all."""
    classes = list(given.layers[0].classes)
    if which == average or not classes:
        return [layer.mean_matrix[None] for layer in given.layers], [average]
    if which in classes:
        at = classes.index(which)
        return [layer.information[at][None] for layer in given.layers], [which]
    return [layer.information for layer in given.layers], classes


def pairs_table(pairs: Sequence[DependentPair]) -> pd.DataFrame:
    """Return the most dependent pairs with their reading."""
    return pd.DataFrame(
        {
            "first": [pair.first for pair in pairs],
            "second": [pair.second for pair in pairs],
            "nats": [round(pair.information, 4) for pair in pairs],
            "share of their entropy": [round(pair.normalised, 3) for pair in pairs],
            "most in class": [pair.peak_class for pair in pairs],
            "what it means": [pair.reading for pair in pairs],
        }
    )


def groups_in_words(found: Inspection) -> list[str]:
    """Return which learners behave like one, in words."""
    first = found.dependence.layers[0]
    share = np.nan_to_num(np.nanmean(first.normalised, axis=0)) if len(first.classes) else np.zeros((0, 0))
    left, groups = set(range(len(share))), []
    for at in range(len(share)):
        if at in left:
            members = sorted(other for other in left if other == at or share[at, other] >= COPIES)
            left -= set(members)
            if len(members) > 1:
                groups.append(members)
    return [f"{', '.join(first.units[at] for at in group)} behave like one learner." for group in groups]
