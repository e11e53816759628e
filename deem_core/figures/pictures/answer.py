"""Pictures of the answer: class shares, changed labels, confidence, accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from deem_core.comparison.evaluation import MethodScore
from deem_core.figures import answer as draw_answer
from deem_core.figures import comparison as draw_comparison
from deem_core.figures.picture import Picture
from deem_core.typing import Integers


def class_shares(fused: ArrayLike, majority: ArrayLike, classes: Sequence[Any]) -> Picture:
    """Return the class shares (K,) of fused labels and majority vote."""
    return Picture(
        question="Does every class keep its share?",
        draw=lambda theme: draw_answer.class_shares(fused, majority, classes, theme=theme),
        alt="Bars: the share of each class among the fused labels and by majority vote.",
        caption=(
            "**Good:** every class keeps a share of the same order. **Bad:** a class that all but vanishes: it has "
            "died in training."
        ),
    )


def label_changes(changes: Integers, classes: Sequence[Any]) -> Picture:
    """Return what became of the majority vote.

    Parameters
    ----------
    changes : (K, K) array of int
        Rows by majority vote (first) and fused label (second).
    classes : sequence of K labels
    """
    return Picture(
        question="What became of the majority vote?",
        draw=lambda theme: draw_answer.label_changes(changes, classes, theme=theme),
        alt="Heatmap: rows by majority vote and by fused label.",
        caption=(
            "Rows off the diagonal are those whose label fusing has changed. A single dark cell means that two classes "
            "are mixed up by most learners, or by the model."
        ),
        min_width=480,
    )


def confidence(edges: ArrayLike, counts: ArrayLike) -> Picture:
    """Return the histogram of confidence: edges (B + 1,), counts (B,)."""
    return Picture(
        question="How sure are the labels?",
        draw=lambda theme: draw_answer.confidence_histogram(edges, counts, theme=theme),
        alt="Histogram: rows by the confidence of their label.",
        caption=(
            "Probability of the fused label. Models like this are usually too sure of themselves: trust the order of "
            "rows more than the numbers."
        ),
    )


def review_threshold(edges: ArrayLike, counts: ArrayLike, threshold: float | None) -> Picture:
    """Return the histogram of confidence with a threshold.

    Edges (B + 1,), counts (B,).
    """
    return Picture(
        question="How many labels lie below the threshold?",
        draw=lambda theme: draw_answer.confidence_histogram(edges, counts, threshold=threshold, theme=theme),
        alt="Histogram: rows by the confidence of their label, those to review in another colour.",
    )


def evaluation(methods: Sequence[MethodScore]) -> Picture:
    """Return the accuracy of fused labels and simpler answers (evaluation only).

    Parameters
    ----------
    methods : sequence of MethodScore
        Of an evaluation, the fused labels first.
    """
    return Picture(
        question="Are the fused labels right more often?",
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
            "**Rows:** intervals are 95 % by bootstrap over rows, what another draw of rows might give; they say "
            "nothing about another training."
        ),
        min_width=460,
    )
