"""Cluster engine: pieces run as plain tasks of Ray.

Ray carries functions and data between machines, restarts nothing by itself and keeps no files: who owns the pieces
does both, so that a run's folder is the same wherever its pieces were worked on.
"""

from __future__ import annotations

import logging
import os
import platform
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

import ray
from ray import exceptions
from ray._private import ray_constants, services
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from deem_core import __version__
from deem_core.control import Control
from deem_core.engine.contract import Crew, Done, Node, Survey, Told, Work, everything, no_keys, still_wanted
from deem_core.engine.desk import Desk, Errand, Message, carry_out
from deem_core.engine.local import Local
from deem_core.errors import DeemError
from deem_core.text import clip

LOOK_SECONDS = 0.2
"""How often the owner looks for results, messages and a wish to stop."""

PATIENCE_SECONDS = 3.0
"""How long pieces may take to end by themselves once they were asked to."""

CONNECT_SECONDS = 3.0
"""How long a cluster may take to answer a first knock."""

JOIN_TRIES = 3
"""How often a client asks for its server."""

PROBE_SECONDS = 60.0
"""How long a machine may take to say what is installed on it; the first process there is slow to start."""

TRIES = 4
"""How often a piece is begun whose machine is lost each time."""

LOST = "A process of the cluster was lost, and its piece of the work was done again."
"""Noted wherever notes are kept."""

GPU_SHARE = 0.25
"""Share of a GPU that a piece takes: its updates are small, and four of them keep a GPU busier than one."""

