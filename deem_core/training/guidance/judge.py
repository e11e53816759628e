"""Curves to verdicts.

The paper's rules ("Choosing the learning rate") made testable. D is the mean free energy of the data minus that of
the model's samples. At a good rate D dips at the start of training, comes back towards zero and stays there.
Everything is measured in units of one margin S, pooled over the rates::

    S = max( |median D_0|, median over rates of the deepest D )

so that verdicts depend neither on the scale of the energies nor on a shift of all of them. Where curves start high
and fall (the paper's mirror image), D changes its sign first. benchmarks/bench_guidance.py measures the regret.

The paper leaves out rates at which an energy rises. F has no zero of its own, and it rises a little at rates that label
best (docs/learning_rate.md): so a rise is told with its size, and refused beyond `RISE` margins only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from deem_core.errors import InputError
from deem_core.model.records import Record, by_restart, not_finite
from deem_core.text import count, percent
from deem_core.training.guidance.verdicts import REJECTED, Kind, Numbers, Shown, Verdict
from deem_core.training.health import DROP
from deem_core.typing import Floats

SMOOTHING = 0.7
"""Weight of the past in the moving average of D (the paper smooths with 0.7 to 0.99)."""

DIP = 0.5
"""A dip is at least this deep, in margins; shallower curves have not begun to learn."""

RECOVERY = 0.75
"""A curve has settled if its tail came back from the dip by this share of the best that any safe candidate reached.

On some data no rate comes back all the way (paper, Tree3k)."""

RECOVERY_LEAST = 0.3
"""And by this share in any case."""

EXPLOSION = 2.5
"""|D| beyond this many margins is an explosion (paper: good curves stay within 2 to 2.5 times their margin)."""

RELAPSE = 0.75
"""A tail that leaves its best level after the dip by this many margins drops or rises again."""

RISE = 10.0
"""An energy that ends more margins than this above its start is rejected; smaller rises are reported."""

NOISE = 3.0
"""Standard errors of the curve's own noise that a rise must exceed to be reported."""

BEHIND = 0.3
"""Nats per row by which the grouped likelihood of a rate's labels may stay behind the best rate's."""

TAIL = 0.1
"""Share of the records, the last ones, whose mean is where a curve ends."""

MIN_RECORDS = 8
"""Fewer records than this say nothing about a rate."""


def smooth(curves: Floats, smoothing: float = SMOOTHING) -> Floats:
    """Return the exponential moving average along the last axis.

    NaN stays NaN and takes no part.

    Raises
    ------
    InputError
        If ``smoothing`` is not in [0, 1).
    """
    if not 0 <= smoothing < 1:
        raise InputError(f"smoothing is {smoothing!r}; it must be at least 0 and below 1.")
    smoothed = np.array(curves, np.float64)
    for t in range(1, smoothed.shape[-1]):
        past, now = smoothed[..., t - 1], smoothed[..., t]
        smoothed[..., t] = np.where(np.isfinite(past), smoothing * past + (1 - smoothing) * now, now)
    return smoothed


def latest(curves: Floats) -> Floats:
    """Return the last finite value of every curve (R, T).

    NaN if there is none.
    """
    finite = np.isfinite(curves)
    last = curves.shape[1] - 1 - finite[:, ::-1].argmax(axis=1)
    return np.where(finite.any(axis=1), curves[np.arange(len(curves)), last], np.nan)


