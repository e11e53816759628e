"""The verbs of fusing: fuse, train, apply and load."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from deem_core.answers.answer import Answer
from deem_core.control import NO_CONTROL, Control
from deem_core.errors import InputError
from deem_core.methods import registry
from deem_core.votes.recode import as_votes

if TYPE_CHECKING:  # imports torch, which most methods do without
    from deem_core.estimators.deem import DEEM
    from deem_core.training.restarts import Watcher


def fuse(
    votes: Any,
    method: str = "deem",
    *,
    random_state: int | None = None,
    control: Control | None = None,
    **settings: Any,
) -> Answer:
    """Fuse votes into one label per row by any method.

    Parameters
    ----------
    votes : Votes, frame, (n, d) array of labels or (n, d, K) array of probabilities
        Their truth, if there is one, stays with the answer and is not read.
    method : str
        A name of `deem_core.methods.registry.METHODS`.
    random_state : int, optional
        Same number, same labels.
    control : Control, optional
        Says whether to go on.
    **settings
        Of `deem_core.model.config.TrainConfig`, for methods that train a model.

    Raises
    ------
    InputError
        If the method is unknown, or cannot take such votes or settings.

    Examples
    --------
    >>> from deem_core import fuse
    >>> answer = fuse([["cat", "cat", "dog"], ["dog", "dog", "dog"], ["cat", "cat", "cat"]], method="mv")
    >>> answer.labels.tolist()
    ['cat', 'dog', 'cat']
    """
    votes = as_votes(votes)
    if registry.entry(method).trained:
        return train(votes, method, random_state=random_state, control=control, **settings).fuse(votes)
    if settings:
        raise InputError(f"The method {method} has no setting {sorted(settings)[0]!r}; it has no settings at all.")
    aggregate = registry.aggregate(method, votes, np.random.default_rng(random_state), control=control or NO_CONTROL)
    return aggregate.answer(votes, method)


def train(
    votes: Any,
    method: str = "deem",
    *,
    watch: Watcher | None = None,
    control: Control | None = None,
    **settings: Any,
) -> DEEM:
    """Train a model that can be saved and applied to other rows.

    Parameters
    ----------
    votes : Votes, frame or array
    method : "deem", "irbm" or "irbm_cd"
    watch, control : optional
        See `DEEM.fit`.
    **settings
        Of `deem_core.model.config.TrainConfig`, ``random_state`` among them.
    """
    return make_model(method, **settings).fit(votes, watch=watch, control=control)


def apply(model: DEEM | str | os.PathLike[str], votes: Any) -> Answer:
    """Label rows by a trained model or its file.

    Learners are matched by name.
    """
    fitted = load(model) if isinstance(model, (str, os.PathLike)) else model
    return fitted.fuse(votes)


def load(path: str | os.PathLike[str]) -> DEEM:
    """Read a model that was saved; nothing in the file is executed."""
    from deem_core.estimators.deem import DEEM  # noqa: PLC0415  # see TYPE_CHECKING above

    return DEEM.load(path)


def make_model(method: str = "deem", **settings: Any) -> DEEM:
    """Return the estimator of a method, not yet fitted.

    Raises
    ------
    InputError
        If the method or a setting is unknown, or a setting is out of its bounds.
    """
    from deem_core.estimators.deem import DEEM  # noqa: PLC0415  # see TYPE_CHECKING above
    from deem_core.estimators.irbm import IRBM  # noqa: PLC0415

    if method not in registry.TRAINED:
        raise InputError(f"There is no method {method!r} to train; there are {', '.join(registry.TRAINED)}.")
    own: dict[str, Any] = {} if method == "deem" else {"method": "exact" if method == "irbm" else "cd"}
    kind = DEEM if method == "deem" else IRBM
    known = set(kind().get_params(deep=False)) - {"method"}
    if unknown := sorted(set(settings) - known):
        raise InputError(f"The method {method} has no setting {unknown[0]!r}; it has {', '.join(sorted(known))}.")
    return kind(**own, **settings)
