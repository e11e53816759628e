"""Experts: learners that matter more for a class than others do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deem_core.files.results import Result
from deem_core.typing import Floats, Mask

MOST_NAMED = 12
"""Experts that are named in words and outlined, one learner and class each."""

NOT_FAR_BEHIND = 0.4
"""Share of the strongest expert's strength that others need to be named beside it."""

Cell = tuple[int, int, float, float]
"""Learner, class, lead, and how many times its usual lead that is."""

STANDS_OUT = 1.5
"""How many times the median learner's importance for a class makes an expert. Set looking at one run on mniste47, whose
oracles reach 1.6 to 2.3; on other rows of it three cells that are no expert's are named too, after the six that are."""

BEYOND_ITSELF = 1.4
"""How many times its usual lead over the median learner: good everywhere is not an expert anywhere."""

ERRORS = 3.0
"""Standard errors by which an expert must lead the median learner: of many learners and classes, some lead by luck."""

LEAST_MIDDLE = 0.05
"""A median below this share of the most important learner's counts as this share: ratios to nothing mean nothing."""


def lead(by_class: Floats) -> Floats:
    """Return each column (d, K) over its median.

    NaN where the median is not positive, as in a class without rows.
    """
    middle = np.full(by_class.shape[1], np.nan)
    known = np.isfinite(by_class).all(axis=0)
    if len(by_class):
        middle[known] = np.median(by_class[:, known], axis=0)
    peak = np.nan_to_num(by_class).max(axis=0, initial=0)
    middle = np.where(middle > 0, np.maximum(middle, LEAST_MIDDLE * peak), np.nan)
    return np.asarray(by_class / middle)


@dataclass(frozen=True)
class Expert(Result):
    """A learner that matters most for a class.

    Its importance is ``ratio`` times that of the median learner: its lead.

    That lead is ``beyond`` times what it is in the learner's median class.
    """

    learner: str
    class_name: str
    ratio: float
    beyond: float

    @property
    def strength(self) -> float:
        """Both leads together."""
        return self.ratio * self.beyond


def clearest_experts(experts: Sequence[Expert]) -> list[Expert]:
    """Return the experts worth naming: the strongest, and those not far behind.

    They are given, and returned, with the strongest first.
    """
    return [one for one in experts[:MOST_NAMED] if one.strength >= NOT_FAR_BEHIND * experts[0].strength]


def outstanding_cells(by_class: Floats, errors: Floats, enough: Mask, least: float) -> list[Cell]:
    """Return the learners that stand out in a class.

    With their lead there, and how far it goes beyond their usual one.

    The most outstanding come first; `Importance.experts` has the rule.

    Parameters
    ----------
    by_class, errors : (d, K) array
        Importance and its standard error.
    enough : (K,) array of bool
        Whether a class has rows enough.
    least : float
        The least lead.
    """
    ratio = lead(by_class)
    there = np.flatnonzero(np.isfinite(ratio).all(axis=0) & enough)
    if not len(there) or not len(ratio):
        return []
    known, ratio = by_class[:, there], ratio[:, there]
    usual = np.maximum(np.median(ratio, axis=1, keepdims=True), LEAST_MIDDLE)
    with np.errstate(divide="ignore", invalid="ignore"):
        doubt = np.nan_to_num(np.nan_to_num(errors[:, there]) * ratio / known)  # in medians, as the lead is
    outstanding = (ratio >= least) & (ratio >= BEYOND_ITSELF * usual) & (known > known.mean(axis=0))
    outstanding &= ratio - ERRORS * doubt > 1
    cells = [
        (i, int(there[k]), float(ratio[i, k]), float(ratio[i, k] / usual[i, 0]))
        for i, k in np.argwhere(outstanding).tolist()
    ]
    return sorted(cells, key=lambda cell: -cell[2] * cell[3])
