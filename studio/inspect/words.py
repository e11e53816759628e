"""What an inspection found, in words and small tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from deem_core.diagnostics import (
    CLASS_ROWS,
    Dependence,
    DependentPair,
    Evaluation,
    Expert,
    Inspection,
    ReliabilityCurve,
)
from deem_core.votes import exact
from studio import text
from studio.inspect import inspections

COPIES = 0.6
"""Normalised information from which a pair behaves like one learner."""


def experts_said(inspection: Inspection, named: Sequence[Expert], more: int, *, majority: bool) -> str:
    """Return as Markdown who is an expert for what.

    Or why nobody is.

    Parameters
    ----------
    inspection : Inspection
    named : sequence of Expert
        Those to be named.
    more : int
        Weaker ones beyond them.
    majority : bool
        Whether the answer is the majority vote.
    """
    lines = inspections.experts_in_words(named, inspection.classes)
    if majority:
        sentence = "The majority vote counts every learner the same, so it has no experts."
    elif lines:
        sentence = "**Likely experts** (trusted more on these classes than on others):"
    elif not inspection.influence.enough.any():
        sentence = f"No class has {CLASS_ROWS} inspected rows, which is too few to tell an expert from luck."
    else:
        sentence = "No learner stands out on any single class, so none looks like an expert."
        if len(inspection.classes) == 2:
            sentence += " With two classes, being good at one means being good at the other."
    for first, second in inspection.influence.pairs:
        who = f"{text.plain(first)} and {text.plain(second)}"
        sentence = f"{who} are nearly identical and count double, so neither is named as an expert. {sentence}"
    weaker = f"\n- and {more:,} weaker ones" if lines and more else ""
    return f":material/lightbulb: {sentence}" + "".join(f"\n- {text.plain(line)}" for line in lines) + weaker


def calibration_words(evaluation: Evaluation) -> str:
    """Return what truth says about confidence."""
    n = evaluation.n_truth
    low, high = exact(evaluation.accuracy * n, n)
    sentence = (
        f"Right on {text.percent(evaluation.accuracy)} of {text.count(n, 'row')} with known truth (95% interval "
        f"{text.interval(low, high)}); on {text.percent(evaluation.ceiling)} at least one learner is "
        f"right, which no fusion of votes can beat. Confidence is off by {_off(evaluation.calibration)} on average."
    )
    if evaluation.temperature is not None:
        sentence += (
            f" One temperature ({evaluation.temperature.temperature:.2f}), fitted on the other rows each time, would "
            f"bring that to {_off(evaluation.temperature.after)}."
        )
    return sentence


def _off(curve: ReliabilityCurve) -> str:
    low, high = curve.error_interval
    return f"{100 * curve.error:.1f} points (95% interval {100 * low:.1f} to {100 * high:.1f})"


def layers_table(given: Dependence) -> pd.DataFrame:
    """Return a row per layer: mean ± standard deviation over classes."""
    rows = []
    for layer in given.layers:
        numbers = layer.summary()
        rows.append(
            {
                "layer": layer.name,
                "units": len(layer.units),
                "all pairs (Frobenius, nats)": _spread(numbers, "frobenius"),
                "by chance": _spread(numbers, "floor_frobenius"),
                "largest pair (nats)": _spread(numbers, "largest"),
                "largest by chance": _spread(numbers, "floor"),
                "share of entropy": _spread(numbers, "normalised"),
                "entropy of a unit (nats)": _spread(numbers, "entropy"),
            }
        )
    return pd.DataFrame(rows)


def _spread(numbers: Mapping[str, float], name: str) -> str:
    mean, std = numbers[name], numbers[f"{name}_std"]
    if np.isnan(mean):
        return ""
    return "below 0.001" if max(mean, std) < 0.001 else f"{mean:.3f} ± {std:.3f}"


def pairs_table(pairs: Sequence[DependentPair]) -> pd.DataFrame:
    """Return the most dependent pairs with their reading."""
    return pd.DataFrame(
        {
            "first": [pair.first for pair in pairs],
            "second": [pair.second for pair in pairs],
            "information (nats)": [round(pair.information, 4) for pair in pairs],
            "share of their entropy": [pair.normalised for pair in pairs],
            "most in class": [pair.peak_class for pair in pairs],
            "what it means": [pair.reading for pair in pairs],
        }
    )


def groups_in_words(given: Dependence) -> list[str]:
    """Return which learners behave like one, in words."""
    first = given.layers[0]
    known = np.ma.masked_invalid(first.normalised)  # pairs that some class knows nothing of
    share = known.mean(axis=0).filled(0.0) if len(first.classes) else np.zeros((0, 0))
    left, groups = set(range(len(share))), []
    for at in range(len(share)):
        if at in left:
            members = sorted(other for other in left if other == at or share[at, other] >= COPIES)
            left -= set(members)
            if len(members) > 1:
                groups.append(members)
    return [f"{', '.join(first.units[at] for at in group)} behave like one learner." for group in groups]
