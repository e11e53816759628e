"""What the Inspect pages share: the training they are about, its inspection and progress, words and downloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from deem_core.errors import InputError
from deem_core.runs import Run, State
from studio import datasets, errors, inspections, jobs, results, state, text, widgets

View = Callable[[datasets.Opened, Run, Inspection], None]

EVALUATION = "evaluation_"
"""How the names of tables that need the truth begin."""

PAIRS = "pairs_of_learners"
"""Name of the table of all pairs in every class and layer."""

WEAK = 0.05
"""Nats below which a pair hardly depends, however dark its cell."""

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
        f"Row **{text.plain(one.id)}** is fused to **{text.plain(one.fused)}** ({text.percent(one.confidence)}); the "
        f"runner-up is {text.plain(one.runner_up)} ({text.percent(one.runner_up_probability)})."
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
    try:
        found = inspections.found(run)
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
    """Offer some tables as CSV, made only when they are asked for, and the format of pictures."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name in names:
            if _missing(found, name):
                continue
            download_csv(name.replace("_", " "), partial(_table, found, name), results.file_name(opened, f"{name}.csv"))
        st.space("stretch")
        widgets.choose_picture_format()


def download_csv(what: str, table: Callable[[], pd.DataFrame], file_name: str) -> None:
    """Offer a table as CSV that is safe to open in a spreadsheet."""
    st.download_button(
        f"{what[:1].upper()}{what[1:]} as CSV",
        data=lambda: results.frame_bytes(table()),
        file_name=file_name,
        mime="text/csv",
        key=f"csv_{what.replace(' ', '_')}",
        icon=":material/download:",
        on_click="ignore",
    )


def _missing(found: Inspection, name: str) -> bool:
    """Say whether there is no table, without making it."""
    if name.startswith(EVALUATION):
        part = name.removeprefix(EVALUATION)
        return found.evaluation is None or getattr(found.evaluation, part) is None
    return hasattr(found, name) and getattr(found, name) is None


def _table(found: Inspection, name: str) -> pd.DataFrame:
    if name == PAIRS:
        return pd.concat([layer.to_frame() for layer in found.dependence.layers], ignore_index=True)
    return found.frames()[name]


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


def layers_table(given: Dependence) -> pd.DataFrame:
    """Return a row for each layer: mean ± standard deviation over classes of each figure, and what chance shows."""
    rows = []
    for layer in given.layers:
        numbers = layer.summary()
        rows.append(
            {
                "layer": layer.name,
                "units": len(layer.units),
                "all pairs (Frobenius, nats)": _spread(numbers, "frobenius"),
                "by chance": _spread(numbers, "floor_frobenius"),
                "largest pair (nats)": _spread(numbers, "largest"),
                "largest by chance": _spread(numbers, "floor"),
                "share of entropy": _spread(numbers, "normalised"),
                "entropy of a unit (nats)": _spread(numbers, "entropy"),
            }
        )
    return pd.DataFrame(rows)


def _spread(numbers: Mapping[str, float], name: str) -> str:
    mean, std = numbers[name], numbers[f"{name}_std"]
    return "" if np.isnan(mean) else f"{mean:.3f} ± {std:.3f}"


def strong() -> str:
    """Return how the cells of a heatmap that hold the most look: dark, or bright on a dark page."""
    return "bright" if widgets.theme() == "dark" else "dark"


def scale_words(matrices: Sequence[NDArray[np.float64]]) -> str:
    """Return how much the strongest cell of dependence matrices is, for the colours say only which is more."""
    off_diagonal = [own[:, ~np.eye(own.shape[1], dtype=bool)] for own in matrices]
    known = np.concatenate([cells[np.isfinite(cells)] for cells in off_diagonal])
    if not len(known):
        return ""
    top = float(known.max())
    weak = ", which is very little: colours only tell more from less" if top < WEAK else ""
    return f" The strongest cell is {top:.2g} nats{weak}."


def pairs_table(pairs: Sequence[DependentPair]) -> pd.DataFrame:
    """Return the most dependent pairs with their reading."""
    return pd.DataFrame(
        {
            "first": [pair.first for pair in pairs],
            "second": [pair.second for pair in pairs],
            "information (nats)": [round(pair.information, 4) for pair in pairs],
            "share of their entropy": [pair.normalised for pair in pairs],
            "most in class": [pair.peak_class for pair in pairs],
            "what it means": [pair.reading for pair in pairs],
        }
    )


def groups_in_words(given: Dependence) -> list[str]:
    """Return which learners behave like one, in words."""
    first = given.layers[0]
    known = np.ma.masked_invalid(first.normalised)  # pairs that some class knows nothing of
    share = known.mean(axis=0).filled(0.0) if len(first.classes) else np.zeros((0, 0))
    left, groups = set(range(len(share))), []
    for at in range(len(share)):
        if at in left:
            members = sorted(other for other in left if other == at or share[at, other] >= COPIES)
            left -= set(members)
            if len(members) > 1:
                groups.append(members)
    return [f"{', '.join(first.units[at] for at in group)} behave like one learner." for group in groups]
