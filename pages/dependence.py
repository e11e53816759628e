"""Dependence: who copies whom? Mutual information given the label."""

import streamlit as st

from deem_core.figures import pictures
from deem_core.runs import Run
from studio import boot, errors, text, widgets
from studio.data import datasets
from studio.inspect import frame, inspections, words
from studio.rows import cells
from studio.rows.sources import Source
from studio.words import say

boot.guard(__file__)

FUSED, TRUE = "the fused label", "the true label (evaluation)"
ENTROPY = "share of their entropy"
AVERAGE, ALL = "Average over classes", "Every class"
NO_GROUPS = (
    "Given the fused label, no group of learners behaves like one. Copies that decide the label themselves do not "
    "show here; the Data page looks for those."
)


@errors.boundary()
def grid(inspection: inspections.Inspection, training: Run, opened: datasets.Opened) -> None:
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
        clustered = st.toggle(say("Group dependent learners"), True, **widgets.keep("dependence_order"))
    st.markdown(f":material/lightbulb: {text.plain(say(given.reading))}")
    if given.given == "truth":
        widgets.evaluation_badge()
    if not classes:
        st.caption("The classes have too few rows to tell dependence from chance.")
        return
    chosen = None if which == AVERAGE else classes if which == ALL else [which]
    shown = pictures.dependence(given, chosen, clustered=clustered)
    cells.picture(shown, "dependence_chart", Source(opened, training), titled=True)


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
        st.markdown(f":material/lightbulb: {text.plain(say(sentence))}")
    st.dataframe(
        widgets.in_percent(words.pairs_table(shown), [ENTROPY]),
        hide_index=True,
        column_config={ENTROPY: st.column_config.NumberColumn(format=widgets.PERCENT)},
    )
    st.caption(
        say(
            "How much one learner's vote reveals about the other's on rows with the same label, averaged over "
            "classes. At 100% of their entropy one vote determines the other: a copy."
        )
    )


def views(opened: datasets.Opened, training: Run, inspection: inspections.Inspection) -> None:
    shows = {
        "Mutual information": lambda: grid(inspection, training, opened),
        "Layer by layer": lambda: summary(inspection),
        "Most dependent pairs": lambda: pairs(inspection),
        "Correlation with the label": lambda: cells.picture(
            pictures.correlation(inspection.correlation), "correlation_chart", Source(opened, training), titled=True
        ),
    }
    widgets.tabs(shows, "dependence_tabs")
    frame.downloads(opened, inspection, [frame.PAIRS, "dependence", "correlation"])


ICON = ":material/account_tree:"
frame.page("Dependence", "Who copies whom?", ICON, frame.with_model(views), frame.no_model_yet(ICON))
