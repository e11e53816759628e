"""Answers of the methods to an ensemble, kept in the store: attempts are made of them in no time."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import deem_core
from benchmarks.misfit.ensembles import STORE
from deem_core import Votes
from deem_core.auto import decide
from deem_core.errors import DeemError
from deem_core.methods import registry
from deem_core.typing import Floats
from deem_core.votes.majority import vote_shares

METHODS = ("ds", "onecoin", "la2", "ebcc", "lsml", "deem")
"""Methods that are asked, with their defaults and seed 0: five restarts of DEEM."""


@dataclass(frozen=True, eq=False)
class Case:
    """An ensemble and what the methods answer.

    Attributes
    ----------
    name : str
    votes : Votes
    branch, excess
        Of `auto`.
    auto : (n,) int
        Its labels.
    posteriors : dict of str to (n, K) float
        Method → posterior; those that refused are missing.
    seconds : dict of str to float
    """

    name: str
    votes: Votes
    branch: str
    excess: float
    auto: Any
    posteriors: dict[str, Floats] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def shares(self) -> Floats:
        """Shares of the votes, (n, K)."""
        return vote_shares(self.votes.codes, self.votes.n_classes)


def case_of(name: str, votes: Votes, *, store: Path = STORE) -> Case | None:
    """Return what the methods answer, or None where `auto` has a model that fits."""
    decision = _kept(store / f"{name}-auto.npz", partial(_decision, votes))
    case = Case(
        name, votes, str(decision["branch"]), float(decision["excess"]), decision["codes"], {}, {"auto": _s(decision)}
    )
    if case.branch != "dense":
        return None
    for method in METHODS:
        made = _kept(store / f"{name}-{method}.npz", partial(_answer, votes, method))
        case.seconds[method] = _s(made)
        if made["posterior"].size:
            case.posteriors[method] = made["posterior"].astype(float)
    return case


def _kept(file: Path, make: Any) -> dict[str, Any]:
    """Return what ``make`` gives, from the store if this version gave it before."""
    if file.exists():
        kept = dict(np.load(file))
        if str(kept["version"]) == deem_core.__version__:
            return kept
    begun = time.process_time()
    made = make()
    made |= {"seconds": time.process_time() - begun, "version": deem_core.__version__}
    np.savez_compressed(file, **made)
    return dict(made)


def _decision(votes: Votes) -> dict[str, Any]:
    made = decide(votes.without_truth(), np.random.default_rng(0))
    excess = None if made.grouping is None else made.grouping.excess
    return {"branch": made.branch, "excess": np.nan if excess is None else excess, "codes": made.aggregate.codes}


def _answer(votes: Votes, method: str) -> dict[str, Any]:
    try:
        made = registry.aggregate(method, votes.without_truth(), np.random.default_rng(0))
    except DeemError:
        return {"posterior": np.empty(0)}
    return {"posterior": made.posterior.astype(np.float32)}


def _s(made: dict[str, Any]) -> float:
    return float(made["seconds"])
