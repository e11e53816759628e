"""Settings of training.

Meaning, bounds, defaults, and values that follow from the data.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from types import NoneType
from typing import Any, get_args, get_type_hints

from deem_core.errors import InputError
from deem_core.votes import Votes

ROWS_PER_UNIT = 10
"""From this many rows per input unit (n / (d·K)) on, a layer pays (docs/method.md)."""

MANY_VOTES = 30
"""From this many votes per row on, a layer does not pay: the majority is clear already."""

TRAINING_TIME = 180.0
"""Learning rate × updates of a default run with layers: shorter ones stay near the majority vote, longer ones drift."""

TRAINING_TIME_BARE = 100.0
"""The same without layers: longer ones fit parameters better and labels of sparse votes worse (docs/method.md)."""

GROUPS_RATE = 0.05
"""Learning rate from a start at groups: larger ones leave it (docs/method.md)."""

GROUPS_TIME = 15.0
"""Learning rate × updates from a start at groups."""

SOFT_TIME = 30.0
"""Learning rate × updates on soft votes: the start is better than the majority vote, and longer runs drift from it."""

SOFT_ACCURACY = 0.9
"""How often a hidden vote is right at the start: evidence is already doubted, hidden votes need not be."""

NOT_SOFT = ("start", "near_copies")
"""Settings that soft DEEM does not have: it starts from what the learners believe and has no guard."""

AUTO = "auto"
"""The learning rate that a sweep recommends, or the start that the votes speak for."""

GIVEN = "given"
"""Reason of a setting that somebody gave."""

UPDATES = (300, 2000)
"""A default run has at least and at most this many updates."""

SOFT_UPDATES = (1, 2000)
"""The same on soft votes."""

GROUPS_UPDATES = (64, 2000)
"""The same from a start at groups, where a short way is enough; as many as there are records."""


def knob(
    default: Any,
    what: str,
    why: str,
    *,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    choices: tuple[str, ...] = (),
    words: tuple[str, ...] = (),
) -> Any:
    """Return a dataclass field of a setting.

    Parameters
    ----------
    default
    what : str
        What it is, in a few words.
    why : str
        Why its default is what it is.
    low, high, above : float, optional
        Bounds of a number; ``above`` is not allowed itself.
    choices : tuple of str
        All values, if there are a few.
    words : tuple of str
        Words allowed beside a number.
    """
    bounds = {"low": low, "high": high, "above": above, "choices": choices, "words": words}
    return field(default=default, metadata={"what": what, "why": why, **bounds})


@dataclass(frozen=True)
class TrainConfig:
    """Settings of a training run.

    None means "from the data" and is filled in by `resolve`.

    Raises
    ------
    InputError
        If a setting is out of its bounds; the text names both.
    """

    n_layers: int | None = knob(
        None, "multinomial layers", "one layer unless rows are few or votes per row many", low=0, high=10
    )
    learning_rate: float | str | None = knob(
        None,
        "a number, or auto: what a sweep recommends",
        "for the mean loss; good with batches of 1024",
        above=0,
        high=100,
        words=(AUTO,),
    )
    updates: int | None = knob(
        None, "updates per restart", "learning rate × updates decides how far a run goes", low=1, high=10_000_000
    )
    epochs: float | None = knob(
        None, "passes over the rows, instead of updates", "another way to give the updates", above=0, high=1_000_000
    )
    batch_size: int | None = knob(None, "rows per update", "large batches are steadier (paper)", low=1, high=10_000_000)
    restarts: int = knob(
        5, "training runs to average", "energy models sometimes collapse; the survivors are averaged", low=1, high=1000
    )
    sampler: str = knob(
        "dmala", "how the model's samples are drawn", "exact in the limit and quick", choices=("dmala", "dula", "gwg")
    )
    sampler_steps: int = knob(
        5, "steps of the sampler per update", "few steps from the data suffice (paper)", low=1, high=10_000
    )
    step_size: float | None = knob(
        None, "size of a sampler's step", "from K: it sets the share of votes a step moves", above=0, high=100
    )
    chain_start: str = knob(
        "data",
        "where the sampler's chains begin",
        "chains leave from the rows themselves",
        choices=("data", "persistent"),
    )
    momentum: float = knob(
        0.0, "share of the last update that carries over", "it helps at the start only (paper)", low=0, high=0.99
    )
    l1: float = knob(
        0.0,
        "weight of the sum of absolute weights",
        "regularisation kills classes sooner than it helps (paper)",
        low=0,
        high=100,
    )
    l2: float = knob(
        0.0,
        "weight of the sum of squared weights",
        "regularisation kills classes sooner than it helps (paper)",
        low=0,
        high=100,
    )
    start: str = knob(
        AUTO,
        "where training starts: the majority vote, or groups of learners; auto: groups where they explain the votes",
        "from the majority vote the label may end up following one group of dependent learners",
        choices=(AUTO, "majority", "groups"),
    )
    init_scale: float | None = knob(
        None,
        "weight of each vote at the start",
        "weight of each vote at the start, the majority vote",
        above=0,
        high=100,
    )
    activation: str = knob(
        "sparsemax", "of the layers", "better than softmax on one-hot votes (paper)", choices=("sparsemax", "softmax")
    )
    early_stop: bool = knob(
        False, "stop a restart whose energies have settled", "the length is given; stopping early saves time only"
    )
    near_copies: str = knob(
        "guard",
        "what to do about near-copies; irbm_cd keeps them unless set",
        "near-copies can capture the label",
        choices=("guard", "keep", "collapse"),
    )
    draws: int = knob(
        0,
        "average the answer over this many passes with sampled layer outputs; 0: one pass with their probabilities",
        "one pass is enough in most cases (paper)",
        low=0,
        high=10_000,
    )
    device: str = knob(
        "auto",
        "where to train: auto, cpu, cuda, cuda:1, mps",
        "a GPU where there is one; an Apple GPU once it has passed make gpu-check",
        choices=("auto", "cpu", "cuda", "mps"),
    )
    backend: str = knob(
        "auto",
        "what computes: torch, or numba, a compiled kernel for CPUs",
        "the kernel on a CPU where there is enough to do",
        choices=("auto", "torch", "numba"),
    )
    random_state: int | None = knob(
        None, "same seed, same labels", "a number makes the run repeatable", low=0, high=2**32 - 1
    )
    allow_few_learners: bool = knob(
        False, "go on with fewer than three learners", "below three learners the labels are not identifiable"
    )

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> TrainConfig:
        """Return the configuration of some settings by name.

        Raises
        ------
        InputError
            If one is unknown or out of its bounds.
        """
        known = [item.name for item in fields(cls)]
        if unknown := sorted(set(settings) - set(known)):
            raise InputError(f"There is no setting {unknown[0]!r}; there are {', '.join(known)}.")
        return cls(**settings)

    def __post_init__(self) -> None:
        """Check every setting against its bounds."""
        for item in fields(self):
            _check(item.name, getattr(self, item.name), setting_types(item.name), item.metadata)
        if self.updates is not None and self.epochs is not None:
            raise InputError("Give either updates or epochs, not both.")


@cache
def setting_types(name: str) -> frozenset[type]:
    """Return the types of a setting, such as {int, NoneType}."""
    hint = get_type_hints(TrainConfig)[name]
    return frozenset(get_args(hint) or (hint,))


@dataclass(frozen=True)
class Shape:
    """What the settings depend on: the size of a table of votes.

    Attributes
    ----------
    n_rows, n_learners, n_classes : int
    votes_per_row : float
        Mean number of votes cast in a row.
    coverage : float
    n_groups : int
        Groups of learners that training starts from, if it does.
    """

    n_rows: int
    n_learners: int
    n_classes: int
    votes_per_row: float
    coverage: float
    n_groups: int = 0

    @classmethod
    def of(cls, votes: Votes) -> Shape:
        """Return the shape of some votes."""
        per_row = float(votes.votes_per_row.mean()) if votes.n_rows else 0.0
        return cls(votes.n_rows, votes.n_learners, votes.n_classes, per_row, votes.coverage)

    @property
    def rows_per_unit(self) -> float:
        """Rows for each of the d·K input units."""
        return self.n_rows / (self.n_learners * self.n_classes)


@dataclass(frozen=True)
class Settings:
    """A configuration without gaps.

    Attributes
    ----------
    config : TrainConfig
        No value is None but ``epochs`` (they became updates) and, if it was not given, ``random_state``.
    reasons : dict
        Setting → why it has its value.
    """

    config: TrainConfig
    reasons: dict[str, str]

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return setting → {"value", "reason"}."""
        return {name: {"value": getattr(self.config, name), "reason": why} for name, why in self.reasons.items()}


