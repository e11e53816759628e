"""Data: what did I bring? The file, its facts, and pictures."""

from collections.abc import Callable

import streamlit as st

from deem_core import readers
from deem_core.diagnostics import RuleTable
from deem_core.figures import pictures
from studio import boot, errors, panel, state, text, widgets
from studio.data import datasets, intake, numbers, quick_fuse, samples, stored_files
from studio.data.samples import LAYOUTS

boot.guard(__file__)


@errors.boundary()
def bring() -> None:
    st.file_uploader(
        "Bring a file of votes: CSV, TSV or Parquet, also gzipped",
        key=state.uploader("votes"),
        type=["csv", "tsv", "txt", "gz", "parquet", "pq"],
        on_change=intake.take_upload,
        args=(state.uploader("votes"),),
    )
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=state.SAMPLES):
        st.caption("No file at hand? Take a sample:", width="content")
        for sample in samples.catalogue():
            st.button(
                sample.title,
                key=f"{state.OPEN_SAMPLE}{sample.name}",
                help=sample.shows,
                on_click=intake.take_sample,
                args=(sample.name,),
            )


@errors.boundary()
def facts(opened: datasets.Opened) -> None:
    widgets.number_cards(numbers.headline(opened.reading.votes, opened.facts), columns=6)


@errors.boundary()
def warnings(opened: datasets.Opened) -> None:
    if not opened.findings:
        st.caption(":green[:material/check_circle:] Nothing about these votes stands in the way of training.")
    for number, finding in enumerate(opened.findings):
        widgets.finding(finding, number, on_leave_out=intake.leave_out)


@errors.boundary()
def gallery(opened: datasets.Opened) -> None:
    votes, show = opened.reading.votes, widgets.picture
    views: dict[str, Callable[[], None]] = {
        "Votes per class": lambda: show(pictures.votes_per_class(votes), "votes_chart"),
        "Who agrees with whom": lambda: show(
            pictures.pair_agreement(opened.agreement, votes.learners), "agreement_chart"
        ),
        "How many agree": lambda: show(pictures.row_agreement(opened.rows_agreeing), "rows_chart"),
        "Coverage": lambda: show(pictures.coverage(opened.facts, votes.learners), "coverage_chart"),
    }
    if opened.rules is not None:
        table = opened.rules
        views = {"Rules": lambda: rules(table), **views}
    if opened.facts.n_truth:
        views[":material/lock: Accuracy"] = lambda: learner_accuracy(opened)
    widgets.tabs(views)


def rules(table: RuleTable) -> None:
    widgets.picture(pictures.rules(table), "rules_chart")
    shares = {
        "coverage": ("Coverage", "Share of all rows on which the rule votes."),
        "overlap": ("Overlap", "Share of all rows on which it votes and another rule does too."),
        "conflict": ("Conflict", "Share of all rows on which it votes and another rule votes for another class."),
        "precision": ("Precision (evaluation only)", "Share of its votes that are right, where the truth is known."),
    }
    config = {
        name: st.column_config.NumberColumn(title, format="percent", help=words)
        for name, (title, words) in shares.items()
    }
    st.dataframe(
        table.to_frame(),
        key="rules_table",
        hide_index=True,
        column_config={"rule": "Rule", "votes_for": "Votes for", "votes": "Votes", **config},
    )


def learner_accuracy(opened: datasets.Opened) -> None:
    widgets.evaluation_badge()
    learners = opened.reading.votes.learners
    widgets.picture(pictures.learner_accuracy(opened.facts, learners, opened.truth_counts), "accuracy_chart")


@errors.boundary()
def understood(opened: datasets.Opened) -> None:
    report = opened.reading.report
    widgets.report(report)
    for note in report.notes:
        if note.rows:
            with st.expander(f"Rows: {text.plain(note.text)}"):
                st.dataframe(opened.rows_of(note), hide_index=True)


