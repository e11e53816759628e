"""A progress bar on a terminal, and what it says when the memory of a device is not enough."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

from deem_core.control import Control
from deem_core.errors import InputError

if TYPE_CHECKING:
    from deem_core.fitting import Progress

WIDTH = 30


class Bar:
    """A bar while a ``with`` block lasts; nothing where there is no terminal."""

    def __init__(self) -> None:
        self.shown = sys.stderr.isatty()
        self.drawn = False

    def __enter__(self) -> Self:
        return self

    def draw(self, share: float, seconds_left: float, step: str = "") -> None:
        """Draw how much is done and how long the rest will take."""
        if self.shown:
            self.drawn = True
            words = f"{step + ': ' if step else ''}about {seconds_left:.0f} s left"
            print(
                f"\r  {'█' * int(WIDTH * share):<{WIDTH}} {share:4.0%}  {words:<50}",
                end="",
                file=sys.stderr,
                flush=True,
            )

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Wipe the bar away."""
        if self.drawn:
            print("\r" + " " * (WIDTH + 60) + "\r", end="", file=sys.stderr)
        if isinstance(error, RuntimeError) and "out of memory" in str(error):
            raise InputError("There is not enough memory on the device: try --batch 256 or --device cpu.") from None


class TrainingBar(Bar, Control):
    """The bar of a training: how far all restarts together have come, and what is done before."""

    def __init__(self) -> None:
        super().__init__()
        self.done: dict[int, float] = {}
        self.begun = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        """Take a record of a restart."""
        self.done[progress.restart] = progress.share
        share = sum(self.done.values()) / progress.restarts
        self.draw(share, progress.record.seconds * (1 - share) / max(share, 1e-9))

    def tell(self, step: str, share: float) -> None:
        """Take what is done before the training."""
        if share <= 0:
            self.begun = time.monotonic()
        else:
            self.draw(share, (time.monotonic() - self.begun) * (1 - share) / share, step)
