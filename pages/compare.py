"""Compare: is it worth it? All methods on the same votes."""

from collections.abc import Iterable, Sequence
from functools import partial

import streamlit as st

from deem_core.comparison import CLUSTER_SECONDS, conclusion, quick
from deem_core.diagnostics.rows import Column, Pair, RowFilter
from deem_core.engine import CLUSTER
from deem_core.figures import pictures
from deem_core.runs import Run, State
from studio import background, boot, comparisons, errors, examples, jobs, machines, mishaps, panel, state, text, widgets
from studio.data import datasets
from studio.export import results, sources
from studio.inspect import frame
from studio.rows import cells
from studio.rows.sources import Source
from studio.words import say

boot.guard(__file__)

SHARES = (
    *("accuracy", "balanced", "macro-F1", "± seeds", "expert classes", "other classes"),
    *("same as most methods", "same for every seed"),
)  # columns of the table; a docstring here would be shown on the page
SECONDS = st.column_config.NumberColumn(format="%.2f")


@errors.boundary()
def settings(opened: datasets.Opened) -> None:
    where = machines.choose()
    methods_here = comparisons.available(opened)
    key = opened.dataset.id
    which = st.segmented_control(
        "Methods",
        ["All", "Fast methods", "Custom"],
        default="Fast methods",
        required=True,
        **widgets.keep(f"compare_which_{key}"),
    )
    methods = list(methods_here) if which == "All" else quick(methods_here)
    if which == "Custom":
        methods = st.multiselect(
            "Custom",
            list(methods_here),
            default=methods,
            format_func=lambda name: methods_here[name].title,
            **widgets.keep(f"compare_methods_{key}"),
            label_visibility="collapsed",
        )
    with st.popover("What these methods are", icon=":material/help:", type="tertiary"):
        for entry in methods_here.values():
            st.markdown(f"**{entry.title}** (`{entry.name}`): {entry.description} :gray[{text.plain(entry.paper)}]")
    first, second, third, fourth = st.columns([1, 1, 1, 2])
    seeds = first.number_input(
        "Seeds",
        1,
        20,
        1,
        **widgets.keep("compare_seeds"),
        help="How many times to run each method that involves randomness.",
    )
    budget = second.number_input(
        "Seconds for each method",
        1,
        36_000,
        120,
        **widgets.keep("compare_budget"),
        help="A slower method is stopped and marked as such. DEEM always finishes its first run.",
    )
    device = background.choose_device(third, widgets.keep("compare_device"))
    experts = fourth.multiselect(
        "Expert classes",
        list(opened.reading.votes.classes),
        **widgets.keep(f"compare_experts_{key}"),
        disabled=not opened.facts.n_truth,
        placeholder="none" if opened.facts.n_truth else "needs true labels",
        help="Classes that only a few learners know. Accuracy is also shown for these and for the rest.",
    )
    config = comparisons.config(methods, seeds=seeds, budget=budget, experts=experts, device=device)
    config |= where
    with st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
        if methods:
            jobs.expected("compare", opened.reading.votes, config)
        st.button(
            f"Compare {text.count(len(methods), 'method')}",
            key="start_compare",
            type="primary",
            icon=":material/play_arrow:",
            disabled=not methods,
            on_click=jobs.start,
            args=("compare", opened.dataset.id, config, f"{text.count(len(methods), 'method')} compared"),
        )


@errors.boundary()
def outcome(opened: datasets.Opened, states: Sequence[tuple[Run, State]]) -> None:
    run, now = states[0]
    jobs.progress(run, now, "compare")
    mishaps.show(run)
    if now.state == "failed":
        st.warning(text.plain(now.reason), icon=":material/error:")
    jobs.cancelled(run, now)
    comparison = comparisons.comparison(run)
    if comparison is None:
        rows = comparisons.so_far(run)
        if len(rows):
            st.dataframe(rows.drop(columns="note"), hide_index=True, height="content")
            if now.device == CLUSTER:
                st.caption(CLUSTER_SECONDS)
            notes(zip(rows["method"], rows["note"], strict=True))
        return
    st.markdown(f":material/lightbulb: {text.plain(conclusion(comparison))}")
    if comparison.n_truth:
        widgets.evaluation_badge()
    with st.container(border=True, key="compare_dots"):
        dots(run, comparison)
    table(opened, run, comparison)
    with st.container(border=True, key="take_home"):
        take_home(run, comparison)
    widgets.tabs(
        {
            "Who agrees with whom": lambda: agreement(opened, run, comparison),
            "Class by class": lambda: by_class(run, comparison),
            "Disputed rows": lambda: disputed(opened, run, comparison),
        },
        "compare_tabs",
    )


