"""Process identity: pid, start time and boot id; and starting a worker.

A reused pid is not mistaken for a worker.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import psutil

import deem_core
from deem_core.errors import InputError
from deem_core.runs.private import open_private

LOG = "log.txt"
"""Where a worker's words go, in the folder of its run."""

_SLACK = 1.5  # seconds: the system's clock may be set between two questions


@dataclass(frozen=True)
class Worker:
    """Identity of a process.

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
        """Return the process with this pid; None if it has ended."""
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
        """Inverse of `to_dict`; None if the content is damaged."""
        try:
            return None if content is None else cls(int(content["pid"]), float(content["age"]), str(content["boot"]))
        except (KeyError, TypeError, ValueError, OverflowError):
            return None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return vars(self).copy()

    @property
    def alive(self) -> bool:
        """Whether this very process still runs."""
        return self.is_same(Worker.of(self.pid))

    def end(self) -> bool:
        """End this very process at once; tell whether it is gone.

        Nobody ends itself, as a script that works on its own run would.
        """
        if self.alive and self.pid != os.getpid():
            try:
                process = psutil.Process(self.pid)
                process.kill()
                process.wait(1)
            except (psutil.Error, OSError):
                pass
        return not self.alive

    def is_same(self, other: Worker | None) -> bool:
        """Tell whether both are the same process."""
        if other is None or (self.pid, self.boot) != (other.pid, other.boot):
            return False
        return abs(self.age - other.age) < _SLACK


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


_DETACHED = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0) | getattr(subprocess, "DETACHED_PROCESS", 0)  # Windows


def spawn(folder: Path, cwd: Path) -> subprocess.Popen[bytes]:
    """Start ``python -m deem_core.runs FOLDER`` in its own session.

    Its output goes to the log of the run.

    Nobody's interrupt key, closed terminal or stopped server reaches it, and it inherits no open file.
    """
    log = open_private(folder / LOG, os.O_WRONLY | os.O_APPEND)
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "deem_core.runs", str(folder)],  # -P: imports nothing from the folder
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=cwd,
            env=_environment(),
            close_fds=True,
            start_new_session=True,
            creationflags=_DETACHED,
        )
    except OSError as error:
        raise InputError(f"The worker could not be started: {error.strerror or error}.") from None
    finally:
        os.close(log)
    threading.Thread(target=process.wait, daemon=True).start()  # so that it does not stay as a zombie
    return process


def _environment() -> dict[str, str]:
    """Return the environment for a worker.

    A checkout that is not installed is on its path.
    """
    home = str(Path(deem_core.__file__).resolve().parents[1])
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8:backslashreplace"}
    if home not in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        others = os.environ.get("PYTHONPATH")
        environment["PYTHONPATH"] = os.pathsep.join([home, *([others] if others else [])])
    return environment
