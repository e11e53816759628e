"""Pieces of a sweep: stacks of candidates, trained from record to record."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from deem_core.control import Control, Stopped
from deem_core.model.backend import crew, require
from deem_core.model.config import Settings
from deem_core.training.places import arrive
from deem_core.training.sweep.candidates import Candidate
from deem_core.training.sweep.depth import Dependence, dependence
from deem_core.training.sweep.measure import Look, Measure
from deem_core.training.sweep.trainer import Stack
from deem_core.votes import Votes


@dataclass(frozen=True, eq=False)
class Ground:
    """What all stacks of a sweep share.

    Attributes
    ----------
    votes : Votes
    resident : (n, d) Tensor, optional
        Their codes on the device, one copy for all stacks; None where these are on other machines.
    measure : Measure
    candidates : sequence of Candidate
        All of them.
    settings : Settings
    schedule : (T,) int array
        Updates to measure at.
    seed : int
    device : str
    n_stacks : int
        How many there are; threads share out rows where these are fewer than the cores.
    """

    votes: Votes
    resident: Tensor | None
    measure: Measure
    candidates: Sequence[Candidate]
    settings: Settings
    schedule: NDArray[np.intp]
    seed: int
    device: str
    n_stacks: int

    def begun(self, members: Sequence[int], control: Control) -> tuple[Stack, Measure]:
        """Return a stack ready to be trained, and its measure."""
        device = arrive(self.device)
        require(self.settings, control)
        codes = torch.tensor(self.votes.codes, device=device) if self.resident is None else self.resident
        stack = Stack(members, self.candidates, self.schedule)
        stack.begin(self.votes, codes, self.seed, crew(self.n_stacks))
        return stack, self.measure.to(device)


@dataclass(frozen=True)
class Looks:
    """News of a stack: what its candidates look like at a record.

    Attributes
    ----------
    at : int
        Position in the schedule.
    looks : list of (int, Look)
        By candidate; those that were abandoned have none.
    failures : dict of int to str
        Candidate → why it was abandoned.
    """

    at: int
    looks: list[tuple[int, Look]]
    failures: dict[int, str]


@dataclass(frozen=True)
class Swept:
    """Result of a stack: all about its candidates.

    Attributes
    ----------
    looks : list of Looks
        In order.
    failures : dict of int to str
    dependence : dict of int to Dependence
        Of depths that are compared.
    complete : bool
        False if it was told to stop.
    """

    looks: list[Looks] = field(default_factory=list)
    failures: dict[int, str] = field(default_factory=dict)
    dependence: dict[int, Dependence] = field(default_factory=dict)
    complete: bool = False


def sweep_stack(ground: Ground, members: Sequence[int], control: Control) -> Generator[Looks, None, Swept]:
    """Train candidates side by side; look at them at every record."""
    if control.stopped():
        return Swept()
    try:
        stack, measure = ground.begun(members, control)
    except Stopped:
        return Swept()
    told: list[Looks] = []
    while not stack.done:
        at = stack.next
        looks = stack.advance(measure, control.stopped)
        if looks is None:
            return Swept(told, stack.failures)
        told.append(Looks(at, looks, dict(stack.failures)))
        yield told[-1]
    by_depth = len({candidate.n_layers for candidate in ground.candidates}) > 1
    found = {at: dependence(stack.model_of(at), measure.codes) for at in stack.members} if by_depth else {}
    return Swept(told, stack.failures, found, complete=True)
