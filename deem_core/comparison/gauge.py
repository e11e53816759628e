"""Gauge of seconds and added memory."""

from __future__ import annotations

import threading
import time
from typing import Self

import psutil

_EVERY = 0.01  # seconds between two looks at the memory


class Gauge:
    """Measure the time and memory of a ``with`` block.

    Memory is how far the resident size of the process rose above its level at the start, looked at every 10 ms from
    another thread. So it is a lower bound: shorter peaks are missed, memory that earlier work left with the process is
    used again unseen, and other work in the same process counts too.

    Attributes
    ----------
    seconds : float
    added_bytes : int
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.added_bytes = 0
        self._process = psutil.Process()
        self._done = threading.Event()

    def __enter__(self) -> Self:
        self._level = self._process.memory_info().rss
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._begun = time.perf_counter()
        self._watcher.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.seconds = time.perf_counter() - self._begun
        self._done.set()
        self._watcher.join()
        self._look()

    def _watch(self) -> None:
        while not self._done.wait(_EVERY):
            self._look()

    def _look(self) -> None:
        self.added_bytes = max(self.added_bytes, self._process.memory_info().rss - self._level)
