"""Export: what do I take home? Fused labels, the rows to review, labels for new data, the model and a report."""

from functools import partial

import streamlit as st

from deem_core.runs import Run
from studio import (
    applying,
    boot,
    datasets,
    errors,
    export_card,
    exporting,
    findings,
    inspecting,
    jobs,
    reporting,
    results,
    reviewed,
    state,
    text,
    widgets,
)

boot.guard(__file__)


@errors.shown()
def labels(training: Run, opened: datasets.Opened) -> None:
    export_card.show(results.labelled(training), "export")


@errors.shown()
def review(training: Run, opened: datasets.Opened) -> None:
    found = results.labelled(training)
    ranked = exporting.queue(found)
    st.markdown(
        f"**{text.count(len(ranked.rows), 'row')} worth a look**, the most urgent first: labels that their votes back "
        "least, unanimous votes that were overruled, and rows on which restarts disagree."
    )
    picked = st.dataframe(
        exporting.queue_table(found),
        key=f"review_{training.id}",
        hide_index=True,
        height=320,
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            name: st.column_config.NumberColumn(name, format="percent") for name in ("confidence", "restarts_agreeing")
        },
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Mark a row to see why it got its label. Fill in reviewed_label in the file and bring it back.")
        st.download_button(
            "Download the review queue",
            data=lambda: results.frame_bytes(exporting.queue_table(found, None)),
            file_name=results.file_name(found.opened, "review.csv"),
            mime="text/csv",
            key="download_review",
            icon=":material/download:",
            on_click="ignore",
        )
    rows = picked["selection"]["rows"]
    if rows and rows[0] < len(ranked.rows):
        inspecting.why_chart(training, found.opened, int(ranked.rows[rows[0]]), "review_why")
    bring_reviewed(found)


@errors.shown()
def bring_reviewed(found: results.Labelled) -> None:
    file = st.file_uploader("Reviewed labels (id and label), for evaluation only", key=f"reviewed_{found.run.id}")
    if file is None:
        return
    judged, said = reviewed.judge(found, file.name, file.getvalue())
    st.badge("Evaluation only, never used in training", icon=":material/lock:", color="orange")
    widgets.plain_list(said)
    st.dataframe(findings.scores(judged), hide_index=True)
    st.caption(
        "Rows are in the queue because their fused label is in doubt, so neither these accuracies nor who is ahead "
        "here holds for all rows. 95 % intervals by bootstrap over rows."
    )


@errors.shown()
def new_data(training: Run, opened: datasets.Opened) -> None:
    st.markdown("The trained model labels other rows of the same learners. Columns are matched by name.")
    applying.card(
        reporting.model_digest(training.id, training),
        "export",
        partial(reporting.stored_model, training),
        applying.readings_like(opened.dataset.reading),
    )


@errors.shown()
def model(training: Run, opened: datasets.Opened) -> None:
    st.markdown(
        "The model file holds parameters and settings, and cannot run code. Load it on another machine on the home "
        "page, or with `python -m deem_core apply model.safetensors new.csv -o labels.csv`."
    )
    st.download_button(
        "Download the model",
        data=reporting.model_bytes(training),
        file_name=results.file_name(opened, "model.safetensors"),
        mime="application/octet-stream",
        key="download_model",
        type="primary",
        icon=":material/download:",
        on_click="ignore",
    )


@errors.shown()
def report(training: Run, opened: datasets.Opened) -> None:
    st.markdown("One page for colleagues that needs no network: data, settings, curves, labels, learners and limits.")
    with st.container(horizontal=True):
        st.download_button(
            "Download the report",
            data=reporting.html(training),
            file_name=results.file_name(opened, "report.html"),
            mime="text/html",
            key="download_report",
            type="primary",
            icon=":material/download:",
            on_click="ignore",
        )
        st.download_button(
            "The same numbers as JSON",
            data=reporting.as_json(training),
            file_name=results.file_name(opened, "report.json"),
            mime="application/json",
            key="download_report_json",
            icon=":material/download:",
            on_click="ignore",
        )
    st.markdown("**The command that repeats this run**")
    st.code(reporting.command(training), language=None, wrap_lines=True)


def page() -> None:
    badges = widgets.header("Export", "What do I take home?")
    chosen = inspecting.training(":material/download:", "Labels, model and report appear here after a training.")
    if chosen is None:
        return
    opened, done, training = chosen
    with badges:
        widgets.truth_badge(opened.facts.n_truth)
    if jobs.find(state.get(state.RUN)) is None and state.get(state.RUN) is not None:
        st.info(
            "The run in the address was deleted. This is the latest training of these data.", icon=":material/info:"
        )
        state.put(state.RUN, None)
    if len(done) > 1:
        training = choose(done, training)
    tabs = st.tabs(list(TABS), key="export_tab", on_change="rerun")
    for tab, view in zip(tabs, TABS.values(), strict=True):
        if tab.open:  # only what is looked at is computed
            with tab:
                view(training, opened)


def choose(done: list[Run], training: Run) -> Run:
    by_id = {run.id: run for run in done}
    state.set_value("export_run", training.id)
    st.selectbox(
        "Training",
        list(by_id),
        format_func=lambda each: f"{inspecting.run_words(by_id[each])} · {each[:6]}",  # titles and ages may be alike
        key="export_run",
        on_change=lambda: state.put(state.RUN, str(state.value("export_run"))),
    )
    return training


TABS = {
    "Fused labels": labels,
    "Review queue": review,
    "New data": new_data,
    "Model": model,
    "Report": report,
}

page()