def resolve(config: TrainConfig, shape: Shape, *, soft: bool = False) -> Settings:
    """Fill in values from the data, each with a reason.

    A start that is still "auto" counts as the majority vote. ``soft`` tells whether probabilities are trained on: the
    weight at the start, log(K − 1) + log 9, then makes a hidden vote right with 90%.
    """
    reasons = {item.name: _given_reason(config, item) for item in fields(config)}

    def choose(name: str, value: Any, why: str) -> None:
        nonlocal config
        if getattr(config, name) is None:
            config = replace(config, **{name: value})
            reasons[name] = why

    grouped = config.start == "groups"
    plenty = shape.rows_per_unit >= ROWS_PER_UNIT
    if grouped and shape.n_groups:
        choose("n_layers", 1, "a layer holds the groups that training starts from")
    if not plenty:
        why = f"{shape.rows_per_unit:.1f} rows per input unit are fewer than {ROWS_PER_UNIT}: too few for a layer"
    elif shape.votes_per_row >= MANY_VOTES:
        why = f"{shape.votes_per_row:.0f} votes per row are {MANY_VOTES} or more: a layer does not pay"
    else:
        why = f"{shape.rows_per_unit:.0f} rows per input unit are enough for a layer"
    choose("n_layers", int(plenty and shape.votes_per_row < MANY_VOTES), why)
    layered = bool(config.n_layers)
    choose("batch_size", min(1024, shape.n_rows), "1024 rows, or all of them if there are fewer")
    if grouped:
        choose("learning_rate", GROUPS_RATE, "small, so training stays close to the grouped model it starts from")
        if config.near_copies == "guard":
            reasons["near_copies"] = "training starts from the grouped model, so near-copies are only reported"
    choose("learning_rate", 0.5 if layered else 0.3, "default; worked for batches of 1,024 on our real ensembles")
    if config.learning_rate == AUTO:
        raise ValueError("a sweep must have found the learning rate before the other settings can follow")
    rate, batch = float(config.learning_rate or 0), int(config.batch_size or 1)
    if config.epochs is not None:
        updates = max(math.ceil(config.epochs * shape.n_rows / batch), 1)
        reasons["updates"] = f"{config.epochs:g} epochs of {shape.n_rows:,} rows"
        config = replace(config, updates=updates, epochs=None)
    goal, (least, most) = _length(grouped=grouped, layered=layered, soft=soft)
    updates = int(min(max(round(goal / rate, 6), least), most))
    choose("updates", updates, f"learning rate × updates ≈ {goal:g}, within {least} to {most}")
    if soft:
        scale = math.log(shape.n_classes - 1) + math.log(SOFT_ACCURACY / (1 - SOFT_ACCURACY))
        choose("init_scale", scale, f"a hidden vote is right with {SOFT_ACCURACY:.0%} to begin with")
    if grouped:
        choose("init_scale", 2.0, "not used: the weights at the start are those of the grouped model")
    if layered:
        choose("init_scale", 2.0, "a clear majority vote to start from")
        choose("step_size", step_size(shape.n_classes), "a flat energy moves 3% of the votes per step")
    else:
        scale = min(2.0, 12 / max(shape.votes_per_row, 1))
        choose("init_scale", scale, "2, or 12 / votes per row: with more votes training would start saturated")
        choose("step_size", 1.0, "without layers large steps are safe and mix better")
    return Settings(config, {name: why for name, why in reasons.items() if not (soft and name in NOT_SOFT)})


