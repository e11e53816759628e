"""Pictures of learners as the model sees them, and of certainty."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deem_core.diagnostics.confusion import Confusion
from deem_core.diagnostics.evaluation import Evaluation
from deem_core.diagnostics.experts import Expert
from deem_core.diagnostics.influence import Importance
from deem_core.diagnostics.inspection import Inspection
from deem_core.diagnostics.rows import FUSED, TRUTH, Column, Is, RowFilter
from deem_core.figures import certainty as draw_certainty
from deem_core.figures import confusion as draw_confusion
from deem_core.figures import influence as draw_influence
from deem_core.figures import trust as draw_trust
from deem_core.figures import why as draw_why
from deem_core.figures._axes import MOST_LEARNERS
from deem_core.figures.expert_finder import influence_heatmap
from deem_core.figures.picture import Cells, Picture, Side

REST = "all other rows"
_INFLUENCE_ALT = "Bars: how much the fused labels depend on each learner."
_WHISKERS = " Whiskers: spread over restarts."


# ---------------------------------------------------------------------- influence


def influence(importance: Importance, *, max_learners: int = MOST_LEARNERS) -> Picture:
    """Return how much the fused labels hang on each learner."""
    grey = " Grey: what chance alone may produce." if importance.noise.any() else ""
    return Picture(
        question="Whose votes decide the labels?",
        draw=lambda theme: draw_influence.influence_bars(
            importance.subjects,
            importance.overall,
            spread=importance.restart_spread,
            noise=importance.noise,
            max_learners=max_learners,
            theme=theme,
        ),
        alt=_INFLUENCE_ALT,
        caption=_influence_caption(importance, _whiskers(importance) + grey),
        min_width=460,
    )


def influence_of_classes(
    importance: Importance,
    classes: Sequence[str],
    inside: ArrayLike,
    outside: ArrayLike,
    *,
    highlight: Collection[str] = (),
    max_learners: int = MOST_LEARNERS,
) -> Picture:
    """Return the influence on some classes beside all others.

    Parameters
    ----------
    importance : Importance
    classes : sequence of str
    inside, outside : (d,) array
        Mean importance over the rows fused to these classes, and over the others.
    highlight : collection of str
        Learners that stand out.
    max_learners : int
    """
    return Picture(
        question="Who matters more for these classes than for the others?",
        draw=lambda theme: draw_influence.influence_panels(
            inside,
            outside,
            importance.subjects,
            subset_name=f"labelled {', '.join(classes) or 'as none'}",
            rest_name=REST,
            highlight=highlight,
            max_learners=max_learners,
            theme=theme,
        ),
        alt=_INFLUENCE_ALT,
        caption=_influence_caption(importance, ""),
        min_width=460,
    )


def influence_where_overruled(
    changed: Importance, unchanged: Importance, *, max_learners: int = MOST_LEARNERS
) -> Picture:
    """Return the influence where the majority was overruled, beside all others."""
    return Picture(
        question="Who overruled the majority?",
        draw=lambda theme: draw_influence.influence_panels(
            changed.overall,
            unchanged.overall,
            changed.subjects,
            subset_name="majority overruled",
            rest_name=REST,
            subset_spread=changed.restart_spread,
            rest_spread=unchanged.restart_spread,
            max_learners=max_learners,
            theme=theme,
        ),
        alt=_INFLUENCE_ALT,
        caption=_influence_caption(changed, _whiskers(changed)),
        min_width=460,
    )


def influence_of_groups(voices: Importance, *, near_copies: bool = True) -> Picture:
    """Return the influence of groups of learners, each taken together.

    Parameters
    ----------
    voices : Importance
        Of the groups.
    near_copies : bool
        Whether they are near-copies that speak with one voice, or learners that err together.
    """
    who = "near-copies" if near_copies else "groups"
    why = "Near-copies count once" if near_copies else "Learners of a group repeat each other"
    return Picture(
        question=f"How much do {who} count together?",
        draw=lambda theme: draw_influence.influence_bars(voices.subjects, voices.overall, theme=theme),
        alt="Bars: the influence of groups of learners, each taken together.",
        caption=f"{why}: the same when the votes of a whole group are shuffled together.",
        min_width=460,
    )


def _whiskers(importance: Importance) -> str:
    return _WHISKERS if np.isfinite(importance.restart_spread).any() else ""


def _influence_caption(importance: Importance, looks: str) -> str:
    return (
        "How much the score of the fused label falls, in nats, when a learner's votes are "
        f"{'shuffled' if importance.how == 'permuted' else 'left out'}.{looks} **Influence is not accuracy:** a "
        f"learner that others repeat has little influence of its own. On {importance.rows_used:,} of "
        f"{importance.n_rows:,} rows, standard error up to {importance.error.max():.3f}."
    )


# ---------------------------------------------------------------------- experts, trust, confusion


def experts(
    importance: Importance,
    marked: Sequence[Expert],
    *,
    classes: Sequence[int] | None = None,
    relative: bool = False,
) -> Picture:
    """Return the influence of every learner on every class.

    Parameters
    ----------
    importance : Importance
    marked : sequence of Expert
        Whose cells are outlined.
    classes : sequence of int, optional
        Positions of the classes to draw; all by default.
    relative : bool
        Whether influence is drawn as a multiple of the median learner's.
    """
    shown = list(range(len(importance.classes))) if classes is None else [int(k) for k in classes]
    left_out = len(importance.classes) - len(shown)
    names = [str(importance.classes[k]) for k in shown]
    unit = "as a multiple of the median learner's" if relative else "in nats"
    return Picture(
        question="Who is the expert for which class?",
        draw=lambda theme: influence_heatmap(
            importance.by_class[:, shown],
            importance.subjects,
            [importance.classes[k] for k in shown],
            relative=relative,
            marked=[(one.learner, one.class_name) for one in marked],
            theme=theme,
        ),
        alt="Heatmap: the influence of every learner on every class.",
        caption=(
            f"Influence of each learner on the rows of each class, {unit}. Read down a column: the strongest cell is "
            "the learner the model relies on most for this class."
            + (" Outlined: the experts named above." if marked else "")
            + (f" {left_out:,} classes with fewer rows are left out." if left_out else "")
        ),
        min_width=480,
        cells=Cells(
            Side("Learner", importance.subjects),
            Side("Class", names),
            lambda i, k, _: RowFilter((Is(FUSED, names[k]), Is(Column("vote", importance.subjects[i])))),
        ),
    )


def trust(found: Inspection, *, real: bool = False) -> Picture:
    """Return influence against estimated accuracy.

    The real accuracy is for evaluation only.
    """
    accuracy = found.evaluation.reliability.accuracy if real and found.evaluation is not None else None
    return Picture(
        question="Does it trust the accurate learners?",
        draw=lambda theme: draw_trust.trust_scatter(
            found.learners, found.influence.overall, found.reliability.accuracy, real=accuracy, theme=theme
        ),
        alt="Scatter: estimated accuracy against influence, one point for each learner.",
        caption=(
            "To the right: the labels depend on this learner. To the top: it agrees with the fused label, usually an "
            "optimistic estimate of accuracy. High and left is good but repeated by others; check what is low and "
            "right."
        ),
    )


def confusion(estimated: Confusion, real: Confusion | None = None) -> Picture:
    """Return what one learner says for each label.

    The real confusion is for evaluation only.

    Parameters
    ----------
    estimated, real : Confusion
        Of one learner (d = 1).
    """
    learner, names = estimated.learners[0], [str(label) for label in estimated.classes]

    def draw(theme: str) -> Any:
        if real is None:
            return draw_confusion.confusion_matrix(
                estimated.psi[0], estimated.classes, counts=estimated.support[0], learner=learner, theme=theme
            )
        return draw_confusion.confusion_pair(
            estimated.psi[0],
            real.psi[0],
            estimated.classes,
            estimated_counts=estimated.support[0],
            real_counts=real.support[0],
            learner=learner,
            theme=theme,
        )

    return Picture(
        question=f"What does {learner} say for each label?",
        draw=draw,
        alt=f"Heatmap: what {learner} says for each label.",
        caption=(
            "In percent; each line adds up to 100: what the learner says when the label is this class. **Good:** a "
            "strong diagonal. Estimated from the fused labels, so usually a little too high."
        ),
        cells=Cells(
            Side("Label", names),
            Side("Vote", names),
            lambda m, vote, panel: RowFilter(
                (Is(TRUTH if panel else FUSED, names[m]), Is(Column("vote", learner), names[vote]))
            ),
            () if real is None else ("Estimated", "Real"),
        ),
    )


# ---------------------------------------------------------------------- single rows and certainty


def why(
    learners: Sequence[str], votes: Sequence[Any], contributions: ArrayLike, *, fused: str, runner_up: str
) -> Picture:
    """Return each vote's contribution to the label of one row.

    See `deem_core.figures.why_bars`.
    """
    return Picture(
        question="Which votes decided?",
        draw=lambda theme: draw_why.why_bars(
            learners, votes, contributions, fused=fused, runner_up=runner_up, theme=theme
        ),
        alt="Bars: how much each vote supports the fused label against the runner-up.",
        caption=(
            "How much the log-odds of the fused label against the runner-up would fall if this vote had not been "
            "cast, in nats. To the right: supports the label; to the left: opposes it. Where layers combine votes, a "
            "vote may support a class other than the one it names."
        ),
    )


def selective_accuracy(evaluation: Evaluation) -> Picture:
    """Return the accuracy of the most confident rows (evaluation only)."""
    return Picture(
        question="Are the most certain rows right?",
        draw=lambda theme: draw_certainty.selective_accuracy_curve(
            {"by confidence": evaluation.by_confidence, "by review score": evaluation.by_review_score},
            baseline=evaluation.majority_accuracy,
            theme=theme,
        ),
        alt="Line: accuracy of the most confident rows.",
        caption="Accuracy when only the most confident rows are kept. **Good:** it rises steeply to the left.",
    )


def calibration(evaluation: Evaluation) -> Picture:
    """Return how often labels of a given confidence are right (evaluation only)."""
    fitted = evaluation.temperature
    return Picture(
        question="Is the confidence calibrated?",
        draw=lambda theme: draw_certainty.reliability_curve_figure(
            evaluation.calibration,
            after=None if fitted is None else fitted.after,
            temperature=None if fitted is None else fitted.temperature,
            theme=theme,
        ),
        alt="Line: how often labels of a given confidence are right.",
        caption="**Good:** on the diagonal. Below it, the model is overconfident.",
    )