@errors.boundary()
def dots(run: Run, comparison: comparisons.Comparison) -> None:
    if comparison.n_truth:
        note = text.plain(comparisons.single_learners(comparison))
        widgets.picture(pictures.method_accuracy(comparison), "compare_chart", note=note)
    else:
        subject = comparison.subject
        titles, shares, intervals = comparisons.consensus(comparison, run)
        highlight = None if subject is None else subject.title
        widgets.picture(pictures.agreement_with_most(titles, shares, intervals, highlight), "compare_chart")


def warnings(comparison: comparisons.Comparison) -> None:
    raised = comparisons.alarms(comparison)
    if raised:
        with st.expander(f"Alarms ({text.count(sum(map(len, raised.values())))})", icon=":material/warning:"):
            for title, own in raised.items():
                st.markdown(f"**{text.plain(title)}**")
                widgets.alarms(own)


def notes(told: Iterable[tuple[str, str]]) -> None:
    """Show what methods say of themselves, in full.

    No cell of a table is wide enough for it.
    """
    said = [(method, note) for method, note in told if note]
    if said:
        with st.expander(f"Notes ({len(said)})", icon=":material/notes:"):
            for method, note in said:
                st.markdown(f"**{text.plain(method)}:** {text.plain(say(note))}")


@errors.boundary()
def table(opened: datasets.Opened, run: Run, comparison: comparisons.Comparison) -> None:
    rows = comparisons.ranked(comparison, run)
    shares = [name for name in SHARES if name in rows]
    st.dataframe(
        widgets.in_percent(rows.drop(columns="note", errors="ignore"), shares),
        hide_index=True,
        height="content",
        placeholder="–",
        column_config={
            **{name: st.column_config.NumberColumn(format=widgets.PERCENT) for name in shares},
            "method": st.column_config.TextColumn(width=180),
            "alarms": st.column_config.NumberColumn(help="Shown in full below the table."),
            "off by": st.column_config.NumberColumn(format="%.3f", help="Mean absolute error, in units of the scale."),
            "kappa": st.column_config.NumberColumn(format="%.3f", help="Quadratic weighted kappa."),
            "seconds": SECONDS,
            "MB": st.column_config.NumberColumn(
                format="%.0f", help="Memory that the method added, where it could be measured."
            ),
        },
    )
    if comparison.on_cluster:
        st.caption(CLUSTER_SECONDS)
    warnings(comparison)
    notes((method.title, method.note) for method in comparison.methods if method.ran)
    for why, titles in comparisons.refusals(comparison).items():
        st.caption(f"**{' and '.join(titles)}** could not run: {text.plain(why)}")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        frame.download_csv("methods", lambda: rows, results.file_name(opened, "methods.csv"))
        st.space("stretch")
        widgets.choose_picture_format()


@errors.boundary()
def take_home(run: Run, comparison: comparisons.Comparison) -> None:
    method = sources.choose_method(comparison, f"compare_method_{run.id}", "Export the labels of")
    if method is None:
        st.caption("No method gave labels to export.")
        return
    comparisons.method_note(comparison[method])
    result = results.labelled(run, method)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(comparisons.labels_words(result.answer), width="stretch")
        for kind in ("CSV", "Parquet"):
            ending, mime = results.FORMATS[kind]
            widgets.download(
                f"Labels as {kind}",
                partial(results.fused_bytes, result, ending, {}),
                results.fused_name(result, ending),
                f"labels_{kind.lower()}",
                mime=mime,
            )
        st.button(
            "Open on the Export page",
            key="open_export",
            icon=":material/arrow_forward:",
            on_click=sources.open_export,
            args=(run.id, method),
            help="Choose columns, set a review threshold, see the rows to check.",
        )