def judge_curves(shown: Shown, *, smoothing: float = SMOOTHING) -> list[Verdict]:
    """Return a verdict per candidate; "recommended" is left to `recommend`."""
    difference = smooth(shown.positive - shown.negative, smoothing)
    energies = smooth(shown.positive, smoothing), smooth(shown.negative, smoothing)
    mirrored = _mirrored(difference)
    if mirrored:
        difference = -difference
    margin = _margin(difference)
    ratios = np.full(len(shown.rates), np.nan) if shown.share_ratio is None else shown.share_ratio
    noises = [max(end_noise(shown.positive[r]), end_noise(shown.negative[r])) for r in range(len(shown.rates))]
    numbers = [
        replace(
            _numbers(difference[r], energies[0][r], energies[1][r], margin, float(ratios[r])),
            mirrored=mirrored,
            rise_noise=_known(noises[r] / (margin or 1.0)),
        )
        for r in range(len(shown.rates))
    ]
    first = [_judge(own, shown.failures.get(r), 0.0) for r, own in enumerate(numbers)]
    numbers = _compared(numbers, [kind not in REJECTED for kind, _ in first], shown, smoothing)
    best = max((own.recovery for own, (kind, _) in zip(numbers, first, strict=True) if kind == "usable"), default=1.0)
    enough = max(RECOVERY * best, RECOVERY_LEAST)
    verdicts = []
    for r, own in enumerate(numbers):
        kind, reason = _judge(own, shown.failures.get(r), enough)
        layers = -1 if shown.n_layers is None else int(shown.n_layers[r])
        verdicts.append(Verdict(kind, float(shown.rates[r]), layers, reason, own))
    return verdicts


def end_noise(curve: Floats) -> float:
    """Return the standard error of a raw curve's end minus its start.

    It is measured from the curve itself: steps from record to record have the robust sd s (1.4826 times their median
    absolute deviation, so that a trend does not count); a record then has s/√2, and the end is a mean over k of them:
    s/√2 · √(1 + 1/k). NaN with fewer than three records.

    Parameters
    ----------
    curve : (T,)
    """
    known = curve[np.isfinite(curve)]
    if len(known) < 3:
        return float("nan")
    steps = np.diff(known)
    spread = 1.4826 * float(np.median(np.abs(steps - np.median(steps))))
    return spread / math.sqrt(2) * math.sqrt(1 + 1 / _tail(len(known)))


def _tail(records: int) -> int:
    return max(1, round(TAIL * records))


def _compared(numbers: Sequence[Numbers], safe: Sequence[bool], shown: Shown, smoothing: float) -> list[Numbers]:
    """Add the final grouped likelihood and its distance to the best.

    The best of the safe candidates counts.
    """
    if shown.grouped_likelihood is None:
        return list(numbers)
    ends = []
    for curve in smooth(shown.grouped_likelihood, smoothing):
        known = curve[np.isfinite(curve)]
        ends.append(float(known[-_tail(len(known)) :].mean()) if len(known) else math.nan)
    best = max((end for end, fine in zip(ends, safe, strict=True) if fine and math.isfinite(end)), default=math.nan)
    return [
        replace(own, grouped_likelihood=end, behind=_known(best - end)) for own, end in zip(numbers, ends, strict=True)
    ]


def _known(number: float) -> float:
    """Return the number, or `math.nan`.

    Being one object, that is equal to itself where verdicts are compared.
    """
    return number if math.isfinite(number) else math.nan


def _mirrored(difference: Floats) -> bool:
    """Return whether most curves lie above zero more than below.

    The paper's mirror image.
    """
    known = difference[np.isfinite(difference).any(axis=1)]
    if not len(known):
        return False
    above, below = np.nanmax(known, axis=1).clip(0), (-np.nanmin(known, axis=1)).clip(0)
    return bool(np.median(above) > np.median(below))


def _margin(difference: Floats) -> float:
    known = difference[np.isfinite(difference).any(axis=1)]
    if not len(known):
        return float("nan")
    depths = (-np.nanmin(known, axis=1)).clip(0)
    return float(max(abs(np.nanmedian(known[:, 0])), np.median(depths)))


def _numbers(difference: Floats, positive: Floats, negative: Floats, margin: float, ratio: float) -> Numbers:
    known = np.isfinite(difference)
    D, up, down = difference[known], positive[known], negative[known]
    if not len(D):
        return Numbers(margin=margin, share_ratio=ratio)
    unit = margin or float(np.abs(D).max()) or 1.0
    tail = _tail(len(D))
    depth, final = float(max(0.0, -D.min())), float(D[-tail:].mean())
    since = int((DIP * unit <= -D).argmax())  # where the dip begins; 0 if there is none
    levels = (
        np.convolve(np.abs(D[since:]), np.full(tail, 1 / tail), "valid") if len(D) - since >= tail else np.abs(D[-1:])
    )
    return Numbers(
        margin=margin,
        start=float(D[0]),
        final=final,
        depth=depth,
        peak=float(np.abs(D).max() / unit),
        recovery=float(1 - abs(final) / max(depth, 0.5 * unit)),
        relapse=float(max(abs(final) - levels.min(), 0.0) / unit),
        rise_positive=float((up[-tail:].mean() - up[0]) / unit),
        rise_negative=float((down[-tail:].mean() - down[0]) / unit),
        share_ratio=ratio,
        records=len(D),
        mirrored=False,
    )


