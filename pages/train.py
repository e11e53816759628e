"""Train: did it learn? Settings, live curves, and the outcome."""

from collections.abc import Callable, Sequence

import streamlit as st

from deem_core import comparison
from deem_core.answers import StoredAnswer
from deem_core.comparison import Evaluation
from deem_core.diagnostics.rows import Flag, RowFilter
from deem_core.engine import place_in_words
from deem_core.figures import pictures
from deem_core.model import Record
from deem_core.runs import FusionSummary, Run, State
from studio import boot, errors, examples, jobs, machines, mishaps, state, text, widgets
from studio.data import datasets, labels, quick_fuse
from studio.rows import cells
from studio.rows.sources import Source
from studio.train import form, history, known_rows, outcome, trainings
from studio.words import say

boot.guard(__file__)


@errors.boundary()
def settings(opened: datasets.Opened) -> None:
    where = machines.choose()
    config = form.show(opened) | where
    probabilities(opened, config["method"])
    can_train = not comparison.METHODS[config["method"]].needs_torch or widgets.torch_is_there()
    with_gold = known_rows.switch(opened)
    st.caption("Fields marked (auto) are set from the data; change one to set it yourself.")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Reset to recommended",
            key="reset_settings",
            type="tertiary",
            icon=":material/restart_alt:",
            on_click=form.reset,
        )
        if form.is_swept(config["method"]):
            st.button(
                "Compare learning rates first",
                key="to_rates",
                type="tertiary",
                icon=":material/show_chart:",
                on_click=state.go_to,
                args=("learning_rate",),
            )
        st.space("stretch")
        jobs.expected("train", opened.reading.votes, config)
        st.button(
            "Train",
            key="start_training",
            type="primary",
            disabled=not can_train,
            icon=":material/play_arrow:",
            on_click=known_rows.start,
            args=(opened.dataset.id, config, with_gold),
        )


def probabilities(opened: datasets.Opened, method: str) -> None:
    """Say that a method reduces probabilities, and offer soft DEEM."""
    note = comparison.reduction_note(opened.reading.votes, method)
    if note:
        with st.container(border=True, horizontal=True, vertical_alignment="center", key="reduced"):
            st.markdown(f":orange[:material/percent:] {text.plain(note)}", width="stretch")
            st.button(
                "Choose soft DEEM",
                key="choose_soft",
                icon=":material/percent:",
                on_click=form.choose_method,
                args=("deem_soft",),
            )


@errors.boundary()
def run_view(opened: datasets.Opened, states: Sequence[tuple[Run, State]]) -> None:
    run, now = states[0]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header(text.plain(jobs.title(run)), anchor=False, width="stretch")
        jobs.badge(run, now)
        jobs.again(run, now, "resume")
        if now.state == "done":
            quick_fuse.download(run, opened, primary=not trainings.asks_for_settings(run))
    if now.active:
        jobs.progress(run, now, "train")
        pace = trainings.pace(run)
        if pace is not None:
            where = text.plain(place_in_words(now.device or "cpu"))
            st.caption(f"{pace:,.0f} updates per second over all restarts, on {where}")
    mishaps.show(run)
    if now.state == "failed":
        st.warning(text.plain(now.reason), icon=":material/error:")
    jobs.cancelled(run, now)
    summary = trainings.summary(run)
    if summary is None and now.state == "done":
        st.caption("This run was made by an earlier version of the app: its labels are kept, its numbers are not.")
    alarms(run, opened, summary)
    if summary is not None:
        done(run, opened, summary)
    curves(run, opened, summary)


