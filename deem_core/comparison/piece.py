"""Piece of a comparison: one run of one method."""

from __future__ import annotations

import logging
import time
import zlib
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from deem_core.alarm import Alarm, Kind
from deem_core.answers.alarms import label_alarms
from deem_core.answers.answer import Answer
from deem_core.answers.stored import LabelsOnly
from deem_core.comparison.gauge import Gauge
from deem_core.control import Control, ProgressRecord, Saved, Stopped, StopWhen
from deem_core.errors import DeemError
from deem_core.files.plain import from_plain, to_plain
from deem_core.groups.panel import PanelHealth
from deem_core.methods import registry
from deem_core.methods.contract import Aggregate
from deem_core.typing import Codes
from deem_core.votes import Votes

Kept = Literal["codes", "labels", "probabilities"]
"""What is kept of a method's first run: class codes alone, all that tables tell of labels, or the posterior."""

_CODES, _POSTERIOR = "codes", "posterior"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Shared:
    """What all runs of a comparison have in common.

    Attributes
    ----------
    votes : Votes
        Without truth.
    health : PanelHealth
        Of their panel, for alarms.
    budget : float
        Seconds for each method; infinite for no limit.
    device : str
        Where models train.
    kept : Kept
    """

    votes: Votes
    health: PanelHealth
    budget: float
    device: str
    kept: Kept

    def __getstate__(self) -> dict[str, Any]:
        """Return what travels: the votes without what was computed from them."""
        return {**vars(self), "votes": self.votes.without_truth()}


@dataclass(frozen=True)
class Piece:
    """A run to be done.

    Attributes
    ----------
    name : str
        Of the method.
    number : int
        Of the run, counted from 0.
    random_state : int
        Of the comparison.
    left : float
        Seconds that it may take; infinite for no limit.
    """

    name: str
    number: int
    random_state: int
    left: float = np.inf

    @property
    def key(self) -> str:
        """Under which a finished run is kept."""
        return f"compared-{self.name}-{self.number}"

    def rng(self) -> np.random.Generator:
        """Return the run's own random numbers."""
        entropy = [self.random_state, zlib.crc32(self.name.encode())]
        return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(self.number,)))


