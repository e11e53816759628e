"""Fitting: restarts trained, judged and kept, and how the kept ones answer together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from deem_core.align import apply_map, class_map
from deem_core.config import Settings, Shape, TrainConfig, resolve
from deem_core.control import Control, Saved
from deem_core.copies import Reduction
from deem_core.diagnostics.health import RestartHealth, hopeless, judge, survivors_suffice
from deem_core.model import Model, marginal_posterior, posterior, stack
from deem_core.records import Record, settled
from deem_core.training import Trainer, pick_device, stack_size
from deem_core.votes import Votes

JUDGED_ROWS = 100_000
"""Rows, evenly spread, on which restarts are aligned with the majority vote and judged."""

_CHUNK_CELLS = 1 << 23  # (row, unit) cells of a layer held at once when predicting


@dataclass(frozen=True)
class Progress:
    """How far a fit has come: restart ``restart`` of ``restarts`` (counted over all trainings) at ``record``.

    ``share`` is how much of this restart is done; ``training`` is 0, or 1 for the hedge. ``restarts`` grows when
    further ones are needed.
    """

    restart: int
    restarts: int
    share: float
    record: Record
    training: int = 0


Watcher = Callable[[Progress], None]


@dataclass(frozen=True)
class Part:
    """Kept restarts of one training and how to ask them.

    Attributes
    ----------
    reduction : Reduction
        From the learners of the file to those of the model.
    model : Model
        R' kept restarts side by side.
    maps : (R', K) int
        Class of each hidden state, per restart (Hungarian against the majority vote of the training rows).
    exact : bool
        Whether missing votes are summed out (the iRBM fitted by likelihood) or silent (all others).
    """

    reduction: Reduction
    model: Model
    maps: NDArray[np.intp]
    exact: bool = False

    def posteriors(self, codes: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Return p(label | votes) (n, K), averaged over the kept restarts, for (n, d) codes of the file's learners."""
        reduced = self.reduction.apply(codes)
        made = np.empty((len(codes), self.model.n_classes))
        for rows in _chunks(len(codes), self.model):
            each = _ask(self.model, reduced[rows], self.exact)
            made[rows] = np.mean([apply_map(each[r], self.maps[r]) for r in range(len(each))], axis=0)
        return made


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


def fit_restarts(
    votes: Votes,
    reduction: Reduction,
    config: TrainConfig,
    seeds: Sequence[int],
    *,
    asked: int,
    watch: Callable[[Record, float], None],
    pool: Executor,
    control: Control | None = None,
    name: str = "training",
) -> Fit:
    """Train ``asked`` restarts on the reduced votes, in the pool's threads, and keep the living ones.

    If too few survive, as many again are trained while there are seeds: collapse is mostly bad luck of a start.
    Where ``control`` keeps places to go on from, they are kept under keys that begin with ``name``.

    Raises
    ------
    Stopped
        If ``control`` says so.
    """
    reduced = reduction.reduce(votes.without_truth())
    reduced = reduced.select_rows(reduced.votes_per_row > 0)
    settings = resolve(config, Shape.of(reduced))
    device = pick_device(config.device)
    size = stack_size(asked, device)
    lock, control = Lock(), control or Control()

    def train(first: int) -> _Stack:
        own = seeds[first : min(first + size, (first // asked + 1) * asked)]
        trainer = Trainer(reduced.codes, reduced.n_classes, settings.config, own, device=device)
        stacked = _Stack(trainer, first, f"{name}-{first}", control)

        def forward(record: Record) -> None:
            with lock:
                watch(record, record.update / trainer.n_updates)

        stacked.train(forward)
        return stacked

    stacks: list[_Stack] = []
    for begin in range(0, len(seeds), asked):
        stacks += pool.map(train, range(begin, begin + asked, size))
        model = stack([own.trainer.finished() for own in stacks])
        health, maps = _judge(reduced, model, [failure for own in stacks for failure in own.trainer.failures])
        alive = [r for r, verdict in enumerate(health) if verdict.kept]
        if survivors_suffice(len(alive), asked) or hopeless(len(alive), len(health)):
            break
    part = None
    if alive:
        kept = model.with_parameters([tensor[alive] for tensor in model.parameters()])
        part = Part(reduction, kept, maps[alive])
    history = [record for own in stacks for records in own.records for record in records]
    return Fit(part, settings, list(seeds[: len(health)]), health, history, asked)


class _Stack:
    """Some restarts side by side, in training or trained, whose place is kept under a key."""

    def __init__(self, trainer: Trainer, first: int, key: str, control: Control) -> None:
        self.trainer, self.first, self.key, self.control = trainer, first, key, control
        self.records: list[list[Record]] = [[] for _ in trainer.seeds]

    def train(self, forward: Callable[[Record], None]) -> None:
        """Train from the place that was kept, if any, and hand on every new record."""
        self._go_back()
        if not self._enough():
            for records in self.trainer.run(self._look_up):
                for own, record in zip(self.records, records, strict=True):
                    own.append(replace(record, restart=record.restart + self.first))
                    forward(own[-1])
                if self._enough():
                    break
        self._keep_place()

    def _enough(self) -> bool:
        return self.trainer.config.early_stop and all(settled(own) for own in self.records)

    def _look_up(self) -> None:
        """Stop or keep the place if it is time to."""
        if self.control.stopped():
            self._keep_place()
            self.control.check()
        if self.control.due(self.key):
            self._keep_place()

    def _keep_place(self) -> None:
        notes = {
            "records": [[record.to_dict() for record in own] for own in self.records],
            "failures": self.trainer.failures,
        }
        self.control.save(self.key, Saved(self.trainer.state(), notes))

    def _go_back(self) -> None:
        saved = self.control.load(self.key)
        if saved is not None:
            self.trainer.restore(saved.tensors)
            self.trainer.failures = list(saved.notes["failures"])
            self.records = [[Record.from_dict(item) for item in own] for own in saved.notes["records"]]


def _judge(votes: Votes, model: Model, failures: Sequence[str | None]) -> tuple[list[RestartHealth], NDArray[np.intp]]:
    """Return the verdict on each restart and its class map (R, K)."""
    rows = np.unique(np.linspace(0, votes.n_rows - 1, min(votes.n_rows, JUDGED_ROWS)).astype(np.intp))
    majority = votes.majority_vote.codes[rows]
    labels = np.empty((model.n_models, len(rows)), np.intp)
    for chunk in _chunks(len(rows), model):
        labels[:, chunk] = _ask(model, votes.codes[rows[chunk]], exact=False).argmax(-1)
    maps = np.stack([class_map(own, majority, votes.n_classes) for own in labels])
    mapped = np.stack([maps[r][own] for r, own in enumerate(labels)])
    return judge(mapped, majority, votes.n_classes, failures, votes.classes), maps


def _ask(model: Model, codes: NDArray[np.integer[Any]], exact: bool) -> NDArray[np.float64]:
    """Return p(h | x) (R, n, K) of a few rows."""
    states = torch.as_tensor(np.ascontiguousarray(codes), device=model.weights.device).to(torch.int64)
    states = states.expand(model.n_models, -1, -1)
    with torch.no_grad():
        found = marginal_posterior(model, states) if exact else posterior(model, states)
    return found.cpu().to(torch.float64).numpy()


def _chunks(n_rows: int, model: Model) -> list[slice]:
    step = max(256, _CHUNK_CELLS // (model.n_models * model.n_learners * model.n_classes))
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


@contextmanager
def training_pool(device: torch.device) -> Iterator[Executor]:
    """Yield threads to train in: one per core on a CPU, one in all on a GPU.

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
