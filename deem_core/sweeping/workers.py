"""Workers: threads that advance the stacks of a sweep in turn, and hand over every record."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Executor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING

import torch

from deem_core.devices import cores
from deem_core.sweeping.depth import Dependence, dependence
from deem_core.sweeping.measure import Look
from deem_core.sweeping.stack import Stack

if TYPE_CHECKING:
    from deem_core.sweeping.run import Sweeper

LIVE_BYTES = 1 << 30
"""Parameters of candidates held at once; beyond it the later ones wait until earlier ones are done."""


@dataclass(frozen=True)
class Arrival:
    """One record of one stack, on its way from a worker; ``last`` if there will be no other."""

    stack: Stack
    at: int
    looks: list[tuple[int, Look]]
    last: bool
    dependence: dict[int, Dependence]
    error: BaseException | None = None


class Workers:
    """Threads that advance the stacks in turn, one record at a time."""

    def __init__(self, sweeper: Sweeper, pool: Executor, arrived: SimpleQueue[Arrival]) -> None:
        self.sweeper, self.pool, self.arrived = sweeper, pool, arrived
        self.codes = torch.tensor(sweeper.votes.codes, device=sweeper.device)
        self.stacks = [Stack(members, sweeper.candidates, sweeper.schedule) for members in sweeper.stacks]
        self.waiting: deque[Stack] = deque(self.stacks)
        self.several_depths = len({candidate.n_layers for candidate in sweeper.candidates}) > 1

    def start(self) -> int:
        """Set as many stacks going as memory allows and return how many there are in all."""
        cells = self.sweeper.votes.n_learners * self.sweeper.votes.n_classes
        deepest = max(candidate.n_layers for candidate in self.sweeper.candidates)
        bytes_each = 4 * cells * (self.sweeper.votes.n_classes + deepest * cells) * max(map(len, self.sweeper.stacks))
        for _ in range(max(cores(), LIVE_BYTES // max(bytes_each, 1))):
            if self.waiting:
                self.pool.submit(self._work, self.waiting.popleft())
        return len(self.stacks)

    def _work(self, stack: Stack) -> None:
        sweeper, looks, at = self.sweeper, None, stack.next
        try:
            if stack.trainer is None and not sweeper.stopped():
                stack.begin(sweeper.votes, self.codes, sweeper.seed)
            if stack.trainer is not None:
                looks = stack.advance(sweeper.measure, sweeper.stopped)
            last = looks is None or stack.done
            found = self._dependence(stack) if looks is not None and stack.done and self.several_depths else {}
        except BaseException as error:  # handed to whoever iterates
            self.arrived.put(Arrival(stack, at, [], True, {}, error))
            return
        if not last:
            self.pool.submit(self._work, stack)
        else:
            stack.trainer = None  # its memory is for the next one
            if self.waiting:
                self.pool.submit(self._work, self.waiting.popleft())
        self.arrived.put(Arrival(stack, at, looks or [], last, found))

    def _dependence(self, stack: Stack) -> dict[int, Dependence]:
        return {at: dependence(stack.model_of(at), self.sweeper.measure.codes) for at in stack.members}