_OTHER_MACHINES = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Environment variable of Ray, for every system: without other machines it listens on the loopback address alone."""

_LONGEST = 300  # characters of what Ray says of itself
_QUEUED = 2  # pieces handed out for each core: the next one waits where it will run, and no more data than that
_LOST = (
    exceptions.WorkerCrashedError,
    exceptions.NodeDiedError,
    exceptions.OutOfMemoryError,
    exceptions.ObjectLostError,
    exceptions.OwnerDiedError,
    exceptions.RaySystemError,
)
_joined: list[str] = []  # the cluster of this process, by its name here
_log = logging.getLogger(__name__)


class EngineError(DeemError):
    """The cluster cannot be used, or lost a piece too often."""


class Cluster:
    """A Ray cluster.

    Parameters
    ----------
    wish : str
        "ray" for the cluster that this machine belongs to, else one that is started here; "ray://HOST:PORT" for
        another one, whose client server listens there.

    Raises
    ------
    EngineError
        If it does not answer, or has other versions than this machine.
    """

    remote = True

    def __init__(self, wish: str) -> None:
        self.wish = wish
        self.started = _connect(wish)
        _check_versions(wish)

    @property
    def gpus(self) -> float:
        """GPUs of the cluster."""
        return float(ray.cluster_resources().get("GPU", 0.0))

    @contextmanager
    def crew(self, *, gpu: bool = False) -> Iterator[Crew]:
        """Yield a crew that uses all cores of the cluster."""
        yield Tasks(GPU_SHARE if gpu and self.gpus else 0.0)

    def nodes(self) -> list[Node]:
        """Return the machines that are alive."""
        return _nodes(self.wish, _load())


def survey_of(wish: str) -> Survey:
    """Return what a cluster offers and what waits; none is started.

    Raises
    ------
    EngineError
        If it does not answer, or has other versions than this machine.
    """
    if wish == "ray" and not ray.is_initialized() and _running() is None:
        return Survey(wish, tuple(Local().nodes()), running=False, waiting=0)
    Cluster(wish)
    load = _load()
    return Survey(wish, tuple(_nodes(wish, load)), waiting=load.waiting)


@dataclass
class _Piece:
    """A piece that is handed out, or will be."""

    at: int
    piece: Any
    tries: int = 1


class Tasks:
    """A crew of Ray tasks.

    Parameters
    ----------
    gpu_share : float
        Of each piece.
    """

    def __init__(self, gpu_share: float) -> None:
        self.task = ray.remote(num_cpus=1, num_gpus=gpu_share, max_retries=0)(carry_out)

    def run(
        self,
        work: Work,
        pieces: Iterable[Any],
        shared: Any = None,
        *,
        control: Control,
        live: int | None = None,
        wanted: Callable[[int], bool] = everything,
        keys: Callable[[Any], Iterable[str]] = no_keys,
    ) -> Iterator[Told | Done]:
        """Yield news and results of pieces as they come; see `Crew.run`."""
        waiting = (_Piece(at, piece) for at, piece in still_wanted(pieces, control, wanted))
        return _Turns(self.task, ray.put((work, shared)), waiting, control, keys).run()


class _Turns:
    """Pieces handed out and watched; again where a machine is lost."""

    def __init__(
        self,
        task: Any,
        cargo: Any,
        waiting: Iterator[_Piece],
        control: Control,
        keys: Callable[[Any], Iterable[str]],
    ) -> None:
        self.task, self.cargo, self.waiting, self.control, self.keys = task, cargo, waiting, control, keys
        self.desk = ray.remote(num_cpus=0, max_restarts=-1)(Desk).remote()
        self.under_way: dict[Any, _Piece] = {}

    def run(self) -> Iterator[Told | Done]:
        """Hand out pieces until all are done or the control says stop."""
        try:
            while not self.control.stopped() and (self._hand_out() or self.under_way):
                yield from self._arrived(num_returns=1)
            if self.control.stopped():
                yield from self._end()
        finally:
            try:
                for _ in self._end():  # to nobody
                    pass
            finally:
                with suppress(exceptions.RayError):
                    ray.kill(self.desk)

    def _hand_out(self) -> bool:
        """Hand out pieces; return whether any were left."""
        room = _QUEUED * max(1, int(ray.cluster_resources().get("CPU", 1))) - len(self.under_way)
        pieces = list(islice(self.waiting, max(room, 0)))
        for own in pieces:
            self._submit(own)
        return bool(pieces)

    def _submit(self, own: _Piece) -> None:
        saved = {key: found for key in self.keys(own.piece) if (found := self.control.load(key)) is not None}
        ref = self.task.remote(self.cargo, self.desk, Errand(own.at, own.piece, saved, self.control.keeps))
        self.under_way[ref] = own

    def _arrived(self, num_returns: int) -> Iterator[Told | Done]:
        """Wait a moment, and yield the news and results that came."""
        ready, _ = ray.wait(list(self.under_way), num_returns=num_returns, timeout=LOOK_SECONDS)
        yield from self._news()  # all that a piece told arrived before its result
        for ref in ready:
            own = self.under_way.pop(ref)
            try:
                yield Done(own.at, ray.get(ref))
            except exceptions.RayTaskError as error:
                raise (error.cause if isinstance(error.cause, Exception) else error) from None
            except _LOST as error:
                self._again(own, error)

    def _again(self, own: _Piece, error: Exception) -> None:
        """Hand out a piece once more whose machine or process was lost."""
        _log.warning("A piece was lost: %s", error)
        if own.tries >= TRIES:
            raise EngineError(
                f"A piece of the work was lost {TRIES} times with the process that worked on it "
                f"({type(error).__name__}). Most likely the machines have too little memory for it."
            ) from error
        own.tries += 1
        self.control.note(LOST)
        self._submit(own)

    def _news(self) -> Iterator[Told]:
        """Pass on what pieces left at the desk, and yield their news."""
        try:
            messages: list[Message] = ray.get(self.desk.collect.remote(), timeout=PROBE_SECONDS)
        except exceptions.RayError:  # lost with its machine, and begun anew by Ray
            return
        control = self.control
        takers: dict[str, Callable[..., None]] = {"tell": control.tell, "note": control.note, "save": control.save}
        for kind, *rest in messages:
            if kind == "news":
                yield Told(*rest)
            else:
                takers[kind](*rest)

    def _end(self) -> Iterator[Told | Done]:
        """End the pieces that are under way: politely, then by force."""
        until = time.monotonic() + PATIENCE_SECONDS
        try:
            while self.under_way and time.monotonic() < until:
                with suppress(exceptions.RayError):
                    ray.get(self.desk.halt.remote(), timeout=LOOK_SECONDS)
                yield from self._arrived(num_returns=len(self.under_way))
        finally:
            for ref in self.under_way:
                with suppress(exceptions.RayError, ValueError):
                    ray.cancel(ref, force=True)
            self.under_way.clear()


def _connect(wish: str) -> bool:
    """Connect to a cluster; return whether it was started for this process.

    A process belongs to one cluster; whoever joined one by Ray itself keeps it.
    """
    if ray.is_initialized():
        if wish not in ("ray", *_joined):
            raise EngineError(
                f"This process belongs to another Ray cluster already, and cannot use {wish!r} too: start a new one."
            )
        return False
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing leaves the user's machines
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False, "namespace": "deem-studio"}
    address = _running() if wish == "ray" else wish
    try:
        if address is None:
            os.environ[_OTHER_MACHINES] = "0"  # for the processes that Ray starts
            ray_constants.ENABLE_RAY_CLUSTER = False  # read from there when Ray was imported
            ray.init("local", include_dashboard=False, **quiet)
        else:
            _knock(address)
            _join(address, quiet)
    except (OSError, RuntimeError, ValueError, exceptions.RayError) as error:
        raise _silent(address or wish, error) from error
    _joined.append(wish)
    return address is None


def _join(address: str, quiet: Mapping[str, Any]) -> None:
    """Join a cluster.

    A client's server is forked from one with threads, and dies of that now and then: then it is tried again.
    """
    for tries in range(1, JOIN_TRIES + 1):
        try:
            ray.init(address, **quiet)
        except ConnectionAbortedError:
            if tries == JOIN_TRIES:
                raise
        else:
            return


def _running() -> str | None:
    """Return the address of the cluster that this machine belongs to.

    Ray leaves the address of a cluster behind that has ended, and would wait for it for minutes.

    Raises
    ------
    EngineError
        If RAY_ADDRESS names one that does not answer.
    """
    named = os.environ.get("RAY_ADDRESS", "").strip()
    if named.startswith("ray://"):
        return named
    address = named or services.find_bootstrap_address(None)
    try:
        _knock(address or "")
    except (OSError, ValueError) as error:
        if named:
            raise _silent(named, error) from error
        return None
    return address


def _knock(address: str) -> None:
    """Open a connection to an address, HOST:PORT, and close it.

    Ray itself waits for half a minute, or for minutes, where nobody is.

    Raises
    ------
    OSError, ValueError
        If nobody answers.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_SECONDS).close()