def _judge(numbers: Numbers, failure: str | None, enough: float) -> tuple[Kind, str]:
    """Return the first finding that holds, "usable" if none does."""
    back = percent(max(numbers.recovery, 0), 0)
    went, dip = ("started high", "height") if numbers.mirrored else ("dipped", "dip")
    findings: list[tuple[bool, Kind, str]] = [
        (failure is not None, "not finite", f"Training broke down: {failure}. The rate is far too large."),
        (
            numbers.share_ratio < DROP,
            "class died",
            f"A class is lost: it kept only {percent(numbers.share_ratio, 0)} of its majority-vote rows.",
        ),
        (not numbers.records, "not settled", "This rate has not been trained yet: nothing is known about it."),
        (
            numbers.peak > EXPLOSION,
            "exploding difference",
            f"The gap grew to {numbers.peak:.1f} margins; steady runs stay within {EXPLOSION:g}.",
        ),
        (
            numbers.rise > RISE,
            "rising energy",
            f"The energy of {numbers.riser} rose by {numbers.rise:.0f} margins (at most {RISE:g} are accepted): "
            "unstable.",
        ),
        (
            numbers.records < MIN_RECORDS,
            "not settled",
            f"It has only {count(numbers.records, 'record')}, too few to tell.",
        ),
        (
            not numbers.depth >= DIP * (numbers.margin or np.inf),
            "too small",
            "The gap between data and samples hardly moved: the model stays near the majority vote.",
        ),
        (
            numbers.relapse > RELAPSE,
            "exploding difference",
            f"The gap recovered from its {dip}, then left again by {numbers.relapse:.1f} margins: not steady.",
        ),
        (
            numbers.recovery < enough,
            "not settled",
            f"The gap {went} and recovered only {back}.{_rose(numbers)}{_behind(numbers)}",
        ),
        (
            True,
            "usable",
            f"The gap {went}, recovered {back} and holds.{_rose(numbers)}{_behind(numbers)}",
        ),
    ]
    return next((kind, reason) for holds, kind, reason in findings if holds)


def rise_words(numbers: Numbers) -> str:
    """Return how far an energy rose; empty within its noise."""
    if not numbers.rise > NOISE * numbers.rise_noise:
        return ""
    size = f"{numbers.rise:.2g}"
    return f"the energy of {numbers.riser} rose by {size} margin{'' if size == '1' else 's'}"


def _rose(numbers: Numbers) -> str:
    words = rise_words(numbers)
    return f" {words[0].upper()}{words[1:]}." if words else ""


def _behind(numbers: Numbers) -> str:
    if not numbers.behind > BEHIND:
        return ""
    return f" The grouped model finds its labels {numbers.behind:.2f} nats a row less likely than the best rate's."


@dataclass(frozen=True)
class RestartsJudged:
    """What the curves of all restarts of one training say.

    Attributes
    ----------
    restarts : tuple of int
        Numbers of the restarts, training by training.
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
        As `DEEM.history_` has them: those of a restart in the order of their updates. Curves may differ in length.
    learning_rate : float
        Only to be passed on to the verdicts.
    share_ratios : sequence of R, optional
        What the worst class kept in each restart, as `DEEM.restarts_` has it.
    """
    groups = by_restart(history)
    restarts = [records[0].restart for records in groups]
    curves = np.full((2, len(groups), max(map(len, groups), default=0)), np.nan)
    failures = {}
    for at, records in enumerate(groups):
        curves[0, at, : len(records)] = [record.positive for record in records]
        curves[1, at, : len(records)] = [record.negative for record in records]
        broken = next((record for record in records if not np.isfinite(record.difference)), None)
        if broken is not None:
            failures[at] = not_finite(broken.update)
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
