"""The verbs of trained models: train, apply and load."""

from __future__ import annotations

import os
from copy import copy
from typing import TYPE_CHECKING, Any

from deem_core.answers.answer import Answer
from deem_core.control import Control
from deem_core.errors import InputError, torch_wanted
from deem_core.methods import registry

if TYPE_CHECKING:  # scikit-learn and torch, which most methods do without
    from deem_core.engine import Engine
    from deem_core.estimators.base import Fuser
    from deem_core.training.restarts import Watcher


def train(
    votes: Any,
    method: str = "deem",
    *,
    watch: Watcher | None = None,
    control: Control | None = None,
    on: str | Engine | None = None,
    **settings: Any,
) -> Fuser:
    """Train a model that can be saved and applied to other rows.

    Parameters
    ----------
    votes : Votes, frame or array
    method : str
        A name of `deem_core.methods.registry.TRAINED`.
    watch, control, on : optional
        See `DEEM.fit`.
    **settings
        Of `deem_core.model.config.TrainConfig`, ``random_state`` among them.
    """
    return make_model(method, **settings).fit(votes, watch=watch, control=control, on=on)


def apply(model: Fuser | str | os.PathLike[str], votes: Any, *, draws: int | None = None) -> Answer:
    """Label rows by a trained model or its file.

    Learners are matched by name.

    Parameters
    ----------
    model : Fuser or path
    votes : Votes, frame or array
    draws : int, optional
        Passes with drawn layer outputs to average; by default as the model was trained.
    """
    fitted = load(model) if isinstance(model, (str, os.PathLike)) else model
    if draws is not None:
        fitted = copy(fitted).set_draws(draws)
    return fitted.fuse(votes)


def load(path: str | os.PathLike[str]) -> Fuser:
    """Read a saved model of any kind; nothing in it is executed."""
    from deem_core.estimators import files  # noqa: PLC0415  # see TYPE_CHECKING above

    return files.load(path)


def make_model(method: str = "deem", **settings: Any) -> Fuser:
    """Return the estimator of a method, not yet fitted.

    Raises
    ------
    InputError
        If the method or a setting is unknown, or a setting is out of its bounds.
    MissingPackageError
        If the method needs PyTorch, which is not installed.
    """
    if method not in registry.TRAINED:
        raise InputError(f"There is no method {method!r} to train; there are {', '.join(registry.TRAINED)}.")
    with torch_wanted():
        kind, own = _estimator(method)
    known = set(kind().get_params(deep=False)) - set(own)
    if unknown := sorted(set(settings) - known):
        raise InputError(f"The method {method} has no setting {unknown[0]!r}; it has {', '.join(sorted(known))}.")
    return kind(**own, **settings)


def _estimator(method: str) -> tuple[type[Fuser], dict[str, Any]]:
    """Return the estimator of a method, and the parameters that make it."""
    if method == "gds":
        from deem_core.estimators.grouped import GroupedDawidSkene  # noqa: PLC0415  # see TYPE_CHECKING above

        return GroupedDawidSkene, {}
    if method == "deem":
        from deem_core.estimators.deem import DEEM  # noqa: PLC0415

        return DEEM, {}
    if method == "deem_soft":
        from deem_core.estimators.soft import SoftDEEM  # noqa: PLC0415

        return SoftDEEM, {}
    from deem_core.estimators.irbm import IRBM  # noqa: PLC0415

    return IRBM, {"method": "exact" if method == "irbm" else "cd"}
