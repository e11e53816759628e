"""Pictures of the answer: class shares, changed labels, confidence, accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from deem_core.comparison.evaluation import MethodScore
from deem_core.diagnostics.rows import FUSED, MAJORITY, Is, RowFilter
from deem_core.figures import answer as draw_answer
from deem_core.figures import comparison as draw_comparison
from deem_core.figures.class_ranks import MOST_SHOWN
from deem_core.figures.picture import Cells, Picture, Side
from deem_core.typing import Integers

_BY_CLASS = "**Good:** every class keeps a similar share. **Bad:** a class almost vanishes: it died in training."
_BY_RANK = (
    "Too many classes for bars: each line adds up the shares, from the most frequent class to the rarest. **Good:** "
    "the two lines lie close together. **Bad:** the fused line rises well above the other and reaches 100% earlier: a "
    "few classes have grown, and rare ones have died in training. The dots are the classes whose share changed most; "
    "point at one to see which."
)


def class_shares(fused: ArrayLike, majority: ArrayLike, classes: Sequence[Any]) -> Picture:
    """Return the class shares (K,) of fused labels and majority vote."""
    many = len(classes) > MOST_SHOWN
    return Picture(
        question="Does every class keep its share?",
        draw=lambda theme: draw_answer.class_shares(fused, majority, classes, theme=theme),
        alt=(
            "Lines: the share of rows in the most frequent classes, fused and by majority vote."
            if many
            else "Bars: the share of each class among the fused labels and by majority vote."
        ),
        caption=_BY_RANK if many else _BY_CLASS,
    )


def label_changes(changes: Integers, classes: Sequence[Any]) -> Picture:
    """Return what became of the majority vote.

    Parameters
    ----------
    changes : (K, K) array of int
        Rows by majority vote (first) and fused label (second).
    classes : sequence of K labels
    """
    names = [str(label) for label in classes]
    return Picture(
        question="What changed against the majority vote?",
        draw=lambda theme: draw_answer.label_changes(changes, classes, theme=theme),
        alt="Heatmap: rows by majority vote and by fused label.",
        caption=(
            "Rows off the diagonal are those whose label fusing has changed. A single strong cell means that two "
            "classes are mixed up by most learners, or by the model."
        ),
        min_width=480,
        cells=Cells(
            Side("Majority vote", names),
            Side("Fused label", names),
            lambda i, j, _: RowFilter((Is(MAJORITY, names[i]), Is(FUSED, names[j]))),
        ),
    )


def confidence(edges: ArrayLike, counts: ArrayLike) -> Picture:
    """Return the histogram of confidence: edges (B + 1,), counts (B,)."""
    return Picture(
        question="How sure are the labels?",
        draw=lambda theme: draw_answer.confidence_histogram(edges, counts, theme=theme),
        alt="Histogram: rows by the confidence of their label.",
        caption=(
            "Probability of the fused label. Models like this are usually overconfident: trust the order of "
            "rows more than the numbers."
        ),
    )


def review_budget(edges: ArrayLike, counts: ArrayLike, reviewed: ArrayLike, below: float | None = None) -> Picture:
    """Return the histogram of confidence with the rows to review.

    Edges (B + 1,), counts of all rows and of those to review (B,), and the confidence that chooses them, if one does.
    """
    return Picture(
        question="Which labels go to review?",
        draw=lambda theme: draw_answer.confidence_histogram(
            edges, counts, reviewed=reviewed, threshold=below, theme=theme
        ),
        alt="Histogram: rows by the confidence of their label, those to review in another colour.",
        caption="In orange: rows to review.",
    )


def evaluation(methods: Sequence[MethodScore]) -> Picture:
    """Return the accuracy of fused labels and simpler answers (evaluation only).

    Parameters
    ----------
    methods : sequence of MethodScore
        Of an evaluation, the fused labels first.
    """
    return Picture(
        question="Are the fused labels more accurate?",
        draw=lambda theme: draw_comparison.accuracy_intervals(
            [one.title for one in methods],
            [one.accuracy for one in methods],
            [one.accuracy_interval[0] for one in methods],
            [one.accuracy_interval[1] for one in methods],
            highlight=methods[0].title,
            reference=next((one.title for one in methods if one.name == "majority_vote"), None),
            theme=theme,
        ),
        alt="Dots with intervals: accuracy of the fused labels, Dawid-Skene and the majority vote.",
        caption=(
            "**Rows:** 95% intervals cover what other rows of this kind might give, not what another training run "
            "would give."
        ),
        min_width=460,
    )
