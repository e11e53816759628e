"""Control: what a long computation asks of whoever runs it, whether to go on and where to keep its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deem_core.errors import DeemError

if TYPE_CHECKING:
    from torch import Tensor


class Stopped(DeemError):  # noqa: N818  # not an error: somebody wished it
    """The computation was asked to stop; what it had reached was kept."""


@dataclass(frozen=True)
class Saved:
    """A place to go on from.

    Attributes
    ----------
    tensors : dict of str to Tensor
        On the CPU.
    notes : dict
        Plain JSON values.
    """

    tensors: dict[str, Tensor]
    notes: dict[str, Any]


class Control:
    """Whoever runs a computation; this one never stops it and keeps nothing.

    Subclasses may be called from several threads at once, each with keys of its own.
    """

    def stopped(self) -> bool:
        """Return whether to stop; asked before every update, so it must be quick."""
        return False

    def due(self, key: str) -> bool:
        """Return whether it is time to `save` again; asked after every update."""
        return False

    def save(self, key: str, saved: Saved) -> None:
        """Keep a place to go on from, instead of the one kept under the same key before."""

    def load(self, key: str) -> Saved | None:
        """Return the place kept under a key, if any."""
        return None

    def tell(self, step: str, share: float) -> None:
        """Take notice of what is being done now and how much of that is done (0 to 1)."""

    def check(self) -> None:
        """Raise `Stopped` if the computation is to stop."""
        if self.stopped():
            raise Stopped("Stopped as asked.")
