"""Data: what did I bring? The file as it was understood, facts and pictures, and the first way to fuse it."""

import streamlit as st

from deem_core import figures
from studio import boot, bringing, datasets, errors, fusing, kept, numbers, roles, samples, state, text, widgets
from studio.layouts import LAYOUTS

boot.guard(__file__)

TRUTH_BADGE = "Evaluation only, never used in training"


@errors.shown()
def bring() -> None:
    st.file_uploader(
        "Bring a file of votes: CSV, TSV or Parquet, also gzipped",
        key=state.uploader("votes"),
        type=["csv", "tsv", "txt", "gz", "parquet", "pq"],
        on_change=bringing.take_upload,
        args=(state.uploader("votes"),),
    )
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=state.SAMPLES):
        st.caption("No file at hand? Take a sample:", width="content")
        for sample in samples.catalogue():
            st.button(
                sample.title,
                key=f"{state.OPEN_SAMPLE}{sample.name}",
                help=sample.shows,
                on_click=bringing.take_sample,
                args=(sample.name,),
            )


@errors.shown()
def facts(opened: datasets.Opened) -> None:
    widgets.number_cards(numbers.headline(opened.reading.votes, opened.facts), columns=6)


@errors.shown()
def warnings(opened: datasets.Opened) -> None:
    if not opened.findings:
        st.caption(":green[:material/check_circle:] Nothing about these votes stands in the way of training.")
    for number, finding in enumerate(opened.findings):
        widgets.finding(finding, number, on_leave_out=bringing.leave_out)


@errors.shown()
def pictures(opened: datasets.Opened) -> None:
    names = ["Votes per class", "Who agrees with whom", "How many agree", "Coverage"]
    drawn = [votes_per_class, agreement, rows_agreeing, coverage]
    if opened.facts.n_truth:
        names, drawn = [*names, ":material/lock: Accuracy"], [*drawn, accuracy]
    for tab, draw in zip(st.tabs(names), drawn, strict=True):
        with tab, errors.shown():
            draw(opened)


def votes_per_class(opened: datasets.Opened) -> None:
    votes = opened.reading.votes
    figure = figures.votes_per_class(votes.class_counts, votes.learners, votes.classes, theme=widgets.theme())
    widgets.chart(figure, "votes_chart", "Stacked bars: how many votes each learner cast for each class.")
    st.caption(
        "**Good:** bars of similar length with a similar mix of colours. **Bad:** a bar of a single colour, from a "
        "learner that always says the same, or one so short that it hardly votes. **Worth a look:** a mix unlike all "
        "the others; it may be an expert or a broken learner."
    )


def agreement(opened: datasets.Opened) -> None:
    found = opened.agreement
    figure = figures.agreement_heatmap(
        found.share, opened.reading.votes.learners, order=found.order, theme=widgets.theme()
    )
    widgets.chart(figure, "agreement_chart", "Heatmap: how often each pair of learners votes the same.")
    st.caption(
        "Learners that agree stand side by side. **Good:** an even, middling colour. **Bad:** a block much darker than "
        "the rest (they copy each other or were trained alike, so their votes count for less than they seem) or a pale "
        "stripe (a learner that agrees with nobody)."
        + (f" From {found.rows_used:,} of {found.n_rows:,} rows, evenly spread." if found.sampled else "")
    )


def rows_agreeing(opened: datasets.Opened) -> None:
    figure = figures.agreement_histogram(opened.rows_agreeing, theme=widgets.theme())
    widgets.chart(figure, "rows_chart", "Bars: on how many rows how many learners agree.")
    st.caption(
        "How many learners share the most frequent answer of a row. **Easy:** most rows at the right end, where nearly "
        "everybody agrees. **Hard:** many rows at the left, where fusing well matters most."
    )


