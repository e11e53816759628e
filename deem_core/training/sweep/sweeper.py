"""Sweeper: trains all candidates record by record, and can be stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from threading import Event
from typing import Any, ClassVar

import numpy as np
import torch
from sklearn.utils import check_random_state

from deem_core.control import Control, Halting
from deem_core.engine import Engine, Told, cores
from deem_core.errors import InputError
from deem_core.model.backend import prepare, with_backend
from deem_core.model.config import Settings, Shape, TrainConfig
from deem_core.model.records import Record
from deem_core.training import guidance
from deem_core.training.guidance import SMOOTHING
from deem_core.training.places import Place
from deem_core.training.start import NOTHING_TO_SWEEP, Plan, plan_sweep
from deem_core.training.sweep.candidates import in_words, plan_candidates, stacks_of
from deem_core.training.sweep.cost import calibrate
from deem_core.training.sweep.depth import Dependence
from deem_core.training.sweep.kept import KeptStacks, Outcome
from deem_core.training.sweep.measure import Look, Measure
from deem_core.training.sweep.pieces import Ground, Looks, Swept, sweep_stack
from deem_core.training.sweep.referee import Referee
from deem_core.training.sweep.result import Curves, Sweep, finish
from deem_core.votes.arrays import spread_rows
from deem_core.votes.checks import check_seed
from deem_core.votes.recode import bare, votes_to_learn_from

UNLUCKY = (
    f"From the first initialisation a class died at most rates while no energy rose by more than {guidance.RISE:g} "
    "margins. That says more about the start than about the rates, so the sweep was repeated from another one."
)
"""Said if the sweep was repeated."""

STEP, STEP_AGAIN = "Sweeping", "Sweeping again from another start"
"""What is being done, for those who are told."""

RECORDS = 64
"""Records after the one before training, evenly spaced over the updates (fewer only if there are fewer updates)."""

LIVE_BYTES = 1 << 30
"""Parameters of candidates held at once; beyond it the later ones wait until earlier ones are done."""


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

    kind: ClassVar[str] = "record"

    candidate: int
    candidates: int
    learning_rate: float
    n_layers: int
    share: float
    record: Record
    share_ratio: float
    seconds_left: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: those of the record, and whose it is."""
        return {**self.record.to_dict(), **{name: value for name, value in vars(self).items() if name != "record"}}


