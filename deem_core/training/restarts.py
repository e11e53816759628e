"""Restarts: trained, judged and kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from deem_core.control import Control, Saved, Stopped
from deem_core.engine import Told
from deem_core.model.backend import prepare, with_backend
from deem_core.model.config import Settings, Shape, TrainConfig
from deem_core.model.energy import Model
from deem_core.model.energy import stack as stack_models
from deem_core.model.kernel.compilation import available
from deem_core.model.records import Record
from deem_core.model.trainer import Trainer, stack_size
from deem_core.training.health import RestartHealth, hopeless, judge, survivors_suffice
from deem_core.training.near_copies import Reduction
from deem_core.training.parts import Part, ask, row_chunks
from deem_core.training.places import Place
from deem_core.training.stacks import Course, Shared, Stack, Trainable, Trained, train_stack
from deem_core.training.start import MAJORITY, Start
from deem_core.votes import Votes
from deem_core.votes.alignment import anchored_map, class_map
from deem_core.votes.arrays import spread_rows
from deem_core.votes.recode import bare

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

    def __call__(self, progress: Progress, *, resumed: bool = False) -> None:
        """Report a record; a resumed one only counts.

        It comes from a checkpoint and was reported before.
        """
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


class Task(Trainable, Protocol):
    """What restarts are trained on, and how they are judged."""

    def settings(self, config: TrainConfig) -> Settings:
        """Return the configuration without gaps, and why it is so."""

    @property
    def shape(self) -> Shape:
        """Size of the table to train on."""

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

    def __getstate__(self) -> dict[str, Any]:
        """Travel without what only judging needs."""
        return {**vars(self), "votes": bare(self.votes)}

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


@dataclass(frozen=True)
class Training:
    """Restarts of a table that are to be trained.

    Attributes
    ----------
    task : Task
    seeds : list of int
        One per restart; those beyond the ones asked for are trained if too few survive.
    asked : int
    name : str
        Keys of its checkpoints begin with it.
    """

    task: Task
    seeds: list[int]
    asked: int
    name: str = "training-0"


def fit_restarts(
    trainings: Sequence[Training],
    config: TrainConfig,
    *,
    place: Place,
    report: Callable[[int, Record, float, bool], None],
    control: Control | None = None,
) -> list[Fit]:
    """Train restarts of some tables beside each other.

    Living ones are kept. If too few of a table survive, as many again are trained while there are seeds: collapse is
    mostly bad luck of a start. ``report`` is called with the position of a training, a record, the share of its restart
    that is done, and whether it comes from a checkpoint.

    Raises
    ------
    Stopped
        If ``control`` says so.
    """
    control = control or Control()
    under_way = [_UnderWay(training, config, place, control) for training in trainings]
    courses = tuple(Course(own.training.task, own.settings, own.n_stacks) for own in under_way)
    shared = Shared(courses, str(place.device))
    with place.crew() as crew:
        while stacks := [stack for at, own in enumerate(under_way) for stack in own.next_round(at)]:
            for arrival in crew.run(train_stack, stacks, shared, control=control, keys=lambda stack: (stack.key,)):
                stack = stacks[arrival.at]
                own = under_way[stack.training]
                if isinstance(arrival, Told):
                    records, resumed = arrival.news.records, arrival.news.resumed
                elif arrival.value is None:  # it was told to stop, and so were the others, which leave checkpoints too
                    continue
                else:
                    records, resumed = own.take(stack, arrival.value), False
                for record in own.unheard(records):
                    report(stack.training, record, record.update / own.n_updates, resumed)
            if any(own.missing for own in under_way):
                control.check()
                raise Stopped("Stopped as requested.")
            for own in under_way:
                own.judge()
        return [own.fit() for own in under_way]


class _UnderWay:
    """A training under way: rounds of stacks, put together as they come."""

    def __init__(self, training: Training, config: TrainConfig, place: Place, control: Control) -> None:
        self.training, self.asked, self.home = training, training.asked, place.home
        task, device = training.task, place.device
        settings = prepare(with_backend(task.settings(config), task.shape, device.type), control)
        settings, self.size = _resumable(f"{training.name}-stacks", settings, self.asked, device, control)
        self.settings = prepare(settings, control)  # the backend of the checkpoints may be another, and missing here
        self.rounds: list[_Round] = []
        self.health: list[RestartHealth] = []
        self.alive: list[int] = []
        self.over = False
        self.heard: dict[int, int] = {}  # the latest update of each restart that was reported

    @property
    def n_stacks(self) -> int:
        """Stacks of a round."""
        return -(-self.asked // self.size)

    @property
    def n_updates(self) -> int:
        """Updates of each restart."""
        return int(self.settings.config.updates or 1)

    @property
    def missing(self) -> bool:
        """Whether a stack that was begun has brought no result."""
        return any(None in own.records for own in self.rounds)

    def next_round(self, at: int) -> list[Stack]:
        """Return the stacks to train next, none if it is over."""
        begin = self.asked * len(self.rounds)
        if self.over:
            return []
        self.rounds.append(_Round(self.asked))
        seeds, name, end = self.training.seeds[: begin + self.asked], self.training.name, begin + self.asked
        firsts = range(begin, end, self.size)
        return [Stack(at, first, tuple(seeds[first : first + self.size]), f"{name}-{first}") for first in firsts]

    def take(self, stack: Stack, trained: Trained) -> list[Record]:
        """Put a trained stack in its place and return all its records."""
        whole = self.rounds[stack.first // self.asked]
        whole.put(stack.first % self.asked, trained, self.home)
        return [record for records in trained.records for record in records]

    def unheard(self, records: Sequence[Record]) -> Iterator[Record]:
        """Yield the records that are news.

        News of a piece that was done again comes twice, and on its way some may be lost.
        """
        for record in records:
            if record.update > self.heard.get(record.restart, 0):
                self.heard[record.restart] = record.update
                yield record

    def judge(self) -> None:
        """Judge all restarts so far, and whether there are enough."""
        if self.over:
            return
        failures = [failure for own in self.rounds for failure in own.failures]
        models = [own.model for own in self.rounds]
        self.model = stack_models(models) if len(models) > 1 else models[0]
        self.health, self.maps = self.training.task.judge(self.model, failures)
        self.alive = [r for r, verdict in enumerate(self.health) if verdict.kept]
        enough = survivors_suffice(len(self.alive), self.asked) or hopeless(len(self.alive), len(self.health))
        self.over = enough or len(self.health) >= len(self.training.seeds)

    def fit(self) -> Fit:
        """Return the training with its survivors."""
        part, model, maps, alive = None, self.model, self.maps, self.alive
        if alive:
            whole = len(alive) == model.n_models
            survivors = model if whole else model.with_parameters([tensor[alive] for tensor in model.parameters()])
            part = self.training.task.part(survivors.to("cpu"), maps[alive])  # a GPU is free for others
        history = [record for own in self.rounds for records in own.records for record in records or ()]
        return Fit(part, self.settings, self.training.seeds[: len(self.health)], self.health, history, self.asked)


class _Round:
    """Restarts of a round, side by side in whatever order they come.

    Each stack's model is let go as it is copied: with a thousand classes one takes 100 MB, and all of them are never
    held twice.
    """

    def __init__(self, asked: int) -> None:
        self.asked = asked
        self.failures: list[str | None] = [None] * asked
        self.records: list[list[Record] | None] = [None] * asked
        self._model: Model | None = None

    @property
    def model(self) -> Model:
        """All models of the round."""
        if self._model is None:
            raise RuntimeError("nothing has come yet")
        return self._model

    def put(self, at: int, trained: Trained, home: torch.device) -> None:
        """Put a stack from this place on."""
        own = trained.model
        if self._model is None:
            room = [tensor.new_empty((self.asked, *tensor.shape[1:]), device=home) for tensor in own.parameters()]
            self._model = own.with_parameters(room)
        places = slice(at, at + own.n_models)
        for whole, tensor in zip(self._model.parameters(), own.parameters(), strict=True):
            whole[places] = tensor
        self.failures[places] = trained.failures
        self.records[places] = trained.records


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