@errors.boundary()
def alarms(run: Run, opened: datasets.Opened, summary: FusionSummary | None) -> None:
    for at, alarm in enumerate(trainings.alarms_of(run, opened, summary)):
        with st.container(border=True, key=f"alarm_{at}", gap="small"):
            widgets.alarm(alarm)
            if "spellings" in (alarm.kind, alarm.mend) and summary is not None:
                st.button(
                    "Merge spellings and train again",
                    key="merge_and_train",
                    type="primary",
                    icon=":material/merge:",
                    on_click=labels.merge_and_train,
                    args=(run.config, trainings.title_of(run.config)),
                )
            if (alarm.remedies or alarm.mend) and summary is not None:
                with st.container(horizontal=True):
                    if alarm.mend == "labels":
                        labels_button(f"mend_{alarm.kind}")
                    for words, changes in alarm.remedies.items():
                        config = {name: value for name, value in {**run.config, **changes}.items() if value is not None}
                        st.button(
                            words,
                            key=f"remedy_{alarm.kind}_{words}",
                            icon=":material/replay:",
                            on_click=jobs.start,
                            args=("train", opened.dataset.id, config, trainings.title_of(config)),
                        )


def labels_button(key: str) -> None:
    st.button("Merge labels", key=key, icon=":material/merge:", on_click=state.go_to, args=("data",))


@errors.boundary()
def done(run: Run, opened: datasets.Opened, summary: FusionSummary) -> None:
    if story := outcome.story(summary):
        st.markdown(f":material/lightbulb: {text.plain(say(story))}")
    numbers = outcome.cards(opened, summary)
    widgets.number_cards(numbers, columns=len(numbers))
    training = summary.training
    for sentence in training.findings if training.from_groups else [training.start_sentence]:
        if sentence:
            st.caption(text.plain(say(sentence)))
    near_copies(run, opened, summary)
    groups(summary)
    if summary.gold is not None:
        widgets.plain_list(summary.gold.sentences)
    labels = trainings.outcome(run, opened)
    if labels is None:
        return
    classes = opened.reading.votes.classes
    views: dict[str, Callable[[], None]] = {
        "Class shares": lambda: widgets.picture(
            pictures.class_shares(summary.answer.class_shares, summary.answer.majority_shares, classes), "shares_chart"
        ),
        "What changed": lambda: cells.picture(
            pictures.label_changes(labels.changes, classes), "changes_chart", Source(opened, run)
        ),
        "Confidence": lambda: widgets.picture(
            pictures.confidence(*trainings.confidence_counts(labels)), "confidence_chart"
        ),
        "Overruled rows": lambda: overruled(run, opened, labels),
    }
    if summary.training.restarts:
        views["Restarts"] = lambda: restarts(summary)
    evaluation = summary.evaluation
    if evaluation is not None:
        views[":material/lock: Evaluation"] = lambda: evaluated(summary, evaluation)
    widgets.tabs(views, "answer_tabs")


@errors.boundary()
def near_copies(run: Run, opened: datasets.Opened, summary: FusionSummary) -> None:
    if not summary.training.guard_acted:
        return
    with st.container(border=True, key="near_copies", gap="small"):
        st.markdown(say("**Near-copies among the learners**"))
        for sentence in summary.training.near_copies:
            st.caption(text.plain(say(sentence)))
        twin = outcome.twin(run, opened)
        if twin is None:
            config = {**run.config, "near_copies": "keep"}
            st.button(
                "Train again with every vote counted",
                key="keep_copies",
                icon=":material/group:",
                on_click=jobs.start,
                args=("train", opened.dataset.id, config, trainings.title_of(config)),
            )
        else:
            st.dataframe(outcome.side_by_side(run, twin, opened), hide_index=True)


@errors.boundary()
def groups(summary: FusionSummary) -> None:
    found = summary.training.groups
    if found is None:
        return
    with st.container(border=True, key="groups", gap="small"):
        st.markdown(say("**Groups of learners that make the same mistakes**"))
        for sentence in (*summary.training.findings, *summary.training.warnings):
            st.caption(text.plain(say(sentence)))
        st.caption(outcome.likelihood(found))
        if found.groups:
            st.dataframe(outcome.groups_table(found), hide_index=True)
        if found.runners_up:
            st.caption("These other groupings explain the votes about as well:")
            st.dataframe(
                widgets.in_percent(outcome.other_groups_table(found), ["other labels"]),
                hide_index=True,
                column_config={
                    "nats behind": st.column_config.NumberColumn(format="%.1f"),
                    "other labels": st.column_config.NumberColumn(
                        format=widgets.PERCENT, help="Share of the rows that they would label differently."
                    ),
                },
            )


