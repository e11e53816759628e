"""Alive: who works on a run, told so exactly that another process with the same number is never taken for it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import psutil

_SLACK = 1.5  # seconds: the system's clock may be set between two questions


@dataclass(frozen=True)
class Worker:
    """A process.

    Attributes
    ----------
    pid : int
    age : float
        Seconds from the start of the system to the start of the process; steady when the clock is set.
    boot : str
        Which start of the system this was; empty where the system does not tell.
    """

    pid: int
    age: float
    boot: str

    @classmethod
    def of(cls, pid: int) -> Worker | None:
        """Return the process that has this number now; None if there is none or it has ended."""
        try:
            process = psutil.Process(pid)
            if process.status() == psutil.STATUS_ZOMBIE:  # ended, and its parent has not looked yet
                return None
            return cls(pid, process.create_time() - psutil.boot_time(), _boot())
        except (psutil.Error, OSError, ValueError, OverflowError):
            return None

    @classmethod
    def me(cls) -> Worker:
        """Return this process."""
        return cls.of(os.getpid()) or cls(os.getpid(), 0.0, _boot())

    @classmethod
    def from_dict(cls, content: dict[str, Any] | None) -> Worker | None:
        """Return the process that `to_dict` told; None if the content is damaged."""
        try:
            return None if content is None else cls(int(content["pid"]), float(content["age"]), str(content["boot"]))
        except (KeyError, TypeError, ValueError):
            return None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return vars(self).copy()

    @property
    def alive(self) -> bool:
        """Whether this very process still runs."""
        return self.is_same(Worker.of(self.pid))

    def is_same(self, other: Worker | None) -> bool:
        """Return whether both are the same process, as told at two times."""
        if other is None or (self.pid, self.boot) != (other.pid, other.boot):
            return False
        return abs(self.age - other.age) < _SLACK


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""