@errors.boundary()
def settings(opened: datasets.Opened) -> None:
    report, key = opened.reading.report, f"roles_{opened.dataset.id}"
    first, second, third = st.columns(3)
    with first:
        intake.option("layout", "Layout", ["wide", "long", "soft"], report.layout, opened)
    with second:
        intake.option("delimiter", "Delimiter", readers.DELIMITERS, report.delimiter, opened)
    with third:
        intake.option("encoding", "Encoding", intake.ENCODINGS, report.encoding, opened)
    st.data_editor(
        opened.roles(),
        key=key,
        hide_index=True,
        disabled=["column", "first values"],
        column_config={
            "column": "Column",
            "role": st.column_config.SelectboxColumn(
                "Role", options=list(intake.ROLES[report.layout]), required=True, help="Click to change."
            ),
            "first values": "First values",
        },
        on_change=intake.change_roles,
        args=(key,),
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            "A change reads the stored file again at once. Truth is for evaluation only and never used in training. "
            "Gold is what you hand over to be used: known labels of some rows, which then count in every answer."
        )
        if opened.dataset.reading:
            st.button("Read as found", key="read_as_found", icon=":material/undo:", on_click=intake.read_as_found)
    if opened.dataset.truth is not None or not opened.facts.n_truth:
        st.file_uploader(
            f"Replace {text.plain(opened.dataset.truth_name or 'truth')}, the file of true labels"
            if opened.dataset.truth is not None
            else "True labels in a second file (id and label; for evaluation only)",
            key=state.uploader("truth"),
            on_change=intake.take_truth,
            args=(state.uploader("truth"),),
        )


def gold_badge(opened: datasets.Opened) -> None:
    gold = opened.reading.votes.gold
    if gold is not None:
        st.badge(text.count(gold.n_rows, "gold row"), icon=":material/workspace_premium:", color="yellow")


@errors.boundary()
def preview(opened: datasets.Opened) -> None:
    st.dataframe(opened.cells(), hide_index=True, lazy=True, height=320)


@errors.boundary()
def files() -> None:
    stored_files.table()


@errors.boundary()
def fuse(opened: datasets.Opened) -> None:
    with st.container(border=True, key="fuse"):
        quick_fuse.card(opened)


def next_step() -> None:
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.button(
            "Next: learning rate",
            key="next_learning_rate",
            icon=":material/arrow_forward:",
            icon_position="right",
            on_click=state.go_to,
            args=("learning_rate",),
            help="See the energy curves of several learning rates before you train.",
        )


def page() -> None:
    badges = widgets.header("Data", "What did I bring?")
    opened = None
    with errors.boundary():
        opened = datasets.current()
    widgets.complaint()
    if opened is None:
        with st.container(border=True, key="bring"):
            bring()
        if stored_files.files():
            st.header("Brought before", anchor=False)
            files()
        st.header("What a file can look like", anchor=False)
        for tab, layout in zip(st.tabs([each.title for each in LAYOUTS.values()]), LAYOUTS.values(), strict=True):
            tab.markdown(layout.sentence)
            tab.code(layout.example.strip(), language=None)
        return
    with badges:
        layout = LAYOUTS[opened.reading.report.layout]
        st.badge(f"{layout.title} layout", icon=layout.icon)
        widgets.truth_badge(opened.facts.n_truth)
        gold_badge(opened)
        with st.popover("Bring another file", icon=":material/upload_file:"):
            bring()
    facts(opened)
    warnings(opened)
    fuse(opened)
    next_step()
    panel.card(opened)
    with st.container(border=True):
        gallery(opened)
    notes, table, reading, folder = st.tabs(
        [
            ":material/fact_check: What was understood",
            ":material/table: Rows",
            ":material/tune: Columns and reading",
            ":material/folder: Files",
        ]
    )
    with notes:
        understood(opened)
    with table:
        preview(opened)
    with reading:
        settings(opened)
    with folder:
        files()


page()