@dataclass(frozen=True)
class RunShare:
    """How far a run has come, from 0 to 1."""

    kind: ClassVar[str] = "run"

    name: str
    number: int
    share: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        plain: dict[str, Any] = to_plain(self)
        return plain


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """What came of a run, without the votes.

    Attributes
    ----------
    seconds : float
    memory_bytes : int
        As the gauge saw it.
    trouble : str
        Why there are no labels.
    lasting : bool
        Whether it would be the same again: labels, or a time limit that was reached.
    iterations : int
    converged, cut : bool
    notes, answered_by, method_alarms, handles
        As in `Aggregate`.
    alarms : tuple of Alarm
        About the labels; of a first run alone.
    arrays : dict
        ``codes`` (n,), in the smallest integers that hold them, and what is kept of a first run.
    """

    seconds: float = 0.0
    memory_bytes: int = 0
    trouble: str = ""
    lasting: bool = True
    iterations: int = 0
    converged: bool = True
    cut: bool = False
    notes: tuple[str, ...] = ()
    answered_by: str = ""
    method_alarms: tuple[Alarm, ...] = ()
    handles: tuple[Kind, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def ran(self) -> bool:
        """Whether there are labels."""
        return _CODES in self.arrays

    @property
    def codes(self) -> Codes:
        """Class of every row, (n,); -1 without votes."""
        return self.arrays[_CODES].astype(np.int32)

    def answer(self, votes: Votes, method: str) -> Answer:
        """Return the answer for the same votes, as far as kept."""
        if _POSTERIOR not in self.arrays:
            columns = {name: self.arrays[_column(name)] for name in LabelsOnly.COLUMNS}
            return LabelsOnly.of_columns(votes, columns, method=method, answered_by=self.answered_by)
        return Answer(
            votes,
            self.arrays[_POSTERIOR],
            notes=self.notes,
            method=method,
            answered_by=self.answered_by,
            method_alarms=self.method_alarms,
            handles=self.handles,
        )

    def slim(self) -> Outcome:
        """Return the outcome with class codes alone."""
        return replace(self, arrays={name: array for name, array in self.arrays.items() if name == _CODES})

    def to_saved(self, shared: Shared, piece: Piece) -> Saved:
        """Return the outcome as a checkpoint."""
        notes = to_plain(replace(self, arrays={}))
        return Saved({}, {"of": _fingerprint(shared, piece), "outcome": notes}, dict(self.arrays))

    @classmethod
    def from_saved(cls, saved: Saved | None, shared: Shared, piece: Piece) -> Outcome | None:
        """Inverse of `to_saved`; None for another run, or one that kept less."""
        if saved is None or saved.notes.get("of") != _fingerprint(shared, piece):
            return None
        try:
            made = replace(from_plain(cls, saved.notes["outcome"]), arrays=dict(saved.arrays))
        except (KeyError, TypeError, ValueError):
            return None
        complete = not made.ran or set(made.arrays) == {_CODES, *_names(shared, piece)}
        return made if complete else None


def run_method(shared: Shared, piece: Piece, control: Control) -> Generator[None, None, Outcome | None]:
    """Run a method once; None if the comparison was stopped.

    Its one piece of news is that it has begun.
    """
    yield None
    item, begun, gauge = registry.METHODS[piece.name], 0.0, Gauge()
    where = {"device": shared.device} if item.on_gpu else {}

    def over() -> bool:
        return control.stopped() or time.perf_counter() - begun > piece.left

    outcome: Outcome
    try:
        method = item.load()  # imports take time of their own
        begun = time.perf_counter()
        with gauge:
            made = method(shared.votes, piece.rng(), control=_Limited(control, piece, over), **where)
    except Stopped as error:
        outcome = Outcome(trouble=f"Not finished within {shared.budget:g} s. {error}", seconds=gauge.seconds)
    except DeemError as error:
        outcome = Outcome(trouble=str(error), lasting=False)
    except MemoryError:
        outcome = Outcome(trouble="There is not enough memory for it here.", lasting=False)
    except Exception as error:  # one method's fault must not cost the others' results
        _log.exception("%s failed", piece.name)
        outcome = Outcome(trouble=f"It failed: {type(error).__name__}: {error}", lasting=False)
    else:
        outcome = _outcome(shared, piece, made, gauge)
    return None if control.stopped() else outcome


def _outcome(shared: Shared, piece: Piece, made: Aggregate, gauge: Gauge) -> Outcome:
    """Return what a comparison needs of an aggregate; all else stays here."""
    arrays: dict[str, NDArray[Any]] = {_CODES: made.codes.astype(_integers(shared))}
    alarms: tuple[Alarm, ...] = ()
    if piece.number == 0:
        answer = made.answer(shared.votes, piece.name)
        alarms = label_alarms(answer, shared.health)
        if shared.kept == "probabilities":
            arrays[_POSTERIOR] = made.posterior
        elif shared.kept == "labels":
            small = {"codes": _integers(shared), "majority": _integers(shared)}
            for name, column in LabelsOnly.columns(answer).items():
                arrays[_column(name)] = column.astype(small.get(name, column.dtype), copy=False)
    return Outcome(
        seconds=gauge.seconds,
        memory_bytes=gauge.added_bytes,
        iterations=made.iterations,
        converged=made.converged,
        cut=made.cut,
        notes=made.notes,
        answered_by=made.answered_by,
        method_alarms=made.alarms,
        handles=made.handles,
        alarms=alarms,
        arrays=arrays,
    )


def _integers(shared: Shared) -> np.dtype[Any]:
    return np.min_scalar_type(-shared.votes.n_classes)


def _column(name: str) -> str:
    return f"answer.{name}"  # its codes may differ from those of the method, which knows no gold labels


def _names(shared: Shared, piece: Piece) -> set[str]:
    """Return names of what is kept beside the codes of a run."""
    names: Mapping[Kept, set[str]] = {
        "codes": set(),
        "labels": {_column(name) for name in LabelsOnly.COLUMNS},
        "probabilities": {_POSTERIOR},
    }
    return set() if piece.number else names[shared.kept]


def _fingerprint(shared: Shared, piece: Piece) -> list[Any]:
    """Return what a kept run must share to be used again."""
    votes, budget = shared.votes, None if np.isinf(shared.budget) else shared.budget
    shape = [votes.n_rows, votes.n_learners, votes.n_classes]
    device = shared.device if registry.METHODS[piece.name].on_gpu else ""
    return [piece.name, piece.number, piece.random_state, *shape, budget, device]


class _Limited(StopWhen):
    """Control of one run of a method.

    Its records and sentences are its own, and it keeps no checkpoints.
    """

    def __init__(self, whole: Control, piece: Piece, stop: Callable[[], bool]) -> None:
        super().__init__(stop)
        self.whole, self.piece = whole, piece

    def tell(self, step: str, share: float, record: ProgressRecord | None = None) -> None:
        """Tell how far the run is."""
        self.whole.tell(step, share, RunShare(self.piece.name, self.piece.number, share))
