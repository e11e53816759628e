"""Dependence: who copies whom? Mutual information between learners given the label, layer by layer."""

import streamlit as st

from deem_core import figures
from deem_core.runs import Run
from studio import boot, datasets, errors, inspecting, inspection_words, inspections, text, widgets

boot.guard(__file__)

FUSED, TRUE = "the fused label", "the true label (evaluation)"
AVERAGE, ALL = "Average over classes", "Every class"
NO_LAYERS = "This model has no layers: there is only what the learners say. "
DOES_NOT_FALL = (
    "**When it does not fall:** learners that were nearly independent already have nothing to disentangle, and a layer "
    "may even add a little. It says nothing about quality."
)
NO_GROUPS = (
    "Given the fused label, no learners behave like one. Copies that the label itself follows do not show here: the "
    "Data page looks for those."
)


@errors.shown()
def grid(found: inspections.Inspection, training: Run) -> None:
    given = found.dependence
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if found.evaluation is not None:
            what = st.segmented_control(
                "Given",
                [FUSED, TRUE],
                default=FUSED,
                required=True,
                key=f"dependence_given_{training.id}",
                persist_state="session",
            )
            given = found.evaluation.dependence if what == TRUE else given
        classes = given.layers[0].classes
        which = st.selectbox(
            "Classes",
            [AVERAGE, ALL, *classes],
            key=f"dependence_classes_{training.id}",
            persist_state="session",
            width=260,
        )
        clustered = st.toggle("Group those who depend", True, key="dependence_order", persist_state="session")
    st.markdown(f":material/lightbulb: {text.plain(given.reading)}")
    if given.given == "truth":
        st.badge("Evaluation only, never used in training", icon=":material/lock:", color="orange")
    if not classes:
        st.caption("Dependence can be told apart from chance only within classes that have more rows.")
        return
    matrices, names = inspection_words.dependence_of(given, which, AVERAGE)
    figure = figures.dependence_grid(
        matrices,
        [layer.units for layer in given.layers],
        [layer.name for layer in given.layers],
        names,
        order="clustered" if clustered else "file",
        theme=widgets.theme(),
    )
    deep = len(given.layers) > 1
    inspecting.picture(
        "Who errs together, and do the layers part them?" if deep else "Who errs together?",
        figure,
        "dependence_chart",
        "Heatmaps of mutual information, layers from left to right.",
    )
    left_out = f" {given.n_classes_left_out:,} rarer classes are left out." if given.n_classes_left_out else ""
    st.caption(
        "Mutual information in nats between what two learners say on rows with the same label; one scale for all. "
        f"**{inspection_words.strong().capitalize()}:** they err together, as copies do."
        f"{inspection_words.scale_words(matrices)} "
        + ("**Good:** fading from left to right, which means that the layers disentangle them. " if deep else NO_LAYERS)
        + f"On {given.rows_used:,} of {given.n_rows:,} rows.{left_out}"
    )


@errors.shown()
def summary(found: inspections.Inspection) -> None:
    layers = found.dependence.layers
    if not layers[0].classes:
        st.caption(found.dependence.reading)
        return
    numbers = [layer.summary() for layer in layers]
    inspecting.picture(
        "Does dependence fall from layer to layer?"
        if len(layers) > 1
        else "How much do learners depend on each other?",
        figures.dependence_summary(
            [layer.name for layer in layers],
            [each["frobenius"] for each in numbers],
            [each["frobenius_std"] for each in numbers],
            [each["largest"] for each in numbers],
            [each["largest_std"] for each in numbers],
            floor=[each["floor_frobenius"] for each in numbers],
            largest_floor=[each["floor"] for each in numbers],
            theme=widgets.theme(),
        ),
        "summary_chart",
        "Points: dependence after each layer, mean and spread over classes.",
    )
    st.dataframe(inspection_words.layers_table(found.dependence), hide_index=True)
    st.caption(
        "Mean ± standard deviation over classes. The Frobenius norm is the headline; the largest pair alone is "
        "fragile. Near the dashed floor there is nothing but chance. "
        + (DOES_NOT_FALL if len(layers) > 1 else NO_LAYERS)
    )


@errors.shown()
def pairs(found: inspections.Inspection) -> None:
    first = found.dependence.layers[0]
    shown = first.pairs(20)
    if not shown:
        st.caption("There are too few rows to tell.")
        return
    for sentence in inspection_words.groups_in_words(found.dependence) or [NO_GROUPS]:
        st.markdown(f":material/lightbulb: {text.plain(sentence)}")
    st.dataframe(
        inspection_words.pairs_table(shown),
        hide_index=True,
        column_config={"share of their entropy": st.column_config.NumberColumn(format="percent")},
    )
    st.caption(
        "What two learners tell about each other on rows with the same label, averaged over classes. At 100 % of their "
        "entropy one vote gives the other away: a copy."
    )


@errors.shown()
def correlation(found: inspections.Inspection) -> None:
    inspecting.picture(
        "Whom does the fused label follow?",
        figures.correlation_heatmap(
            found.correlation.matrix, found.correlation.names, order=found.correlation.order, theme=widgets.theme()
        ),
        "correlation_chart",
        "Heatmap: correlation of learners with each other and with the fused label.",
    )
    st.caption(
        "Correlation of votes, from −1 to 1. The line of the fused label shows whom it follows most; learners that "
        "follow each other more than the label are worth a look."
    )


def views(opened: datasets.Opened, training: Run, found: inspections.Inspection) -> None:
    shows = {
        "Mutual information": lambda: grid(found, training),
        "Layer by layer": lambda: summary(found),
        "Most dependent pairs": lambda: pairs(found),
        "Correlation with the label": lambda: correlation(found),
    }
    for tab, show in zip(st.tabs(list(shows), key="dependence_tabs", on_change="rerun"), shows.values(), strict=True):
        if tab.open:  # the others are drawn when they are asked for
            with tab:
                show()
    inspecting.downloads(opened, found, [inspecting.PAIRS, "dependence", "correlation"])


inspecting.page("Dependence", "Who copies whom?", ":material/account_tree:", views)
