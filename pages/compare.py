"""Compare: is it worth it? Every method on the same votes, side by side."""

from collections.abc import Sequence

import streamlit as st

from deem_core import figures
from deem_core.runs import Run, State
from studio import boot, comparisons, datasets, errors, framing, inspecting, jobs, results, state, text, widgets

boot.guard(__file__)

QUICK = ("mv", "weighted_mv", "ds", "fds", "onecoin", "la2", "lsml", "deem")
SHARES = (
    *("accuracy", "balanced", "macro-F1", "± seeds", "expert classes", "other classes"),
    *("same as most methods", "same for every seed"),
)  # columns of the table; a docstring here would be shown on the page
SECONDS = st.column_config.NumberColumn(format="%.2f")
NOTE = st.column_config.TextColumn(width="large")


@errors.shown()
def settings(opened: datasets.Opened) -> None:
    there = comparisons.available(opened)
    key = opened.dataset.id
    which = st.segmented_control(
        "Methods",
        ["All", "A quick choice", "My choice"],
        default="A quick choice",
        required=True,
        key=f"compare_which_{key}",
        persist_state="session",
    )
    methods = list(there) if which == "All" else [name for name in QUICK if name in there]
    if which == "My choice":
        methods = st.multiselect(
            "My choice",
            list(there),
            default=methods,
            format_func=lambda name: there[name].title,
            key=f"compare_methods_{key}",
            persist_state="session",
            label_visibility="collapsed",
        )
    with st.popover("What these methods are", icon=":material/help:", type="tertiary"):
        for entry in there.values():
            st.markdown(f"**{entry.title}** (`{entry.name}`): {entry.description} :gray[{text.plain(entry.paper)}]")
    first, second, third = st.columns([1, 1, 2])
    seeds = first.number_input(
        "Seeds", 1, 20, 1, key="compare_seeds", persist_state="session", help="Runs of each method that uses chance."
    )
    budget = second.number_input(
        "Seconds for each method",
        1,
        36_000,
        120,
        key="compare_budget",
        persist_state="session",
        help="A slower method is cut where it stands, and says so. DEEM always finishes its first training.",
    )
    experts = third.multiselect(
        "Expert classes",
        list(opened.reading.votes.classes),
        key=f"compare_experts_{key}",
        persist_state="session",
        disabled=not opened.facts.n_truth,
        placeholder="none" if opened.facts.n_truth else "needs true labels",
        help="Classes that only few learners know: accuracy is also told on these and on the rest.",
    )
    config = comparisons.config(opened, methods, seeds, budget, experts)
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.button(
            f"Compare {text.count(len(methods), 'method')}",
            key="start_compare",
            type="primary",
            icon=":material/play_arrow:",
            disabled=not methods,
            on_click=jobs.start,
            args=("compare", opened.dataset.id, config, f"{text.count(len(methods), 'method')} compared"),
        )


@errors.shown()
def outcome(opened: datasets.Opened, known: Sequence[tuple[Run, State]]) -> None:
    run, now = known[0]
    jobs.progress(run, now, "compare")
    if now.state == "failed":
        st.warning(text.plain(now.reason), icon=":material/error:")
    if now.state == "cancelled":
        st.caption("Stopped as you asked.")
    found = comparisons.comparison(run)
    if found is None:
        rows = comparisons.so_far(run)
        if len(rows):
            st.dataframe(
                rows,
                hide_index=True,
                height="content",
                column_config={"seconds": SECONDS, "note": NOTE},
            )
        return
    st.markdown(f":material/lightbulb: {text.plain(comparisons.conclusion(run))}")
    if found.n_truth:
        st.badge("Evaluation only, never used in training", icon=":material/lock:", color="orange")
    with st.container(border=True, key="compare_dots"):
        dots(run, found)
    table(opened, run, found)
    tabs = st.tabs(["Who agrees with whom", "Class by class", "Disputed rows"])
    with tabs[0], errors.shown():
        agreement(found)
    with tabs[1], errors.shown():
        by_class(run, found)
    with tabs[2], errors.shown():
        disputed(opened, run, found)


@errors.shown()
def dots(run: Run, found: comparisons.Comparison) -> None:
    names, values, lows, highs = comparisons.dots(found, run)
    figure = figures.accuracy_intervals(
        names,
        values,
        lows,
        highs,
        highlight="DEEM",
        reference="Majority vote",
        measure="accuracy (share of rows that are right)"
        if found.n_truth
        else "agreement with most methods (share of rows)",
        order="best first" if found.n_truth else "most agreeing first",
        theme=widgets.theme(),
    )
    widgets.chart(figure, "compare_chart", "Dots with intervals: one method in each line.")
    if found.n_truth:
        st.caption(
            "Accuracy where the truth is known, with 95 % bootstrap intervals over rows. Where intervals overlap a "
            f"lot, methods do as well as each other. {text.plain(comparisons.single_learners(found))}"
        )
    else:
        st.caption(
            "How often a method says what most methods say, with 95 % intervals. **This is not accuracy:** methods may "
            "be wrong together, and the one that knows best may stand alone."
        )


