"""Restarts watched by the same rules as rates: which of them are unstable (the paper's monitor of initialisations)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deem_core.guidance.curves import SMOOTHING, judge_curves
from deem_core.guidance.verdicts import Shown, Verdict
from deem_core.records import Record


@dataclass(frozen=True)
class RestartsJudged:
    """What the curves of all restarts of one training say.

    Attributes
    ----------
    restarts : tuple of int
        Numbers of the restarts, ascending.
    verdicts : tuple of Verdict
        One per restart; "usable" is a steady one.
    unstable : tuple of int
        Restarts that were rejected.
    sentence : str
    """

    restarts: tuple[int, ...]
    verdicts: tuple[Verdict, ...]
    unstable: tuple[int, ...]
    sentence: str


def judge_restarts(
    history: Sequence[Record],
    *,
    learning_rate: float = float("nan"),
    share_ratios: Sequence[float] | None = None,
    smoothing: float = SMOOTHING,
) -> RestartsJudged:
    """Judge the restarts of one learning rate by their energy curves.

    Parameters
    ----------
    history : sequence of Record
        As `DEEM.history_` has them, in any order; curves may have different lengths.
    learning_rate : float
        Only to be passed on to the verdicts.
    share_ratios : sequence of R, optional
        What the worst class kept in each restart, as `DEEM.restarts_` has it.
    """
    restarts = sorted({record.restart for record in history})
    own = [sorted((record for record in history if record.restart == r), key=lambda one: one.update) for r in restarts]
    length = max((len(records) for records in own), default=0)
    curves = np.full((2, len(restarts), length), np.nan)
    failures = {}
    for at, records in enumerate(own):
        curves[0, at, : len(records)] = [record.positive for record in records]
        curves[1, at, : len(records)] = [record.negative for record in records]
        broken = next((record for record in records if not np.isfinite(record.difference)), None)
        if broken is not None:
            failures[at] = f"the energy was no longer finite at update {broken.update:,}"
    ratios = None if share_ratios is None else np.array(share_ratios, np.float64)
    shown = Shown(np.full(len(restarts), learning_rate), curves[0], curves[1], ratios, failures=failures)
    verdicts = tuple(judge_curves(shown, smoothing=smoothing)) if restarts else ()
    unstable = tuple(r for r, verdict in zip(restarts, verdicts, strict=True) if verdict.rejected)
    return RestartsJudged(tuple(restarts), verdicts, unstable, _sentence(restarts, verdicts))


def _sentence(restarts: Sequence[int], verdicts: Sequence[Verdict]) -> str:
    if not restarts:
        return "There is no restart to judge."
    unstable = [f"{r + 1} ({verdict.kind})" for r, verdict in zip(restarts, verdicts, strict=True) if verdict.rejected]
    if not unstable:
        return f"The energy curves of all {len(restarts)} restarts are steady."
    return f"{len(unstable)} of {len(restarts)} restarts are unstable by their energy curves: {', '.join(unstable)}."
