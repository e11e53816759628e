"""Train: did it learn? Settings, the training live, and what came out of it."""

from collections.abc import Callable, Sequence

import streamlit as st

from deem_core import figures
from deem_core.runs import Run, State
from studio import (
    boot,
    datasets,
    errors,
    findings,
    framing,
    fusing,
    jobs,
    state,
    text,
    train_settings,
    training_runs,
    trainings,
    widgets,
)

boot.guard(__file__)

PANELS_WIDTH = 760


@errors.shown()
def settings(opened: datasets.Opened) -> None:
    config = train_settings.show(opened)
    st.caption("What is left empty follows from the data; the grey number is what it comes to.")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Reset to recommended",
            key="reset_settings",
            type="tertiary",
            icon=":material/restart_alt:",
            on_click=train_settings.reset,
        )
        st.button(
            "Compare learning rates first",
            key="to_rates",
            type="tertiary",
            icon=":material/show_chart:",
            on_click=state.go_to,
            args=("learning_rate",),
        )
        st.space("stretch")
        st.button(
            "Train",
            key="start_training",
            type="primary",
            icon=":material/play_arrow:",
            on_click=jobs.start,
            args=("train", opened.dataset.id, config, trainings.title_of(config)),
        )


@errors.shown()
def run_view(opened: datasets.Opened, known: Sequence[tuple[Run, State]]) -> None:
    run, now = known[0]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header(text.plain(jobs.title(run)), anchor=False, width="stretch")
        jobs.badge(now)
        if now.resumable:
            st.button("Resume", key="resume", icon=":material/play_arrow:", on_click=jobs.resume, args=(run.id,))
        if now.state == "done":
            fusing.download(run, opened, primary=not trainings.asks_for_settings(run))
    if now.active:
        jobs.progress(run, now, "train")
        pace = trainings.pace(run)
        if pace is not None:
            st.caption(f"{pace:,.0f} updates per second over all restarts, on {text.plain(now.device or 'cpu')}")
    if now.state == "failed":
        st.warning(text.plain(now.reason), icon=":material/error:")
    if now.state == "cancelled":
        st.caption("Stopped as you asked. What there is was kept, and the training can be resumed.")
    summary = trainings.summary(run)
    if summary is None and now.state == "done":
        st.caption("An earlier version of the app made this training: its labels are there, its numbers are not.")
    alarms(run, opened, summary)
    if summary is not None:
        done(run, opened, summary)
    curves(run, opened, summary)


@errors.shown()
def alarms(run: Run, opened: datasets.Opened, summary: dict | None) -> None:
    for alarm in trainings.alarms_of(run, opened, summary):
        with st.container(border=True, key=f"alarm_{alarm.kind}", gap="small"):
            st.markdown(
                f":orange[:material/warning:] **{text.plain(alarm.title)}.** {text.plain(alarm.sentence)} "
                f"{text.plain(alarm.advice)}"
            )
            if alarm.remedies and summary is not None:
                with st.container(horizontal=True):
                    for words, changes in alarm.remedies.items():
                        config = {name: value for name, value in {**run.config, **changes}.items() if value is not None}
                        st.button(
                            words,
                            key=f"remedy_{alarm.kind}_{words}",
                            icon=":material/replay:",
                            on_click=jobs.start,
                            args=("train", opened.dataset.id, config, trainings.title_of(config)),
                        )


@errors.shown()
def done(run: Run, opened: datasets.Opened, summary: dict) -> None:
    st.markdown(f":material/lightbulb: {text.plain(findings.story(opened, summary))}")
    numbers = findings.cards(opened, summary)
    widgets.number_cards(numbers, columns=len(numbers))
    near_copies(run, opened, summary)
    found = trainings.outcome(run, opened)
    if found is None:
        return
    views: dict[str, Callable[[], None]] = {
        "Class shares": lambda: shares(opened, summary),
        "What changed": lambda: changes(opened, found),
        "Confidence": lambda: confidence(found),
        "Overruled rows": lambda: overruled(opened, found),
    }
    if summary["restarts"]:
        views["Restarts"] = lambda: restarts(summary)
    if summary.get("evaluation"):
        views[":material/lock: Evaluation"] = lambda: evaluated(summary)
    for tab, view in zip(st.tabs(list(views)), views.values(), strict=True):
        with tab, errors.shown():
            view()


@errors.shown()
def near_copies(run: Run, opened: datasets.Opened, summary: dict) -> None:
    if not findings.guard_acted(summary):
        return
    with st.container(border=True, key="near_copies", gap="small"):
        st.markdown("**Near-copies among the learners**")
        for sentence in summary["near_copies"]:
            st.caption(text.plain(sentence))
        twin = findings.twin(run, opened)
        if twin is None:
            config = {**run.config, "near_copies": "keep"}
            st.button(
                "Train once more with every voice kept",
                key="keep_copies",
                icon=":material/group:",
                on_click=jobs.start,
                args=("train", opened.dataset.id, config, trainings.title_of(config)),
            )
        else:
            st.dataframe(findings.side_by_side(run, twin, opened), hide_index=True)


