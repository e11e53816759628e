"""Restarts: trained, judged and kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from deem_core.control import Control, Saved
from deem_core.model.backend import crew, prepare, with_backend
from deem_core.model.config import Settings, Shape, TrainConfig
from deem_core.model.devices import pick_device, release
from deem_core.model.energy import Model, stack
from deem_core.model.kernel.compilation import available
from deem_core.model.records import Record, has_settled
from deem_core.model.trainer import Trainer, stack_size
from deem_core.training.health import RestartHealth, hopeless, judge, survivors_suffice
from deem_core.training.near_copies import Reduction
from deem_core.training.parts import Part, ask, row_chunks
from deem_core.training.start import MAJORITY, Start
from deem_core.votes import Votes
from deem_core.votes.alignment import anchored_map, class_map
from deem_core.votes.arrays import spread_rows

JUDGED_ROWS = 100_000
"""Rows, evenly spread, on which restarts are aligned with the majority vote and judged."""


@dataclass(frozen=True)
class Progress:
    """How far a fit has come: one record of one restart.

    Attributes
    ----------
    restart, restarts : int
        Its number, counted over all trainings, and how many there are; they grow when further ones are needed.
    share : float
        How much of this restart is done.
    record : Record
    training : int
        0, or 1 for the hedge.
    """

    kind: ClassVar[str] = "record"

    restart: int
    restarts: int
    share: float
    record: Record
    training: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: those of the record, and whose it is."""
        return {**self.record.to_dict(), "training": self.training, "restart": self.restart, "share": self.share}


Watcher = Callable[[Progress], None]


class Reporter:
    """Reports of a fit.

    Every record, and how far all restarts have come together.

    Parameters
    ----------
    control : Control
        Told every `Progress`.
    watch : callable, optional
        Called with the same.
    """

    def __init__(self, control: Control, watch: Watcher | None = None) -> None:
        self.control, self.watch = control, watch
        self._shares: dict[int, float] = {}
        self._lock = Lock()

    def __call__(self, progress: Progress, *, resumed: bool = False) -> None:
        """Report a record; a resumed one only counts.

        It comes from a checkpoint and was reported before.
        """
        with self._lock:
            self._shares[progress.restart] = progress.share
            if resumed:
                return
            if self.watch is not None:
                self.watch(progress)
            self.control.tell("Training", sum(self._shares.values()) / progress.restarts, progress)


@dataclass(frozen=True)
class Fit:
    """A training with its restarts judged.

    Attributes
    ----------
    part : Part, optional
        None if too few restarts survived.
    settings : Settings
    seeds : list of int
    health : list of RestartHealth
        One per restart.
    history : list of Record
    asked : int
        Restarts to begin with; those beyond were trained because too few of them survived.
    """

    part: Part | None
    settings: Settings
    seeds: list[int]
    health: list[RestartHealth]
    history: list[Record]
    asked: int

    @property
    def suffices(self) -> bool:
        """Whether enough restarts survived to answer."""
        return self.part is not None and survivors_suffice(len(self.part.maps), self.asked)


class Task(Protocol):
    """What restarts are trained on, and how they are judged."""

    def settings(self, config: TrainConfig) -> Settings:
        """Return the configuration without gaps, and why it is so."""

    @property
    def shape(self) -> Shape:
        """Size of the table to train on."""

    def trainer(
        self, config: TrainConfig, seeds: Sequence[int], *, device: torch.device, crew: Executor | None
    ) -> Trainer:
        """Return restarts, ready to be trained."""

    def judge(self, model: Model, failures: Sequence[str | None]) -> tuple[list[RestartHealth], NDArray[np.intp]]:
        """Return the verdict on each restart and its class map (R, K)."""

    def part(self, model: Model, maps: NDArray[np.intp]) -> Part:
        """Return the restarts that were kept, ready to be asked."""


