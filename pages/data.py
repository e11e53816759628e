"""Data: what did I upload? The file, its facts, and pictures."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from deem_core import readers
from deem_core.diagnostics import RuleTable
from deem_core.figures import pictures
from studio import boot, errors, panel, state, text, widgets
from studio.data import datasets, intake, labels, meaning, numbers, quick_fuse, samples, stored_files
from studio.data.samples import LAYOUTS
from studio.rows import cells
from studio.rows import sources as rows

boot.guard(__file__)


@errors.boundary()
def bring() -> None:
    intake.uploader()
    intake.paste()
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=state.SAMPLES):
        st.caption("No file yet? Try a sample:", width="content")
        for sample in samples.catalogue():
            st.button(
                sample.title,
                key=f"{state.OPEN_SAMPLE}{sample.name}",
                help=sample.shows,
                on_click=intake.take_sample,
                args=(sample.name,),
            )


def upload_another() -> None:
    with st.popover("Upload another file", icon=":material/upload_file:"):
        bring()


@errors.boundary()
def facts(opened: datasets.Opened) -> None:
    widgets.number_cards(numbers.headline(opened.reading.votes, opened.facts), columns=6)


@errors.boundary()
def warnings(opened: datasets.Opened) -> None:
    labels.told(opened)
    meaning.notice(opened)
    told = len(opened.reading.report.sentences("warning"))
    if told:
        st.caption(
            f":orange[:material/warning:] {text.count(told, 'warning')} while the file was read: see “How it was read” "
            "below."
        )
    elif not opened.findings and not opened.reading.votes.separator:
        st.caption(":green[:material/check_circle:] Ready to train: no problems found.")
    for number, finding in enumerate(opened.findings):
        widgets.finding(finding, number, on_leave_out=intake.leave_out, more=partial(labels.remedy, opened))


@errors.boundary()
def gallery(opened: datasets.Opened) -> None:
    votes, show = opened.reading.votes, widgets.picture
    if votes.separator:
        several: dict[str, Callable[[], None]] = {
            "Votes per label": lambda: show(pictures.votes_per_label(votes), "labels_chart"),
            "How many agree": lambda: show(pictures.row_agreement(opened.rows_agreeing), "rows_chart"),
            "Coverage": lambda: show(pictures.coverage(opened.facts, votes.learners), "coverage_chart"),
        }
        widgets.tabs(several, "data_tabs_several")
        return
    views: dict[str, Callable[[], None]] = {
        "Votes per class": lambda: show(pictures.votes_per_class(votes), "votes_chart"),
        "Who agrees with whom": lambda: cells.picture(
            pictures.pair_agreement(opened.agreement, votes.learners), "agreement_chart", rows.current(opened)
        ),
        "How many agree": lambda: show(pictures.row_agreement(opened.rows_agreeing), "rows_chart"),
        "Coverage": lambda: show(pictures.coverage(opened.facts, votes.learners), "coverage_chart"),
    }
    if opened.position_bias:
        bias, merged = opened.position_bias, bool(opened.dataset.reading.get("one_voice"))
        views = {"Position bias": lambda: show(pictures.position_bias(bias, merged=merged), "bias_chart"), **views}
    if opened.rules is not None:
        table = opened.rules
        views = {"Rules": lambda: rules(table), **views}
    if opened.facts.n_truth:
        views[":material/lock: Accuracy"] = lambda: learner_accuracy(opened)
    widgets.tabs(views, "data_tabs")


def rules(table: RuleTable) -> None:
    widgets.picture(pictures.rules(table), "rules_chart")
    shares = {
        "coverage": ("Coverage", "Share of all rows on which the rule votes."),
        "overlap": ("Overlap", "Share of all rows on which it votes and another rule does too."),
        "conflict": ("Conflict", "Share of all rows on which it votes and another rule votes for another class."),
        "precision": ("Precision (evaluation only)", "Share of its votes that are right, where the truth is known."),
    }
    config = {
        name: st.column_config.NumberColumn(title, format=widgets.PERCENT, help=words)
        for name, (title, words) in shares.items()
    }
    st.dataframe(
        widgets.in_percent(table.to_frame(), shares),
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
def settings(found: datasets.Opened | datasets.Unread) -> None:
    widgets.complaint(state.READING)
    dataset, form = found.dataset, found.format
    first, second, third = st.columns(3)
    with first:
        intake.option("layout", "Layout", ["wide", "long", "soft"], form.layout, dataset)
    with second:
        intake.option("delimiter", "Delimiter", readers.DELIMITERS, form.delimiter, dataset, applies=form.is_delimited)
    with third:
        intake.option("encoding", "Encoding", intake.ENCODINGS, form.encoding, dataset, applies=form.is_text)
    if form.choice is not None and len(form.choice.names) > 1:
        choice, undecided = form.choice, f"choose the {form.choice.title.casefold()}"
        intake.option(choice.option, choice.title, choice.names, choice.chosen, dataset, undecided=undecided)
    intake.order_options(found)
    intake.roles(found)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            "Truth: true labels, for evaluation only, never used in training. "
            "Gold: known labels of some rows that you want used; they count in every answer."
        )
        if dataset.reading:
            st.button(
                "Reset to detected settings", key="read_as_found", icon=":material/undo:", on_click=intake.read_as_found
            )
    has_truth = isinstance(found, datasets.Opened) and found.facts.n_truth
    if dataset.truth is not None or not has_truth:
        st.file_uploader(
            f"Replace {text.plain(dataset.truth_name or 'truth')}, the file of true labels"
            if dataset.truth is not None
            else "True labels in a second file (id and label; for evaluation only)",
            key=state.uploader("truth"),
            on_change=intake.take_truth,
            args=(state.uploader("truth"),),
        )


@errors.boundary()
def mend(found: datasets.Unread) -> None:
    with st.container(border=True, key="mend"):
        st.warning(text.plain(found.sketch.problem), icon=":material/info:")
        st.subheader("Columns and reading", anchor=False)
        if found.format.choice is not None and found.format.source is None:
            st.caption(f"The file is kept. Choose the {found.format.choice.title.casefold()} to be read.")
        elif found.format.source is None and found.sketch.is_json:
            st.caption("The file is kept. Fix it and upload it again.")
        elif found.format.source is None:
            st.caption("The file is kept. Try another delimiter or encoding, or fix it and upload it again.")
        elif found.format.choice is not None and len(found.format.choice.names) > 1:
            what = found.format.choice.title.casefold()
            st.caption(f"The file is kept. Choose another {what}, or set the role of each column here.")
        else:
            st.caption("The file is kept. Set the role of each column here, or try another layout or delimiter.")
        settings(found)
    if found.format.source is not None or found.sketch.lines:
        st.header("The raw file", anchor=False)
    if found.format.source is None and found.sketch.lines:
        st.code("\n".join(found.sketch.lines), language=None, height=320)
    elif found.format.source is not None:
        preview(found)
    st.header("Files", anchor=False)
    files()


def gold_badge(opened: datasets.Opened) -> None:
    gold = opened.reading.votes.gold
    if gold is not None:
        st.badge(text.count(gold.n_rows, "gold row"), icon=":material/workspace_premium:", color="yellow")


@errors.boundary()
def preview(found: datasets.Opened | datasets.Unread) -> None:
    st.dataframe(found.format.cells(), hide_index=True, lazy=True, height=320)


@errors.boundary()
def label_editor(opened: datasets.Opened) -> None:
    labels.editor(opened, "tab")


@errors.boundary()
def files() -> None:
    stored_files.table()


@errors.boundary()
def fuse(opened: datasets.Opened) -> None:
    with st.container(border=True, key="fuse"):
        quick_fuse.card(opened)


def next_step(opened: datasets.Opened) -> None:
    with st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="bottom"):
        if opened.reading.votes.separator:
            meaning.choose_label(opened, "data")
            st.button(
                "Next: export",
                key="next_export",
                icon=":material/arrow_forward:",
                icon_position="right",
                on_click=state.go_to,
                args=("export",),
            )
            return
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
    badges = widgets.header("Data", "What did I upload?")
    opened = None
    with errors.boundary():
        opened = datasets.at_hand()
    widgets.complaint()
    if isinstance(opened, datasets.Unread):
        with badges:
            st.badge("Not read as votes yet", icon=":material/help:", color="orange")
            upload_another()
        mend(opened)
        return
    if opened is None:
        with st.container(border=True, key="bring"):
            bring()
        if stored_files.files() or stored_files.damaged():
            st.header("Uploaded before", anchor=False)
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
        upload_another()
    facts(opened)
    warnings(opened)
    fuse(opened)
    next_step(opened)
    if not opened.reading.votes.separator:
        panel.card(opened)
    with st.container(border=True):
        gallery(opened)
    notes, table, reading, named, folder = st.tabs(
        [
            ":material/fact_check: How it was read",
            ":material/table: Rows",
            ":material/tune: Columns and reading",
            ":material/label: Labels",
            ":material/folder: Files",
        ]
    )
    with notes:
        understood(opened)
    with table:
        preview(opened)
    with reading:
        settings(opened)
    with named:
        label_editor(opened)
    with folder:
        files()


page()
