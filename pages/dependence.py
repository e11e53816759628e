"""Dependence: who copies whom? Mutual information given the label."""

import streamlit as st

from deem_core.figures import pictures
from deem_core.runs import Run
from studio import boot, errors, text, widgets
from studio.data import datasets
from studio.inspect import frame, inspections, words

boot.guard(__file__)

FUSED, TRUE = "the fused label", "the true label (evaluation)"
AVERAGE, ALL = "Average over classes", "Every class"
NO_GROUPS = (
    "Given the fused label, no learners behave like one. Copies that the label itself follows do not show here: the "
    "Data page looks for those."
)


@errors.boundary()
def grid(inspection: inspections.Inspection, training: Run) -> None:
    given = inspection.dependence
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if inspection.evaluation is not None:
            what = st.segmented_control(
                "Given",
                [FUSED, TRUE],
                default=FUSED,
                required=True,
                **widgets.keep(f"dependence_given_{training.id}"),
            )
            given = inspection.evaluation.dependence if what == TRUE else given
        classes = given.layers[0].classes
        which = st.selectbox(
            "Classes",
            [AVERAGE, ALL, *classes],
            **widgets.keep(f"dependence_classes_{training.id}"),
            width=260,
        )
        clustered = st.toggle("Group those who depend", True, **widgets.keep("dependence_order"))
    st.markdown(f":material/lightbulb: {text.plain(given.reading)}")
    if given.given == "truth":
        widgets.evaluation_badge()
    if not classes:
        st.caption("Dependence can be told apart from chance only within classes that have more rows.")
        return
    chosen = None if which == AVERAGE else classes if which == ALL else [which]
    widgets.picture(pictures.dependence(given, chosen, clustered=clustered), "dependence_chart", titled=True)


@errors.boundary()
def summary(inspection: inspections.Inspection) -> None:
    if not inspection.dependence.layers[0].classes:
        st.caption(inspection.dependence.reading)
        return
    widgets.picture(pictures.dependence_over_layers(inspection.dependence), "summary_chart", titled=True)
    st.dataframe(words.layers_table(inspection.dependence), hide_index=True)


@errors.boundary()
def pairs(inspection: inspections.Inspection) -> None:
    first = inspection.dependence.layers[0]
    shown = first.pairs(20)
    if not shown:
        st.caption("There are too few rows to tell.")
        return
    for sentence in words.groups_in_words(inspection.dependence) or [NO_GROUPS]:
        st.markdown(f":material/lightbulb: {text.plain(sentence)}")
    st.dataframe(
        words.pairs_table(shown),
        hide_index=True,
        column_config={"share of their entropy": st.column_config.NumberColumn(format="percent")},
    )
    st.caption(
        "What two learners tell about each other on rows with the same label, averaged over classes. At 100 % of their "
        "entropy one vote gives the other away: a copy."
    )


def views(opened: datasets.Opened, training: Run, inspection: inspections.Inspection) -> None:
    shows = {
        "Mutual information": lambda: grid(inspection, training),
        "Layer by layer": lambda: summary(inspection),
        "Most dependent pairs": lambda: pairs(inspection),
        "Correlation with the label": lambda: widgets.picture(
            pictures.correlation(inspection.correlation), "correlation_chart", titled=True
        ),
    }
    for tab, show in zip(st.tabs(list(shows), key="dependence_tabs", on_change="rerun"), shows.values(), strict=True):
        if tab.open:  # the others are drawn when they are asked for
            with tab:
                show()
    frame.downloads(opened, inspection, [frame.PAIRS, "dependence", "correlation"])


frame.page("Dependence", "Who copies whom?", ":material/account_tree:", views)
