"""Verdicts to a recommendation: which rate, or which depth, and why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from deem_core.text import percent
from deem_core.training.guidance.judge import (
    BEHIND,
    DIP,
    EXPLOSION,
    MIN_RECORDS,
    NOISE,
    RECOVERY,
    RECOVERY_LEAST,
    RELAPSE,
    RISE,
    SMOOTHING,
    TAIL,
    rise_words,
)
from deem_core.training.guidance.verdicts import Verdict
from deem_core.training.health import DROP
from deem_core.typing import Floats

PREFERRED = 2.0
"""Times the default rate: the rate that is recommended where nothing speaks against it (docs/learning_rate.md)."""

TIMES = {2.0: "twice"}.get(PREFERRED, f"{PREFERRED:g} times")
"""The same in words."""

DEPTH_GAIN = 0.1
"""A further layer must take away this share of the dependence between units to be worth its time."""

THRESHOLDS: tuple[tuple[str, float, str], ...] = (
    ("smoothing", SMOOTHING, "weight of the past in the moving average that verdicts are drawn from"),
    ("dip", DIP, "margins: a difference that never dips this deep has not begun to learn (too small)"),
    ("recovery", RECOVERY, "of the best recovery of any safe rate: a curve that comes back less has not settled"),
    ("least recovery", RECOVERY_LEAST, "share of its dip that a curve must recover in any case"),
    ("relapse", RELAPSE, "margins: a tail that leaves its best level by this much has exploded late"),
    ("explosion", EXPLOSION, "margins: a difference larger than this has exploded"),
    ("rise", RISE, "margins: an energy that ends further above its start is rejected; smaller rises are reported"),
    ("noise", NOISE, "standard errors of its own noise that a rise must exceed to be reported"),
    ("behind", BEHIND, "nats a row by which the grouped likelihood may stay behind the best rate's"),
    ("smallest class share", DROP, "of its majority-vote share: a class that keeps less has died"),
    ("tail", TAIL, "share of the records, the last ones, that say where a curve ends"),
    ("records", MIN_RECORDS, "fewer than this say nothing about a rate"),
    ("preferred", PREFERRED, "times the default rate: recommended unless it shows a problem"),
)
"""Name, value, meaning. The margin is the typical size of the difference over all rates, so that none of this depends
on the scale of the energies."""


@dataclass(frozen=True)
class Recommendation:
    """Which candidate to take, and why.

    Attributes
    ----------
    kind : str
        "recommended"; "best available" if none qualifies but some are not rejected; "no rate is safe"; "too early"
        while a sweep has not come far enough to tell.
    index : int or None
        Its position; None if no rate is safe or it is too early.
    learning_rate : float or None
    n_layers : int or None
    why : str
    to_try : str
        What to do for a better answer; empty if there is nothing to improve.
    """

    kind: Literal["recommended", "best available", "no rate is safe", "too early"]
    index: int | None
    learning_rate: float | None
    n_layers: int | None
    why: str
    to_try: str


NOTHING = Recommendation(
    "no rate is safe", None, None, None, "Nothing has been measured yet.", "Let the sweep run for longer."
)

BARELY_BEGUN = Recommendation(
    "too early",
    None,
    None,
    None,
    "Every rate that was trained for long enough is rejected, and too little is known of the others.",
    "Let the sweep run for longer.",
)


RULE = (
    f"the rate without a problem that is nearest to {TIMES} the default one; of two equally near, the smaller. A "
    "rate has a problem if a class died, the difference exploded, an energy rose by more than "
    f"{RISE:g} margins, the difference hardly moved, or, where the grouped model explains the votes, labels that it "
    f"finds more than {BEHIND:g} nats a row less likely than those of the best rate."
)
"""How a rate is recommended, for people."""


WORTH = (
    "A sweep shows how rates behave on these votes and refuses those that break. It is not expected to improve the "
    "labels: on data not used to choose its rule, its rate labelled no better than one fixed rate for all."
)
"""What a sweep is good for, for people (benchmarks/results/guidance.md)."""


def recommend(verdicts: Sequence[Verdict], default_rate: float) -> tuple[tuple[Verdict, ...], Recommendation]:
    """Return the verdicts, the chosen one marked as recommended, and the recommendation.

    See `RULE`. Without a rate that nothing speaks against, the one that is not rejected and came back furthest; else no
    rate is safe.

    Parameters
    ----------
    verdicts : sequence of R Verdict
        Of `judge_curves`.
    default_rate : float
        What training would take without a sweep.
    """
    verdicts = tuple(verdicts)
    order = sorted(range(len(verdicts)), key=lambda r: verdicts[r].learning_rate)
    fine = [r for r in order if _nothing_against(verdicts[r])]
    if not fine:
        return verdicts, _second_best(verdicts, order)
    preferred = PREFERRED * default_rate
    best = min(fine, key=lambda r: round(abs(math.log(verdicts[r].learning_rate / preferred)), 2))  # grids are rounded
    chosen = verdicts[best]
    there = math.isclose(chosen.learning_rate, preferred, rel_tol=0.02)
    where = f"{TIMES} the default rate of {default_rate:g}"
    place = f"It is {where}" if there else f"It shows no problem and is nearest to {where}"
    reasons = "no class is lost, the gap stays bounded, and no energy rises beyond its noise."
    if rose := rise_words(chosen.numbers):
        reasons = f"no class is lost and the gap stays bounded. But {rose}; at most {RISE:g} are accepted."
    if chosen.kind == "not settled":
        reasons += f" Its gap recovered only {percent(max(chosen.numbers.recovery, 0), 0)}, which does not rule it out."
    why = f"Use {chosen.learning_rate:g}. {place}: {reasons}"
    marked = tuple(replace(v, kind="recommended") if r == best else v for r, v in enumerate(verdicts))
    return marked, Recommendation("recommended", best, chosen.learning_rate, chosen.n_layers, why, "")


def _nothing_against(verdict: Verdict) -> bool:
    enough = verdict.numbers.records >= MIN_RECORDS
    return enough and verdict.kind in ("usable", "not settled") and not verdict.numbers.behind > BEHIND


def unlucky_start(verdicts: Sequence[Verdict]) -> bool:
    """Return whether classes died at most rates without rising energies.

    Then the start is to blame, not the rates. A rise counts beyond `RISE`.
    """
    calm = [v for v in verdicts if v.numbers.records and v.numbers.rise <= RISE]
    return 2 * sum(v.kind == "class died" for v in calm) > len(calm)


def _second_best(verdicts: Sequence[Verdict], order: Sequence[int]) -> Recommendation:
    known = [r for r in order if verdicts[r].numbers.records]
    safe = [r for r in known if not verdicts[r].rejected]
    if not known:
        return NOTHING
    if not safe:
        lowest = verdicts[order[0]].learning_rate
        reason = verdicts[order[0]].reason
        why = f"Every rate from {lowest:g} on is rejected: {reason[:1].lower()}{reason[1:]}"
        to_try = (
            f"Try rates well below {lowest:g}, a larger batch, or fewer layers. Until then the majority vote or "
            "Dawid–Skene is the safer answer."
        )
        return Recommendation("no rate is safe", None, None, None, why, to_try)
    long = [r for r in known if verdicts[r].numbers.records >= MIN_RECORDS]
    told = [r for r in long if r in safe]
    if long and not told:  # the others had only just begun when the sweep was stopped
        return BARELY_BEGUN
    best = max(told or safe, key=lambda r: (verdicts[r].numbers.recovery, -r))
    chosen = verdicts[best]
    recovered = percent(max(chosen.numbers.recovery, 0), 0)
    why = f"Every rate has a problem. Closest: {chosen.learning_rate:g} (recovered {recovered})."
    larger = best == order[-1]
    to_try = (
        f"Add rates above {chosen.learning_rate:g}." if larger else "Sweep with more updates, or with rates in between."
    )
    return Recommendation("best available", best, chosen.learning_rate, chosen.n_layers, why, to_try)


def recommend_depth(verdicts: Sequence[Verdict], dependence: Floats) -> tuple[tuple[Verdict, ...], Recommendation]:
    """Return verdicts and sentences per depth, and the depth to take.

    One layer to begin with, more while dependence falls and no class dies (paper, training insights).

    Parameters
    ----------
    verdicts : sequence of R Verdict
        Of one rate at several depths.
    dependence : (R,)
        Mean conditional mutual information between the units after the last layer, given the fused label; NaN if
        unknown.
    """
    order = sorted(range(len(verdicts)), key=lambda r: verdicts[r].n_layers)
    if not any(verdict.numbers.records for verdict in verdicts):
        return tuple(verdicts), NOTHING
    safe = [r for r in order if verdicts[r].numbers.records and not verdicts[r].rejected]
    if not safe:
        why = f"Every depth was rejected at this learning rate: {verdicts[order[0]].reason}"
        to_try = "Sweep the learning rates at one layer first, then the depths at the rate that it recommends."
        return tuple(verdicts), Recommendation("no rate is safe", None, None, None, why, to_try)
    best = next((r for r in safe if verdicts[r].n_layers >= 1), safe[-1])
    why = f"Start with {_layers(verdicts[best])}: no class is lost."
    for r in safe[safe.index(best) + 1 :]:
        if dependence[r] < (1 - DEPTH_GAIN) * dependence[best]:
            fall = 1 - dependence[r] / dependence[best]
            why = (
                f"{_layers(verdicts[r])}: the further layer takes away {percent(fall, 0)} of the dependence, and no "
                "class is lost."
            )
            best = r
        else:
            why += f" {_layers(verdicts[r])} would not take away a further {percent(DEPTH_GAIN, 0)} of the dependence."
            break
    judged = []
    for r, verdict in enumerate(verdicts):
        if verdict.rejected or not verdict.numbers.records:
            judged.append(verdict)
            continue
        left = f"{dependence[r]:.3f} nats" if np.isfinite(dependence[r]) else "an unknown amount"
        reason = f"No class is lost; {left} of dependence between its units is left once the label is known."
        judged.append(replace(verdict, kind="recommended" if r == best else "usable", reason=reason))
    chosen = verdicts[best]
    return tuple(judged), Recommendation("recommended", best, chosen.learning_rate, chosen.n_layers, why, "")


def _layers(verdict: Verdict) -> str:
    count = {0: "No layer", 1: "One layer", 2: "Two layers", 3: "Three layers"}
    return count.get(verdict.n_layers, f"{verdict.n_layers} layers")
