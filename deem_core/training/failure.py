"""Failure: why no restart survived, and what helps against that.

Told once for pages, reports and commands. The likeliest cause comes first, since a remedy against another one only
costs time: no learning rate helps where "spam" and "Spam" are two classes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np

from deem_core.alarm import Alarm, Mend, cause_first
from deem_core.model.config import Shape, TrainConfig, resolve
from deem_core.model.records import Record
from deem_core.text import count, percent, quoted
from deem_core.training.alarms import RateAdvice, alarms, more_restarts, rate_advice
from deem_core.training.health import Restart
from deem_core.training.sweep.result import Sweep
from deem_core.votes import Votes
from deem_core.votes.spelling import alike, headline

FAST = 2.0
"""A learning rate beyond so many times the usual one is the first suspect."""
ROWS_PER_CLASS = 50
"""Rows for each class below which trainings of a class easily die."""
RARE = 0.02
"""Share of the rows, by majority vote, below which a class easily dies."""
MANY_CLASSES = 50
MANY_LEARNERS = 100


class Judged(Protocol):
    """A restart with its verdict."""

    @property
    def kept(self) -> bool:
        """Whether it takes part in the answer."""

    @property
    def share_ratio(self) -> float:
        """NaN for a restart whose numbers ran away."""


class Cause(NamedTuple):
    """A likely cause, what to do, and buttons that do it."""

    sentence: str
    advice: str
    remedies: Mapping[str, dict[str, Any]] = MappingProxyType({})
    mend: Mend = ""


def sentence(restarts: Sequence[Judged], instead: str) -> str:
    """Say that a training failed, and whose labels these are."""
    return f"Training failed ({_usable(restarts)}). These labels are the plain {instead}."


def _usable(restarts: Sequence[Judged]) -> str:
    return f"{sum(restart.kept for restart in restarts)} of {len(restarts)} restarts usable"


def alarms_of(
    votes: Votes,
    records: Sequence[Record],
    settings: Mapping[str, Any],
    restarts: Sequence[Restart] = (),
    *,
    sweep: Sweep | None = None,
    instead: str = "",
    labels: Iterable[Alarm] = (),
) -> list[Alarm]:
    """Return the alarms of a training, and of its labels.

    One that failed raises that alone: what its sampler did, or how its restarts differ, follows from it.

    Parameters
    ----------
    votes, settings, restarts, instead
        As in `failure`; ``instead`` is empty for a training that succeeded.
    records, sweep, labels
        As in `deem_core.training.alarms.alarms`.
    """
    if not instead:
        return alarms(records, settings, restarts, sweep, labels)
    failed = failure(votes, settings, restarts, rate_advice(settings, sweep), instead)
    others = [alarm for alarm in cause_first(labels) if alarm.kind != failed.mend]  # spellings are said once
    return [failed, *others]


def failure(
    votes: Votes, settings: Mapping[str, Any], restarts: Sequence[Judged], rate: RateAdvice, instead: str
) -> Alarm:
    """Return the alarm of a training that fell back.

    Parameters
    ----------
    votes : Votes
        What it was trained on.
    settings : mapping
        Setting → value, resolved, and the ``method``.
    restarts : sequence of restarts
    rate : RateAdvice
        What is known about the learning rate.
    instead : str
        Whose labels these are now, such as "majority vote".
    """
    cause = next(_causes(votes, settings, restarts, rate))
    return Alarm(
        "fallback",
        f"Training failed ({_usable(restarts)})",
        f"These labels are the plain {instead}." + (f" Likely cause: {cause.sentence}" if cause.sentence else ""),
        cause.advice,
        dict(cause.remedies),
        cause.mend,
    )


def _causes(votes: Votes, settings: Mapping[str, Any], restarts: Sequence[Judged], rate: RateAdvice) -> Iterator[Cause]:
    """Yield causes, the likeliest first; the last one is always there."""
    shape, used = Shape.of(votes), settings.get("learning_rate")
    soft = settings.get("method") == "deem_soft"
    usual = resolve(TrainConfig(), shape, soft=soft).config.learning_rate
    if isinstance(used, (int, float)) and isinstance(usual, (int, float)) and used > FAST * usual:
        slower = {f"Train with the usual rate {usual:g}": {"learning_rate": None, "updates": None, "epochs": None}}
        yield Cause(
            f"the learning rate {used:g} is far above the usual {usual:g}.", rate.sentence, rate.remedies or slower
        )
    labels = list(map(str, votes.classes.tolist()))
    if spelled := alike(dict.fromkeys(labels, 0)):
        yield Cause(f"{headline(spelled, labels)}.", "Merge the spellings, then train again.", mend="spellings")
    if any(math.isnan(restart.share_ratio) for restart in restarts):
        yield Cause("the numbers of a restart diverged: the learning rate is too high.", rate.sentence, rate.remedies)
    rows = int((votes.votes_per_row > 0).sum())
    if rows < ROWS_PER_CLASS * votes.n_classes:
        yield Cause(
            f"{count(rows, 'row')} with votes are few for {count(votes.n_classes, 'class', 'classes')}; below "
            f"{ROWS_PER_CLASS} for each, a class is easily lost in training.",
            "Add rows (they need no labels), merge rare classes, or use an exact method.",
            _exact(),
            "labels",
        )
    if votes.n_classes > MANY_CLASSES:
        yield Cause(
            f"{votes.n_classes:,} classes are many for training with a sampler.",
            "An exact method suits this better.",
            _exact(),
        )
    if votes.n_learners >= MANY_LEARNERS:
        yield Cause(
            f"{votes.n_learners:,} learners are many, and each casts few of the votes.",
            "An exact method suits this better.",
            _exact(),
        )
    if rare := _rare(votes):
        yield Cause(
            f"some classes are very rare: {quoted(rare, 6)} (below {percent(RARE, 0)} of the rows).",
            "Merge rare classes, or use an exact method.",
            _exact(),
            "labels",
        )
    yield Cause("", rate.sentence, rate.remedies | more_restarts(settings))


def _rare(votes: Votes) -> list[str]:
    rows = np.bincount(votes.majority_vote.codes[votes.votes_per_row > 0], minlength=votes.n_classes)
    rare = np.flatnonzero((rows > 0) & (rows < RARE * rows.sum()))
    return [str(votes.classes[k]) for k in rare]


def _exact() -> dict[str, dict[str, Any]]:
    """Return the exact iRBM as a remedy: it cannot collapse."""
    untuned: dict[str, Any] = {item.name: None for item in fields(TrainConfig)}
    return {"Train the exact iRBM instead": {**untuned, "method": "irbm", "random_state": 0}}
