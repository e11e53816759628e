"""DEEM as a scikit-learn estimator.

``fit`` takes votes and never reads their truth; ``predict`` answers in the original labels.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from deem_core.control import Control, Saved
from deem_core.engine import CLUSTER, Engine
from deem_core.estimators import restart_files
from deem_core.estimators.base import Fuser
from deem_core.estimators.files import Content
from deem_core.estimators.summary import TrainingSummary
from deem_core.groups.reduction import Voices
from deem_core.methods.registry import METHODS
from deem_core.model.config import AUTO, GIVEN, TrainConfig
from deem_core.model.records import Record
from deem_core.training.alarms import rate_advice
from deem_core.training.failure import failure
from deem_core.training.health import Restart, RestartHealth
from deem_core.training.near_copies import Reduction
from deem_core.training.parts import Part
from deem_core.training.places import Place
from deem_core.training.restarts import (
    Fit,
    LabelTask,
    Progress,
    Reporter,
    Task,
    Training,
    Watcher,
    fit_restarts,
)
from deem_core.training.start import NOTHING_TO_SWEEP, Plan, plan_training
from deem_core.training.sweep import Sweep, sweep
from deem_core.typing import Codes, Floats
from deem_core.votes import Votes
from deem_core.votes.checks import check_seed
from deem_core.votes.majority import vote_shares

TRIES = 3
"""Times that the restarts asked for are trained, each time anew, before too few survivors mean the majority vote."""

SWEPT = 0.5
"""Share of a fit that choosing the learning rate takes, if it is "auto"."""

HEDGE_RESTARTS = 3
"""Restarts of the second training, with loose cliques of near-copies collapsed: it is one third of the answer."""


class DEEM(Fuser):
    """Deep energy-based ensemble model (the paper's DEEM), robust by default.

    Training starts from groups of learners that err together where such groups explain the votes, and from the majority
    vote elsewhere, where near-copies among the learners get one voice. Several restarts are trained, collapsed ones
    are left out and the others' posteriors averaged; if half or fewer survive, more are trained, and if that does not
    help, the answer is the majority vote, with a warning. docs/method.md explains why.

    Parameters
    ----------
    n_layers, learning_rate, updates, epochs, batch_size, restarts, sampler, sampler_steps, step_size, chain_start, \
momentum, l1, l2, start, init_scale, activation, early_stop, near_copies, draws, device, backend, random_state, \
allow_few_learners
        See `deem_core.model.config.TrainConfig`; None means "from the data".

    Attributes
    ----------
    classes_ : (K,) array
    learners_ : tuple of str
    settings_ : dict
        Setting → {"value", "reason"}.
    history_ : list of Record
    restarts_ : list of dict
        seed, kept, reason, share_ratio and agreement of each restart, and the training it belongs to.
    sweep_ : Sweep or None
        What ``learning_rate="auto"`` was chosen by.
    class_map_ : (kept restarts, K) array
        Class of each hidden state, by the Hungarian algorithm against the majority vote of the training rows.
    near_copies_ : GuardPlan
    start_ : Start
        Where training started; not kept in a file, where ``settings_["start"]`` says it.
    warnings_ : list of str
    fallback_ : bool
        Whether the answer is the majority vote because too few restarts survived.
    seconds_ : float
    device_ : str
        Where restarts were trained; "cluster" if other machines did.
    summary_ : TrainingSummary
        All of this as one typed value.

    Examples
    --------
    >>> from deem_core import DEEM, simulate
    >>> votes = simulate("tree", 300, seed=0).votes
    >>> model = DEEM(random_state=0, restarts=2, updates=20).fit(votes)
    >>> model.predict(votes).shape
    (300,)
    >>> model.settings_["n_layers"]["reason"]
    'a layer holds the groups that training starts from'
    """

    def __init__(
        self,
        *,
        n_layers: int | None = None,
        learning_rate: float | str | None = None,
        updates: int | None = None,
        epochs: float | None = None,
        batch_size: int | None = None,
        restarts: int = 5,
        sampler: str = "dmala",
        sampler_steps: int = 5,
        step_size: float | None = None,
        chain_start: str = "data",
        momentum: float = 0.0,
        l1: float = 0.0,
        l2: float = 0.0,
        start: str = AUTO,
        init_scale: float | None = None,
        activation: str = "sparsemax",
        early_stop: bool = False,
        near_copies: str = "guard",
        draws: int = 0,
        device: str = "auto",
        backend: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        allow_few_learners: bool = False,
    ) -> None:
        self.n_layers = n_layers
        self.learning_rate = learning_rate
        self.updates = updates
        self.epochs = epochs
        self.batch_size = batch_size
        self.restarts = restarts
        self.sampler = sampler
        self.sampler_steps = sampler_steps
        self.step_size = step_size
        self.chain_start = chain_start
        self.momentum = momentum
        self.l1 = l1
        self.l2 = l2
        self.start = start
        self.init_scale = init_scale
        self.activation = activation
        self.early_stop = early_stop
        self.near_copies = near_copies
        self.draws = draws
        self.device = device
        self.backend = backend
        self.random_state = random_state
        self.allow_few_learners = allow_few_learners

    falls_back_to: ClassVar[str] = "mv"
    """Name of the method that answers where too few restarts survive."""

    @property
    def method_name(self) -> str:
        """The method's name in the registry."""
        return "deem"

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        watch: Watcher | None = None,
        control: Control | None = None,
        on: str | Engine | None = None,
    ) -> Self:
        """Train on votes alone.

        Parameters
        ----------
        X : Votes, frame, (n, d) array of labels or (n, d, K) array of probabilities
            Truth in Votes is not read. Of probabilities the most probable classes are used.
        y : ignored
            For scikit-learn's pipelines.
        watch : callable, optional
            Called with a `Progress` at every record.
        control : Control, optional
            Says whether to go on, is told every `Progress`, and keeps checkpoints from which a later call with the same
            arguments goes on.
        on : str or Engine, optional
            Where to run: "local", "ray" or "ray://HOST:PORT"; see `deem_core.engine.engine_of`. Labels are the same.

        Raises
        ------
        InputError
            If the votes or the settings do not serve.
        Stopped
            If ``control`` says so.
        """
        begun, control = time.perf_counter(), control or Control()
        config = self._check_settings()
        votes = self._take_votes(X)
        place = Place.of(config.device, on)
        self._plan(votes, config, control)
        config, reason = self._choose_rate(votes, config, control, place.engine)
        fits = self._train(votes, config, watch, control, place)
        self._keep_survivors(votes, fits)
        self._explain_rate(reason)
        self._estimate_prior(votes)
        self.seconds_ = time.perf_counter() - begun
        return self

    def _check_settings(self) -> TrainConfig:
        """Return the parameters as a checked configuration, and draw the seed."""
        wished = {item.name: getattr(self, item.name) for item in fields(TrainConfig)}
        if not isinstance(wished["random_state"], (int, type(None))):
            wished["random_state"] = None  # a RandomState object decides below
        config = TrainConfig(**wished)
        check_seed(self.random_state)
        self.seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))
        return config

    def _plan(self, votes: Votes, config: TrainConfig, control: Control) -> None:
        """Choose where to start and what to do about near-copies."""
        plan = plan_training(votes, config, self.seed_, control)
        self.near_copies_, self.start_ = plan.near_copies, plan.start
        if plan.start.warning:
            self.warnings_.append(plan.start.warning)

    def _choose_rate(self, votes: Votes, config: TrainConfig, control: Control, on: Engine) -> tuple[TrainConfig, str]:
        """Return the configuration with its learning rate, and why.

        A sweep chooses the rate if it is "auto".
        """
        self.sweep_: Sweep | None = None
        if config.learning_rate != AUTO:
            return config, ""
        config = replace(config, learning_rate=None)
        if self.start_.kind == "groups":
            return config, f"small, and not swept: training starts from the grouped model, and {NOTHING_TO_SWEEP}"
        wished = replace(config, updates=None, epochs=None, random_state=self.seed_)
        part = control.part(0.0, SWEPT, "Choosing the learning rate")
        self.sweep_ = _swept(votes, wished, Plan(self.near_copies_, self.start_), part, on)
        chosen = self.sweep_.recommendation
        if chosen.learning_rate is None:
            self.warnings_.append(
                f"No learning rate was safe in the sweep, so the default one was used. {chosen.why} {chosen.to_try}"
            )
            return config, "the default, because the sweep found no rate that is safe"
        return replace(config, learning_rate=chosen.learning_rate), f"chosen by a sweep: {chosen.why}"

    def _train(
        self, votes: Votes, config: TrainConfig, watch: Watcher | None, control: Control, place: Place
    ) -> list[Fit]:
        """Train restarts on the guarded table, and on the hedge beside it."""
        plan = self.near_copies_
        tables = [plan.base, *([plan.hedge] if plan.hedge is not None else [])]
        trainings = [self._training(votes, at, table, config.restarts) for at, table in enumerate(tables)]
        expected = sum(training.asked for training in trainings)
        report = Reporter(control.part(0.0 if self.sweep_ is None else SWEPT, 1.0), watch)

        def forward(at: int, record: Record, share: float, resumed: bool) -> None:
            # Numbered as in `restarts_`: those asked for, of all trainings, then further ones.
            asked = trainings[at].asked
            spare = record.restart // asked * asked
            number = record.restart + (expected - asked if spare else at * config.restarts)
            report(Progress(number, expected + spare, share, record, at), resumed=resumed)

        fits = fit_restarts(trainings, config, place=place, report=forward, control=control)
        self.reduction_, self.device_ = plan.base, CLUSTER if place.engine.remote else str(place.device)
        return fits

    def _training(self, votes: Votes, at: int, table: Reduction, restarts: int) -> Training:
        """Return the restarts of one table: the guarded one, or the hedge."""
        asked = min(restarts, HEDGE_RESTARTS) if at else restarts
        tries = 1 if at else TRIES  # a hedge that fails is left out
        seeds = np.random.SeedSequence([self.seed_, at]).generate_state(asked * tries).astype(np.int64).tolist()
        return Training(self._task(votes, table), seeds, asked, f"training-{at}")

    def _task(self, votes: Votes, table: Reduction) -> Task:
        """Return what restarts are trained on, and how they are judged."""
        return LabelTask(votes, table, self.start_)

    def _keep_survivors(self, votes: Votes, fits: Sequence[Fit]) -> None:
        """Keep the restarts that live.

        Fall back to the majority vote where too few restarts survived.
        """
        self.warnings_ += [_left_out(fit) for fit in fits if not all(verdict.kept for verdict in fit.health)]
        self.fallback_ = not fits[0].suffices
        if self.fallback_:
            values = {name: item["value"] for name, item in fits[0].settings.to_dict().items()}
            settings = {**values, "method": self.method_name}
            instead, health = METHODS[self.falls_back_to].title.lower(), fits[0].health
            alarm = failure(votes, settings, health, rate_advice(settings, self.sweep_), instead)
            self.warnings_.append(f"{alarm.title}. {alarm.text}")
        self.parts_: list[Part] = [fit.part for fit in fits if fit.suffices and fit.part]
        self.parts_ = [] if self.fallback_ else self.parts_
        self.hedged_ = len(self.parts_) > 1
        if self.draws and not any(part.n_layers for part in self.parts_):
            self.warnings_.append("The model has no layers to draw from, so draws change nothing.")
        self.settings_ = fits[0].settings.to_dict()
        self.history_ = [record for fit in fits for record in fit.history]
        self.restarts_ = [
            {"training": at, "seed": seed, **vars(verdict)}
            for spare in (False, True)
            for at, fit in enumerate(fits)
            for r, (seed, verdict) in enumerate(zip(fit.seeds, fit.health, strict=True))
            if (r >= fit.asked) == spare
        ]
        self.class_map_ = self.parts_[0].maps if self.parts_ else np.zeros((0, len(self.classes_)), np.intp)

    def _explain_rate(self, reason: str) -> None:
        """Give a learning rate that a sweep chose its reason."""
        if reason:
            self.settings_["learning_rate"]["reason"] = reason

    # ------------------------------------------------------------------ the answer, and what training did

    def _posterior(self, codes: Codes) -> Floats:
        """Return the answer of all parts together, (n, K).

        The vote shares where there is none.
        """
        shares = vote_shares(self.reduction_.apply(codes), len(self.classes_))
        if not self.parts_:
            return shares
        answers = [part.posteriors(codes, self.draws, self.seed_) for part in self.parts_]
        # Loose cliques of near-copies may be right or wrong: the answer hedges between both trainings and the votes.
        return np.asarray(np.mean([*answers, shares], axis=0)) if self.hedged_ else answers[0]

    def set_draws(self, draws: int) -> Self:
        """Set how many drawn passes an answer averages; see `Fuser.set_draws`."""
        if "draws" not in self.get_params(deep=False) or not any(part.n_layers for part in self.parts_):
            return super().set_draws(draws)
        self.draws = replace(TrainConfig(), draws=draws).draws
        self.settings_ = {**self.settings_, "draws": {"value": self.draws, "reason": GIVEN}}
        return self

    @property
    def stand_in_(self) -> str:
        """Name of the method that answers for too few survivors."""
        return self.falls_back_to if self.fallback_ else ""

    @property
    def findings_(self) -> tuple[str, ...]:
        """Where training started, and what the near-copy guard has to say."""
        return self.summary_.findings

    @property
    def voices_(self) -> Voices:
        """Near-copies that speak with one voice."""
        return self.reduction_.voices

    @property
    def summary_(self) -> TrainingSummary:
        """What training did, as a typed summary."""
        return replace(
            super().summary_,
            restarts=tuple(Restart(**item) for item in self.restarts_),
            near_copies=tuple(self.near_copies_.sentences),
            hedged=self.hedged_,
            sweep=None if self.sweep_ is None else self.sweep_.to_dict(),
            near_copies_found=bool(self.near_copies_.cliques),
        )

    def content(self) -> Content:
        """Return what a model file holds of this model."""
        return restart_files.pack(self, super().content())

    @classmethod
    def of_content(cls, content: Content) -> Self:
        """Return the model that a file holds; see `Fuser.of_content`."""
        model = super().of_content(content)
        restart_files.unpack(model, content)
        return model


def _swept(votes: Votes, config: TrainConfig, plan: Plan, control: Control, on: Engine) -> Sweep:
    """Return a sweep of the default rates.

    One that was finished before is taken from where it was kept.
    """
    saved = control.load("sweep")
    if saved is not None:
        return Sweep.from_dict(saved.notes)
    result = sweep(votes, control=control, plan=plan, on=on, **vars(config))
    control.check()
    control.save("sweep", Saved({}, result.to_dict()))
    return result


def _left_out(fit: Fit) -> str:
    """Return how many restarts were dropped and why."""
    trained = len(fit.health)
    lost = sum(not verdict.kept for verdict in fit.health)
    more = f" (too few of the first {fit.asked} survived, so {trained - fit.asked} more were trained)"
    return f"{lost} of {trained} restarts were left out{more if trained > fit.asked else ''}: {_reasons(fit.health)}"


def _reasons(health: Sequence[RestartHealth]) -> str:
    """Return why restarts were dropped, each reason once."""
    return " ".join(dict.fromkeys(verdict.reason for verdict in health if not verdict.kept))
