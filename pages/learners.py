"""Learners: whom does it trust? Influence, confusion, reasons, certainty."""

import streamlit as st

from deem_core import figures
from deem_core.figures import pictures
from deem_core.runs import Run
from studio import boot, errors, state, text, widgets
from studio.data import datasets
from studio.export import results
from studio.inspect import frame, inspections, words

boot.guard(__file__)

OVERALL, CLASSES, CHANGED = "All rows", "Some classes", "Rows where the majority was overruled"
PERMUTING, WITHHOLDING = "Permuting votes", "Withholding votes"
TABS, CONFUSION, GROUPS = "learners_tabs", "Confusion", "Groups"


@errors.boundary()
def influence(inspection: inspections.Inspection, training: Run) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        rows = st.segmented_control(
            "Measured on",
            [OVERALL, CLASSES, *([CHANGED] if inspection.changed is not None else [])],
            default=OVERALL,
            required=True,
            **widgets.keep(f"influence_rows_{training.id}"),
        )
        how = st.segmented_control(
            "Influence by",
            [PERMUTING, WITHHOLDING],
            default=PERMUTING,
            required=True,
            **widgets.keep("influence_how"),
            help="How much the fused label's score drops when the votes of a learner are shuffled over rows (the "
            "default), or left out. Where the majority was overruled, votes are always shuffled.",
            disabled=rows == CHANGED,
        )
        everybody = len(inspection.learners) > figures.MOST_LEARNERS and st.toggle(
            f"All {len(inspection.learners)} learners", **widgets.keep("influence_all")
        )
    most = len(inspection.learners) if everybody else figures.MOST_LEARNERS
    importance = inspection.influence if how == PERMUTING or rows == CHANGED else inspection.withheld
    if rows == CLASSES:
        shown = influence_of_classes(importance, training, most)
    elif rows == CHANGED and inspection.changed is not None and inspection.unchanged is not None:
        importance = inspection.changed
        shown = pictures.influence_where_overruled(inspection.changed, inspection.unchanged, max_learners=most)
    else:
        shown = pictures.influence(importance, max_learners=most)
    widgets.picture(
        shown,
        "influence_chart",
        note="Click a bar to see what the learner confuses.",
        titled=True,
        on_select=see_confusion,
        args=(importance, confusion_key(training)),
    )
    if inspection.voices is not None:
        shown = pictures.influence_of_groups(inspection.voices, near_copies=inspection.groups is None)
        widgets.picture(shown, "voices_chart", titled=True)


def influence_of_classes(importance: inspections.Importance, training: Run, most: int) -> figures.Picture:
    classes = st.multiselect(
        "Classes, such as those that need an expert",
        list(importance.classes),
        default=inspections.expert_classes(importance),
        **widgets.keep(f"influence_classes_{training.id}"),
        placeholder="type or choose one class or more",
    )
    stand_out = {one.learner for one in inspections.clearest(importance) if one.class_name in classes}
    if stand_out:
        st.caption(":material/lightbulb: In orange: learners that stand out in these classes.")
    inside, outside = inspections.of_classes(importance, classes)
    return pictures.influence_of_classes(importance, classes, inside, outside, highlight=stand_out, max_learners=most)


def see_confusion(importance: inspections.Importance, key: str) -> None:
    """Turn to the confusion of the learner whose bar was clicked."""
    learner = inspections.clicked_learner(state.value("influence_chart"), importance)
    if learner is not None:
        state.set_value(key, learner)
        state.set_value(TABS, CONFUSION)


def confusion_key(training: Run) -> str:
    return f"confusion_learner_{training.id}"


@errors.boundary()
def experts(inspection: inspections.Inspection, training: Run) -> None:
    importance = inspection.influence
    n_experts = len(importance.experts())
    named = [] if frame.is_majority(training) else inspections.clearest(importance)
    st.markdown(words.experts_said(inspection, named, n_experts - len(named), majority=frame.is_majority(training)))
    relative = st.toggle("Relative to the other learners", True, **widgets.keep("experts_relative"))
    shown = pictures.experts(importance, named, classes=inspections.classes_with_rows(importance), relative=relative)
    widgets.picture(shown, "experts_chart", titled=True)


