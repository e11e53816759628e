"""Worker: the process that does one run in its turn.

While it waits it holds no library: what computes is imported when its turn comes.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil

from deem_core.control import Stopped
from deem_core.engine import ENGINE_VARIABLE, LOCAL
from deem_core.errors import DeemError, InputError
from deem_core.runs.control import RunControl
from deem_core.runs.private import is_id, is_plain, is_workspace, no_room, write_private_json
from deem_core.runs.process import Worker
from deem_core.runs.queue import POLL_SECONDS, SHORT_KINDS, Queue, Ticket, device_of, queue_of
from deem_core.runs.removal import in_words
from deem_core.runs.run import CANCEL, WORKER, Run, State, worker_of
from deem_core.runs.status import Status, clear_results

PATIENCE_SECONDS = 1.2
"""How long the work may take to end by itself once it was asked to."""

PATIENCE_SHARED_SECONDS = 5.0
"""The same of work on a cluster, whose pieces are asked first and then ended by force."""

NICENESS = 15
NICENESS_SHORT = 5
"""Of short runs, which somebody waits for: they go before a long one at their side."""

_log = logging.getLogger(__name__)


def work(folder: str | os.PathLike[str]) -> State:
    """Do the work of a waiting run and return its final state.

    Raises
    ------
    InputError
        If the folder is not a run of a workspace, or the run does not wait to be worked on.
    """
    root, run = find(folder)
    queue = Queue.of(root)
    os.umask(0o077)
    os.environ[ENGINE_VARIABLE] = LOCAL  # a run says itself where it works, whatever the environment would choose
    _step_back(NICENESS_SHORT if run.kind in SHORT_KINDS else NICENESS)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s")
    ticket = _claim(queue, run)
    try:
        _attend(root, queue, run, ticket)
    finally:
        ticket.give_back()
    return run.state()


def find(folder: str | os.PathLike[str]) -> tuple[Path, Run]:
    """Return the run in a folder and the root of its workspace.

    Raises
    ------
    InputError
        If it is not a run of a workspace.
    """
    path = Path(os.path.abspath(folder))
    root = Path(os.path.realpath(path.parent.parent))
    if path.parent.name == "runs" and is_id(path.name) and is_workspace(root):
        path = root / "runs" / path.name
        run = Run.load(path)
        if run is not None and is_plain(path):
            return root, run
    raise InputError(f"{os.fspath(folder)!r} is not a run of a workspace; python -m deem_core runs lists them.")


def _claim(queue: Queue, run: Run) -> Ticket:
    """Claim a run for this process and queue it.

    Whoever started the process has queued it already.
    """
    me = Worker.me()
    with queue.lock():
        other = worker_of(run.path)
        if other is not None and other.alive and not other.is_same(me):
            raise InputError(f"The {in_words(run)} is already being worked on.")
        state = run.state()
        if state.state != "queued":
            raise InputError(f"The {in_words(run)} is {state.state}; only queued runs can be worked on.")
        write_private_json(me.to_dict(), run.path / WORKER)
        return queue.held(run.id, me) or queue.take(queue_of(run.kind, run.config), run.id, me)


def _attend(root: Path, queue: Queue, run: Run, ticket: Ticket) -> None:
    """Wait for the turn, do the work, and write how it ended."""
    status, stop = Status(run), threading.Event()
    control = RunControl(status, stop)
    over = threading.Event()
    watching = threading.Thread(target=_watch, args=(run, ticket, status, stop, over), daemon=True)
    watching.start()
    try:
        clear_results(run.path)

        def pause(others: int) -> None:
            status.wait(others)
            control.check()
            stop.wait(POLL_SECONDS)

        queue.wait(ticket, pause)
        control.check()
        _do(root, run, control)
        control.check()
        status.end("done")
        _log.info("Done.")
    except Stopped:
        status.end("cancelled")
        _log.info("Cancelled.")
    except BaseException as error:  # whatever it is, whoever waits for the run must be told
        _fail(status, error)
    finally:
        over.set()


def _do(root: Path, run: Run, control: RunControl) -> None:
    """Do the work itself, with all that it takes to compute."""
    from deem_core.runs.job import Job  # noqa: PLC0415
    from deem_core.runs.kinds import KINDS  # noqa: PLC0415
    from deem_core.runs.workspace import Workspace  # noqa: PLC0415

    control.status.begin(device_of(run.kind, run.config))
    _log.info("Begun: %s, with seed %s.", in_words(run), run.spec["seed"])
    if run.kind not in KINDS:
        raise InputError(f"This version of DEEM Studio cannot do runs of the kind {run.kind!r}.")
    KINDS[run.kind](Job(Workspace(root), run, control))


def patience_of(run: Run) -> float:
    """Return how long a run may take to end by itself."""
    return PATIENCE_SECONDS if str(run.config.get("on") or LOCAL) == LOCAL else PATIENCE_SHARED_SECONDS


def _fail(status: Status, error: BaseException) -> None:
    if no_room(error):
        reason = "The disk is full: the results could not be written. Free some space and resume the run."
    elif isinstance(error, DeemError):
        reason = " ".join(str(error).splitlines())
    elif isinstance(error, OSError):
        _log.error("The disk refused", exc_info=error)
        reason = f"The disk refused to read or write: {error.strerror or error}. Check the disk, then resume the run."
    elif isinstance(error, MemoryError) or "out of memory" in str(error):
        reason = "There was not enough memory: try a smaller batch, fewer rows, or another device."
    elif isinstance(error, KeyboardInterrupt):
        reason = "The worker was interrupted."
    else:
        _log.error("An unexpected error", exc_info=error)
        reason = f"An unexpected error ({type(error).__name__}); the log of the run says more."
    status.end("failed", reason)


def _watch(run: Run, ticket: Ticket, status: Status, stop: threading.Event, over: threading.Event) -> None:
    """Watch for a cancel file, and for a folder that is gone.

    End the process if the work does not end by itself in time.
    """
    asked, me, patience = None, Worker.me(), patience_of(run)
    while not over.wait(POLL_SECONDS):
        if run.path.is_dir():
            _keep_place(run, ticket, me)
        with suppress(DeemError):  # if the disk refuses, the work itself will find out and say so
            status.flush()
        if asked is None and (os.path.lexists(run.path / CANCEL) or not run.path.is_dir()):
            asked = time.monotonic()
            stop.set()
        if asked is not None and time.monotonic() - asked > patience and status.end("cancelled"):
            ticket.give_back()
            os._exit(0)


def _keep_place(run: Run, ticket: Ticket, me: Worker) -> None:
    """Write down anew who works on a run, if that was damaged.

    The same of who holds its ticket.

    Else the run would look dead, and another could be started beside it. Who finds another one there steps aside.
    """
    with suppress(DeemError):
        known = worker_of(run.path)
        if not me.is_same(known):
            if known is not None and known.alive:
                _log.error("Another process is working on this run; this one ends.")
                ticket.give_back()
                os._exit(1)
            write_private_json(me.to_dict(), run.path / WORKER)
        if not me.is_same(ticket.holder):
            write_private_json(me.to_dict(), ticket.path)


def _step_back(niceness: int) -> None:
    """Lower this process's priority: whoever sits before the machine comes first."""
    process = psutil.Process()
    try:
        if sys.platform == "win32":
            process.nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
        else:
            process.nice(max(niceness, int(process.nice())))
    except (psutil.Error, OSError):
        _log.info("The priority could not be lowered.")
