"""Spawn: start a worker that outlives whoever starts it."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path

import deem_core
from deem_core.errors import InputError
from deem_core.runs.private import open_private
from deem_core.runs.run import LOG

_DETACHED = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0) | getattr(subprocess, "DETACHED_PROCESS", 0)  # Windows


def spawn(folder: Path, cwd: Path) -> subprocess.Popen[bytes]:
    """Start ``python -m deem_core work FOLDER`` in a session of its own, its words going to the log of the run.

    Nobody's interrupt key, closed terminal or stopped server reaches it, and it inherits no open file.
    """
    log = open_private(folder / LOG, os.O_WRONLY | os.O_APPEND)
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "deem_core", "work", str(folder)],  # -P: imports nothing from the folder
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
    """Return this process's environment, in which a checkout that is not installed is found too."""
    home = str(Path(deem_core.__file__).resolve().parents[1])
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8:backslashreplace"}
    if home not in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        others = os.environ.get("PYTHONPATH")
        environment["PYTHONPATH"] = os.pathsep.join([home, *([others] if others else [])])
    return environment