class LabelTask:
    """Training on labels, near-copies among the learners reduced.

    Parameters
    ----------
    votes : Votes
    reduction : Reduction
        From their learners to those of the model.
    start : Start
        Of the reduced votes.
    """

    def __init__(self, votes: Votes, reduction: Reduction, start: Start = MAJORITY) -> None:
        reduced = reduction.reduce(votes.without_truth())
        self.votes, self.reduction, self.start = reduced.select_rows(reduced.votes_per_row > 0), reduction, start

    def settings(self, config: TrainConfig) -> Settings:
        """Return the configuration without gaps, and why it is so."""
        return self.start.settings(config, self.votes)

    @property
    def shape(self) -> Shape:
        """Size of the reduced table, rows without votes left out."""
        return Shape.of(self.votes)

    def trainer(
        self, config: TrainConfig, seeds: Sequence[int], *, device: torch.device, crew: Executor | None
    ) -> Trainer:
        """Return restarts, ready to be trained."""
        votes, tree = self.votes, self.start.tree
        return Trainer(votes.codes, votes.n_classes, config, seeds, device=device, tree=tree, crew=crew)

    def judge(self, model: Model, failures: Sequence[str | None]) -> tuple[list[RestartHealth], NDArray[np.intp]]:
        """Return the verdict on each restart and its class map (R, K).

        By the majority vote.
        """
        votes, rows = self.votes, spread_rows(self.votes.n_rows, JUDGED_ROWS)
        gold = None if votes.gold is None else votes.gold.codes
        if votes.gold is not None:
            rows = np.union1d(rows, votes.gold.rows)
        majority = votes.majority_vote.codes[rows]
        labels = np.empty((model.n_models, len(rows)), np.intp)
        for chunk in row_chunks(len(rows), model):
            labels[:, chunk] = ask(model, votes.codes[rows[chunk]], exact=False).argmax(-1)
        if gold is None:
            maps = np.stack([class_map(own, majority, votes.n_classes) for own in labels])
        else:  # gold is an anchor of the class map, and nothing else in training
            maps = np.stack([anchored_map(own, majority, gold[rows], votes.n_classes) for own in labels])
        mapped = np.stack([maps[r][own] for r, own in enumerate(labels)])
        return judge(mapped, majority, votes.n_classes, failures, votes.classes), maps

    def part(self, model: Model, maps: NDArray[np.intp]) -> Part:
        """Return the restarts that were kept, ready to be asked."""
        return Part(self.reduction, model, maps)


