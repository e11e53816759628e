"""Problems of size: rows for each input unit, and memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from deem_core.diagnostics.checkup.findings import Finding
from deem_core.model.config import ROWS_PER_UNIT, Shape, TrainConfig, resolve
from deem_core.votes import Votes

NOTABLE, LARGE = 1e9, 8e9
"""Bytes from which memory is worth a note and a warning."""

_FLOAT = 4  # bytes
_STATES = 12  # arrays of a batch's states alive at once; with it, measured peaks were within a factor 1.5


@dataclass(frozen=True)
class Memory:
    """Bytes that training needs, roughly.

    Attributes
    ----------
    weights : int
        Weights of all restarts, three times: themselves and the gradients of both phases.
    states : int
        Votes as vectors in each layer, for a batch of all restarts, with gradients, proposals and work space.
    layer : int
        What one layer more would add to the weights.
    """

    weights: int
    states: int
    layer: int

    @property
    def total(self) -> int:
        """Bytes of everything."""
        return self.weights + self.states


def training_memory(shape: Shape, config: TrainConfig | None = None) -> Memory:
    """Estimate the memory of training.

    Settings that are None take their defaults.
    """
    settings = resolve(config or TrainConfig(), shape).config
    units, restarts = shape.n_learners * shape.n_classes, settings.restarts
    n_layers, batch = int(settings.n_layers or 0), int(settings.batch_size or 1)
    layer = 3 * restarts * units**2 * _FLOAT
    irbm = 3 * restarts * units * shape.n_classes * _FLOAT
    states = _STATES * restarts * batch * units * (n_layers + 1) * _FLOAT
    return Memory(weights=n_layers * layer + irbm, states=states, layer=layer)


def rows_per_unit(votes: Votes) -> Iterator[Finding]:
    """Find too few rows for a layer."""
    shape = Shape.of(votes)
    if shape.rows_per_unit < ROWS_PER_UNIT:
        per_unit, needed = shape.rows_per_unit, ROWS_PER_UNIT * shape.n_learners * shape.n_classes
        yield Finding(
            "few_rows",
            "warning" if per_unit < 1 else "note",
            "Few rows for this many learners and classes",
            f"Too few rows ({shape.n_rows:,}; about {needed:,} needed for {shape.n_learners:,} learners × "
            f"{shape.n_classes:,} classes) to model dependence between learners, so no hidden layer is used.",
            "More rows help, labelled or not. So does merging classes or leaving out weak learners."
            + (" With so few rows, compare with the majority vote." if per_unit < 1 else ""),
            numbers={"rows_per_unit": per_unit, "needed_rows": needed},
        )


def memory(votes: Votes) -> Iterator[Finding]:
    """Find more memory than one would expect."""
    shape = Shape.of(votes)
    need = training_memory(shape)
    layers = resolve(TrainConfig(), shape).config.n_layers
    if need.total >= NOTABLE:
        yield Finding(
            "memory",
            "warning" if need.total >= LARGE else "note",
            f"Training needs about {need.total / 1e9:.1f} GB",
            f"With {shape.n_learners:,} learners × {shape.n_classes:,} classes, training with the default settings "
            f"needs about {need.weights / 1e9:.1f} GB for weights and {need.states / 1e9:.1f} GB for a batch; each "
            f"extra layer would add {need.layer / 1e9:.1f} GB.",
            f"If that is too much: fewer restarts (weights){', ' if layers else ' or '}a smaller batch (states)"
            f"{', or no layers (n_layers 0)' if layers else ''}.",
            numbers={"total": need.total, "weights": need.weights, "states": need.states, "layer": need.layer},
        )
