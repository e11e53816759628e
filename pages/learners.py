"""Learners: whom does it trust? Influence overall and by class, confusion, and why a row got its label."""

import streamlit as st

from deem_core import figures
from deem_core.runs import Run
from studio import boot, datasets, errors, inspecting, inspections, text, widgets

boot.guard(__file__)

OVERALL, CLASSES, CHANGED = "All rows", "Some classes", "Rows where the majority was overruled"


@errors.shown()
def influence(found: inspections.Inspection, training: Run) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        how = st.segmented_control(
            "Influence by",
            ["Permuting votes", "Withholding votes"],
            default="Permuting votes",
            required=True,
            key="influence_how",
            persist_state="session",
            help="How much the fused label's score drops when the votes of a learner are shuffled over rows (the "
            "default), or left out.",
        )
        rows = st.segmented_control(
            "Measured on",
            [OVERALL, CLASSES, *([CHANGED] if found.changed is not None else [])],
            default=OVERALL,
            required=True,
            key="influence_rows",
            persist_state="session",
        )
    importance = found.influence if how == "Permuting votes" else found.withheld
    if rows == CLASSES:
        classes = st.multiselect(
            "Classes",
            list(found.classes),
            default=list(found.classes[:1]),
            key=f"influence_classes_{training.id}",
        )
        subset, rest = inspections.of_classes(importance, classes)
        figure = figures.influence_panels(
            subset,
            rest,
            importance.subjects,
            subset_name=f"rows labelled {', '.join(classes) or 'with none of the classes'}",
            rest_name="all other rows",
            theme=widgets.theme(),
        )
    elif rows == CHANGED and found.changed is not None and found.unchanged is not None:
        figure = figures.influence_panels(
            found.changed.overall,
            found.unchanged.overall,
            found.changed.subjects,
            subset_name="rows where the majority was overruled",
            rest_name="all other rows",
            subset_spread=found.changed.restart_spread,
            rest_spread=found.unchanged.restart_spread,
            theme=widgets.theme(),
        )
    else:
        figure = figures.influence_bars(
            importance.subjects,
            importance.overall,
            spread=importance.restart_spread,
            noise=importance.noise,
            theme=widgets.theme(),
        )
    widgets.chart(figure, "influence_chart", "Bars: how much the fused labels hang on each learner.")
    st.caption(
        "How far the score of the fused label falls, in nats, when a learner's votes are taken away. Whiskers: spread "
        "over restarts; grey: what chance alone would give. **Influence is not accuracy:** a learner whom the others "
        f"repeat has little influence of its own. On {importance.rows_used:,} of {importance.n_rows:,} rows, standard "
        f"error up to {importance.error.max():.3f}."
    )
    if found.voices is not None:
        st.markdown("**Near-copies that speak with one voice**")
        widgets.chart(
            figures.influence_bars(found.voices.subjects, found.voices.overall, theme=widgets.theme()),
            "voices_chart",
            "Bars: the influence of groups of near-copies, taken together.",
        )


@errors.shown()
def experts(found: inspections.Inspection) -> None:
    words = inspections.experts_in_words(found.influence)
    if words:
        st.markdown("**Experts:** " + "; ".join(text.plain(each) for each in words) + ".")
    else:
        st.markdown("No learner stands out for a single class: nobody looks like an expert.")
    relative = st.toggle("Relative to the other learners", True, key="experts_relative", persist_state="session")
    widgets.chart(
        figures.influence_heatmap(
            found.influence.by_class,
            found.learners,
            found.classes,
            relative=relative,
            marked=[(one.learner, one.class_name) for one in found.influence.experts()],
            theme=widgets.theme(),
        ),
        "experts_chart",
        "Heatmap: the influence of every learner on every class.",
    )
    st.caption("Outlined cells are experts: learners that matter for this class far more than the others do.")


@errors.shown()
def trust(found: inspections.Inspection) -> None:
    real = None if found.evaluation is None else found.evaluation.reliability.accuracy
    shown = real if real is not None and st.toggle("Show real accuracy (evaluation)", key="trust_real") else None
    widgets.chart(
        figures.trust_scatter(
            found.learners, found.influence.overall, found.reliability.accuracy, real=shown, theme=widgets.theme()
        ),
        "trust_chart",
        "Scatter: estimated accuracy against influence, one point for each learner.",
    )
    st.caption(
        "To the right: the labels hang on this learner. To the top: it agrees with the fused label, usually an "
        "optimistic estimate of accuracy. High and left is good but repeated by others; low and right deserves a look."
    )