def rows_of(opened: datasets.Opened, run: Run) -> Source:
    names, wished = list(comparisons.labels(run)), state.get(state.METHOD)
    first = sources.PREFERRED if sources.PREFERRED in names else names[0]
    return Source(opened, run, wished if wished in names else first)


def agreement(opened: datasets.Opened, run: Run, comparison: comparisons.Comparison) -> None:
    if len(comparison.agreement.names) < 2:
        st.caption("A comparison needs at least two methods.")
        return
    cells.picture(pictures.method_agreement(comparison), "methods_chart", rows_of(opened, run))


def by_class(run: Run, comparison: comparisons.Comparison) -> None:
    ran = [method.name for method in comparison.methods if method.ran]
    if len(ran) < 2:
        st.caption("A comparison needs at least two methods.")
        return
    first, second = st.columns(2)
    subject = "" if comparison.subject is None else comparison.subject.name
    one = first.selectbox(
        "Method",
        ran,
        index=ran.index(subject) if subject in ran[1:] else len(ran) - 1,
        format_func=lambda name: comparison[name].title,
        **widgets.keep(f"compare_one_{run.id}"),
    )
    other = second.selectbox(
        "Minus",
        ran,
        index=int(one == ran[0]),
        format_func=lambda name: comparison[name].title,
        **widgets.keep(f"compare_other_{run.id}"),
    )
    if one == other:
        st.caption("Choose two different methods.")
        return
    differences = comparisons.class_differences(comparison, one, other)
    if differences and not any(differences.values()):
        st.caption("These two methods do not differ in any class.")
        return
    if comparison.n_truth:
        widgets.evaluation_badge()
    widgets.picture(pictures.class_differences(differences, with_truth=comparison.n_truth > 0), "class_chart")


def disputed(opened: datasets.Opened, run: Run, comparison: comparisons.Comparison) -> None:
    labels = comparisons.labels(run)
    if len(labels) < 2:
        st.caption("Disputed rows need at least two methods.")
        return
    pair = st.multiselect(
        "Only rows where these two differ",
        list(labels),
        max_selections=2,
        format_func=lambda name: comparison[name].title,
        key=f"compare_pair_{run.id}",
        placeholder="any two methods",
    )
    one, other = pair if len(pair) == 2 else (None, None)
    number, rows = comparisons.disputed(opened.votes_of(run), labels, one, other)
    if not number:
        st.caption("They agree on every row.")
        return
    shown = "" if number == len(rows) else f", {text.count(len(rows))} of them here"
    st.caption(f"{text.count(number, 'row')} disputed{shown}; the most disputed first.")
    st.dataframe(
        rows,
        hide_index=True,
        column_config={
            name: st.column_config.Column(pinned=True) for name in ("row", "id", "methods agreeing", "truth")
        },
    )
    if comparison.n_truth:
        widgets.evaluation_badge()
    if one and other:
        wanted = RowFilter((Pair(Column("label", one), Column("label", other)),))
        cells.link(rows_of(opened, run), wanted, "disputed_rows")
    frame.download_csv("disputed rows", lambda: rows, results.file_name(opened, "disputed.csv"))


def page() -> None:
    head = widgets.with_data(
        "Compare",
        "Is it worth it?",
        ":material/balance:",
        "Run every method on the same votes. Upload a file first.",
    )
    if head is None:
        examples.show("Compare")
        return
    badges, opened = head
    with badges:
        widgets.truth_badge(opened.facts.n_truth)
    run = jobs.of_page(state.COMPARISON, opened.dataset.id, "compare")
    with st.expander("Settings of a new comparison", expanded=run is None, icon=":material/tune:"):
        settings(opened)
    if run is None:
        examples.show("Compare")
    else:
        jobs.watch([run], lambda states: outcome(opened, states))
    panel.card(opened)


page()
