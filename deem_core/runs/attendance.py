"""Attendance of a run by a worker: start, resume, cancel, finish."""

from __future__ import annotations

import os
import secrets
import threading
import time
from contextlib import suppress
from pathlib import Path

from deem_core.engine import LOCAL
from deem_core.errors import InputError
from deem_core.runs import removal
from deem_core.runs.private import open_private, private_file, remove, write_private_json
from deem_core.runs.process import LOG, Worker, spawn
from deem_core.runs.queue import Queue, queue_of
from deem_core.runs.run import BALLAST, CANCEL, FINISH, PROGRESS, STATE, WORKER, Run, State, worker_of, write_state
from deem_core.runs.status import clear_results

BALLAST_BYTES = 1 << 16
"""Space that a run holds so that it can still say that the disk is full."""

INSIST_SECONDS = 1.6
"""Time that a worker has to stop by itself before whoever asked ends it."""

INSIST_SHARED_SECONDS = 5.6
"""The same of one that shares out its work, and asks other machines to stop."""

_LOOK_SECONDS = 0.05
_LEAVING_SECONDS = 5.0  # how long a worker that has said its last word may take to end


def start(root: Path, queue: Queue, run: Run) -> None:
    """Start the worker of a waiting run, under the lock."""
    state = run.state()
    if state.state != "queued" or run.is_attended():
        raise InputError(f"The {removal.in_words(run)} cannot be started: it is {state.state} already.")
    process = spawn(run.path, root)
    try:  # the worker waits for the lock, so that it finds what is written here
        worker = Worker.of(process.pid) or Worker(process.pid, 0.0, "")  # one that is dead already
        write_private_json(worker.to_dict(), run.path / WORKER)
        queue.take(queue_of(run.kind, run.config), run.id, worker)
    except BaseException:
        process.kill()
        raise


def check_resumable(run: Run) -> None:
    """Refuse to resume a run that goes on or is done.

    The end of its last worker is awaited.
    """
    state = run.state()
    if not (state.resumable or (state.state == "queued" and not run.is_attended())):
        raise InputError(f"The {removal.in_words(run)} is {state.state}; only cancelled and failed ones resume.")
    await_end(run)


def make_ready(run: Run) -> None:
    """Make a run wait again that has ended, under the lock.

    It goes on from its last checkpoint, or begins anew.
    """
    state, goes_on = run.state(), run.has_checkpoint()
    if run.is_attended() or not (state.resumable or state.state == "queued"):
        raise InputError(f"The {removal.in_words(run)} has already been resumed.")
    for name in (CANCEL, FINISH, WORKER, *([] if goes_on else [PROGRESS])):
        remove(run.path / name)
    for name in (STATE, PROGRESS, LOG, BALLAST):  # whatever is in the way of a file
        if (run.path / name).is_symlink() or (run.path / name).is_dir():
            remove(run.path / name)
    set_ballast(run.path)
    share, worked = (state.share, state.seconds) if goes_on else (0.0, 0.0)
    again = State("queued", share=share, created=run.created, worked=worked)
    write_state(run.path, again, durable=True)


def cancel(queue: Queue, run: Run) -> None:
    """Ask a run to stop; see `Workspace.cancel`."""
    with queue.lock():
        state = run.state()
        if not state.active:
            return
        worker = worker_of(run.path)
        if worker is None or not worker.alive:
            ended = State("cancelled", share=state.share, created=run.created, ended=time.time())
            write_state(run.path, ended, durable=True)
            return
        os.close(open_private(run.path / CANCEL, os.O_WRONLY))
    threading.Thread(target=_insist, args=(queue, run, worker)).start()  # a script that ends waits for it


def _insist(queue: Queue, run: Run, worker: Worker) -> None:
    """End a worker that was asked to stop and still works."""
    shared = str(run.config.get("on") or LOCAL) != LOCAL
    until = time.monotonic() + (INSIST_SHARED_SECONDS if shared else INSIST_SECONDS)
    while time.monotonic() < until:
        if not worker.alive or not run.is_active():
            return
        time.sleep(_LOOK_SECONDS)
    if not run.is_active() or not worker.end():
        return
    with suppress(InputError), queue.lock():
        state = run.state()
        if not run.is_attended() and state.state == "cancelled":
            clear_results(run.path, ballast=True)
            write_state(run.path, state, durable=True)


def finish(queue: Queue, run: Run) -> None:
    """Ask a running sweep to end with what it has."""
    with queue.lock():
        if run.kind == "sweep" and run.state().state == "running" and run.is_attended():
            os.close(open_private(run.path / FINISH, os.O_WRONLY))


def set_ballast(folder: Path) -> None:
    """Hold some space in a run's folder."""
    with private_file(folder / BALLAST) as stream:
        stream.write(secrets.token_bytes(BALLAST_BYTES))  # a disk that compresses must keep room for it too


def await_end(run: Run) -> None:
    """Wait a moment for a worker that has written its last state."""
    until = time.monotonic() + _LEAVING_SECONDS
    while (worker := worker_of(run.path)) is not None and worker.alive and time.monotonic() < until:
        time.sleep(_LOOK_SECONDS)
