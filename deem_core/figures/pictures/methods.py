"""Pictures of a comparison of methods."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from deem_core.comparison import METHODS, Comparison
from deem_core.diagnostics.rows import Column, Pair, RowFilter
from deem_core.figures import agreement as draw_agreement
from deem_core.figures import comparison as draw_comparison
from deem_core.figures.picture import Cells, Picture, Side

_MAJORITY = METHODS["mv"].title
_ALT = "Dots with intervals: one method in each line."


def method_accuracy(found: Comparison) -> Picture:
    """Return the accuracy of every method (evaluation only)."""
    highlight = None if found.subject is None else found.subject.title
    ran = [method for method in found.methods if method.ran]
    ends = [method.intervals.get("accuracy", [math.nan, math.nan]) for method in ran]
    return Picture(
        question="Which method is right most often?",
        draw=lambda theme: draw_comparison.accuracy_intervals(
            [method.title for method in ran],
            [math.nan if method.accuracy is None else method.accuracy for method in ran],
            [low for low, _ in ends],
            [high for _, high in ends],
            highlight=highlight,
            reference=_MAJORITY,
            theme=theme,
        ),
        alt=_ALT,
        caption=(
            "Accuracy where the truth is known, with 95% intervals over rows. Where intervals overlap a lot, the "
            "methods cannot be told apart."
        ),
        min_width=460,
    )


def agreement_with_most(
    titles: Sequence[str],
    shares: Sequence[float],
    intervals: Sequence[Sequence[float]],
    highlight: str | None = None,
) -> Picture:
    """Return how often each method says what most methods say.

    Parameters
    ----------
    titles : sequence of M str
    shares : sequence of M float
        NaN where it is not known.
    intervals : sequence of M pairs of float
    highlight : str, optional
        The title of the method that the comparison is about.
    """
    return Picture(
        question="Which method agrees with most methods?",
        draw=lambda theme: draw_comparison.accuracy_intervals(
            titles,
            shares,
            [low for low, _ in intervals],
            [high for _, high in intervals],
            highlight=highlight,
            reference=_MAJORITY,
            measure="agreement with most methods (share of rows)",
            order="most agreeing first",
            theme=theme,
        ),
        alt=_ALT,
        caption=(
            "How often a method agrees with most methods, with 95% intervals. **This is not accuracy:** methods may "
            "be wrong together, and the best one may stand alone."
        ),
        min_width=460,
    )


def method_agreement(found: Comparison) -> Picture:
    """Return how often each pair of methods gives the same label."""
    titles = [found[name].title for name in found.agreement.names]
    columns = [Column("label", name) for name in found.agreement.names]
    return Picture(
        question="Which methods give the same labels?",
        draw=lambda theme: draw_agreement.agreement_heatmap(
            np.array(found.agreement.matrix), titles, who="method", what="label", theme=theme
        ),
        alt="Heatmap: how often two methods give the same label.",
        caption="Methods with nearly the same labels are interchangeable here; check one that stands apart.",
        cells=Cells(
            Side("Method", titles),
            Side("Other method", titles),
            lambda i, j, _: None if i == j else RowFilter((Pair(columns[i], columns[j]),)),
        ),
    )


def class_differences(differences: Mapping[str, float], *, with_truth: bool) -> Picture:
    """Return in which classes one method does more than another.

    Parameters
    ----------
    differences : mapping
        Class → difference of the recalls with truth, else of the shares of rows.
    with_truth : bool
    """
    if with_truth:
        title = "recall of the first minus that of the second (share of the rows of the class)"
        caption = "To the right the first method finds more of the class, to the left the second."
    else:
        title = "share of rows that the first gives the class minus that of the second"
        caption = (
            "To the right the first method gives the label more often, to the left the second. This does not "
            "show which is right."
        )
    return Picture(
        question="In which classes do two methods differ?",
        draw=lambda theme: draw_comparison.class_differences(
            list(differences), list(differences.values()), title=title, theme=theme
        ),
        alt="Bars: the difference of two methods in every class.",
        caption=caption,
    )
