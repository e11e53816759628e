"""Pictures of panel health: shared mistakes and coverage of classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deem_core.diagnostics.rows import MAJORITY
from deem_core.figures import class_bars as draw_classes
from deem_core.figures import correlation as draw_correlation
from deem_core.figures.picture import Picture
from deem_core.figures.pictures._pairs import same_mistakes
from deem_core.groups.mistakes import SharedMistakes
from deem_core.groups.panel import PanelHealth
from deem_core.votes.agreement import clustered_order

MOST_LEARNERS = 60
"""Learners up to which all of them are drawn; of more, those that share most mistakes."""
_TOP_PAIRS = 20  # whose learners are drawn if there are too many of them


def shared_mistakes(health: PanelHealth) -> Picture:
    """Return who shares mistakes with whom, without truth."""
    found = health.mistakes
    chosen = _drawn(found)
    matrix = found.matrix()[np.ix_(chosen, chosen)]
    names = [found.learners[i] for i in chosen.tolist()]
    some = ""
    if len(chosen) < len(found.learners):
        whom = f"of the {_TOP_PAIRS} strongest pairs" if len(found.learners) > MOST_LEARNERS else "with such rows"
        some = f" Only the {len(chosen):,} learners {whom} are drawn."
    used = f" From {health.rows_used:,} of {health.n_rows:,} rows." if health.rows_used < health.n_rows else ""
    return Picture(
        question="Who shares mistakes with whom?",
        draw=lambda theme: draw_correlation.correlation_heatmap(
            matrix, names, order=clustered_order(matrix), fused="", what="mistakes", theme=theme
        ),
        alt="Heatmap: correlation of the mistakes of each pair of learners.",
        caption=(
            "A mistake is a vote against the majority of all the others, so no truth is needed. **Good:** faint "
            "cells; learners make their own mistakes. **Bad:** strong blocks; these learners count for little more "
            "than one, or know together what the others do not. **Not shown:** mistakes that all learners make, and "
            f"pairs with too few common rows, which stay blank.{some}{used}"
        ),
        cells=same_mistakes(names, MAJORITY, [None]),
    )


def class_coverage(health: PanelHealth) -> Picture:
    """Return how well votes cover each class."""
    classes = health.classes
    return Picture(
        question="How well is each class covered by votes?",
        draw=lambda theme: draw_classes.class_coverage_bars(
            [each.label for each in classes],
            [each.row_share for each in classes],
            [each.vote_share for each in classes],
            [each.n_learners for each in classes],
            theme=theme,
        ),
        alt="Bars: for each class the share of rows with a vote for it, and its share of all votes.",
        caption=(
            "**Good:** every class has votes of several learners. **Worth a look:** a class with votes in many rows "
            "but few votes in all, which few learners know or many confuse, and one with hardly any votes."
        ),
    )


def _drawn(found: SharedMistakes) -> NDArray[np.intp]:
    """Return the positions of the learners to draw."""
    if len(found.learners) <= MOST_LEARNERS:
        return np.unique(found.pairs)
    named = {name for pair in found.top(_TOP_PAIRS) for name in (pair.first, pair.second)}
    return np.array([i for i, name in enumerate(found.learners) if name in named], np.intp)