class Sweeper:
    """A sweep in progress.

    Iterate to run it, ask for its `result` any time.

    Every candidate starts from the same weights, sees the same batches and is measured at the same updates on the
    same rows. They advance together, so that a sweep stopped early has told something about each. If classes die at
    most rates while no energy rises far, the start is to blame and the sweep is repeated once from another one.

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
        Asked before every update whether to stop, told every record, and keeper of finished stacks of candidates, from
        which a later sweep with the same arguments goes on.
    smoothing : float
        Weight of the past in the moving average that verdicts are drawn from.
    plan : Plan, optional
        Of a training from the majority vote that was planned already; by default it is planned here. A sweep never
        starts from groups of learners: `Sweep.training_start` says whether training would.
    on : str or Engine, optional
        Where to run: "local", "ray" or "ray://HOST:PORT"; see `deem_core.engine.engine_of`. The curves are the same.
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
        plan: Plan | None = None,
        on: str | Engine | None = None,
    ) -> None:
        config = config or TrainConfig()
        guidance.smooth(np.zeros((1, 1)), smoothing)  # its bounds, before any work is done
        self.smoothing, self.control = smoothing, control or Control()
        check_seed(config.random_state)
        self.place = Place.of(config.device, on)
        self.seed = int(check_random_state(config.random_state).randint(2**31 - 1))
        votes = votes_to_learn_from(votes, config.allow_few_learners)
        self.plan = plan_sweep(votes, config, self.seed, self.control) if plan is None else plan
        reduced = self.plan.near_copies.base.reduce(votes)
        voted = reduced.votes_per_row > 0
        self.votes = reduced.select_rows(voted)
        self.sentences = (*self.plan.near_copies.sentences, *_start_note(self.plan))
        shape = Shape.of(self.votes)
        candidates, settings = plan_candidates(shape, replace(config, start="majority"), rates, n_layers)
        settings = with_backend(settings, shape, self.place.device.type, trainings=len(candidates))
        settings = prepare(settings, self.control)
        backend = settings.config.backend
        self.candidates = [replace(own, config=replace(own.config, backend=backend)) for own in candidates]
        self.settings = Settings(settings.config, {**settings.reasons, "start": self.plan.start.reason})
        self.stacks = stacks_of(self.candidates, shape, self.place.device)
        self.how = in_words(self.stacks, self.place.title, self.place.at_once)
        updates = int(self.settings.config.updates or 1)
        self.schedule = spread_rows(updates + 1, RECORDS + 1, nearest=True)
        self.measure = Measure(self.votes, self.seed, self.place.home)
        if self.plan.tree is not None:
            self.measure.referee = Referee.of(self.plan.tree, votes.select_rows(voted).codes[self.measure.rows])
        self.curves = Curves.empty(len(self.candidates), len(self.schedule), self.votes.n_classes)
        self.failures: dict[int, str] = {}
        self.dependence: dict[int, Dependence] = {}
        self.seconds = 0.0
        self.complete = False
        self.ended = False
        self.step = STEP
        self._halt = Event()
        self._begun = time.perf_counter()

    def estimate_seconds(self) -> float:
        """Return how long the sweep will take, from a few real updates."""
        return calibrate(self._ground(), self.stacks, self.place).seconds(self.schedule, self.stacks)

    def result(self) -> Sweep:
        """Return what is known so far, with verdicts and a recommendation.

        `Sweep.complete` says if that is all.
        """
        return finish(self)

    # ------------------------------------------------------------------ running

    def __iter__(self) -> Iterator[SweepProgress]:
        """Run the sweep and yield every record as it comes."""
        if self.seconds:
            raise InputError("This sweep has run already; make a new one to run it again.")
        self._begun = time.perf_counter()
        yield from self._pass(0)
        if self.complete and guidance.unlucky_start(self.result().verdicts):
            yield from self._again()

    def _again(self) -> Iterator[SweepProgress]:
        """Repeat an unlucky sweep from another start, and keep the better one."""
        first, living = (self.seed, self.curves, self.failures, self.dependence), _living(self.result())
        self.seed = int(np.random.SeedSequence([self.seed, 1]).generate_state(1)[0] % (2**31 - 1))
        self.curves = Curves.empty(len(self.candidates), len(self.schedule), self.votes.n_classes)
        self.failures, self.dependence, self.complete = {}, {}, False
        self.step = STEP_AGAIN
        self._halt.clear()
        yield from self._pass(1)
        if self.complete and _living(self.result()) >= living:
            self.sentences = (*self.sentences, UNLUCKY)
        else:  # stopped, or no better: the first stands
            self.seed, self.curves, self.failures, self.dependence = first
            self.complete = True

    def _pass(self, which: int) -> Iterator[SweepProgress]:
        """Train all candidates once from the present seed.

        Stacks that were finished before an interruption are not trained again.
        """
        kept = KeptStacks(self.control, self._mark(which))
        finished = {at for at, members in enumerate(self.stacks) if self._go_on_from(kept.load(members, self.curves))}
        known = self.curves.seconds[np.isfinite(self.curves.seconds)]
        self._begun = min(self._begun, time.perf_counter() - float(known.max(initial=0.0)))  # work before counts
        self.control.tell(self.step, self._share)
        control = Halting(self.control, self._halt)
        try:
            with self.place.crew() as crew:
                for arrival in crew.run(
                    *(sweep_stack, self.stacks, self._ground()),
                    control=control,
                    live=self._live(),
                    wanted=lambda at: at not in finished,
                ):
                    self.seconds = time.perf_counter() - self._begun
                    if isinstance(arrival, Told):
                        yield from self._keep(arrival.news)
                        continue
                    swept: Swept = arrival.value
                    for looks in swept.looks:
                        yield from self._keep(looks)
                    outcome = Outcome(swept.failures, swept.dependence)
                    self._go_on_from(outcome)
                    if swept.complete:
                        finished.add(arrival.at)
                        kept.save(self.stacks[arrival.at], self.curves, outcome)
            self.complete = len(finished) == len(self.stacks)
        finally:
            self._halt.set()
            self.seconds = time.perf_counter() - self._begun

    def _go_on_from(self, outcome: Outcome | None) -> bool:
        """Enter what a stack has brought beside its curves, if it has."""
        if outcome is None:
            return False
        self.failures |= outcome.failures
        self.dependence |= outcome.dependence
        return True

    def _ground(self) -> Ground:
        """Return what all stacks share."""
        remote = self.place.engine.remote
        return Ground(
            votes=bare(self.votes),
            resident=None if remote else torch.tensor(self.votes.codes, device=self.place.device),
            measure=self.measure,
            candidates=self.candidates,
            settings=self.settings,
            schedule=self.schedule,
            seed=self.seed,
            device=str(self.place.device),
            n_stacks=len(self.stacks),
        )

    def _live(self) -> int:
        """Return how many stacks memory allows at once."""
        cells = self.votes.n_learners * self.votes.n_classes
        deepest = max(candidate.n_layers for candidate in self.candidates)
        bytes_each = 4 * cells * (self.votes.n_classes + deepest * cells) * max(map(len, self.stacks))
        return max(cores(), LIVE_BYTES // max(bytes_each, 1))

    def _mark(self, which: int) -> dict[str, Any]:
        """Return what the numbers of a stack depend on, beside the votes."""
        return {
            "pass": which,
            "seed": self.seed,
            "device": self.place.device.type,
            "backend": self.settings.config.backend,
            "schedule": self.schedule.tolist(),
            "candidates": [[candidate.learning_rate, candidate.n_layers] for candidate in self.candidates],
        }

    def end(self) -> None:
        """End the sweep as if there were no more to train.

        Whoever iterates gets a few more records at most; the result says that it was ended.
        """
        self.ended = True
        self._halt.set()

    def stopped(self) -> bool:
        """Return whether somebody wished an end."""
        return self._halt.is_set() or self.control.stopped()

    def _keep(self, news: Looks) -> Iterator[SweepProgress]:
        """Enter a record of a stack and yield its news.

        What a stack tells comes again with its result, and again where it was done again.
        """
        self.failures |= news.failures
        looks = [(at, look) for at, look in news.looks if not self.curves.known(at, news.at)]
        for at, look in looks:
            self.curves.put(at, news.at, look, self.seconds)
        share = self._share
        for at, look in looks:
            progress = SweepProgress(
                candidate=at,
                candidates=len(self.candidates),
                learning_rate=self.candidates[at].learning_rate,
                n_layers=self.candidates[at].n_layers,
                share=share,
                record=self._record(at, int(self.schedule[news.at]), look),
                share_ratio=look.share_ratio,
                seconds_left=self.seconds * (1 - share) / share,
            )
            self.control.tell(self.step, share, progress)
            yield progress

    @property
    def _share(self) -> float:
        """Share of all records that is known; abandoned candidates count as done."""
        done = np.maximum(self.curves.reached, [len(self.schedule) * (at in self.failures) for at in self._all()])
        return float(done.sum() / (len(self.schedule) * len(self.candidates)))

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
    plan: Plan | None = None,
    on: str | Engine | None = None,
    **settings: Any,
) -> Sweep:
    """Train at several learning rates, or depths, and judge their energy curves.

    Parameters
    ----------
    votes, rates, n_layers, smoothing, control, plan, on
        See `Sweeper`.
    watch : callable, optional
        Called with a `SweepProgress` at every record.
    **settings
        Those of `deem_core.model.config.TrainConfig`, such as ``updates``, ``batch_size``, ``near_copies``, ``device``
        and ``random_state``.

    Examples
    --------
    >>> from deem_core import simulate, sweep
    >>> result = sweep(simulate("tree", 300, seed=0).votes, [0.1, 0.5], updates=20, random_state=0)
    >>> len(result.verdicts)
    2
    """
    config = TrainConfig.of(settings)
    sweeper = Sweeper(
        votes, rates, n_layers=n_layers, config=config, control=control, smoothing=smoothing, plan=plan, on=on
    )
    for progress in sweeper:
        if watch is not None:
            watch(progress)
    return sweeper.result()


def estimate(
    votes: Any,
    rates: Sequence[float] | None = None,
    *,
    n_layers: int | Sequence[int] | None = None,
    on: str | Engine | None = None,
    **settings: Any,
) -> float:
    """Return the seconds that `sweep` will take.

    For the same arguments, from a few real updates.
    """
    config = replace(TrainConfig.of(settings), start="majority")  # the same sweep, without the search for groups
    return Sweeper(votes, rates, n_layers=n_layers, config=config, on=on).estimate_seconds()


def _living(result: Sweep) -> int:
    return sum(verdict.kind != "class died" for verdict in result.verdicts)


def _start_note(plan: Plan) -> tuple[str, ...]:
    """Return a sentence where training would start elsewhere."""
    if plan.training_start == "majority":
        return ()
    return (
        "This sweep starts from the majority vote, and its rates hold for training from there (start: majority). By "
        f"default training starts from the grouped model on these votes and needs no sweep: {NOTHING_TO_SWEEP}.",
    )
