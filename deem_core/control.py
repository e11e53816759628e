"""Control of a long computation: cancellation, progress, checkpoints.

Whoever starts a computation hands it a `Control`; the computation asks it whether to stop, tells it how far it has
come, and leaves checkpoints with it. The base class answers for those who need none of this.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from deem_core.errors import DeemError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor


class Stopped(DeemError):  # noqa: N818  # not an error: somebody wished it
    """The computation was asked to stop; its last checkpoint was kept."""


@dataclass(frozen=True)
class Saved:
    """A checkpoint.

    Attributes
    ----------
    tensors : dict of str to Tensor
        On the CPU.
    notes : dict
        Plain JSON values.
    arrays : dict of str to array
        Of what computes without torch. No array has the name of a tensor.
    """

    tensors: dict[str, Tensor]
    notes: dict[str, Any]
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)


class ProgressRecord(Protocol):
    """Record told beside the progress, such as energies or a method's result.

    Attributes
    ----------
    kind : str
        What such records are called where they are written down.
    """

    kind: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values."""


class Control:
    """A control that never stops, tells nobody and keeps nothing.

    Subclasses may be called from several threads at once, each with checkpoint keys of its own.

    Attributes
    ----------
    keeps : bool
        Whether what is saved here can be loaded again.
    """

    keeps: bool = False

    def stopped(self) -> bool:
        """Return whether to stop.

        Asked before every update, so it must be quick.
        """
        return False

    def check(self) -> None:
        """Raise `Stopped` if the computation is to stop."""
        if self.stopped():
            raise Stopped("Stopped as requested.")

    def tell(self, step: str, share: float, record: ProgressRecord | None = None) -> None:
        """Take the current step, the share done (0 to 1), a record."""

    def note(self, sentence: str) -> None:
        """Take a sentence that whoever reads the result should know."""

    def mishap(self, sentence: str) -> None:
        """Take a sentence about a trouble that was put right.

        The result is none the worse for it.
        """
        self.note(sentence)

    def due(self, key: str) -> bool:
        """Return whether it is time to `save` again; asked after every update."""
        return False

    def save(self, key: str, saved: Saved) -> None:
        """Keep a checkpoint in place of the one under the same key."""

    def load(self, key: str) -> Saved | None:
        """Return the checkpoint under a key, if any."""
        return None

    def part(self, low: float, high: float, step: str = "") -> Control:
        """Return the control of a part, from share ``low`` to ``high``.

        The part stops with the whole and leaves its checkpoints with it. Given a ``step``, it counts as that one step:
        its own steps and records are its own business and are not passed on.
        """
        return _Part(self, low, high, step)


NO_CONTROL = Control()
"""For computations that nobody stops or watches."""


class StopWhen(Control):
    """A control that stops when a callable says so.

    Parameters
    ----------
    stop : callable
        Returns whether to stop.
    """

    def __init__(self, stop: Callable[[], bool]) -> None:
        self._stop = stop

    def stopped(self) -> bool:
        """Return whether to stop."""
        return self._stop()


class _Passing(Control):
    """A control that passes everything on to another one."""

    def __init__(self, whole: Control) -> None:
        self.whole, self.keeps = whole, whole.keeps

    def stopped(self) -> bool:
        return self.whole.stopped()

    def tell(self, step: str, share: float, record: ProgressRecord | None = None) -> None:
        self.whole.tell(step, share, record)

    def note(self, sentence: str) -> None:
        self.whole.note(sentence)

    def mishap(self, sentence: str) -> None:
        self.whole.mishap(sentence)

    def due(self, key: str) -> bool:
        return self.whole.due(key)

    def save(self, key: str, saved: Saved) -> None:
        self.whole.save(key, saved)

    def load(self, key: str) -> Saved | None:
        return self.whole.load(key)


class _Part(_Passing):
    """A part of a larger computation; see `Control.part`."""

    def __init__(self, whole: Control, low: float, high: float, step: str) -> None:
        super().__init__(whole)
        self.low, self.high, self.step = low, high, step

    def tell(self, step: str, share: float, record: ProgressRecord | None = None) -> None:
        share = self.low + (self.high - self.low) * share
        if self.step:
            self.whole.tell(self.step, share)
        else:
            self.whole.tell(step, share, record)


class Halting(_Passing):
    """A control that also stops once an event is set.

    Parameters
    ----------
    whole : Control
    halt : threading.Event
    """

    def __init__(self, whole: Control, halt: Event) -> None:
        super().__init__(whole)
        self.halt = halt

    def stopped(self) -> bool:
        """Return whether to stop."""
        return self.halt.is_set() or self.whole.stopped()
