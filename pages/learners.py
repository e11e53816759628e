"""Learners: whom does it trust? Influence overall and by class, confusion, and why a row got its label."""

import streamlit as st

from deem_core import figures
from deem_core.runs import Run
from studio import boot, datasets, errors, inspecting, inspection_words, inspections, results, state, text, widgets

boot.guard(__file__)

OVERALL, CLASSES, CHANGED = "All rows", "Some classes", "Rows where the majority was overruled"
PERMUTING, WITHHOLDING = "Permuting votes", "Withholding votes"
WHISKERS = " Whiskers: spread over restarts."
TABS, CONFUSION = "learners_tabs", "Confusion"


@errors.shown()
def influence(found: inspections.Inspection, training: Run) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        rows = st.segmented_control(
            "Measured on",
            [OVERALL, CLASSES, *([CHANGED] if found.changed is not None else [])],
            default=OVERALL,
            required=True,
            key=f"influence_rows_{training.id}",
            persist_state="session",
        )
        how = st.segmented_control(
            "Influence by",
            [PERMUTING, WITHHOLDING],
            default=PERMUTING,
            required=True,
            key="influence_how",
            persist_state="session",
            help="How much the fused label's score drops when the votes of a learner are shuffled over rows (the "
            "default), or left out. Where the majority was overruled, votes are always shuffled.",
            disabled=rows == CHANGED,
        )
        everybody = len(found.learners) > figures.MOST_LEARNERS and st.toggle(
            f"All {len(found.learners)} learners", key="influence_all", persist_state="session"
        )
    most = len(found.learners) if everybody else figures.MOST_LEARNERS
    importance = found.influence if how == PERMUTING or rows == CHANGED else found.withheld
    looks, question = "", "Whose votes do the fused labels hang on?"
    if rows == CLASSES:
        figure, question = influence_of_classes(importance, training, most)
    elif rows == CHANGED and found.changed is not None and found.unchanged is not None:
        importance, spread = found.changed, found.changed.restart_spread
        looks = WHISKERS if inspections.has_spread(importance) else ""
        figure = figures.influence_panels(
            importance.overall,
            found.unchanged.overall,
            importance.subjects,
            subset_name="majority overruled",
            rest_name="all other rows",
            subset_spread=spread,
            rest_spread=found.unchanged.restart_spread,
            max_learners=most,
            theme=widgets.theme(),
        )
        question = "Who overruled the majority?"
    else:
        looks = WHISKERS if inspections.has_spread(importance) else ""
        looks += " Grey: what chance alone may show." if importance.noise.any() else ""
        figure = figures.influence_bars(
            importance.subjects,
            importance.overall,
            spread=importance.restart_spread,
            noise=importance.noise,
            max_learners=most,
            theme=widgets.theme(),
        )
    inspecting.picture(
        question,
        figure,
        "influence_chart",
        "Bars: how much the fused labels hang on each learner.",
        on_select=lambda: see_confusion(importance, confusion_key(training)),
    )
    st.caption(
        "How far the score of the fused label falls, in nats, when a learner's votes are "
        f"{'shuffled' if importance.how == 'permuted' else 'left out'}.{looks} **Influence is not accuracy:** a "
        f"learner whom the others repeat has little influence of its own. On {importance.rows_used:,} of "
        f"{importance.n_rows:,} rows, standard error up to {importance.error.max():.3f}. "
        "Click a bar to see what the learner confuses."
    )
    if found.voices is not None:
        inspecting.picture(
            "How much do near-copies weigh together?",
            figures.influence_bars(found.voices.subjects, found.voices.overall, theme=widgets.theme()),
            "voices_chart",
            "Bars: the influence of groups of near-copies, taken together.",
        )
        st.caption("Near-copies speak with one voice: the same when the votes of a whole group are shuffled together.")


def influence_of_classes(importance: inspections.Importance, training: Run, most: int) -> tuple[figures.Figure, str]:
    """Return the influence on rows of some classes beside that on the others, and the question it answers."""
    classes = st.multiselect(
        "Classes, such as those that need an expert",
        list(importance.classes),
        default=inspections.expert_classes(importance),
        key=f"influence_classes_{training.id}",
        persist_state="session",
        placeholder="type or choose one class or more",
    )
    subset, rest = inspections.of_classes(importance, classes)
    stand_out = {one.learner for one in inspections.clearest(importance) if one.class_name in classes}
    figure = figures.influence_panels(
        subset,
        rest,
        importance.subjects,
        subset_name=f"labelled {', '.join(classes) or 'as none'}",
        rest_name="all other rows",
        highlight=stand_out,
        max_learners=most,
        theme=widgets.theme(),
    )
    if stand_out:
        st.caption(":material/lightbulb: In orange: learners that stand out in these classes.")
    return figure, "Who matters more for these classes than for the others?"


def see_confusion(importance: inspections.Importance, key: str) -> None:
    """Turn to the confusion of the learner whose bar was clicked."""
    learner = inspections.clicked(state.value("influence_chart"), importance)
    if learner is not None:
        state.set_value(key, learner)
        state.set_value(TABS, CONFUSION)


