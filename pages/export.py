"""Export: what can I export? Labels, review queue, model, report."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from deem_core.runs import Run
from studio import boot, comparisons, errors, examples, jobs, run_picker, state, text, widgets
from studio.data import datasets
from studio.export import downloads, fused_file, new_data, results, review, sources
from studio.inspect import frame
from studio.train import outcome, trainings
from studio.words import say

boot.guard(__file__)


@errors.boundary()
def warnings(training: Run) -> None:
    summary = trainings.summary(training)
    if summary is not None:
        if summary.instead:
            st.warning(text.plain(say(summary.story())), icon=":material/warning:")
        widgets.alarms(summary.alarms)


@errors.boundary()
def labels(run: Run, opened: datasets.Opened, method: str = "") -> None:
    fused_file.show(results.labelled(run, method), "export")


@errors.boundary()
def review_queue(run: Run, opened: datasets.Opened, method: str = "") -> None:
    result = results.labelled(run, method)
    queue = review.queue(result)
    restarts = ", and rows on which restarts disagree" if run.kind == "train" else ""
    explained = not method and jobs.has_model(run)
    st.markdown(
        f"**{text.count(len(queue.rows), 'row')} to check**, the most urgent first: labels with little support from "
        f"the votes{',' if restarts else ' and'} unanimous votes that were overruled{restarts}."
    )
    table = review.queue_table(result)
    shares = [name for name in ("confidence", "restarts_agreeing") if name in table]
    selection = st.dataframe(
        widgets.in_percent(table, shares),
        key=f"review_{result.key}",
        hide_index=True,
        height=450,
        row_height=64,  # three lines of a reason
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            **{name: st.column_config.NumberColumn(name, format=widgets.PERCENT) for name in shares},
            "why": st.column_config.TextColumn(width=330),
        },
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        why = "Select a row to see why it got its label. " if explained else ""
        st.caption(
            f"{why}Fill in reviewed_label in the file and upload it below to see how accurate the labels are. To have "
            "your labels in the fused file, answer rows on the Review page."
        )
        widgets.download(
            "Download the review queue",
            lambda: results.frame_bytes(review.queue_table(result, None), result.reading.source),
            results.file_name(result.opened, f"{method}{'_' if method else ''}review.csv"),
            "download_review",
        )
    rows = selection["selection"]["rows"]
    if rows and rows[0] < len(queue.rows) and explained:
        frame.why_chart(run, result.opened, int(queue.rows[rows[0]]), "review_why")
    bring_reviewed(result)


@errors.boundary()
def bring_reviewed(result: results.Labelled) -> None:
    file = st.file_uploader("Reviewed labels (id and label), for evaluation only", key=f"reviewed_{result.key}")
    if file is None:
        return
    scores, notes = review.judge(result, file.name, file.getvalue())
    widgets.evaluation_badge()
    widgets.plain_list(notes)
    st.dataframe(outcome.scores(scores), hide_index=True)
    st.caption(
        "These rows are in the queue because their fused label is in doubt, so these accuracies and this ranking do "
        "not hold for all rows. Intervals are 95%, over rows."
    )


@errors.boundary()
def labels_for_new_data(training: Run, opened: datasets.Opened) -> None:
    st.markdown(say("The trained model can label new rows from the same learners. Columns are matched by name."))
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
    own = "settings, curves" if training.kind == "train" else "who answered and why, gold rows"
    st.markdown(f"One page to share that opens offline: data, {own}, labels, learners and limits.")
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
    icon, empty = ":material/download:", "Upload a file and fuse it first."
    head = widgets.with_data("Export", "What can I export?", icon, empty, several=True)
    if head is None:
        examples.show("Export")
        return
    badges, opened = head
    runs = sources.runs(opened.dataset.id)
    if not runs:
        widgets.empty_state(
            ":material/download:",
            "No labels yet",
            "They appear here once the votes are fused, on the Data page or by training a model.",
            "Go to Data",
            "data",
        )
        examples.show("Export")
        return
    with badges:
        widgets.truth_badge(opened.facts.n_truth)
    if jobs.find(state.get(state.RUN)) is None and state.get(state.RUN) is not None:
        st.info("The run in the address was deleted. This is the latest answer to these data.", icon=":material/info:")
        state.put(state.RUN, None)
    run = sources.in_use(runs)
    run_picker.choose(runs, run, "export_run", "Labels of")
    if run.kind == "compare":
        compared(run, opened)
    else:
        warnings(run)
        answered(run)
        show_tabs({name: TABS[name] for name in tabs_of(run)}, "export_tab", run, opened)


@errors.boundary()
def answered(run: Run) -> None:
    summary = trainings.summary(run) if run.kind == "fuse" else None
    for sentence in () if summary is None else summary.training.why or ():
        st.caption(text.plain(say(sentence)))


def tabs_of(run: Run) -> list[str]:
    if run.kind == "train":
        return list(TABS)
    return [name for name in TABS if name not in NEEDS_MODEL or jobs.has_model(run)]


@errors.boundary()
def compared(run: Run, opened: datasets.Opened) -> None:
    comparison = comparisons.comparison(run)
    method = None if comparison is None else sources.choose_method(comparison, "export_method")
    if comparison is None or method is None:
        st.caption("No method of this comparison gave labels. Compare again.")
        return
    comparisons.method_note(comparison[method])
    widgets.alarms(comparison[method].alarms)
    show_tabs({name: partial(TABS[name], method=method) for name in COMPARED}, "export_compared_tab", run, opened)
    st.caption("A model and labels for new data need a trained model; a report needs a training or a fused answer.")


def show_tabs(views: Mapping[str, Callable[[Run, datasets.Opened], None]], key: str, *about: Any) -> None:
    widgets.tabs({name: partial(view, *about) for name, view in views.items()}, key)


TABS: dict[str, Callable[..., None]] = {
    "Fused labels": labels,
    "Review queue": review_queue,
    "New data": labels_for_new_data,
    "Model": model,
    "Report": report,
}
COMPARED = ("Fused labels", "Review queue")  # of these a comparison knows enough
NEEDS_MODEL = ("New data", "Model")

page()