def fit_restarts(
    task: Task,
    config: TrainConfig,
    seeds: Sequence[int],
    *,
    asked: int,
    report: Callable[[Record, float, bool], None],
    pool: Executor,
    control: Control | None = None,
    name: str = "training",
) -> Fit:
    """Train ``asked`` restarts of a task and keep the living ones.

    If too few survive, as many again are trained while there are seeds: collapse is mostly bad luck of a start.
    Checkpoints are kept under keys that begin with ``name``. ``report`` is called, from several threads, with a record,
    the share of its restart that is done, and whether it comes from a checkpoint.

    Raises
    ------
    Stopped
        If ``control`` says so.
    """
    device = pick_device(config.device)
    control = control or Control()
    settings = with_backend(task.settings(config), task.shape, device.type)
    settings, size = _resumable(f"{name}-stacks", prepare(settings, control), asked, device, control)
    settings = prepare(settings, control)  # the backend of the checkpoints may be another, and missing here
    threads = crew(-(-asked // size))

    def train(first: int) -> _Trained:
        own = seeds[first : min(first + size, (first // asked + 1) * asked)]
        trainer = task.trainer(settings.config, own, device=device, crew=threads)
        return _Stack(trainer, first, f"{name}-{first}", control).train(report)

    failures: list[str | None] = []
    history: list[Record] = []
    rounds: list[Model] = []

    def models(begin: int) -> Iterator[Model]:
        for own in pool.map(train, range(begin, begin + asked, size)):
            failures.extend(own.failures)
            history.extend(record for records in own.records for record in records)
            yield own.model

    for begin in range(0, len(seeds), asked):
        rounds.append(_together(models(begin), asked))
        model = stack(rounds) if len(rounds) > 1 else rounds[0]
        health, maps = task.judge(model, failures)
        alive = [r for r, verdict in enumerate(health) if verdict.kept]
        if survivors_suffice(len(alive), asked) or hopeless(len(alive), len(health)):
            break
    part = None
    if alive:
        whole = len(alive) == model.n_models
        survivors = model if whole else model.with_parameters([tensor[alive] for tensor in model.parameters()])
        part = task.part(survivors.to("cpu"), maps[alive])  # a GPU is free for others after training
    return Fit(part, settings, list(seeds[: len(health)]), health, history, asked)


def _resumable(
    key: str, settings: Settings, asked: int, device: torch.device, control: Control
) -> tuple[Settings, int]:
    """Return settings and stack size of the checkpoints, or save these.

    The stack size and the backend depend on the device, and checkpoints hold whole stacks: a run begun on a CPU goes on
    in the CPU's stacks, by the backend it began with, where that can be had.
    """
    backend = settings.config.backend
    size = stack_size(asked, device, backend)
    saved = control.load(key)
    if saved is None:
        control.save(key, Saved({}, {"stack_size": size, "backend": backend}))
        return settings, size
    before = saved.notes.get("backend", "torch")
    if before != backend and (before == "torch" or (device.type == "cpu" and available())):
        reasons = {**settings.reasons, "backend": "as when this training began"}
        settings = Settings(replace(settings.config, backend=before), reasons)
    return settings, int(saved.notes["stack_size"])


def _together(models: Iterator[Model], count: int) -> Model:
    """Return models side by side, each let go as it is copied.

    With a thousand classes a model takes 100 MB, and all of them are never held twice.
    """
    room: list[torch.Tensor] = []
    filled = 0
    for model in models:
        room = room or [tensor.new_empty((count, *tensor.shape[1:])) for tensor in model.parameters()]
        for whole, own in zip(room, model.parameters(), strict=True):
            whole[filled : filled + model.n_models] = own
        filled += model.n_models
    return model.with_parameters(room)


class _Trained(NamedTuple):
    """What is kept of a stack once it is trained.

    The trainer's memory is for the next one.
    """

    model: Model
    failures: list[str | None]
    records: list[list[Record]]


class _Stack:
    """Restarts side by side, with their checkpoint under a key."""

    def __init__(self, trainer: Trainer, first: int, key: str, control: Control) -> None:
        self.trainer, self.first, self.key, self.control = trainer, first, key, control
        self.records: list[list[Record]] = [[] for _ in trainer.seeds]

    def train(self, report: Callable[[Record, float, bool], None]) -> _Trained:
        """Train from the last checkpoint and report every record."""
        self._load()
        for own in self.records:
            if own:
                report(own[-1], self._share(own[-1]), True)
        if not self._enough():
            for records in self.trainer.run(self._before_update):
                for own, record in zip(self.records, records, strict=True):
                    own.append(replace(record, restart=record.restart + self.first))
                    report(own[-1], self._share(own[-1]), False)
                if self._enough():
                    break
        self._save()
        return _Trained(self.trainer.finished(), self.trainer.failures, self.records)

    def _share(self, record: Record) -> float:
        return record.update / self.trainer.n_updates

    def _enough(self) -> bool:
        return self.trainer.config.early_stop and all(has_settled(own) for own in self.records)

    def _before_update(self) -> None:
        """Stop, or save a checkpoint, if it is time to."""
        if self.control.stopped():
            self._save()
            self.control.check()
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


@contextmanager
def training_pool(device: torch.device) -> Iterator[Executor]:
    """Yield a pool of threads to train in.

    One thread per core on a CPU, one in all on a GPU, whose memory is given back at the end.

    Torch works outside the interpreter lock, and one thread per core, each with its own stack of restarts, beats
    several threads inside the small operations of one stack: so operations get one thread each meanwhile.
    """
    before = torch.get_num_threads()
    on_cpu = device.type == "cpu"
    if on_cpu:
        torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor((os.cpu_count() or 1) if on_cpu else 1) as pool:
            yield pool
    finally:
        torch.set_num_threads(before)
        release(device)
