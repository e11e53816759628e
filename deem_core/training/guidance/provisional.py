"""Verdicts before the end of a sweep: rejections early, praise late.

The rules of `judge` are about whole curves. Of curves that go on they say little at first: every curve dips before it
comes back, and the margin that explosions are measured by grows until the slow rates have dipped too, so
that explosions seen early do not last (benchmarks/bench_early_verdicts.py). Dead classes mostly do; they wait for half
of the way like all others, since a verdict at a tenth is about a model that has hardly begun. That a rate is good, or
the best, is told once the same one has led for a while.
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

FIRM = 0.6
"""Share of a sweep before which no rate is called good, whoever leads."""

LED = 6
"""Records in a row after which the same recommendation is told before the end."""

TOO_EARLY = Recommendation("too early", None, None, None, "Too early to tell.", "")
"""What is recommended while a sweep runs and its recommendation is not firm."""

NOT_ENOUGH = Recommendation(
    "too early",
    None,
    None,
    None,
    "Not enough to recommend a rate: the sweep ended too early.",
    "Choose one by its curve, or start a new sweep.",
)
"""What is recommended when such a sweep has ended."""


def is_firm(share: float, led: int) -> bool:
    """Return whether a recommendation may be told before the end.

    Parameters
    ----------
    share : float
        How much of the sweep is done.
    led : int
        For how many records in a row it has been the same.
    """
    return share >= FIRM and led >= LED


def so_far(
    verdicts: Sequence[Verdict], recommendation: Recommendation, share: float, *, led: int = 0, ended: bool = False
) -> tuple[tuple[Verdict, ...], Recommendation]:
    """Return verdicts and recommendation as they may be told before the end.

    Parameters
    ----------
    verdicts : sequence of R Verdict
        Of `recommend` or `recommend_depth`, from the curves as far as they are known.
    recommendation : Recommendation
    share, led
        See `is_firm`.
    ended : bool
        Whether the sweep has ended, so that nothing more will come.
    """
    firm = is_firm(share, led)
    told = tuple(_provisional(verdict, early=share < EARLIEST, firm=firm) for verdict in verdicts)
    measured = any(verdict.numbers.records for verdict in verdicts)
    if firm or not measured:
        return told, recommendation
    return told, NOT_ENOUGH if ended else TOO_EARLY


def _provisional(verdict: Verdict, *, early: bool, firm: bool) -> Verdict:
    if verdict.kind in CERTAIN:
        return verdict
    if early or verdict.kind in LAST or not (firm or verdict.rejected):
        return replace(verdict, kind="open", reason="Too early to tell.", provisional=True)
    reason = f"So far: {verdict.reason[:1].lower()}{verdict.reason[1:]}"
    return replace(verdict, reason=reason, provisional=True)
