"""What an inspection found, in words and small tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deem_core.diagnostics.dependence import Dependence
from deem_core.diagnostics.dependent_units import DependentPair
from deem_core.diagnostics.evaluation import Evaluation
from deem_core.diagnostics.experts import Expert
from deem_core.diagnostics.importance import CLASS_ROWS
from deem_core.diagnostics.inspection import Inspection
from studio import inspections, text, widgets

WEAK = 0.05
"""Nats below which a pair hardly depends."""

COPIES = 0.6
"""Normalised information from which a pair behaves like one learner."""


def experts_said(found: Inspection, named: Sequence[Expert], more: int, *, majority: bool) -> str:
    """Return in words, as Markdown, who is an expert for what, or why nobody is.

    Parameters
    ----------
    found : Inspection
    named : sequence of Expert
        Those to be named.
    more : int
        Weaker ones beyond them.
    majority : bool
        Whether the answer is the majority vote.
    """
    lines = inspections.experts_in_words(named, found.classes)
    if majority:
        said = "The majority vote counts everybody the same, so it has no experts."
    elif lines:
        said = "**Experts**, whom the model trusts for these classes far more than others, and more than elsewhere:"
    elif not found.influence.enough.any():
        said = f"No class has {CLASS_ROWS} rows that were looked at, too few to tell an expert from luck."
    else:
        said = "No learner stands out for single classes: nobody looks like an expert."
        if len(found.classes) == 2:
            said += " With two classes, who tells one tells the other too."
    weaker = f"\n- and {more:,} weaker ones" if lines and more else ""
    return f":material/lightbulb: {said}" + "".join(f"\n- {text.plain(line)}" for line in lines) + weaker


def calibration_words(evaluation: Evaluation) -> str:
    """Return what truth says about confidence."""
    said = (
        f"Right on {text.percent(evaluation.accuracy)} of {evaluation.n_truth:,} rows with known truth; on "
        f"{text.percent(evaluation.ceiling)} at least one learner is right, which no fusion of votes can beat. "
        f"Confidence is off by {100 * evaluation.calibration.error:.1f} points on average."
    )
    if evaluation.temperature is not None:
        said += (
            f" One temperature ({evaluation.temperature.temperature:.2f}), fitted on the other rows each time, would "
            f"bring that to {100 * evaluation.temperature.after.error:.1f} points."
        )
    return said


def dependence_of(given: Dependence, which: str, average: str) -> tuple[list[NDArray[np.float64]], list[str]]:
    """Return the matrices (C, u, u) of every layer to draw, and what they are of: the average, one class, or all."""
    classes = list(given.layers[0].classes)
    if which == average or not classes:
        return [layer.mean_matrix[None] for layer in given.layers], [average]
    if which in classes:
        at = classes.index(which)
        return [layer.information[at][None] for layer in given.layers], [which]
    return [layer.information for layer in given.layers], classes


def layers_table(given: Dependence) -> pd.DataFrame:
    """Return a row for each layer: mean ± standard deviation over classes of each figure, and what chance shows."""
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


def strong() -> str:
    """Return how the cells of a heatmap that hold the most look: dark, or bright on a dark page."""
    return "bright" if widgets.theme() == "dark" else "dark"


def scale_words(matrices: Sequence[NDArray[np.float64]]) -> str:
    """Return how much the strongest cell of dependence matrices is, for the colours say only which is more."""
    off_diagonal = [own[:, ~np.eye(own.shape[1], dtype=bool)] for own in matrices]
    known = np.concatenate([cells[np.isfinite(cells)] for cells in off_diagonal])
    if not len(known):
        return ""
    top = float(known.max())
    weak = ", which is very little" if top < WEAK else ""
    return f" The strongest cell is {top:.2g} nats{weak}."


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
