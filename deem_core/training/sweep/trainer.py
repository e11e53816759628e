"""Stack of candidates that train side by side, with the same batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from deem_core.model.energy import Model
from deem_core.model.memory import Demand
from deem_core.model.records import not_finite
from deem_core.model.trainer import Trainer
from deem_core.training.sweep.candidates import Candidate
from deem_core.training.sweep.measure import MEASURED_ROWS, MOST_CELLS, Look, Measure
from deem_core.typing import Integers
from deem_core.votes import Votes


class SweepTrainer(Trainer):
    """A trainer that can go on without some of its models."""

    def _demand(self, codes: Integers, n_classes: int) -> Demand:
        """Return what training and measuring ask of a GPU."""
        cells = min(min(len(codes), MEASURED_ROWS[1]) * codes.shape[1] * n_classes, MOST_CELLS)
        return replace(super()._demand(codes, n_classes), look_cells=cells)

    @torch.no_grad()
    def keep(self, positions: Sequence[int]) -> None:
        """Go on with the models at these positions only."""
        at = list(positions)
        self.seeds = [self.seeds[r] for r in at]
        self.failures = [self.failures[r] for r in at]
        self.batches = [self.batches[r] for r in at]
        self.rates = self.rates[at]
        self.start = [tensor[at] for tensor in self.start]
        self.velocity = [tensor[at] for tensor in self.velocity]
        self.chains = None if self.chains is None else self.chains[at]
        if self.engine is not None:
            self.engine.keep(at)
            self.model = self.engine.model
        else:
            self.model = self.model.with_parameters([t.detach()[at].requires_grad_() for t in self.model.parameters()])


class Stack:
    """Some candidates of a sweep, advanced from record to record.

    Parameters
    ----------
    members : sequence of int
        Positions of the candidates in the sweep.
    candidates : sequence of Candidate
        All of them.
    schedule : (T,) int array
        Updates to measure at, from 0 on.
    """

    def __init__(self, members: Sequence[int], candidates: Sequence[Candidate], schedule: NDArray[np.intp]) -> None:
        self.members = list(members)
        self.config = candidates[self.members[0]].config
        self.rates = [candidates[at].learning_rate for at in self.members]
        self.schedule, self.next = schedule, 0
        self.trainer: SweepTrainer | None = None
        self.failures: dict[int, str] = {}

    def begin(self, votes: Votes, codes: torch.Tensor, seed: int, crew: Executor | None = None) -> None:
        """Initialise all members with one seed: the same weights, the same batches.

        ``codes`` are those of ``votes`` on the device, of which all stacks share one copy; ``crew`` shares out rows.
        """
        self.trainer = SweepTrainer(
            votes.codes,
            votes.n_classes,
            self.config,
            [seed] * len(self.members),
            device=codes.device,
            learning_rates=self.rates,
            crew=crew,
        )
        self.trainer.codes = codes

    @property
    def done(self) -> bool:
        """Whether there is nothing left to train."""
        return self.next >= len(self.schedule) or not self.members

    def advance(self, measure: Measure, stopped: Callable[[], bool]) -> list[tuple[int, Look]] | None:
        """Train up to the next record and return it, per living candidate.

        None if it was told to stop.
        """
        trainer = self._begun()
        first = trainer.update
        finite = torch.ones(len(self.members), dtype=torch.bool, device=trainer.device)
        fine_updates = torch.zeros(len(self.members), dtype=torch.int32, device=trainer.device)
        while trainer.update < self.schedule[self.next]:
            if stopped():
                return None
            _, _, energies = trainer.step()
            finite &= torch.isfinite(energies).all(dim=0)  # looked at when it is measured: a GPU must not wait for it
            fine_updates += finite
        self._abandon([first + fine + 1 for fine in fine_updates.tolist()], trainer)
        measured = [(at, self._look(measure, at)) for at in self.members]
        self._abandon([trainer.update + look.finite for _, look in measured], trainer)
        self.next += 1
        return [(at, look) for at, look in measured if look.finite]

    def _look(self, measure: Measure, candidate: int) -> Look:
        engine = self._begun().engine
        if engine is not None:
            return measure.by_kernel(engine, self.members.index(candidate), self.config)
        return measure(self.model_of(candidate), self.config)

    def model_of(self, candidate: int) -> Model:
        """Return the model (R = 1) of a living candidate as it is now."""
        return self._begun().finished().single(self.members.index(candidate))

    def _begun(self) -> SweepTrainer:
        if self.trainer is None:
            raise RuntimeError("begin() comes first")
        return self.trainer

    def _abandon(self, ends: Sequence[int], trainer: SweepTrainer) -> None:
        """Abandon candidates whose energy is no longer finite.

        They would cost time and tell nothing. ``ends`` are the updates at which each ceased to be finite; an update
        that is still to come is none.
        """
        survivors = [r for r, end in enumerate(ends) if end > trainer.update]
        if len(survivors) == len(ends):
            return
        for at, end in zip(self.members, ends, strict=True):
            if end <= trainer.update:
                self.failures[at] = not_finite(end)
        self.members = [self.members[r] for r in survivors]
        if survivors:
            trainer.keep(survivors)