def _length(*, grouped: bool, layered: bool, soft: bool) -> tuple[float, tuple[int, int]]:
    """Return learning rate × updates of a default run, and its bounds."""
    if soft:
        return SOFT_TIME, SOFT_UPDATES
    if grouped:
        return GROUPS_TIME, GROUPS_UPDATES
    return (TRAINING_TIME if layered else TRAINING_TIME_BARE), UPDATES


def _given_reason(config: TrainConfig, item: Any) -> str:
    return item.metadata["why"] if getattr(config, item.name) == item.default else GIVEN


def _check(name: str, value: Any, types: frozenset[type], rule: Any) -> None:
    """Refuse a value of another type, or out of bounds."""
    if value in rule["words"]:
        return
    if value is None:
        if NoneType not in types:
            raise InputError(f"{name} must have a value.")
        return
    if rule["choices"]:
        if re.sub(r"^cuda:\d{1,3}$", "cuda", str(value)) not in rule["choices"]:  # one of several GPUs by number
            raise InputError(f"{name} is {value!r}; it must be one of {', '.join(rule['choices'])}.")
        return
    if bool in types:
        if not isinstance(value, bool):
            raise InputError(f"{name} is {value!r}; it must be True or False.")
        return
    whole = int in types
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        words = "".join(f" or {word!r}" for word in rule["words"])
        raise InputError(f"{name} is {value!r}; it must be a {'whole ' if whole else ''}number{words}.")
    if whole and value != int(value):
        raise InputError(f"{name} is {value!r}; it must be a whole number.")
    low, high, above = rule["low"], rule["high"], rule["above"]
    if (
        (low is not None and value < low)
        or (above is not None and value <= above)
        or (high is not None and value > high)
    ):
        least = f"above {above:g}" if above is not None else f"at least {low:g}"
        raise InputError(f"{name} is {value:g}; it must be {least} and at most {high:g}.")


MOVED_SHARE = 0.03
"""Share of sites that a proposal moves where the energy is flat; 0.01 to 0.06 have worked."""


def step_size(n_classes: int, moved_share: float = MOVED_SHARE) -> float:
    """Return α such that a flat energy moves a share ρ of the sites.

    1/α = ln(K−1) + ln((1−ρ)/ρ).
    """
    return 1 / (math.log(n_classes - 1) + math.log((1 - moved_share) / moved_share))


_SHORT = {"n_layers": "--layers", "batch_size": "--batch", "random_state": "--seed"}


def flag_of(setting: str) -> str:
    """Return the option that gives a setting of `deem_core.model.config.TrainConfig`."""
    return _SHORT.get(setting) or f"--{setting.replace('_', '-')}"
