"""Picture of a scorecard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from deem_core.diagnostics.scorecards import Scorecard
from deem_core.figures import scorecards as draw
from deem_core.figures.picture import Picture


def scorecard(card: Scorecard, order: Sequence[int] | NDArray[Any] | None = None) -> Picture:
    """Return how accurate each learner is, with intervals."""
    others = [
        "Filled diamonds: accuracy on gold rows." if card.gold is not None else "",
        "Open diamonds: true accuracy, for evaluation only." if card.real is not None else "",
    ]
    return Picture(
        question="How accurate is each learner?",
        draw=lambda theme: draw.scorecard_dots(card, order, theme=theme),
        alt="Dots with intervals: the accuracy of each learner.",
        caption=" ".join(
            [
                "**Dots** are estimates from the fused answer, not from the truth: they show how well a learner "
                "agrees with the answer. The lines are 95% intervals for the number of votes; they do not cover "
                "errors of the answer itself.",
                *filter(None, others),
            ]
        ),
        min_width=460,
    )
