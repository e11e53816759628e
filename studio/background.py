"""Answers of other processes, asked in the background: pages show what is known and never wait."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Generic, TypeVar

Answer = TypeVar("Answer")

TIMEOUT_SECONDS = 180.0
PATIENCE_SECONDS = 10.0
"""A question that waits is dropped when nobody has repeated it for so long; pages repeat theirs every second."""
MOST_KEPT = 200


class Asked(Generic[Answer]):
    """Answers by key, asked for one after the other in threads of their own.

    A question that nobody repeats while it waits for its turn is dropped: people who try settings leave many behind.

    Parameters
    ----------
    fresh_seconds : float, optional
        How long an answer is believed; for ever by default.
    """

    def __init__(self, fresh_seconds: float = float("inf")) -> None:
        self.fresh_seconds = fresh_seconds
        self._lock, self._turn = Lock(), Lock()
        self._wanted: dict[str, float] = {}
        self._answers: OrderedDict[str, tuple[Answer | None, float]] = OrderedDict()
        self._asking: set[str] = set()

    def get(self, key: str, ask: Callable[[], Answer | None]) -> tuple[Answer | None, bool]:
        """Return the answer known so far, None if there is none, and whether another one is on its way."""
        with self._lock:
            answer, when = self._answers.get(key, (None, -float("inf")))
            if key not in self._asking and time.monotonic() - when >= self.fresh_seconds:
                self._asking.add(key)
                self._wanted[key] = time.monotonic()
                Thread(target=self._ask, args=(key, ask), daemon=True).start()
            elif key in self._wanted:
                self._wanted[key] = time.monotonic()
            return answer, key in self._asking

    def _ask(self, key: str, ask: Callable[[], Answer | None]) -> None:
        with self._turn:
            with self._lock:
                if time.monotonic() - self._wanted.pop(key) > PATIENCE_SECONDS:
                    self._asking.discard(key)
                    return
            answer = None
            try:
                answer = ask()
            finally:
                self._keep(key, answer)

    def _keep(self, key: str, answer: Answer | None) -> None:
        with self._lock:
            self._asking.discard(key)
            before, _ = self._answers.pop(key, (None, 0.0))
            self._answers[key] = (before if answer is None else answer, time.monotonic())
            while len(self._answers) > MOST_KEPT:
                self._answers.popitem(last=False)


def command(arguments: Sequence[str]) -> dict[str, Any] | None:
    """Run a command of ``deem_core`` in a process of its own and return what it writes as JSON; None if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        line = [sys.executable, "-m", "deem_core", *arguments, "--json", str(answer)]
        try:
            subprocess.run(line, check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=TIMEOUT_SECONDS)
            content = json.loads(answer.read_text(encoding="utf-8"))
        except (OSError, subprocess.SubprocessError, ValueError):
            return None
    return content if isinstance(content, dict) else None
