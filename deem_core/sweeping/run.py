"""Sweeper: trains all candidates, record by record, and can be watched, stopped and asked for its result any time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from deem_core import guidance
from deem_core.config import Shape, TrainConfig
from deem_core.control import Control
from deem_core.copies import guard
from deem_core.devices import cores
from deem_core.errors import InputError
from deem_core.fitting import training_pool
from deem_core.guidance import SMOOTHING
from deem_core.inputs import votes_to_learn_from
from deem_core.records import Record
from deem_core.sweeping.candidates import in_words, plan, stacks_of
from deem_core.sweeping.cost import calibrate
from deem_core.sweeping.curves import Curves
from deem_core.sweeping.depth import Dependence
from deem_core.sweeping.measure import Look, Measure
from deem_core.sweeping.result import Sweep, finish
from deem_core.sweeping.workers import Arrival, Workers
from deem_core.training import pick_device
from deem_core.votes import Votes

UNLUCKY = (
    "From the first initialisation a class died at most rates while no energy rose, which says more about that start "
    "than about the rates: the sweep was repeated from another one."
)
"""Said if the sweep was repeated."""

RECORDS = 64
"""Records after the one before training, evenly spaced over the updates (fewer only if there are fewer updates)."""


@dataclass(frozen=True)
class SweepProgress:
    """One record of one candidate, and how far the sweep has come.

    Attributes
    ----------
    candidate, candidates : int
        Its position in the sweep, and how many there are.
    learning_rate : float
    n_layers : int
    share : float
        Of the whole sweep.
    record : Record
        ``restart`` is the candidate; energies and shares are those of the measured rows.
    share_ratio : float
    seconds_left : float
        Expected.
    """

    candidate: int
    candidates: int
    learning_rate: float
    n_layers: int
    share: float
    record: Record
    share_ratio: float
    seconds_left: float


class Sweeper:
    """A sweep in the making: iterate to run it, and ask for its `result` at any time.

    Every candidate starts from the same weights, sees the same batches and is measured at the same updates on the
    same rows. They advance together, so that a sweep stopped early has told something about each. If classes die at
    most rates while no energy rises, the start is to blame and the sweep is repeated once from another one.

    Parameters
    ----------
    votes : Votes, frame or array
        As `DEEM.fit` takes them; truth is not read.
    rates : sequence of float, optional
        By default nine rates around that of the recipe.
    n_layers : int or sequence of int, optional
        Several depths are compared at one rate.
    config : TrainConfig, optional
        All other settings. The sweep trains on the table that training would train on (``near_copies``), and
        for ``updates``, by default those of a default training at the default rate.
    control : Control, optional
        Asked before every update whether to stop.
    smoothing : float
        Weight of the past in the moving average that verdicts are drawn from.
    """

    def __init__(
        self,
        votes: Any,
        rates: Sequence[float] | None = None,
        *,
        n_layers: int | Sequence[int] | None = None,
        config: TrainConfig | None = None,
        control: Control | None = None,
        smoothing: float = SMOOTHING,
    ) -> None:
        config = config or TrainConfig()
        guidance.smooth(np.zeros((1, 1)), smoothing)  # its bounds, before any work is done
        self.smoothing, self.control = smoothing, control or Control()
        self.seed = int(check_random_state(config.random_state).randint(2**31 - 1))
        self.votes, self.sentences = _table(votes, config, self.seed)
        shape = Shape.of(self.votes)
        self.candidates, self.settings = plan(shape, config, rates, n_layers)
        self.device = pick_device(config.device)
        self.stacks = stacks_of(self.candidates, shape, self.device)
        self.how = in_words(self.stacks, self.device, cores() if self.device.type == "cpu" else 1)
        updates = int(self.settings.config.updates or 1)
        self.schedule = np.unique(np.linspace(0, updates, min(updates, RECORDS) + 1).round().astype(np.intp))
        self.measure = Measure(self.votes, self.seed, self.device)
        self.curves = Curves.empty(len(self.candidates), len(self.schedule), self.votes.n_classes)
        self.failures: dict[int, str] = {}
        self.dependence: dict[int, Dependence] = {}
        self.seconds = 0.0
        self.complete = False
        self._halt = Event()

    def estimate_seconds(self) -> float:
        """Return how long the sweep will take, from a few real updates on this machine (about a second)."""
        return calibrate(self.votes, self.candidates, self.stacks, self.measure, self.device).seconds(
            self.schedule, self.stacks
        )

    def result(self) -> Sweep:
        """Return what is known so far, with verdicts and a recommendation; `Sweep.complete` says if that is all."""
        return finish(self)

    # ------------------------------------------------------------------ running

    def __iter__(self) -> Iterator[SweepProgress]:
        """Run the sweep and yield every record of every candidate as it comes."""
        if self.seconds:
            raise InputError("This sweep has run already; make a new one to run it again.")
        begun = time.perf_counter()
        yield from self._pass(begun)
        if self.complete and guidance.unlucky_start(self.result().verdicts):
            yield from self._again(begun)

    def _again(self, begun: float) -> Iterator[SweepProgress]:
        """Repeat an unlucky sweep once from another initialisation, and keep the one in which more rates live."""
        first, living = (self.seed, self.curves, self.failures, self.dependence), _living(self.result())
        self.seed = int(np.random.SeedSequence([self.seed, 1]).generate_state(1)[0] % (2**31 - 1))
        self.curves = Curves.empty(len(self.candidates), len(self.schedule), self.votes.n_classes)
        self.failures, self.dependence, self.complete = {}, {}, False
        self._halt.clear()
        yield from self._pass(begun)
        if self.complete and _living(self.result()) >= living:
            self.sentences = (*self.sentences, UNLUCKY)
        else:  # stopped, or no better: the first stands
            self.seed, self.curves, self.failures, self.dependence = first
            self.complete = True

    def _pass(self, begun: float) -> Iterator[SweepProgress]:
        """Train all candidates once from the present seed."""
        arrived: SimpleQueue[Arrival] = SimpleQueue()
        with training_pool(self.device) as pool:
            unfinished = Workers(self, pool, arrived).start()
            try:
                while unfinished:
                    arrival = arrived.get()
                    if arrival.error is not None:
                        raise arrival.error
                    self.failures |= arrival.stack.failures
                    self.seconds = time.perf_counter() - begun
                    yield from self._keep(arrival)
                    unfinished -= arrival.last
                self.complete = not self.stopped()
            finally:
                self._halt.set()
                self.seconds = time.perf_counter() - begun

    def stopped(self) -> bool:
        """Return whether somebody wished an end."""
        return self._halt.is_set() or self.control.stopped()

    def _keep(self, arrival: Arrival) -> Iterator[SweepProgress]:
        for at, look in arrival.looks:
            self.curves.put(at, arrival.at, look)
        if arrival.dependence:
            self.dependence |= arrival.dependence
        done = np.maximum(self.curves.reached, [len(self.schedule) * (at in self.failures) for at in self._all()])
        share = float(done.sum() / (len(self.schedule) * len(self.candidates)))
        for at, look in arrival.looks:
            yield SweepProgress(
                candidate=at,
                candidates=len(self.candidates),
                learning_rate=self.candidates[at].learning_rate,
                n_layers=self.candidates[at].n_layers,
                share=share,
                record=self._record(at, int(self.schedule[arrival.at]), look),
                share_ratio=look.share_ratio,
                seconds_left=self.seconds * (1 - share) / share,
            )

    def _all(self) -> range:
        return range(len(self.candidates))

    def epoch(self, update: int) -> float:
        """Return an update as passes through the data."""
        return float(update * int(self.candidates[0].config.batch_size or 1) / self.votes.n_rows)

    def _record(self, at: int, update: int, look: Look) -> Record:
        return Record(
            restart=at,
            update=update,
            epoch=self.epoch(update),
            positive=look.positive,
            negative=look.negative,
            difference=look.positive - look.negative,
            energy_positive=look.energy_positive,
            energy_negative=look.energy_negative,
            energy_difference=look.energy_positive - look.energy_negative,
            acceptance=look.acceptance,
            moved=look.moved,
            shares=look.shares,
            seconds=self.seconds,
        )


def sweep(
    votes: Any,
    rates: Sequence[float] | None = None,
    *,
    n_layers: int | Sequence[int] | None = None,
    smoothing: float = SMOOTHING,
    watch: Callable[[SweepProgress], None] | None = None,
    control: Control | None = None,
    **settings: Any,
) -> Sweep:
    """Train at several learning rates, or depths, from one initialisation, and judge their energy curves.

    Parameters
    ----------
    votes, rates, n_layers, smoothing, control
        See `Sweeper`.
    watch : callable, optional
        Called with a `SweepProgress` at every record.
    **settings
        Those of `deem_core.config.TrainConfig`, such as ``updates``, ``batch_size``, ``near_copies``, ``device``
        and ``random_state``.
    """
    sweeper = Sweeper(
        votes, rates, n_layers=n_layers, config=TrainConfig.of(settings), control=control, smoothing=smoothing
    )
    for progress in sweeper:
        if watch is not None:
            watch(progress)
    return sweeper.result()


def estimate_seconds(
    votes: Any, rates: Sequence[float] | None = None, *, n_layers: int | Sequence[int] | None = None, **settings: Any
) -> float:
    """Return how long `sweep` with the same arguments will take, from a few real updates on this machine."""
    return Sweeper(votes, rates, n_layers=n_layers, config=TrainConfig.of(settings)).estimate_seconds()


def _living(result: Sweep) -> int:
    return sum(verdict.kind != "class died" for verdict in result.verdicts)


def _table(X: Any, config: TrainConfig, seed: int) -> tuple[Votes, tuple[str, ...]]:
    """Return the votes that training would train on, and what was found about near-copies."""
    votes = votes_to_learn_from(X, config.allow_few_learners)
    found = guard(votes, config.near_copies, np.random.default_rng(seed))  # type: ignore[arg-type]
    reduced = found.base.reduce(votes)
    return reduced.select_rows(reduced.votes_per_row > 0), found.sentences
