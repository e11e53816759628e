"""Export: what do I take home? Labels, review queue, model, report."""

from functools import partial

import streamlit as st

from deem_core.runs import Run
from studio import boot, errors, jobs, state, text, widgets
from studio.data import datasets
from studio.export import downloads, fused_file, new_data, results, review
from studio.inspect import frame
from studio.train import outcome, trainings

boot.guard(__file__)


@errors.boundary()
def warnings(training: Run) -> None:
    summary = trainings.summary(training)
    if summary is not None:
        widgets.alarms(summary.alarms)


@errors.boundary()
def labels(training: Run, opened: datasets.Opened) -> None:
    fused_file.show(results.labelled(training), "export")


@errors.boundary()
def review_queue(training: Run, opened: datasets.Opened) -> None:
    result = results.labelled(training)
    queue = review.queue(result)
    st.markdown(
        f"**{text.count(len(queue.rows), 'row')} worth a look**, the most urgent first: labels that their votes back "
        "least, unanimous votes that were overruled, and rows on which restarts disagree."
    )
    selection = st.dataframe(
        review.queue_table(result),
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
        widgets.download(
            "Download the review queue",
            lambda: results.frame_bytes(review.queue_table(result, None)),
            results.file_name(result.opened, "review.csv"),
            "download_review",
        )
    rows = selection["selection"]["rows"]
    if rows and rows[0] < len(queue.rows):
        frame.why_chart(training, result.opened, int(queue.rows[rows[0]]), "review_why")
    bring_reviewed(result)


@errors.boundary()
def bring_reviewed(result: results.Labelled) -> None:
    file = st.file_uploader("Reviewed labels (id and label), for evaluation only", key=f"reviewed_{result.run.id}")
    if file is None:
        return
    scores, notes = review.judge(result, file.name, file.getvalue())
    widgets.evaluation_badge()
    widgets.plain_list(notes)
    st.dataframe(outcome.scores(scores), hide_index=True)
    st.caption(
        "Rows are in the queue because their fused label is in doubt, so neither these accuracies nor who is ahead "
        "here holds for all rows. 95 % intervals by bootstrap over rows."
    )


@errors.boundary()
def labels_for_new_data(training: Run, opened: datasets.Opened) -> None:
    st.markdown("The trained model labels other rows of the same learners. Columns are matched by name.")
    new_data.card(
        downloads.model_digest(training.id, training),
        "export",
        partial(downloads.stored_model, training),
        new_data.readings_like(opened.dataset.reading),
    )


@errors.boundary()
def model(training: Run, opened: datasets.Opened) -> None:
    st.markdown(
        "The model file holds parameters and settings, and cannot run code. Load it on another machine on the home "
        "page, or with `python -m deem_core apply model.safetensors new.csv -o labels.csv`."
    )
    widgets.download(
        "Download the model",
        downloads.model_file(training).read_bytes,
        results.file_name(opened, "model.safetensors"),
        "download_model",
        mime="application/octet-stream",
        primary=True,
    )


@errors.boundary()
def report(training: Run, opened: datasets.Opened) -> None:
    st.markdown("One page for colleagues that needs no network: data, settings, curves, labels, learners and limits.")
    with st.container(horizontal=True):
        widgets.download(
            "Download the report",
            lambda: downloads.report(training, opened).html_bytes(),
            results.file_name(opened, "report.html"),
            "download_report",
            mime="text/html",
            primary=True,
        )
        widgets.download(
            "The same numbers as JSON",
            lambda: downloads.report(training, opened).json_bytes(),
            results.file_name(opened, "report.json"),
            "download_report_json",
            mime="application/json",
        )
    st.markdown("**The command that repeats this run**")
    st.code(downloads.command(training), language=None, wrap_lines=True)


def page() -> None:
    badges = widgets.header("Export", "What do I take home?")
    chosen = frame.training(":material/download:", "Labels, model and report appear here after a training.")
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
    warnings(training)
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
        format_func=lambda each: f"{frame.run_words(by_id[each])} · {each[:6]}",  # titles and ages may be alike
        key="export_run",
        on_change=lambda: state.put(state.RUN, str(state.value("export_run"))),
    )
    return training


TABS = {
    "Fused labels": labels,
    "Review queue": review_queue,
    "New data": labels_for_new_data,
    "Model": model,
    "Report": report,
}

page()
