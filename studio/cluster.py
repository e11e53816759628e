"""Cluster: whether there is one, and where a run is to be.

Only $DEEM_ENGINE, in the environment of the app, names a cluster: nobody can type an address here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from deem_core import InputError
from deem_core.engine import ENGINE_VARIABLE, LOCAL, check_wish
from studio import state

EVERYWHERE = "where_to_run"
"""Key of the choice on Learning rate, Train and Compare."""
LABELLING = "where_to_label"
"""Key of the choice for labels of new data, which take seconds on this machine unless there are many."""


_CHOSEN = "deem_on_"


def configured() -> str | None:
    """Return the engine that $DEEM_ENGINE names; None for this machine.

    Raises
    ------
    InputError
        If it names none.
    """
    wish = os.environ.get(ENGINE_VARIABLE, "").strip()
    if wish in ("", LOCAL):
        return None
    try:
        return check_wish(wish)
    except InputError as error:
        raise InputError(f"{ENGINE_VARIABLE} names no engine, so all runs stay on this machine. {error}") from None


def title(wish: str) -> str:
    """Return what people call an engine."""
    if wish == LOCAL:
        return "This machine"
    return "The Ray cluster of this machine" if wish == "ray" else f"The cluster {wish}"


def chosen(key: str = EVERYWHERE) -> dict[str, str]:
    """Return what a run's config says about where to run.

    Nothing where no engine is configured.
    """
    try:
        wish = configured()
    except InputError:
        return {"on": LOCAL}
    if wish is None:
        return {}
    held = state.value(f"{_CHOSEN}{key}")
    return {"on": held if held in (LOCAL, wish) else _usual(key, wish)}


def remember(key: str, wish: str) -> None:
    """Keep a choice for all pages.

    Streamlit itself gives a widget its value back only in the second drawing of another page.
    """
    state.set_value(f"{_CHOSEN}{key}", wish)


def is_chosen() -> bool:
    """Tell whether a cluster is chosen for long runs."""
    return chosen().get("on", LOCAL) != LOCAL


def placed(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the config of a run that says where to run.

    An engine that is no longer configured is left out; where one is, a config that names none is for this machine.
    """
    rest = {name: value for name, value in config.items() if name != "on"}
    try:
        wish = configured()
    except InputError:
        return {**rest, "on": LOCAL}
    if wish is None:
        return rest
    return {**rest, "on": wish if config.get("on") == wish else LOCAL}


def _usual(key: str, wish: str) -> str:
    return LOCAL if key == LABELLING else wish