@errors.shown()
def table(opened: datasets.Opened, run: Run, found: comparisons.Comparison) -> None:
    rows = comparisons.ranked(found, run)
    shares = [name for name in SHARES if name in rows]
    st.dataframe(
        rows.assign(**{name: 100 * rows[name] for name in shares}),  # the format "percent" drops zeros at the end
        hide_index=True,
        height="content",
        placeholder="–",
        column_config={
            **{name: st.column_config.NumberColumn(format="%.1f %%") for name in shares},
            "method": st.column_config.TextColumn(width=180),
            "seconds": SECONDS,
            "MB": st.column_config.NumberColumn(
                format="%.0f", help="Memory that the method added, as far as it is seen."
            ),
            "note": NOTE,
        },
    )
    for why, titles in comparisons.refusals(found).items():
        st.caption(f"**{' and '.join(titles)}** could not run: {text.plain(why)}")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        inspecting.download_csv("methods", lambda: rows, results.file_name(opened, "methods.csv"))
        st.space("stretch")
        widgets.choose_picture_format()


def agreement(found: comparisons.Comparison) -> None:
    share, names = comparisons.matrix(found)
    if len(names) < 2:
        st.caption("Two methods are needed for a comparison.")
        return
    widgets.chart(
        figures.agreement_heatmap(share, names, who="method", what="label", theme=widgets.theme()),
        "methods_chart",
        "Heatmap: how often two methods give the same label.",
    )
    st.caption("Methods that give nearly the same labels make no difference; one that stands apart is worth a look.")


def by_class(run: Run, found: comparisons.Comparison) -> None:
    ran = [method.name for method in found.methods if method.ran]
    if len(ran) < 2:
        st.caption("Two methods are needed for a comparison.")
        return
    first, second = st.columns(2)
    one = first.selectbox(
        "Method",
        ran,
        index=ran.index("deem") if "deem" in ran[1:] else len(ran) - 1,
        format_func=lambda name: found[name].title,
        key=f"compare_one_{run.id}",
        persist_state="session",
    )
    other = second.selectbox(
        "Minus",
        ran,
        index=int(one == ran[0]),
        format_func=lambda name: found[name].title,
        key=f"compare_other_{run.id}",
        persist_state="session",
    )
    if one == other:
        st.caption("Choose two different methods.")
        return
    values = comparisons.class_differences(found, one, other)
    if found.n_truth:
        st.badge("Evaluation only, never used in training", icon=":material/lock:", color="orange")
        title = "recall of the first minus that of the second (share of the rows of the class)"
    else:
        title = "share of rows that the first gives the class minus that of the second"
    widgets.chart(
        figures.class_differences(list(values), list(values.values()), title=title, theme=widgets.theme()),
        "class_chart",
        "Bars: the difference of two methods in every class.",
    )
    if found.n_truth:
        st.caption("To the right the first method finds more of the class, to the left the second.")
    else:
        st.caption(
            "To the right the first method gives the label more often, to the left the second; not who is right."
        )


def disputed(opened: datasets.Opened, run: Run, found: comparisons.Comparison) -> None:
    labels = comparisons.labels(run)
    if len(labels) < 2:
        st.caption("Two methods are needed for a dispute.")
        return
    pair = st.multiselect(
        "Only rows on which these two differ",
        list(labels),
        max_selections=2,
        format_func=lambda name: found[name].title,
        key=f"compare_pair_{run.id}",
        placeholder="any two methods",
    )
    one, other = pair if len(pair) == 2 else (None, None)
    number, rows = comparisons.disputed(opened, labels, one, other)
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
    if found.n_truth:
        st.badge("Evaluation only, never used in training", icon=":material/lock:", color="orange")
    inspecting.download_csv("disputed rows", lambda: rows, results.file_name(opened, "disputed.csv"))


def page() -> None:
    head = framing.with_data(
        "Compare",
        "Is it worth it?",
        ":material/balance:",
        "Every method of the paper runs here on the same votes: bring a file first.",
    )
    if head is None:
        return
    badges, opened = head
    with badges:
        widgets.truth_badge(opened.facts.n_truth)
    run = jobs.of_page(state.COMPARISON, opened.dataset.id, "compare")
    with st.expander("Settings of a new comparison", expanded=run is None, icon=":material/tune:"):
        settings(opened)
    if run is not None:
        jobs.watch([run], lambda known: outcome(opened, known))


page()
