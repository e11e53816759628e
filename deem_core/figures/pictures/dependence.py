"""Pictures of dependence: pairs, layers, and correlation with the label."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deem_core.diagnostics.disentanglement import Dependence
from deem_core.diagnostics.reliability import Correlation
from deem_core.diagnostics.rows import FUSED, TRUTH
from deem_core.figures import correlation as draw_correlation
from deem_core.figures import dependence as draw_dependence
from deem_core.figures.picture import BESIDE, Picture
from deem_core.figures.pictures._pairs import same_mistakes, with_fused
from deem_core.typing import Floats

AVERAGE = "Average over classes"

WEAK = 0.05
"""Nats below which a pair hardly depends."""

_NO_LAYERS = "This model has no layers: only the learners themselves are shown."
_DOES_NOT_FALL = (
    "**When it does not fall:** learners that are already nearly independent leave nothing to disentangle, and a "
    "layer may even add a little; a layer that joins learners of a group makes their units the same. None of this "
    "says how good the labels are."
)


def dependence(
    given: Dependence,
    classes: Sequence[str] | None = None,
    *,
    clustered: bool = True,
    most_units: int | None = None,
) -> Picture:
    """Return the mutual information of all pairs given the label.

    Layers go from left to right.

    Parameters
    ----------
    given : Dependence
        Of at least one class.
    classes : sequence of str, optional
        Classes to draw; the average over all of them by default.
    clustered : bool
        Whether those who depend stand side by side, rather than in the order of the file.
    most_units : int, optional
        Of more units in a layer, those that depend most are drawn.
    """
    known = list(given.layers[0].classes)
    at = None if classes is None else [known.index(name) for name in classes]
    matrices = [layer.mean_matrix[None] if at is None else layer.information[at] for layer in given.layers]
    units = [list(layer.units) for layer in given.layers]
    cut = most_units is not None and any(len(own) > most_units for own in units)
    if most_units is not None:
        parts = [_strongest(matrix, own, most_units) for matrix, own in zip(matrices, units, strict=True)]
        matrices, units = [matrix for matrix, _ in parts], [own for _, own in parts]
    deep = len(given.layers) > 1
    words = [
        "Mutual information in nats between the votes of two learners on rows with the same label; one scale for all.",
        "**Strong colours:** they make the same mistakes, as copies do.",
        *_scale(matrices),
        "**Good:** fading from left to right: the layers disentangle them." if deep else _NO_LAYERS,
        f"On {given.rows_used:,} of {given.n_rows:,} rows.",
    ]
    if given.joined_pairs.any():
        words.append(
            "**Full blocks after a layer** are learners that make the same mistakes: their units say the same there."
        )
    if given.n_classes_left_out:
        words.append(f"{given.n_classes_left_out:,} rarer classes are left out.")
    if cut:
        words.append(f"Only the {most_units} most dependent are drawn.")
    return Picture(
        question="Who makes the same mistakes, and do the layers separate them?"
        if deep
        else "Who makes the same mistakes?",
        draw=lambda theme: draw_dependence.dependence_grid(
            matrices,
            units,
            [layer.name for layer in given.layers],
            [AVERAGE] if classes is None else classes,
            order="clustered" if clustered else "file",
            averaged=classes is None,
            theme=theme,
        ),
        alt="Heatmaps of mutual information, layers from left to right.",
        caption=" ".join(words),
        min_width=BESIDE if deep else 480,
        cells=same_mistakes(units[0], TRUTH if given.given == "truth" else FUSED, classes or [None]),
    )


def _strongest(matrices: Floats, units: list[str], most: int) -> tuple[Floats, list[str]]:
    """Return the part of matrices (C, u, u) with the strongest units.

    They keep their order.
    """
    if len(units) <= most:
        return matrices, units
    pairs = np.where(np.eye(len(units), dtype=bool), 0.0, np.nan_to_num(matrices))
    kept = np.sort(np.argsort(-pairs.max(axis=(0, 2)), kind="stable")[:most])
    return matrices[:, kept][:, :, kept], [units[at] for at in kept]


def _scale(matrices: Sequence[Floats]) -> list[str]:
    """Return the value of the strongest cell; colours only rank."""
    off_diagonal = [own[:, ~np.eye(own.shape[1], dtype=bool)] for own in matrices]
    known = np.concatenate([cells[np.isfinite(cells)] for cells in off_diagonal])
    if not len(known):
        return []
    top = float(known.max())
    return [f"The strongest cell is {top:.2g} nats{', which is very little' if top < WEAK else ''}."]


def dependence_over_layers(given: Dependence) -> Picture:
    """Return how dependence changes from layer to layer."""
    numbers = [layer.summary() for layer in given.layers]
    deep = len(numbers) > 1
    return Picture(
        question="Does dependence fall from layer to layer?" if deep else "How much do learners depend on each other?",
        draw=lambda theme: draw_correlation.dependence_summary(
            [layer.name for layer in given.layers],
            [each["frobenius"] for each in numbers],
            [each["frobenius_std"] for each in numbers],
            [each["largest"] for each in numbers],
            [each["largest_std"] for each in numbers],
            floor=[each["floor_frobenius"] for each in numbers],
            largest_floor=[each["floor"] for each in numbers],
            theme=theme,
        ),
        alt="Points: dependence after each layer, mean and spread over classes.",
        caption=(
            "Mean ± standard deviation over classes. The Frobenius norm is the headline; the largest pair alone is "
            f"fragile. Near the dashed floor there is only chance. {_DOES_NOT_FALL if deep else _NO_LAYERS}"
        ),
    )


def correlation(found: Correlation) -> Picture:
    """Return the correlation of all learners and the fused label."""
    return Picture(
        question="Whom does the fused label follow?",
        draw=lambda theme: draw_correlation.correlation_heatmap(
            found.matrix, found.names, order=found.order, theme=theme
        ),
        alt="Heatmap: correlation of learners with each other and with the fused label.",
        caption=(
            "Correlation of votes, from −1 to 1. The line of the fused label shows whom it follows most; check "
            "learners that follow each other more than the label."
        ),
        cells=with_fused(found.names),
    )
