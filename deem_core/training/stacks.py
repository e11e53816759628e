"""Stack of restarts side by side: a piece of a training."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Protocol

import torch

from deem_core.control import Control, Saved, Stopped
from deem_core.model.backend import crew, require
from deem_core.model.config import Settings, TrainConfig
from deem_core.model.energy import Model
from deem_core.model.records import Record, has_settled
from deem_core.model.trainer import Trainer
from deem_core.training.places import arrive


class Trainable(Protocol):
    """What restarts are trained on; it can travel to another machine."""

    def trainer(
        self, config: TrainConfig, seeds: Sequence[int], *, device: torch.device, crew: Executor | None
    ) -> Trainer:
        """Return restarts, ready to be trained."""


@dataclass(frozen=True)
class Stack:
    """Restarts side by side.

    Attributes
    ----------
    training : int
        Which of the trainings that share a crew.
    first : int
        Number of its first restart in that training.
    seeds : tuple of int
        One per restart.
    key : str
        Of its checkpoint.
    """

    training: int
    first: int
    seeds: tuple[int, ...]
    key: str


@dataclass(frozen=True)
class Course:
    """What the stacks of a training have in common.

    Attributes
    ----------
    task : Trainable
    settings : Settings
        Without gaps.
    n_stacks : int
        How many there are; threads share out rows where these are fewer than the cores.
    """

    task: Trainable
    settings: Settings
    n_stacks: int


@dataclass(frozen=True)
class Shared:
    """What all stacks share: the courses of all trainings, and the device."""

    courses: tuple[Course, ...]
    device: str


@dataclass(frozen=True)
class Latest:
    """News of a stack: the latest record of each restart.

    ``resumed`` if they are from a checkpoint, and were told before.
    """

    records: list[Record]
    resumed: bool = False


@dataclass(frozen=True)
class Trained:
    """What is kept of a stack once it is trained.

    The trainer's memory is for the next one.

    Attributes
    ----------
    model : Model
    failures : list of str or None
    records : list of list of Record
        All of each restart.
    """

    model: Model
    failures: list[str | None]
    records: list[list[Record]]


def train_stack(shared: Shared, stack: Stack, control: Control) -> Generator[Latest, None, Trained | None]:
    """Train a stack from its last checkpoint, or from its start.

    Returns None if it was told to stop; then it has left a checkpoint.
    """
    course = shared.courses[stack.training]
    try:
        device = arrive(shared.device)
        require(course.settings, control)
        trainer = course.task.trainer(course.settings.config, stack.seeds, device=device, crew=crew(course.n_stacks))
        return (yield from _Training(trainer, stack, control).run())
    except Stopped:
        return None


class _Training:
    """A stack in training, with its checkpoint."""

    def __init__(self, trainer: Trainer, stack: Stack, control: Control) -> None:
        self.trainer, self.first, self.key, self.control = trainer, stack.first, stack.key, control
        self.records: list[list[Record]] = [[] for _ in trainer.seeds]

    def run(self) -> Generator[Latest, None, Trained]:
        """Train on and yield every record."""
        self._load()
        if self.records[0]:
            yield self._latest(resumed=True)
        if not self._enough():
            for records in self.trainer.run(self._before_update):
                for own, record in zip(self.records, records, strict=True):
                    own.append(replace(record, restart=record.restart + self.first))
                try:
                    yield self._latest()
                except GeneratorExit:
                    self._save()  # nobody waits for more, so this is where it goes on some day
                    raise
                if self._enough():
                    break
        self._save()
        return Trained(self.trainer.finished(), self.trainer.failures, self.records)

    def _latest(self, *, resumed: bool = False) -> Latest:
        return Latest([own[-1] for own in self.records], resumed)

    def _enough(self) -> bool:
        return self.trainer.config.early_stop and all(has_settled(own) for own in self.records)

    def _before_update(self) -> None:
        """Stop, or save a checkpoint, if it is time to."""
        if self.control.stopped():
            self._save()
            raise Stopped("Stopped as requested.")
        if self.control.due(self.key):
            self._save()

    def _save(self) -> None:
        notes = {
            "records": [[record.to_dict() for record in own] for own in self.records],
            "failures": self.trainer.failures,
        }
        self.control.save(self.key, Saved(self.trainer.state(), notes))

    def _load(self) -> None:
        saved = self.control.load(self.key)
        if saved is not None:
            self.trainer.restore(saved.tensors)
            self.trainer.failures = list(saved.notes["failures"])
            self.records = [[Record.from_dict(item) for item in own] for own in saved.notes["records"]]