def confusion_key(training: Run) -> str:
    return f"confusion_learner_{training.id}"


@errors.shown()
def experts(found: inspections.Inspection, training: Run) -> None:
    importance = found.influence
    n_experts = len(importance.experts())
    named = [] if inspecting.is_majority(training) else inspections.clearest(importance)
    st.markdown(
        inspection_words.experts_said(found, named, n_experts - len(named), majority=inspecting.is_majority(training))
    )
    relative = st.toggle("Relative to the other learners", True, key="experts_relative", persist_state="session")
    classes = inspections.told_apart(importance)
    inspecting.picture(
        "Who is the expert for which class?",
        figures.influence_heatmap(
            importance.by_class[:, classes],
            found.learners,
            [found.classes[k] for k in classes],
            relative=relative,
            marked=[(one.learner, one.class_name) for one in named],
            theme=widgets.theme(),
        ),
        "experts_chart",
        "Heatmap: the influence of every learner on every class.",
    )
    unit = "as a multiple of the median learner's" if relative else "in nats"
    few = len(found.classes) - len(classes)
    st.caption(
        f"Influence of each learner on the rows of each class, {unit}. Read down a column: the strongest cell is whom "
        "the model listens to for this class."
        + (" Outlined: the experts named above." if named else "")
        + (f" {few:,} classes with fewer rows are left out." if few else "")
    )


@errors.shown()
def trust(found: inspections.Inspection) -> None:
    real = None if found.evaluation is None else found.evaluation.reliability.accuracy
    wanted = real is not None and st.toggle(
        "Show real accuracy (evaluation)", key="trust_real", persist_state="session"
    )
    shown = real if wanted else None
    inspecting.picture(
        "Does it listen to those who are right?",
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
def confusion(found: inspections.Inspection, training: Run, opened: datasets.Opened) -> None:
    learner = st.selectbox("Learner", found.learners, key=confusion_key(training), persist_state="session", width=360)
    estimated, real = inspections.confusion_of(found, training, opened, learner)
    if real is not None:
        st.badge("The real one is for evaluation only", icon=":material/lock:", color="orange")
        figure = figures.confusion_pair(
            estimated.psi[0],
            real.psi[0],
            estimated.classes,
            estimated_counts=estimated.support[0],
            real_counts=real.support[0],
            learner=learner,
            theme=widgets.theme(),
        )
    else:
        figure = figures.confusion_matrix(
            estimated.psi[0],
            estimated.classes,
            counts=estimated.support[0],
            learner=learner,
            theme=widgets.theme(),
        )
    inspecting.picture(
        f"What does {learner} say for each label?",
        figure,
        "confusion_chart",
        f"Heatmap: what {learner} says for each label.",
    )
    st.caption(
        "In percent; each line adds up to 100: what the learner says when the label is this class. **Good:** a "
        f"{inspection_words.strong()} diagonal. Estimated from the fused labels, so usually a little too good."
    )
    if found.confusion is None:  # too many classes to keep all of them
        name = results.file_name(opened, f"confusion_{found.learners.index(learner) + 1}.csv")
        inspecting.download_csv("confusion of this learner", lambda: inspections.cells_used(estimated), name)


@errors.shown()
def why(found: inspections.Inspection, training: Run, opened: datasets.Opened) -> None:
    row_key = f"why_row_{training.id}"
    st.markdown("**Rows that deserve a look most.** Mark one, or give the id of any other row.")
    picked = st.dataframe(
        inspections.review_table(found),
        key=f"why_rows_{training.id}",
        hide_index=True,
        height=240,
        on_select=lambda: state.set_value(row_key, ""),
        selection_mode="single-row",
        column_config={"confidence": st.column_config.NumberColumn(format="%.1f %%")},
    )
    name = st.text_input(
        "Another row", key=row_key, placeholder="its id, or its number from 1", persist_state="session", width=360
    )
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
        inspecting.picture(
            "Are the surest rows right?",
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
        inspecting.picture(
            "Can confidence be taken at its word?",
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
    st.markdown(text.plain(inspection_words.calibration_words(evaluation)))


def views(opened: datasets.Opened, training: Run, found: inspections.Inspection) -> None:
    shows = {
        "Influence": (lambda: influence(found, training), ["learners", "importance_by_class"]),
        "Expert finder": (lambda: experts(found, training), ["importance_by_class"]),
        "Trust": (lambda: trust(found), ["learners"]),
        CONFUSION: (lambda: confusion(found, training, opened), ["confusion", "evaluation_confusion"]),
        "Why this label?": (lambda: why(found, training, opened), ["review"]),
        "Certainty": (lambda: certainty(found), ["evaluation_by_confidence", "evaluation_calibration"]),
    }
    tabs = st.tabs(list(shows), key=TABS, on_change="rerun")  # so that a click on a bar can turn to another one
    for tab, (show, tables) in zip(tabs, shows.values(), strict=True):
        if tab.open:
            with tab:
                show()
            inspecting.downloads(opened, found, tables)


inspecting.page("Learners", "Whom does it trust?", ":material/groups:", views)