def overruled(run: Run, opened: datasets.Opened, labels: StoredAnswer) -> None:
    number, rows = trainings.overruled(labels, opened)
    if not number:
        st.caption("No unanimous row was given another label.")
        return
    st.markdown(f"{number:,} unanimous rows were given another label. Check some of them before you trust the labels.")
    st.dataframe(rows, hide_index=True)
    cells.link(Source(opened, run), RowFilter((Flag("overruled"),)), "overruled_rows")


def restarts(summary: FusionSummary) -> None:
    st.dataframe(
        widgets.in_percent(outcome.restarts(summary.training.restarts), ["agreement"]),
        hide_index=True,
        column_config={
            "agreement": st.column_config.NumberColumn(
                "Agreement",
                format=widgets.PERCENT,
                help="Mean share of the rows with the same label as the other restarts.",
            ),
            "smallest class": st.column_config.NumberColumn(
                "Worst class", format="%.2f", help="Share of its majority-vote rows that the worst class keeps."
            ),
        },
    )
    st.caption(outcome.spread(summary.training.restarts))


def evaluated(summary: FusionSummary, evaluation: Evaluation) -> None:
    widgets.evaluation_badge()
    widgets.picture(pictures.evaluation(evaluation.methods), "evaluation_chart")
    st.dataframe(outcome.scores(evaluation), hide_index=True)
    st.caption(outcome.spread(summary.training.restarts))


@errors.boundary()
def curves(run: Run, opened: datasets.Opened, summary: FusionSummary | None) -> None:
    records = trainings.records(run)
    if not records:
        return
    classes, majority = opened.reading.votes.classes, outcome.majority_shares(opened)
    widgets.tabs(
        {
            "Energies": lambda: energies(run, records, summary),
            "Classes while training": lambda: widgets.live_picture(
                pictures.shares_over_time(records, classes, majority), "classes_chart"
            ),
            "Sampler": lambda: widgets.live_picture(pictures.sampler_health(records), "sampler_chart"),
        },
        "curves_tabs",
    )


def energies(run: Run, records: Sequence[Record], summary: FusionSummary | None) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        smoothing = st.slider("Smoothing", 0.0, 0.99, 0.5, **widgets.keep("train_smoothing"), width=220)
        along = st.segmented_control(
            "Horizontal axis",
            ["epoch", "update", "second"],
            default="epoch",
            required=True,
            format_func=lambda each: f"{each.capitalize()}s",
            **widgets.keep("train_along"),
        )
    restarts, from_groups = (
        ((), False) if summary is None else (summary.training.restarts, summary.training.from_groups)
    )
    picture = pictures.energies(
        records,
        restarts,
        smoothing=smoothing,
        from_groups=from_groups,
        judged=trainings.judged(run),
        x=along or "epoch",
    )
    widgets.live_picture(picture, "energy_chart", note="Click a name below the curves to hide it.")


def page() -> None:
    head = widgets.with_data(
        "Train", "Did it learn?", ":material/model_training:", "A model learns from votes: upload a file first."
    )
    if head is None:
        examples.show("Train")
        return
    badges, opened = head
    run = jobs.of_page(state.RUN, opened.dataset.id, "train")
    with badges:
        widgets.truth_badge(opened.facts.n_truth)
    with st.expander(
        "Settings of a new training run", expanded=trainings.asks_for_settings(run), icon=":material/tune:"
    ):
        settings(opened)
    if run is None:
        examples.show("Train")
    else:
        jobs.watch([run], lambda states: run_view(opened, states))
    with errors.boundary():
        history.show(opened)


page()