@errors.boundary()
def trust(inspection: inspections.Inspection) -> None:
    real = inspection.evaluation is not None and st.toggle(
        "Show real accuracy (evaluation)", **widgets.keep("trust_real")
    )
    widgets.picture(pictures.trust(inspection, real=real), "trust_chart", titled=True)


@errors.boundary()
def confusion(inspection: inspections.Inspection, training: Run, opened: datasets.Opened) -> None:
    learner = st.selectbox("Learner", inspection.learners, **widgets.keep(confusion_key(training)), width=360)
    estimated, real = inspections.confusion_of(inspection, training, opened, learner)
    if real is not None:
        widgets.evaluation_badge("The real one is for evaluation only")
    widgets.picture(pictures.confusion(estimated, real), "confusion_chart", titled=True)
    if inspection.confusion is None:  # too many classes to keep all of them
        name = results.file_name(opened, f"confusion_{inspection.learners.index(learner) + 1}.csv")
        frame.download_csv("confusion of this learner", lambda: inspections.cells_used(estimated), name)


@errors.boundary()
def groups(tree: inspections.GroupTree, training: Run) -> None:
    widgets.picture(pictures.group_tree(tree), "groups_chart", titled=True)
    chosen = st.selectbox(
        "Group or learner",
        range(len(tree.branches)),
        format_func=tree.branches.__getitem__,
        **widgets.keep(f"group_{training.id}"),
        width=360,
    )
    widgets.picture(inspections.picture_of_branch(tree, chosen), "group_chart", titled=True)


@errors.boundary()
def why(inspection: inspections.Inspection, training: Run, opened: datasets.Opened) -> None:
    row_key = f"why_row_{training.id}"
    st.markdown("**Rows that deserve a look most.** Mark one, or give the id of any other row.")
    selection = st.dataframe(
        inspections.review_table(inspection),
        key=f"why_rows_{training.id}",
        hide_index=True,
        height=240,
        on_select=lambda: state.set_value(row_key, ""),
        selection_mode="single-row",
        column_config={"confidence": st.column_config.NumberColumn(format="%.1f %%")},
    )
    name = st.text_input("Another row", **widgets.keep(row_key), placeholder="its id, or its number from 1", width=360)
    rows = selection["selection"]["rows"]
    if name:
        reasons, at = inspections.reasons(training, opened, inspections.row_of(opened, name)), 0
    else:
        reasons, at = inspection.review, rows[0] if rows else 0
    if not len(reasons.rows):
        st.caption("There is no row to look at.")
        return
    frame.show_reason(inspections.reason(reasons, at), "why_chart")


@errors.boundary()
def certainty(inspection: inspections.Inspection) -> None:
    evaluation = inspection.evaluation
    if evaluation is None:
        st.caption(
            "How far confidence can be trusted needs true labels for some rows; without them, trust the order of rows "
            "more than the numbers."
        )
        return
    widgets.evaluation_badge()
    left, right = st.columns(2)
    with left:
        widgets.picture(pictures.selective_accuracy(evaluation), "selective_chart", titled=True)
    with right:
        widgets.picture(pictures.calibration(evaluation), "reliability_chart", titled=True)
    st.markdown(text.plain(words.calibration_words(evaluation)))


def views(opened: datasets.Opened, training: Run, inspection: inspections.Inspection) -> None:
    shows = {
        "Influence": (lambda: influence(inspection, training), ["learners", "importance_by_class"]),
        "Expert finder": (lambda: experts(inspection, training), ["importance_by_class"]),
        "Trust": (lambda: trust(inspection), ["learners"]),
        CONFUSION: (lambda: confusion(inspection, training, opened), ["confusion", "evaluation_confusion"]),
        "Why this label?": (lambda: why(inspection, training, opened), ["review"]),
        "Certainty": (lambda: certainty(inspection), ["evaluation_by_confidence", "evaluation_calibration"]),
    }
    tree = inspection.groups
    if tree is not None:
        shows[GROUPS] = (lambda: groups(tree, training), ["groups"])
    tabs = st.tabs(list(shows), key=TABS, on_change="rerun")  # so that a click on a bar can turn to another one
    for tab, (show, tables) in zip(tabs, shows.values(), strict=True):
        if tab.open:
            with tab:
                show()
            frame.downloads(opened, inspection, tables)


frame.page("Learners", "Whom does it trust?", ":material/groups:", views)
