"""What the Inspect pages share: the training they are about, its inspection and progress, words and downloads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from deem_core import figures
from deem_core.diagnostics.inspection import Inspection
from deem_core.errors import InputError
from deem_core.runs import Run, State
from studio import datasets, errors, inspections, jobs, results, state, text, widgets

View = Callable[[datasets.Opened, Run, Inspection], None]

EVALUATION = "evaluation_"
"""How the names of tables that need the truth begin."""

PAIRS = "pairs_of_learners"
"""Name of the table of all pairs in every class and layer."""


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
    picture(
        "Which votes decided?",
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
        "nats. To the right: speaks for the label; to the left: against it. Where layers read votes together, a vote "
        "may speak for another class than it names."
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
        standing(training)
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


def is_majority(training: Run) -> bool:
    """Return whether the training failed, so that its answer is the majority vote."""
    return bool((training.summary() or {}).get("fallback"))


def standing(training: Run) -> None:
    """Say what one must know about a training before its pictures: that it failed, or what was done about copies."""
    if is_majority(training):
        st.warning(
            "This training did not succeed, so its answer is the **majority vote**. What you see here is how the votes "
            "decide among themselves, each counting as one nat; nothing was learnt about anybody. Train again with "
            "another learning rate to see whom a model trusts.",
            icon=":material/warning:",
        )
        return
    for sentence in (training.summary() or {}).get("near_copies", []):
        st.caption(f":material/info: {text.plain(sentence)}")


def picture(
    question: str, figure: figures.Figure, key: str, alt: str, *, on_select: Callable[[], None] | None = None
) -> None:
    """Show a figure under the question that it answers."""
    widgets.chart(figures.asking(figure, question), key, alt, on_select=on_select)


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
