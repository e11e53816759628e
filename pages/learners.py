"""Learners: whom does it trust? Scorecard, influence, confusion, reasons, certainty."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from deem_core import figures
from deem_core.figures import pictures
from deem_core.runs import Run
from studio import boot, errors, jobs, state, text, widgets
from studio.data import datasets
from studio.export import results
from studio.inspect import frame, inspections, scorecards, words
from studio.rows import cells
from studio.rows.sources import Source
from studio.words import say

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
            help=say(
                "How much the score of the fused label drops when a learner's votes are shuffled across rows (the "
                "default) or left out. On rows where the majority was overruled, they are always shuffled."
            ),
            disabled=rows == CHANGED,
        )
        everybody = len(inspection.learners) > figures.MOST_LEARNERS and st.toggle(
            say(f"All {len(inspection.learners)} learners"), **widgets.keep("influence_all")
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
        placeholder="type or choose one or more classes",
    )
    stand_out = {one.learner for one in inspections.clearest(importance) if one.class_name in classes}
    if stand_out:
        st.caption(say(":material/lightbulb: In orange: learners that stand out in these classes."))
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
def experts(inspection: inspections.Inspection, training: Run, opened: datasets.Opened) -> None:
    importance = inspection.influence
    n_experts = len(importance.experts())
    named = [] if frame.is_majority(training) else inspections.clearest(importance)
    said = words.experts_said(inspection, named, n_experts - len(named), majority=frame.is_majority(training))
    st.markdown(say(said))
    relative = st.toggle(say("Relative to the other learners"), True, **widgets.keep("experts_relative"))
    shown = pictures.experts(importance, named, classes=inspections.classes_with_rows(importance), relative=relative)
    cells.picture(shown, "experts_chart", Source(opened, training), titled=True)


@errors.boundary()
def trust(inspection: inspections.Inspection) -> None:
    real = inspection.evaluation is not None and st.toggle(
        "Show real accuracy (evaluation)", **widgets.keep("trust_real")
    )
    widgets.picture(pictures.trust(inspection, real=real), "trust_chart", titled=True)


@errors.boundary()
def confusion(inspection: inspections.Inspection, training: Run, opened: datasets.Opened) -> None:
    learner = st.selectbox(say("Learner"), inspection.learners, **widgets.keep(confusion_key(training)), width=360)
    estimated, real = inspections.confusion_of(inspection, training, opened, learner)
    if real is not None:
        widgets.evaluation_badge("The real one is for evaluation only")
    cells.picture(pictures.confusion(estimated, real), "confusion_chart", Source(opened, training), titled=True)
    if inspection.confusion is None:  # too many classes to keep all of them
        name = results.file_name(opened, f"confusion_{inspection.learners.index(learner) + 1}.csv")
        frame.download_csv(say("confusion of this learner"), lambda: inspections.cells_used(estimated), name)


@errors.boundary()
def groups(tree: inspections.GroupTree, training: Run, opened: datasets.Opened) -> None:
    widgets.picture(pictures.group_tree(tree), "groups_chart", titled=True)
    chosen = st.selectbox(
        say("Group or learner"),
        range(len(tree.branches)),
        format_func=tree.branches.__getitem__,
        **widgets.keep(f"group_{training.id}"),
        width=360,
    )
    shown = inspections.picture_of_branch(tree, chosen)
    cells.picture(shown, "group_chart", Source(opened, training), titled=True)


@errors.boundary()
def why(inspection: inspections.Inspection, training: Run, opened: datasets.Opened) -> None:
    row_key = f"why_row_{training.id}"
    st.markdown("**Most doubtful rows.** Select one, or enter the id of any other row.")
    selection = st.dataframe(
        inspections.review_table(inspection),
        key=f"why_rows_{training.id}",
        hide_index=True,
        height=240,
        on_select=lambda: state.set_value(row_key, ""),
        selection_mode="single-row",
        column_config={"confidence": st.column_config.NumberColumn(format=widgets.PERCENT)},
    )
    name = st.text_input("Another row", **widgets.keep(row_key), placeholder="its id, or its number from 1", width=360)
    rows = selection["selection"]["rows"]
    if name:
        reasons, at = inspections.reasons(training, opened, inspections.row_of(opened, name)), 0
    else:
        reasons, at = inspection.review, rows[0] if rows else 0
    if not len(reasons.rows):
        st.caption("No rows to show.")
        return
    frame.show_reason(inspections.reason(reasons, at), "why_chart")


@errors.boundary()
def certainty(inspection: inspections.Inspection) -> None:
    evaluation = inspection.evaluation
    if evaluation is None:
        st.caption(
            "Checking confidence needs true labels for some rows; without them, trust the order of rows more than "
            "the numbers."
        )
        return
    widgets.evaluation_badge()
    left, right = st.columns(2)
    with left:
        widgets.picture(pictures.selective_accuracy(evaluation), "selective_chart", titled=True)
    with right:
        widgets.picture(pictures.calibration(evaluation), "reliability_chart", titled=True)
    st.markdown(text.plain(words.calibration_words(evaluation)))


@errors.boundary()
def scorecard(opened: datasets.Opened, training: Run, inspection: inspections.Inspection | None) -> None:
    looked = None if frame.is_majority(training) else inspection  # nothing was learnt about anybody
    scorecards.show(scorecards.of_run(training, opened, looked), opened)


def views(opened: datasets.Opened, training: Run) -> None:
    if not frame.is_done(training):
        return
    inspection = frame.inspection_of(training) if frame.looked_into(training) else None
    shows: dict[str, tuple[Callable[[], None], list[str]]] = {
        "Scorecard": (lambda: scorecard(opened, training, inspection), [])
    }
    if inspection is not None:
        shows |= views_of_model(opened, training, inspection)

    def show(view: Callable[[], None], tables: list[str]) -> None:
        view()
        if inspection is not None and tables:
            frame.downloads(opened, inspection, tables)

    widgets.tabs({name: partial(show, *about) for name, about in shows.items()}, TABS)
    if not frame.looked_into(training):
        frame.no_model(training)


def views_of_model(
    opened: datasets.Opened, training: Run, inspection: inspections.Inspection
) -> dict[str, tuple[Callable[[], None], list[str]]]:
    shows: dict[str, tuple[Callable[[], None], list[str]]] = {
        "Influence": (lambda: influence(inspection, training), ["learners", "importance_by_class"]),
        "Expert finder": (lambda: experts(inspection, training, opened), ["importance_by_class"]),
        "Trust": (lambda: trust(inspection), ["learners"]),
        CONFUSION: (lambda: confusion(inspection, training, opened), ["confusion", "evaluation_confusion"]),
        "Why this label?": (lambda: why(inspection, training, opened), ["review"]),
        "Certainty": (lambda: certainty(inspection), ["evaluation_by_confidence", "evaluation_calibration"]),
    }
    tree = inspection.groups
    if tree is not None:
        shows[GROUPS] = (lambda: groups(tree, training, opened), ["groups"])
    return shows


def nothing(opened: datasets.Opened) -> None:
    """Offer the answer that a scorecard rests on, which takes seconds."""
    with st.container(border=True, key="no_answer"):
        st.markdown(say("**No answer yet.** Each learner is compared with the fused labels, and there are none yet."))
        st.button(
            "Fuse",
            key="fuse_for_scorecard",
            type="primary",
            icon=":material/merge:",
            on_click=jobs.start,
            args=("fuse", opened.dataset.id, jobs.RECOMMENDED, "Answer"),
        )
        st.caption(
            say("The scorecard needs no training: votes, coverage, estimated accuracy and flags of every learner.")
        )


frame.page("Learners", "Whom does it trust?", ":material/groups:", views, nothing)
