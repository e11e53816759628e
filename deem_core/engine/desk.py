"""Desk: where pieces at work and their owner leave messages.

It is an actor of Ray: pieces post news, progress and checkpoints there and read whether to stop; the owner collects.
Neither waits for the other, and a lost desk costs messages, never a result.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from deem_core.control import Control, ProgressRecord, Saved
from deem_core.engine.contract import Work

FLUSH_SECONDS = 0.2
"""How often a piece posts its messages and asks whether to stop."""

CHECKPOINT_SECONDS = 5.0
"""Time between two checkpoints of a piece at least; the environment variable DEEM_CHECKPOINT_SECONDS changes it."""

CHECKPOINT_SHARE = 20
"""A checkpoint that takes long is taken again after so many times that long, so that it never costs more than 5 %."""

Message = tuple[Any, ...]
"""("news", piece, news), ("tell", step, share, record), ("note", sentence) or ("save", key, Saved)."""


class Desk:
    """What the actor holds, for each of the runs of a crew."""

    def __init__(self) -> None:
        self.messages: dict[int, list[Message]] = {}
        self.halted: set[int] = set()

    def post(self, run: int, messages: list[Message]) -> bool:
        """Take messages of a piece; return whether it is to stop."""
        self.messages.setdefault(run, []).extend(messages)
        return run in self.halted

    def collect(self, run: int) -> list[Message]:
        """Hand over all messages of a run, in the order they came."""
        return self.messages.pop(run, [])

    def halt(self, run: int) -> None:
        """Let all pieces of a run stop."""
        self.halted.add(run)


class RemoteControl(Control):
    """Control of a piece on another machine.

    A thread posts what the piece tells and asks whether to stop, so that the piece waits for nobody.

    Parameters
    ----------
    desk : actor handle
    run : int
        Whose piece it is.
    saved : mapping of str to Saved
        Checkpoints that the piece may go on from.
    keeps : bool
        Whether the owner keeps checkpoints.
    """

    def __init__(self, desk: Any, run: int, saved: Mapping[str, Saved], keeps: bool) -> None:
        self.desk, self.run, self.saved, self.keeps = desk, run, dict(saved), keeps
        self.waiting: list[Message] = []
        self.lock = threading.Lock()
        self.halted, self.over = threading.Event(), threading.Event()
        self.pauses: dict[str, float] = {}
        self.kept: dict[str, float] = {}
        self.begun = time.monotonic()
        self.thread = threading.Thread(target=self._post_often, name="desk", daemon=True)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *trouble: object) -> None:
        self.over.set()
        self.thread.join()

    def stopped(self) -> bool:
        """Return whether to stop, as of the last look at the desk."""
        return self.halted.is_set()

    def tell(self, step: str, share: float, record: ProgressRecord | None = None) -> None:
        """Post the current step, the share done, a record."""
        self._put(("tell", step, share, record))

    def note(self, sentence: str) -> None:
        """Post a sentence."""
        self._put(("note", sentence))

    def news(self, at: int, news: Any) -> None:
        """Post news of a piece."""
        self._put(("news", at, news))

    def due(self, key: str) -> bool:
        """Return whether to `save` again; never where nobody keeps it."""
        if not self.keeps:
            return False
        return time.monotonic() - self.kept.get(key, self.begun) >= self.pauses.get(key, _seconds())

    def save(self, key: str, saved: Saved) -> None:
        """Post a checkpoint."""
        self.saved[key] = saved
        if self.keeps:
            begun = time.monotonic()
            self._put(("save", key, saved))
            self._post()  # at once: its tensors go on changing
            self.kept[key] = time.monotonic()
            self.pauses[key] = max(_seconds(), CHECKPOINT_SHARE * (self.kept[key] - begun))

    def load(self, key: str) -> Saved | None:
        """Return the checkpoint under a key."""
        return self.saved.get(key)

    def _put(self, message: Message) -> None:
        with self.lock:
            self.waiting.append(message)

    def _post_often(self) -> None:
        while not self.over.wait(FLUSH_SECONDS):
            self._post()
        self._post()

    def _post(self) -> None:
        import ray  # noqa: PLC0415  # only on a cluster

        with self.lock:  # held while posting, so that messages arrive in order
            messages, self.waiting = self.waiting, []
            try:
                if ray.get(self.desk.post.remote(self.run, messages), timeout=30):
                    self.halted.set()
            except ray.exceptions.RayError:  # the desk was lost, and with it these messages
                return


@dataclass(frozen=True)
class Errand:
    """A piece on its way to another machine.

    Attributes
    ----------
    run, at : int
        Which run of the crew, and which piece of it.
    piece : Any
    saved : dict of str to Saved
        Checkpoints that it may go on from.
    keeps : bool
        Whether its owner keeps checkpoints.
    """

    run: int
    at: int
    piece: Any
    saved: dict[str, Saved]
    keeps: bool


def carry_out(cargo: tuple[Work, Any], desk: Any, errand: Errand) -> Any:
    """Run a piece on this machine and return its result."""
    os.environ["DEEM_ENGINE"] = "local"  # a piece shares out nothing itself
    os.environ["DEEM_THREADS"] = "1"
    work, shared = cargo
    with RemoteControl(desk, errand.run, errand.saved, errand.keeps) as control:
        task = work(shared, errand.piece, control)
        while True:
            try:
                news = next(task)
            except StopIteration as end:
                return end.value
            control.news(errand.at, news)


def _seconds() -> float:
    try:
        return max(0.0, float(os.environ.get("DEEM_CHECKPOINT_SECONDS", CHECKPOINT_SECONDS)))
    except ValueError:
        return CHECKPOINT_SECONDS
