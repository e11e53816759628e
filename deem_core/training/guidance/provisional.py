"""Verdicts before the end of a sweep, told as provisional.

The rules of `judge` are about whole curves. Of curves that go on they say little at first: every curve dips before it
comes back, and the margin that explosions are measured by grows until the slow rates have dipped too, so
that explosions seen early do not last (benchmarks/bench_early_verdicts.py). Dead classes mostly do; they wait for half
of the way like all others, since a verdict at a tenth is about a model that has hardly begun.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from deem_core.training.guidance.recommend import Recommendation
from deem_core.training.guidance.verdicts import Kind, Verdict

EARLIEST = 0.5
"""Share of a sweep before which only broken candidates are judged."""

CERTAIN: tuple[Kind, ...] = ("not finite",)
"""Verdicts that stand whenever they fall: the candidate is abandoned."""

LAST: tuple[Kind, ...] = ("exploding difference",)
"""Verdicts that fall only at the end: earlier ones mostly do not last."""

TOO_EARLY = Recommendation(
    "too early", None, None, None, "It is too early to recommend anything.", "Let the sweep run for longer."
)
"""What is recommended before `EARLIEST`."""


def so_far(
    verdicts: Sequence[Verdict], recommendation: Recommendation, share: float
) -> tuple[tuple[Verdict, ...], Recommendation]:
    """Return verdicts and recommendation as they may be told before the end.

    Parameters
    ----------
    verdicts : sequence of R Verdict
        Of `recommend` or `recommend_depth`, from the curves as far as they are known.
    recommendation : Recommendation
    share : float
        How much of the sweep is done.
    """
    early = share < EARLIEST
    told = tuple(_provisional(verdict, early) for verdict in verdicts)
    measured = any(verdict.numbers.records for verdict in verdicts)
    return told, TOO_EARLY if early and measured else recommendation


def _provisional(verdict: Verdict, early: bool) -> Verdict:
    if verdict.kind in CERTAIN:
        return verdict
    if early or verdict.kind in LAST:
        return replace(verdict, kind="open", reason="It is too early to tell.", provisional=True)
    reason = f"So far: {verdict.reason[:1].lower()}{verdict.reason[1:]}"
    return replace(verdict, reason=reason, provisional=True)