def shares(opened: datasets.Opened, summary: dict) -> None:
    figure = figures.class_shares(
        summary["class_shares"], summary["majority_shares"], opened.reading.votes.classes, theme=widgets.theme()
    )
    widgets.chart(figure, "shares_chart", "Bars: the share of each class among the fused labels and by majority vote.")
    st.caption(
        "**Good:** every class keeps a share of the same order. **Bad:** a class that all but vanishes: it has died in "
        "training."
    )


def changes(opened: datasets.Opened, found: trainings.Outcome) -> None:
    figure = figures.label_changes(found.changes, opened.reading.votes.classes, theme=widgets.theme())
    widgets.chart(figure, "changes_chart", "Heatmap: rows by majority vote and by fused label.")
    st.caption(
        "Rows off the diagonal are those whose label fusing has changed. A single dark cell means that two classes are "
        "mixed up by most learners, or by the model."
    )


def confidence(found: trainings.Outcome) -> None:
    edges, counts = trainings.confidence_counts(found)
    widgets.chart(
        figures.confidence_histogram(edges, counts, theme=widgets.theme()),
        "confidence_chart",
        "Histogram: rows by the confidence of their label.",
    )
    st.caption(
        "Probability of the fused label. Models like this are usually too sure of themselves: trust the order of rows "
        "more than the numbers."
    )


def overruled(opened: datasets.Opened, found: trainings.Outcome) -> None:
    number, rows = trainings.overruled(found, opened)
    if not number:
        st.caption("No row on which all votes agree was given another label.")
        return
    st.markdown(f"{number:,} rows on which all votes agree were given another label. Look at some before you trust it.")
    st.dataframe(rows, hide_index=True)


def restarts(summary: dict) -> None:
    st.dataframe(
        findings.restarts(summary),
        hide_index=True,
        column_config={
            "agreement": st.column_config.NumberColumn(
                "Agreement",
                format="percent",
                help="Share of the rows with the same label as the other restarts, mean.",
            ),
            "smallest class": st.column_config.NumberColumn(
                "Worst class", format="%.2f", help="What the worst class keeps of its majority-vote share."
            ),
        },
    )
    st.caption(findings.spread(summary))


def evaluated(summary: dict) -> None:
    evaluation = summary["evaluation"]
    st.badge("Evaluation only, never used in training", icon=":material/lock:", color="orange")
    names, values, lows, highs = findings.intervals(evaluation)
    widgets.chart(
        figures.accuracy_intervals(names, values, lows, highs, theme=widgets.theme()),
        "evaluation_chart",
        "Dots with intervals: accuracy of the fused labels, Dawid-Skene and the majority vote.",
    )
    st.dataframe(findings.scores(evaluation), hide_index=True)
    st.caption(
        "**Rows:** intervals are 95 % by bootstrap over rows, what another draw of rows might give; they say nothing "
        f"about another training. {findings.spread(summary)}"
    )


@errors.shown()
def curves(run: Run, opened: datasets.Opened, summary: dict | None) -> None:
    known = trainings.records(run)
    if not known:
        return
    energy, classes, sampler = st.tabs(["Energies", "Classes while training", "Sampler"])
    restarts = () if summary is None else summary["restarts"]
    with energy:
        smoothing = st.slider("Smoothing", 0.0, 0.99, 0.5, key="train_smoothing", persist_state="session", width=220)
        widgets.chart(
            figures.energy_panels(
                figures.curves_of_records(known, restarts=restarts), smoothing=smoothing, theme=widgets.theme()
            ),
            "energy_chart",
            "Three panels: positive energy, negative energy and their difference for every restart.",
            min_width=PANELS_WIDTH,
        )
        st.caption(
            "**Good:** all restarts fall together and their difference comes back towards zero. **Bad:** one that "
            f"leaves the others, or rises. {findings.two_trainings(restarts)}"
        )
    with classes:
        widgets.chart(
            figures.shares_over_time(
                known, opened.reading.votes.classes, findings.majority_shares(opened), theme=widgets.theme()
            ),
            "classes_chart",
            "Lines: the predicted share of each class while training.",
        )
        st.caption("**Bad:** a line that falls to zero: that class is dying.")
    with sampler:
        widgets.chart(
            figures.sampler_health(known, theme=widgets.theme()),
            "sampler_chart",
            "Lines: how many proposals are accepted and how many votes the chains move.",
        )
        st.caption("**Good:** both within the shaded bands. **Bad:** acceptance near zero, or chains that never move.")


def page() -> None:
    head = framing.with_data(
        "Train", "Did it learn?", ":material/model_training:", "A model learns from votes: bring a file first."
    )
    if head is None:
        return
    badges, opened = head
    run = jobs.of_page(state.RUN, opened.dataset.id, "train")
    with badges:
        widgets.truth_badge(opened.facts.n_truth)
    with st.expander("Settings of a new training", expanded=trainings.asks_for_settings(run), icon=":material/tune:"):
        settings(opened)
    if run is not None:
        jobs.watch([run], lambda known: run_view(opened, known))
    with errors.shown():
        training_runs.show(opened)


page()
