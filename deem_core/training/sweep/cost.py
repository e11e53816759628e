"""Cost of a sweep, from a few real updates on this machine."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from deem_core.control import NO_CONTROL, Control
from deem_core.engine import Done
from deem_core.training.places import Place
from deem_core.training.sweep.pieces import Ground
from deem_core.votes.arrays import spread_rows

CALIBRATION_SECONDS = 0.4
"""Time given to the updates of each stack that is tried; at least two are made."""

CALIBRATION_BATCHES = 4
"""Rows used, in batches: an update costs the same whatever the size of the table."""


@dataclass(frozen=True)
class Cost:
    """Seconds that work takes while all cores are busy.

    Attributes
    ----------
    update : dict of int to float
        One update of a whole stack, by the depth of its candidates.
    look : dict of int to float
        One measurement of one candidate, by its depth.
    depths : tuple of int
        Depth of every candidate.
    threads : int
        Stacks that train at once.
    """

    update: dict[int, float]
    look: dict[int, float]
    depths: tuple[int, ...]
    threads: int

    def seconds(self, schedule: NDArray[np.intp], stacks: Sequence[Sequence[int]]) -> float:
        """Return the expected time of a sweep that measures at these updates."""
        total = sum(
            self.update[self.depths[stack[0]]] * schedule[-1] + self.look[self.depths[at]] * len(schedule)
            for stack in stacks
            for at in stack[:1]
        ) + sum(self.look[self.depths[at]] * len(schedule) for stack in stacks for at in stack[1:])
        return float(total / min(self.threads, len(stacks)))


def calibrate(ground: Ground, stacks: Sequence[Sequence[int]], place: Place) -> Cost:
    """Time the largest stack of every depth, on all cores at once."""
    candidates, update, look = ground.candidates, {}, {}
    batch = int(candidates[0].config.batch_size or 1)
    few = ground.votes.select_rows(spread_rows(ground.votes.n_rows, CALIBRATION_BATCHES * batch))
    resident = None if ground.resident is None else torch.tensor(few.codes, device=place.device)
    ground = replace(ground, votes=few, resident=resident, schedule=np.array([0, 1 << 40]))
    at_once = min(place.at_once, len(stacks))
    for depth in {candidate.n_layers for candidate in candidates}:
        largest = max((stack for stack in stacks if candidates[stack[0]].n_layers == depth), key=len)
        with place.crew() as crew:
            arrivals = crew.run(time_stack, [largest] * at_once, ground, control=NO_CONTROL)
            timings = [arrival.value for arrival in arrivals if isinstance(arrival, Done)]
        update[depth], look[depth] = (float(np.mean(part)) for part in zip(*timings, strict=True))
    return Cost(update, look, tuple(candidate.n_layers for candidate in candidates), place.at_once)


def time_stack(ground: Ground, members: Sequence[int], control: Control) -> Generator[None, None, tuple[float, float]]:
    """Return the seconds of an update and of a look."""
    stack, measure = ground.begun(members, control)
    yield  # all stacks are begun before the first is timed
    begun = time.perf_counter()
    stack.advance(measure, lambda: False)
    look = (time.perf_counter() - begun) / len(members)
    trainer = stack.trainer
    assert trainer is not None  # noqa: S101
    trainer.step()[2].tolist()  # the first is slower than those that follow
    begun, updates = time.perf_counter(), 0
    while updates < 2 or time.perf_counter() - begun < CALIBRATION_SECONDS:
        _, _, energies = trainer.step()
        updates += 1
    energies.tolist()  # until then a GPU has only been told what to do
    return (time.perf_counter() - begun) / updates, look
