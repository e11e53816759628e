"""Dependence of learners given the label, at the input and after layers.

For class c and layer ℓ, A_i is the most active state of unit i on the rows of class c, and I_ij the mutual
information of A_i and A_j in nats (paper, disentanglement section). The Frobenius norm without the diagonal is the
headline; the largest pair is fragile. Given the fused label it is partly circular, since units drift towards that
label and their entropy falls: hence entropy and normalised information beside it. It is no alarm for quality.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deem_core.control import Control
from deem_core.diagnostics.layer_dependence import SHARED, UNMISTAKABLE, WELL_ABOVE, LayerDependence
from deem_core.diagnostics.model_view import FittedModel, class_names, fused_labels, logits
from deem_core.errors import InputError
from deem_core.files.results import Result
from deem_core.typing import Floats, Integers, Mask, Rows
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.arrays import spread_rows
from deem_core.votes.information import pair_information

MAX_ROWS = 100_000
"""Rows used at most, evenly spread: the bias of the estimate falls with the rows of a class."""

MIN_ROWS = 20
"""Rows that a class needs for its dependence to be estimated."""

MAX_CLASSES = 50
"""Classes looked at, those with the most rows."""

SAME = 0.9
"""Units say the same if they share this much of the smaller one's entropy."""

_MAX_CELLS = 20_000_000  # of all matrices of a layer: beyond it, fewer classes


@dataclass(frozen=True)
class Dependence(Result):
    """Dependence layer by layer.

    Attributes
    ----------
    given : "fused" or "truth"
        The label that is held fixed.
    layers : tuple of LayerDependence
        The input first.
    restart : int
        Restart whose layers these are: the one that agrees best with the model's answer. -1 without layers.
    rows_used, n_rows : int
    n_classes_left_out : int
        Classes with too few rows or beyond the number looked at.
    """

    given: str
    layers: tuple[LayerDependence, ...]
    restart: int
    rows_used: int
    n_rows: int
    n_classes_left_out: int

    @property
    def reading(self) -> str:
        """What the numbers say, in a sentence.

        Disentangling is spoken of only well above the floor.
        """
        if not len(self.layers[0].classes):
            return f"No class has {MIN_ROWS} rows, too few to tell dependence from chance."
        first, last = self.layers[0].summary(), self.layers[-1].summary()
        if len(self.layers) > 1 and len(self.layers[-1].units) < len(self.layers[0].units):
            first = self.layers[1].summary()  # the table that the layers see, near-copies merged
        before, after = first["frobenius"], last["frobenius"]
        if before < WELL_ABOVE * first["floor_frobenius"] and first["normalised"] < UNMISTAKABLE:
            return self._nearly_independent()
        if len(self.layers) < 2 or self.restart < 0:
            return f"Given the {self._label} the learners depend on each other (Frobenius norm {before:.2f})."
        joined = self.joined_pairs
        if joined.any():
            return self._joined(joined)
        change = 1 - after / before
        verb = "fell" if change > 0 else "rose"
        moved = f"{verb} by {abs(change):.0%} through the layers ({before:.2f} → {after:.2f})"
        return f"Dependence given the {self._label} {moved}."

    @property
    def _label(self) -> str:
        return "true label" if self.given == "truth" else "fused label"

    @property
    def joined_pairs(self) -> Mask:
        """Pairs of units (u, u) that the layers make say the same.

        So a layer holds groups of learners that training starts from: every unit of a group is the group's latent.
        """
        first, last = self.layers[0].mean_matrix, self.layers[-1].mean_matrix
        if len(self.layers) < 2 or not len(self.layers[0].classes):
            return np.zeros(last.shape, bool)
        same = _same(last) & ~np.eye(len(last), dtype=bool)
        return same & ~_same(first) if first.shape == last.shape else same

    def _joined(self, joined: Mask) -> str:
        """Say what the layers joined, and what is left between all others."""
        n_units = int(joined.any(axis=1).sum())
        sentence = (
            f"The layers join learners that make the same mistakes: {n_units} of {len(joined)} units say "
            "nearly the same."
        )
        first, last = self.layers[0].mean_matrix, self.layers[-1].mean_matrix
        others = ~joined & ~np.eye(len(joined), dtype=bool)
        if first.shape != last.shape or not others.any():
            return sentence
        before, after = (float(np.sqrt(np.nansum(matrix[others] ** 2))) for matrix in (first, last))
        moved = f"went from {before:.2f} to {after:.2f}"
        return f"{sentence} Between all other pairs dependence given the {self._label} {moved}."

    def _nearly_independent(self) -> str:
        """Say that most pairs are independent, and which are not.

        Among many learners a few copies hardly weigh.
        """
        close = self.layers[0].pairs_above(SHARED)
        if not len(close):
            seen = "" if self.given == "truth" else " Mistakes that all of them share do not show this way."
            return f"Given the {self._label} the learners are nearly independent: there is little to disentangle.{seen}"
        pair = self.layers[0].pairs(1)[0]
        most = f"Given the {self._label} most learners are nearly independent"
        if len(close) == 1:
            return f"{most}, but {pair.first} and {pair.second} depend on each other."
        return f"{most}, but {len(close):,} pairs are not, most of all {pair.first} and {pair.second}."

    def to_frame(self) -> pd.DataFrame:
        """Return a row per layer, mean and standard deviation over classes."""
        return pd.DataFrame(
            [{"layer": layer.name, "units": len(layer.units), **layer.summary()} for layer in self.layers]
        )


