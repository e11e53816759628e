"""Export: what do I take home? Fused labels, the rows to review, labels for new data, the model and a report."""

import streamlit as st

from deem_core import figures
from deem_core.runs import Run
from studio import (
    applying,
    boot,
    datasets,
    errors,
    exporting,
    findings,
    inspecting,
    reporting,
    results,
    text,
    widgets,
)
from studio.numbers import Number

boot.guard(__file__)


@errors.shown()
def labels(found: results.Labelled) -> None:
    options, left = {}, st.columns([3, 2])
    with left[1]:
        st.markdown("**Columns**")
        options["originals"] = st.toggle("Original columns", True, key="export_originals", persist_state="session")
        many = found.votes.n_classes > 50
        options["probabilities"] = st.toggle(
            "Probabilities of all classes", not many, key=f"export_p_{many}", persist_state="session"
        )
        options["diagnostics"] = st.toggle(
            "Majority vote, agreement, entropy, needs review", True, key="export_more", persist_state="session"
        )
        options["label_column"] = st.text_input(
            "Name of the label column", "fused_label", key="export_name", persist_state="session"
        )
        kind = st.selectbox("Format", list(results.FORMATS), key="export_format", persist_state="session")
        safe = st.toggle(
            "Safe to open in a spreadsheet",
            True,
            key="export_safe",
            persist_state="session",
            disabled=kind == "Parquet",
            help="Cells that a spreadsheet would run as a formula get an apostrophe; numbers are not touched.",
        )
    with left[0]:
        options |= threshold(found)
    ending, mime = results.FORMATS[kind]
    st.markdown("**Preview**")
    st.dataframe(exporting.preview(found, options), hide_index=True)
    with st.container(horizontal=True, vertical_alignment="center"):
        silent = int((found.votes.votes_per_row == 0).sum())
        said = f"{text.count(silent, 'row')} without votes come back with an empty label. " if silent else ""
        st.caption(f"{text.count(found.votes.n_rows, 'row')} in the order of the file. {said}Made on click.")
        st.download_button(
            f"Download as {kind}",
            data=lambda: results.file_bytes(results.fused_table(found, options), ending, safe=safe),
            file_name=results.file_name(found.opened, f"fused{ending}"),
            mime=mime,
            key="download_export",
            type="primary",
            icon=":material/download:",
            on_click="ignore",
        )


def threshold(found: results.Labelled) -> dict:
    low = st.slider(
        "Review labels with a confidence below",
        0.0,
        1.0,
        0.0,
        step=0.01,
        key="export_threshold",
        persist_state="session",
        help="At 0 the usual rule holds: the tenth of the rows that their votes back least.",
    )
    effect = exporting.effect(found, low)
    widgets.chart(
        figures.confidence_histogram(effect.edges, effect.counts, threshold=low or None, theme=widgets.theme()),
        "export_histogram",
        "Histogram: rows by the confidence of their label, those to review in another colour.",
    )
    cards = [
        Number(
            "Rows to review",
            text.count(effect.below),
            f"{text.percent(effect.below / max(effect.voted, 1))} of rows",
            "Rows with votes whose label is less certain than the threshold.",
        )
    ]
    if effect.all_accuracy is not None:
        cards.append(
            Number(
                "Accuracy of the rest",
                "–" if effect.kept_accuracy is None else text.percent(effect.kept_accuracy),
                f"all rows {text.percent(effect.all_accuracy)} (evaluation)",
                "Share of right labels among those at or above the threshold, where the truth is known.",
            )
        )
    widgets.number_cards(cards, columns=2)
    if not low:
        return {}
    blank = st.toggle("Leave these labels empty", key="export_blank", persist_state="session")
    return {"review_below": low, "blank": blank}


@errors.shown()
def review(found: results.Labelled, training: Run) -> None:
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
        column_config={"confidence": st.column_config.NumberColumn("confidence", format="percent")},
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
    reviewed(found)


@errors.shown()
def reviewed(found: results.Labelled) -> None:
    file = st.file_uploader("Reviewed labels (id and label), for evaluation only", key=f"reviewed_{found.run.id}")
    if file is None:
        return
    judged, said = exporting.evaluate_reviewed(found, file.name, file.getvalue())
    st.badge("Evaluation only, never used in training", icon=":material/lock:", color="orange")
    widgets.plain_list(said)
    st.dataframe(findings.scores(judged), hide_index=True)
    st.caption(
        "Rows that were chosen for review are harder than the rest: their accuracy is not that of all rows. 95 % "
        "intervals by bootstrap over rows."
    )


@errors.shown()
def new_data(training: Run) -> None:
    st.markdown("The trained model labels other rows of the same learners. Columns are matched by name.")
    applying.card(reporting.model_digest(training), "export")


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
    if len(done) > 1:
        ids = [run.id for run in done]
        picked = st.selectbox(
            "Training",
            ids,
            index=ids.index(training.id),
            format_func=lambda each: inspecting.run_words(done[ids.index(each)]),
            key="export_run",
        )
        training = done[ids.index(picked)]
    tabs = st.tabs(["Fused labels", "Review queue", "New data", "Model", "Report"])
    with tabs[0], errors.shown():
        labels(results.labelled(training))
    with tabs[1], errors.shown():
        review(results.labelled(training), training)
    with tabs[2]:
        new_data(training)
    with tabs[3]:
        model(training, opened)
    with tabs[4]:
        report(training, opened)


page()