@errors.shown()
def confusion(found: inspections.Inspection) -> None:
    if found.confusion is None:
        st.caption("There are too many classes for a confusion matrix of every learner.")
        return
    learner = st.selectbox("Learner", found.learners, key="confusion_learner", persist_state="session")
    at = found.learners.index(learner)
    real = None if found.evaluation is None else found.evaluation.confusion
    if real is not None:
        st.badge("The real one is for evaluation only", icon=":material/lock:", color="orange")
        figure = figures.confusion_pair(
            found.confusion.psi[at], real.psi[at], found.classes, learner=learner, theme=widgets.theme()
        )
    else:
        figure = figures.confusion_matrix(
            found.confusion.psi[at], found.classes, learner=learner, theme=widgets.theme()
        )
    widgets.chart(figure, "confusion_chart", f"Heatmap: what {learner} says for each label.")
    st.caption(
        "Each line adds up to 100 %: what the learner says when the label is this class. **Good:** a dark diagonal. "
        "Estimated from the fused labels, so usually a little too good."
    )


@errors.shown()
def why(found: inspections.Inspection, training: Run, opened: datasets.Opened) -> None:
    st.markdown("**Rows that deserve a look most.** Mark one, or give the id of any other row.")
    picked = st.dataframe(
        inspections.review_table(found),
        key="why_rows",
        hide_index=True,
        height=240,
        on_select="rerun",
        selection_mode="single-row",
        column_config={"confidence": st.column_config.NumberColumn("Confidence", format="percent")},
    )
    name = st.text_input("Row", key="why_row", placeholder="id, or number from 1", persist_state="session")
    rows = picked["selection"]["rows"]
    if name:
        reasons, at = inspections.reasons(training, opened, inspections.row_of(opened, name)), 0
    else:
        reasons, at = found.review, rows[0] if rows else 0
    if not len(reasons.rows):
        st.caption("There is no row to look at.")
        return
    inspecting.show_reason(inspections.reason(reasons, at), "why_chart")


@errors.shown()
def certainty(found: inspections.Inspection) -> None:
    evaluation = found.evaluation
    if evaluation is None:
        st.caption(
            "How far confidence can be trusted needs true labels for some rows; without them, trust the order of rows "
            "more than the numbers."
        )
        return
    st.badge("Evaluation only, never used in training", icon=":material/lock:", color="orange")
    left, right = st.columns(2)
    with left:
        widgets.chart(
            figures.selective_accuracy_curve(
                {"by confidence": evaluation.by_confidence, "by review score": evaluation.by_review_score},
                baseline=evaluation.majority_accuracy,
                theme=widgets.theme(),
            ),
            "selective_chart",
            "Line: accuracy of the most confident rows.",
        )
        st.caption("Accuracy when only the most confident rows are kept. **Good:** it rises steeply to the left.")
    with right:
        widgets.chart(
            figures.reliability_curve_figure(
                evaluation.calibration,
                after=None if evaluation.temperature is None else evaluation.temperature.after,
                temperature=None if evaluation.temperature is None else evaluation.temperature.temperature,
                theme=widgets.theme(),
            ),
            "reliability_chart",
            "Line: how often labels of a given confidence are right.",
        )
        st.caption("**Good:** on the diagonal. Below it, the model is more sure than it should be.")
    st.markdown(text.plain(inspecting.calibration_words(evaluation)))


def views(opened: datasets.Opened, training: Run, found: inspections.Inspection) -> None:
    names = ["Influence", "Expert finder", "Trust", "Confusion", "Why this label?", "Certainty"]
    tabs = st.tabs(names)
    with tabs[0]:
        influence(found, training)
    with tabs[1]:
        experts(found)
    with tabs[2]:
        trust(found)
    with tabs[3]:
        confusion(found)
    with tabs[4]:
        why(found, training, opened)
    with tabs[5]:
        certainty(found)
    inspecting.downloads(opened, found, ["learners", "importance_by_class", "confusion", "reliability"])


inspecting.page("Learners", "Whom does it trust?", ":material/groups:", views)
