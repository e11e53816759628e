"""Memory of a training on a GPU: needed and free.

Counted before anything is allocated: whoever waits for a training should not hear after an hour that the batch was too
large.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from deem_core.errors import InputError
from deem_core.model.devices import free_bytes
from deem_core.text import size

if TYPE_CHECKING:
    import torch

FLOAT = 4
"""Bytes of a number on the device."""

BARE_CELLS = 11
"""Tensors of the batch's size (R, B, d·K) that are alive at once in an update without layers."""

LAYERED_CELLS = 14
"""The same with layers, where sparsemax sorts."""

LAYER_CELLS = 4
"""And as many more for each layer."""

SITE_NUMBERS = 12
"""Numbers for each vote of a batch, beside those for each class: mostly 64-bit codes."""

WATCHED_ROWS = 1_000
"""Rows on which the class shares of all models are watched."""


@dataclass(frozen=True)
class Demand:
    """What a training asks of a device.

    Attributes
    ----------
    n_rows, n_learners, n_classes, n_layers : int
    n_models : int
        R, side by side.
    batch_size : int
    sampler_steps : int
    code_bytes : int
        Of one vote.
    persistent, momentum : bool
    positive_cells : int
        Tensors of the batch's size that drawing the positives takes.
    look_cells : int
        Rows × learners × classes on which one model at a time is measured.
    """

    n_rows: int
    n_learners: int
    n_classes: int
    n_layers: int
    n_models: int
    batch_size: int
    sampler_steps: int = 5
    code_bytes: int = 4
    persistent: bool = False
    momentum: bool = False
    positive_cells: int = 0
    look_cells: int = 0

    @property
    def bytes(self) -> int:
        """Bound on what is held at once.

        It is at most half as much again.
        """
        units = self.n_learners * self.n_classes
        table = self.n_rows * self.n_learners * self.code_bytes * (1 + self.persistent * self.n_models)
        irbm = units * self.n_classes + units + self.n_classes
        layers = self.n_layers * (units * units + units)
        copies = 2 + self.momentum  # gradients, and what momentum remembers
        parameters = self.n_models * (copies * (irbm + layers) + 3 * irbm)  # the start, scores, and a step
        cells = LAYERED_CELLS + self.n_layers * LAYER_CELLS if self.n_layers else BARE_CELLS
        sites = self.n_models * min(self.batch_size, self.n_rows) * self.n_learners
        update = sites * (max(cells, self.positive_cells) * self.n_classes + self.sampler_steps + SITE_NUMBERS)
        watched = self.n_models * min(self.n_rows, WATCHED_ROWS) * units * cells // 2  # a posterior, and no more
        return table + FLOAT * (parameters + max(update, watched, self.look_cells * cells))

    def largest_batch(self, room: int) -> int | None:
        """Return the largest batch that fits into so many bytes.

        A power of two below the one asked for; None if none fits.
        """
        batch = 1 << (min(self.batch_size, self.n_rows) - 1).bit_length()
        while batch > 1:
            batch //= 2
            if replace(self, batch_size=batch).bytes <= room:
                return batch
        return None


def check_memory(demand: Demand, device: torch.device) -> None:
    """Refuse a training that does not fit on a GPU.

    Raises
    ------
    InputError
        With what it needs, what there is, and the batch that fits.
    """
    room = free_bytes(device)
    if room is None or demand.bytes <= room:
        return
    batch = demand.largest_batch(room)
    fits = "no batch fits: train on cpu" if batch is None else f"batch {batch} fits"
    raise InputError(
        f"Training needs {size(demand.bytes)}, and {size(room)} are free on {device}: {fits}"
        + (", or fewer restarts." if demand.n_models > 1 else ".")
    )
