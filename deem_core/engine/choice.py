"""Choice of an engine, by the word of ``--on``."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec

from deem_core.engine.contract import Engine, Survey
from deem_core.engine.local import Local
from deem_core.errors import InputError, MissingPackageError

ENGINE_VARIABLE = "DEEM_ENGINE"
"""Environment variable that names the engine where nobody names one."""

LOCAL = "local"

CLUSTER = "cluster"
"""What stands for a device where the work is shared out to other machines."""

_ADDRESS = re.compile(r"ray://(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:]+\]):\d{1,5}")


def wish_of(on: str | None) -> str:
    """Return the name of the engine: given, of the environment, or local.

    Raises
    ------
    InputError
        If it is none.
    """
    return check_wish(on or os.environ.get(ENGINE_VARIABLE, "").strip() or LOCAL)


def check_wish(wish: str) -> str:
    """Return the name of an engine as it is.

    Raises
    ------
    InputError
        If it is none.
    """
    if wish in (LOCAL, "ray") or _ADDRESS.fullmatch(wish):
        return wish
    raise InputError(
        f"There is no engine {wish[:60]!r}. Use local for this machine, ray for the Ray cluster that this machine "
        "belongs to, or ray://HOST:PORT for another one."
    )


def stays_here(what: str, on: str | Engine | None) -> str:
    """Return the sentence for what runs here in any case.

    Empty if no other place was asked for.
    """
    if on is not None and not isinstance(on, str):
        wish, remote = on.wish, on.remote
    else:
        wish = wish_of(on)
        remote = wish != LOCAL
    return f"There is nothing to share out in {what}, so it runs on this machine and not on {wish}." if remote else ""


def engine_of(on: str | Engine | None = None) -> Engine:
    """Return an engine by its name; see `wish_of`.

    Raises
    ------
    InputError
        If there is none of that name.
    MissingPackageError
        If Ray is asked for and not installed.
    """
    if on is not None and not isinstance(on, str):
        return on
    wish = wish_of(on)
    if wish == LOCAL:
        return Local()
    _want_ray(wish)
    from deem_core.engine.cluster import Cluster  # noqa: PLC0415  # Ray is imported only where it is asked for

    return Cluster(wish)


def survey(on: str | None = None) -> Survey:
    """Return the machines of an engine and what waits there.

    No cluster is started for it. It raises what `engine_of` does.
    """
    wish = wish_of(on)
    if wish == LOCAL:
        return Survey(wish, tuple(Local().nodes()), waiting=0)
    _want_ray(wish)
    from deem_core.engine.membership import survey_of  # noqa: PLC0415  # as above

    return survey_of(wish)


def place_in_words(device: str) -> str:
    """Return the device of a run in words: cpu, cuda:1, the cluster."""
    return "the cluster" if device == CLUSTER else device


def _want_ray(wish: str) -> None:
    if find_spec("ray") is None:
        raise MissingPackageError(
            f'Ray is not installed, and --on {wish} needs it: pip install "deem-studio[ray]" brings it; everything '
            "works on this machine without it.",
            name="ray",
        )