def dependence(
    model: FittedModel,
    votes: Votes,
    *,
    given: str = "fused",
    labels: Integers | None = None,
    max_rows: int = MAX_ROWS,
    max_classes: int = MAX_CLASSES,
    restart: int | None = None,
    control: Control | None = None,
) -> Dependence:
    """Return the conditional mutual information for every class and layer.

    Parameters
    ----------
    model : DEEM, SoftDEEM, IRBM or GroupedDawidSkene
        Fitted. Layers are those of its first training; without layers there is the input alone. Those of soft DEEM are
        shown the most probable classes, as certain votes.
    votes : Votes
    given : "fused" or "truth"
        Truth is for evaluation only.
    labels : (n,) array of int, optional
        Fused labels of all rows, if they are known already.
    max_rows, max_classes : int
        Rows (evenly spread) and classes (those with the most rows) looked at.
    restart : int, optional
        Which restart's layers; by default the one that agrees best with the model's answer.
    control : Control, optional

    Raises
    ------
    InputError
        If ``given`` is unknown or there is no truth.
    """
    if given not in ("fused", "truth"):
        raise InputError(f"given is {given!r}; it must be one of fused, truth.")
    votes, control = model.recoded(votes).votes, control or Control()
    if given == "truth" and votes.truth is None:
        raise InputError("There is no truth to condition on; condition on the fused label.")
    rows = spread_rows(votes.n_rows, max_rows, nearest=True)
    codes, read = votes.codes[rows], model.read(votes)[rows]
    fused = fused_labels(model, read) if labels is None else np.asarray(labels)[rows]
    label = fused if given == "fused" else np.asarray(votes.truth)[rows]
    label = np.where(label < votes.n_classes, label, NO_VOTE)
    chosen, left_out = _classes(label, votes, max_classes)
    tables = [("input", votes.learners, codes)]
    best = -1
    if model.parts_:
        part = model.parts_[0]
        if not part.reduction.is_identity:
            tables.append(("input, near-copies merged", part.reduction.learners, part.reduction.apply(codes)))
        if part.n_layers:
            best = _nearest_restart(model, read, fused) if restart is None else restart
            layers = part.unit_codes(codes, best)
            tables += [(f"after layer {at + 1}", part.reduction.learners, own) for at, own in enumerate(layers)]
    counts = np.bincount(label[label >= 0], minlength=votes.n_classes)
    names = class_names(votes.classes)
    by_layer = []
    for name, units, own in tables:
        control.check()
        information, normalised = class_dependence(own, label, chosen.tolist())
        looked_at = tuple(names[k] for k in chosen)
        by_layer.append(
            LayerDependence(name, units, looked_at, counts[chosen], information, normalised, n_states=votes.n_classes)
        )
    return Dependence(given, tuple(by_layer), best, len(codes), votes.n_rows, left_out)


def class_dependence(codes: Integers, label: Integers, classes: Sequence[int]) -> tuple[Floats, Floats]:
    """Return the information of all pairs for some classes.

    Plain and normalised, (C, d, d) each.

    Parameters
    ----------
    codes : (n, d) array of int
    label : (n,) array of int
    classes : sequence of C int
    """
    order = np.argsort(label, kind="stable")
    ends = np.searchsorted(label[order], [[k, k + 1] for k in classes]).reshape(-1, 2)
    by_class = [pair_information(codes[order[start:end]]) for start, end in ends]
    shape = (len(by_class), codes.shape[1], codes.shape[1])
    return (
        np.array([one.information for one in by_class]).reshape(shape),
        np.array([one.normalised for one in by_class]).reshape(shape),
    )


def _classes(label: Integers, votes: Votes, most: int) -> tuple[NDArray[np.intp], int]:
    """Return the classes looked at, and how many others occur."""
    counts = np.bincount(label[label >= 0], minlength=votes.n_classes)
    most = min(most, max(1, _MAX_CELLS // votes.n_learners**2))
    largest = np.argsort(-counts, kind="stable")[:most]
    chosen = np.sort(largest[counts[largest] >= MIN_ROWS])
    return chosen, int((counts > 0).sum()) - len(chosen)


def _nearest_restart(model: FittedModel, read: Rows, fused: Integers) -> int:
    """Return the restart that agrees best with the model's answer.

    Of the first training.
    """
    rows = spread_rows(len(read), 5_000, nearest=True)
    own = logits(model, read[rows])[: model.parts_[0].n_restarts].argmax(axis=2)  # (R, b)
    return int((own == fused[rows]).mean(axis=1).argmax())


def _same(information: Floats) -> Mask:
    """Return which units (u, u) tell nearly all of each other.

    Units that never vary tell nothing.
    """
    entropy = np.nan_to_num(np.diagonal(information))
    least = np.minimum(entropy[:, None], entropy)
    same: Mask = (np.nan_to_num(information) >= SAME * least) & (least > 0)
    return same