def _silent(address: str, error: Exception) -> EngineError:
    said = (isinstance(error, OSError) and error.strerror) or " ".join(str(error).split()) or type(error).__name__
    why = clip(said.rstrip("."), _LONGEST)
    return EngineError(
        f"The Ray cluster {address!r} does not answer ({why}). Check that it runs (ray status), and that this machine "
        f"has its versions of Ray ({ray.__version__} here) and Python ({platform.python_version()} here)."
    )


def _alive() -> list[dict[str, Any]]:
    return [item for item in ray.nodes() if item["Alive"]]


@dataclass(frozen=True)
class Load:
    """How busy a cluster is.

    Attributes
    ----------
    free : dict of str to dict
        Free resources of each machine, by its id.
    waiting : int, optional
        Pieces that wait for room.
    """

    free: dict[str, dict[str, float]]
    waiting: int | None


def load() -> Load:
    """Return how busy the cluster is, asked from within."""
    from ray._private import state  # noqa: PLC0415  # these three: only there, and missing from a client
    from ray._raylet import GcsClient  # noqa: PLC0415
    from ray.core.generated.autoscaler_pb2 import GetClusterResourceStateReply  # noqa: PLC0415

    waiting = None
    with suppress(exceptions.RayError, RuntimeError, AttributeError, ValueError):  # it is said to few versions only
        reply = GetClusterResourceStateReply()
        client = GcsClient(address=ray.get_runtime_context().gcs_address)
        reply.ParseFromString(client.get_cluster_resource_state(timeout_s=CONNECT_SECONDS))
        waiting = sum(demand.count for demand in reply.cluster_resource_state.pending_resource_requests)
    return Load(state.available_resources_per_node(), waiting)


def _load() -> Load:
    """Ask any machine of the cluster how busy it is."""
    try:
        found: Load = ray.get(ray.remote(num_cpus=0)(load).remote(), timeout=PROBE_SECONDS)
    except exceptions.RayError:
        return Load({}, None)
    return found


def _nodes(wish: str, busy: Load) -> list[Node]:
    here = None if wish.startswith("ray://") else ray.get_runtime_context().get_node_id()
    return [_node(item, here, busy.free.get(item["NodeID"])) for item in _alive()]


def _node(item: dict[str, Any], here: str | None, free: dict[str, float] | None) -> Node:
    resources = item["Resources"]
    return Node(
        name=item["NodeManagerAddress"],
        cores=resources.get("CPU", 0.0),
        gpus=resources.get("GPU", 0.0),
        free_cores=None if free is None else free.get("CPU", 0.0),  # what is used up is left out
        free_gpus=None if free is None else free.get("GPU", 0.0),
        memory=int(resources.get("memory", 0)) or None,
        here=item["NodeID"] == here,
    )


def _check_versions(wish: str) -> None:
    """Refuse a cluster with another DEEM Studio than here, or none.

    Pieces would fail there, or answer by other rules.
    """
    own, ask = __version__, ray.remote(num_cpus=0)(version)
    answers: dict[str, Any] = {
        item["NodeManagerAddress"]: ask.options(
            scheduling_strategy=NodeAffinitySchedulingStrategy(item["NodeID"], soft=False)
        ).remote()
        for item in _alive()
    }
    for name, ref in answers.items():
        try:
            found = ray.get(ref, timeout=PROBE_SECONDS)
        except exceptions.GetTimeoutError:
            raise EngineError(
                f"The machine {name} of the Ray cluster {wish!r} did not answer for {PROBE_SECONDS:g} s."
            ) from None
        except exceptions.RayError as error:
            if isinstance(error, _LOST):
                continue  # it left meanwhile, and pieces go to others
            raise EngineError(
                f"The machine {name} of the Ray cluster {wish!r} cannot load DEEM Studio. Install it there, as here: "
                f'pip install "deem-studio[ray]=={own}".'
            ) from error
        if found != own:
            raise EngineError(
                f"The machine {name} of the Ray cluster {wish!r} has DEEM Studio {found}, and this one {own}. Install "
                "the same version on both."
            )


def version() -> str:
    """Return the version of DEEM Studio on the machine that is asked."""
    return __version__
