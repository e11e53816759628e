"""Membership of a Ray cluster: joining it, its machines and their versions."""

from __future__ import annotations

import atexit
import logging
import os
import platform
import shutil
import socket
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import ray
from ray import exceptions
from ray._private import ray_constants, services
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from deem_core import __version__
from deem_core.engine.contract import Node, Survey
from deem_core.engine.local import Local
from deem_core.errors import DeemError
from deem_core.text import clip

CONNECT_SECONDS = 3.0
"""How long a cluster may take to answer a first knock."""

JOIN_TRIES = 3
"""How often a client asks for its server."""

PROBE_SECONDS = 60.0
"""How long a machine may take to say what is installed on it; the first process there is slow to start."""

MACHINE_LOST = (
    exceptions.WorkerCrashedError,
    exceptions.NodeDiedError,
    exceptions.OutOfMemoryError,
    exceptions.ObjectLostError,
    exceptions.OwnerDiedError,
    exceptions.RaySystemError,
)
"""What Ray raises where a process or a machine is gone."""

_OTHER_MACHINES = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Environment variable of Ray, for every system: without other machines it listens on the loopback address alone."""

_LONGEST = 300  # characters of what Ray says of itself
_joined: list[str] = []  # the cluster of this process, by its name here


class EngineError(DeemError):
    """The cluster cannot be used, or lost a piece too often."""


def join(wish: str) -> bool:
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
            _stay_on_loopback()
            ray.init("local", include_dashboard=False, _temp_dir=_own_folder(), **quiet)
        else:
            _knock(address)
            if _is_loopback_only(address):
                _stay_on_loopback()
            _ask_to_join(address, quiet)
    except (OSError, RuntimeError, ValueError, exceptions.RayError) as error:
        raise _silent(address or wish, error) from error
    _joined.append(wish)
    return address is None


def _ask_to_join(address: str, quiet: Mapping[str, Any]) -> None:
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


def _stay_on_loopback() -> None:
    """Let Ray use the loopback address alone."""
    os.environ[_OTHER_MACHINES] = "0"  # for the processes that Ray starts
    ray_constants.ENABLE_RAY_CLUSTER = False  # it was read from there when Ray was imported


def _is_loopback_only(address: str) -> bool:
    """Return whether a cluster listens on the loopback address alone.

    Ray would look for it under the address that other machines know, and wait for minutes.
    """
    host, _, port = address.rpartition(":")
    if address.startswith("ray://") or not services.is_localhost(host):
        return False
    try:
        _knock(f"{services.get_node_ip_address()}:{port}")
    except OSError:
        return True
    return False


def _own_folder() -> str:
    """Return a folder for a cluster of this process alone.

    It goes with the process. In Ray's usual place others would find the cluster, join it, and end with it.
    """
    short = "/tmp"  # noqa: S108  # paths of sockets may have about a hundred characters
    folder = tempfile.mkdtemp(prefix="deem-ray-", dir=short if os.path.isdir(short) else None)

    def remove() -> None:
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


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


def nodes(wish: str) -> list[Node]:
    """Return the machines that are alive."""
    return _nodes(wish, _load())


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


def check_versions(wish: str) -> None:
    """Refuse a cluster with another DEEM Studio than here, or none.

    Pieces would fail there, or answer by other rules.
    """
    own, ask = __version__, ray.remote(num_cpus=0)(version)
    answers: list[tuple[str, Any]] = []
    for item in _alive():
        there = NodeAffinitySchedulingStrategy(item["NodeID"], soft=False)
        answers.append((item["NodeManagerAddress"], ask.options(scheduling_strategy=there).remote()))
    for name, ref in answers:
        try:
            found = ray.get(ref, timeout=PROBE_SECONDS)
        except exceptions.GetTimeoutError:
            raise EngineError(
                f"The machine {name} of the Ray cluster {wish!r} did not answer for {PROBE_SECONDS:g} s."
            ) from None
        except exceptions.RayTaskError as error:
            raise EngineError(
                f"The machine {name} of the Ray cluster {wish!r} cannot load DEEM Studio. Install it there, as here: "
                f'pip install "deem-studio[ray]=={own}".'
            ) from error
        except exceptions.RayError:
            continue  # it left meanwhile, and pieces go to others
        if found != own:
            raise EngineError(
                f"The machine {name} of the Ray cluster {wish!r} has DEEM Studio {found}, and this one {own}. Install "
                "the same version on both."
            )


def version() -> str:
    """Return the version of DEEM Studio on the machine that is asked."""
    return __version__


def survey_of(wish: str) -> Survey:
    """Return what a cluster offers and what waits; none is started.

    Raises
    ------
    EngineError
        If it does not answer, or has other versions than this machine.
    """
    if wish == "ray" and not ray.is_initialized() and _running() is None:
        return Survey(wish, tuple(Local().nodes()), running=False, waiting=0)
    join(wish)
    check_versions(wish)
    busy = _load()
    return Survey(wish, tuple(_nodes(wish, busy)), waiting=busy.waiting)
