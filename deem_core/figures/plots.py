"""Figures that objects draw of themselves: `answer.plot()` and its like.

They are named in `deem_core.notebook`, because what has a method ``plot`` may not import Plotly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from deem_core.comparison import Comparison
from deem_core.errors import InputError
from deem_core.figures import pictures
from deem_core.figures.picture import Picture
from deem_core.text import listing
from deem_core.training.alarms import curves_judged
from deem_core.training.sweep import Sweep

if TYPE_CHECKING:  # scikit-learn takes a moment
    from deem_core.answers.answer import Answer
    from deem_core.estimators.base import Fuser

BINS = 40
"""Bins of the histogram of confidence."""


def answer(found: Answer, what: str = "class_shares", theme: str = "light") -> go.Figure:
    """Return a figure of an answer, one of `ANSWERS`."""
    if what not in ANSWERS:
        raise InputError(f"There is no figure {what!r} of an answer; there are {listing(ANSWERS)}.")
    return _drawn(ANSWERS[what](found), theme)


def _class_shares(found: Answer) -> Picture:
    summary = found.summary()
    return pictures.class_shares(summary.class_shares, summary.majority_shares, found.probability_names.tolist())


def _confidence(found: Answer) -> Picture:
    known = np.asarray(found.confidence, np.float64)[~found.silent]
    counts, edges = np.histogram(known.clip(0, 1), bins=BINS, range=(0.0, 1.0))
    return pictures.confidence(edges, counts)


ANSWERS: dict[str, Callable[[Any], Picture]] = {
    "class_shares": _class_shares,
    "label_changes": lambda found: pictures.label_changes(found.changes, found.votes.classes),
    "confidence": _confidence,
}
"""Figures of an answer by name."""


def energies(model: Fuser, smoothing: float = 0.7, x: str = "epoch", theme: str = "light") -> go.Figure:
    """Return the energy curves of a fitted model."""
    summary, records = model.summary_, getattr(model, "history_", [])
    if not records:
        raise InputError(f"A model of the method {summary.method} was fitted exactly: it has no energy curves.")
    along: Any = x
    picture = pictures.energies(
        records,
        summary.restarts,
        smoothing=smoothing,
        from_groups=summary.from_groups,
        judged=curves_judged(summary.method),
        x=along,
    )
    return _drawn(picture, theme)


def comparison(found: Comparison, theme: str = "light") -> go.Figure:
    """Return how right methods are; without truth, who agrees with whom."""
    return _drawn(pictures.method_accuracy(found) if found.n_truth else pictures.method_agreement(found), theme)


def sweep(found: Sweep, smoothing: float | None = None, theme: str = "light") -> go.Figure:
    """Return the energy curves of all candidates of a sweep."""
    picture = pictures.sweep_energies(
        found,
        recommended=None if found.by_depth else found.recommendation.learning_rate,
        smoothing=found.smoothing if smoothing is None else smoothing,
        zoom=True,
    )
    return _drawn(picture, theme)


def _drawn(picture: Picture, theme: str) -> go.Figure:
    if theme not in ("light", "dark"):
        raise InputError(f"The theme is {theme!r}; it must be light or dark.")
    return picture.figure(theme, titled=True)