def coverage(opened: datasets.Opened) -> None:
    figure = figures.coverage_bars(opened.facts.learner_coverage, opened.reading.votes.learners, theme=widgets.theme())
    widgets.chart(figure, "coverage_chart", "Bars: the share of rows each learner voted on.")
    st.caption(
        "Missing votes are no problem as such. **Worth a look:** a learner with so few votes that nobody can tell how "
        "good it is."
    )


def accuracy(opened: datasets.Opened) -> None:
    st.badge(TRUTH_BADGE, icon=":material/lock:", color="orange")
    figure = figures.accuracy_bars(
        opened.reading.votes.learners,
        opened.facts.learner_accuracy,
        opened.truth_counts,
        opened.facts.majority_accuracy,
        theme=widgets.theme(),
    )
    widgets.chart(figure, "accuracy_chart", "Bars: the accuracy of each learner where the truth is known.")
    st.caption(
        "Share of right answers where the truth is known, with 95 % intervals. The dashed line is the majority vote: "
        "fusing well means beating it."
    )


@errors.shown()
def understood(opened: datasets.Opened) -> None:
    report = opened.reading.report
    widgets.report(report)
    for note in report.notes:
        if note.rows:
            with st.expander(f"Rows: {text.plain(note.text)}"):
                st.dataframe(opened.rows_of(note), hide_index=True)


@errors.shown()
def settings(opened: datasets.Opened) -> None:
    report, key = opened.reading.report, f"roles_{opened.dataset.id}"
    first, second, third = st.columns(3)
    with first:
        bringing.option("layout", "Layout", ["wide", "long", "soft"], report.layout, opened)
    with second:
        bringing.option("delimiter", "Delimiter", bringing.DELIMITERS, report.delimiter, opened)
    with third:
        bringing.option("encoding", "Encoding", bringing.ENCODINGS, report.encoding, opened)
    st.data_editor(
        opened.roles(),
        key=key,
        hide_index=True,
        disabled=["column", "first values"],
        column_config={
            "column": "Column",
            "role": st.column_config.SelectboxColumn(
                "Role", options=list(roles.ROLES[report.layout]), required=True, help="Click to change."
            ),
            "first values": "First values",
        },
        on_change=bringing.change_roles,
        args=(key,),
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            "A change reads the stored file again at once. Truth is for evaluation only and never used in training."
        )
        if opened.dataset.reading:
            st.button("Read as found", key="read_as_found", icon=":material/undo:", on_click=bringing.read_as_found)
    if opened.dataset.truth is not None or not opened.facts.n_truth:
        st.file_uploader(
            f"Replace {text.plain(opened.dataset.truth_name or 'truth')}, the file of true labels"
            if opened.dataset.truth is not None
            else "True labels in a second file (id and label; for evaluation only)",
            key=state.uploader("truth"),
            on_change=bringing.take_truth,
            args=(state.uploader("truth"),),
        )


@errors.shown()
def preview(opened: datasets.Opened) -> None:
    st.dataframe(opened.cells(), hide_index=True, lazy=True, height=320)


@errors.shown()
def files() -> None:
    kept.table()


@errors.shown()
def fuse(opened: datasets.Opened) -> None:
    with st.container(border=True, key="fuse"):
        fusing.card(opened)


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
    with errors.shown():
        opened = datasets.current()
    widgets.complaint()
    if opened is None:
        with st.container(border=True, key="bring"):
            bring()
        if kept.files():
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
        with st.popover("Bring another file", icon=":material/upload_file:"):
            bring()
    facts(opened)
    warnings(opened)
    fuse(opened)
    next_step()
    with st.container(border=True):
        pictures(opened)
    found, table, reading, stored = st.tabs(
        [
            ":material/fact_check: What was understood",
            ":material/table: Rows",
            ":material/tune: Columns and reading",
            ":material/folder: Files",
        ]
    )
    with found:
        understood(opened)
    with table:
        preview(opened)
    with reading:
        settings(opened)
    with stored:
        files()


page()
