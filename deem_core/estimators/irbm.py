"""The iRBM: DEEM without layers, fitted exactly or by contrastive training.

By Lemma 1 the iRBM and the Dawid-Skene model are one family of laws in two coordinates, so the maximum of one
likelihood is the maximum of the other. EM climbs it in Dawid-Skene's coordinates, where each step is exact; the
result is brought back to the iRBM's. (A test checks that the exact gradient in these coordinates vanishes there.)
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch

from deem_core.control import Control
from deem_core.engine import Engine
from deem_core.errors import InputError
from deem_core.estimators.base import stay
from deem_core.estimators.deem import DEEM
from deem_core.methods import dawid_skene
from deem_core.model.config import AUTO
from deem_core.model.energy import Model, from_dawid_skene
from deem_core.training.near_copies import GuardPlan, Reduction
from deem_core.training.parts import Part
from deem_core.training.restarts import Watcher
from deem_core.votes import Votes

SMALLEST = 1e-12
"""Probabilities below this are lifted to it: a class that EM has emptied would have a weight of minus infinity."""


class IRBM(DEEM):
    """The paper's iRBM.

    DEEM without layers, equivalent to the Dawid-Skene model (Lemma 1).

    Parameters
    ----------
    method : "exact" or "cd"
        By maximum likelihood, which needs no sampler, restarts or rates; or by the contrastive training of DEEM.
    **others
        Those of `DEEM`, except ``n_layers``; ``method="exact"`` uses only ``allow_few_learners`` and ``random_state``.

    Examples
    --------
    >>> from deem_core import IRBM, simulate
    >>> votes = simulate("condind", 500, seed=0).votes
    >>> round(IRBM().fit(votes).score(votes), 2) > 0.5
    True
    """

    def __init__(
        self,
        *,
        method: str = "exact",
        learning_rate: float | str | None = None,
        updates: int | None = None,
        epochs: float | None = None,
        batch_size: int | None = None,
        restarts: int = 5,
        sampler: str = "dmala",
        sampler_steps: int = 5,
        step_size: float | None = None,
        chain_start: str = "data",
        momentum: float = 0.0,
        l1: float = 0.0,
        l2: float = 0.0,
        start: str = AUTO,
        init_scale: float | None = None,
        early_stop: bool = False,
        near_copies: str = "keep",
        device: str = "auto",
        backend: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        allow_few_learners: bool = False,
    ) -> None:
        super().__init__(
            learning_rate=learning_rate,
            updates=updates,
            epochs=epochs,
            batch_size=batch_size,
            restarts=restarts,
            sampler=sampler,
            sampler_steps=sampler_steps,
            step_size=step_size,
            chain_start=chain_start,
            momentum=momentum,
            l1=l1,
            l2=l2,
            start=start,
            init_scale=init_scale,
            early_stop=early_stop,
            near_copies=near_copies,
            device=device,
            backend=backend,
            random_state=random_state,
            allow_few_learners=allow_few_learners,
        )
        self.n_layers = 0
        self.method = method

    @property
    def method_name(self) -> str:
        """The method's name in the registry."""
        return "irbm" if self.method == "exact" else "irbm_cd"

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        watch: Watcher | None = None,
        control: Control | None = None,
        on: str | Engine | None = None,
    ) -> Self:
        """Fit on votes alone; see `DEEM.fit`.

        ``method="exact"`` runs on this machine whatever ``on`` says.
        """
        if self.method not in ("exact", "cd"):
            raise InputError(f"method is {self.method!r}; it must be one of exact, cd.")
        if self.method == "cd":
            return super().fit(X, y, watch=watch, control=control, on=on)
        start = time.perf_counter()
        stay(self.method_name, on, control)
        self._check_settings()
        votes = self._take_votes(X)
        exact = fit_exact(votes)
        self._keep_exact(votes, exact)
        self._estimate_prior(votes)
        self.seconds_ = time.perf_counter() - start
        return self

    def _keep_exact(self, votes: Votes, exact: ExactFit) -> None:
        """Keep an exact fit as the only part of the answer."""
        everyone = Reduction.of(votes.learners)
        self.near_copies_ = GuardPlan((), everyone, None, ())
        self.reduction_ = everyone
        self.class_map_ = np.arange(votes.n_classes)[None]
        self.parts_ = [Part(everyone, exact.model, self.class_map_, exact=True)]
        self.hedged_ = self.fallback_ = False
        self.log_likelihood_, self.n_iter_ = exact.log_likelihood, exact.iterations
        self.settings_ = {
            "method": {"value": "exact", "reason": "maximum likelihood exists in closed steps without layers"},
            "iterations": {"value": exact.iterations, "reason": "until the likelihood changed by less than 1e-9"},
        }
        if not exact.converged:
            self.warnings_.append(f"The likelihood was still rising after {exact.iterations} iterations.")
        self.history_, self.restarts_ = [], []
        self.sweep_ = None
        self.device_ = "cpu"


@dataclass(frozen=True)
class ExactFit:
    """A fitted iRBM.

    Attributes
    ----------
    model : Model
        R = 1, float64.
    log_likelihood : float
        Mean over the rows with votes.
    iterations : int
    converged : bool
    """

    model: Model
    log_likelihood: float
    iterations: int
    converged: bool


def fit_exact(
    votes: Votes,
    tolerance: float = dawid_skene.CONVERGED_TOLERANCE,
    max_iterations: int = dawid_skene.CONVERGED_MAX_ITERATIONS,
) -> ExactFit:
    """Maximise the exact likelihood of the iRBM, from the vote shares."""
    unused = np.random.default_rng(0)  # EM's start is fixed
    found = dawid_skene.aggregate(votes, unused, tolerance=tolerance, max_iterations=max_iterations)
    psi, pi = (torch.as_tensor(np.maximum(np.asarray(array), SMALLEST))[None] for array in (found.psi, found.pi))
    likelihood = float("nan") if found.log_likelihood is None else found.log_likelihood
    return ExactFit(from_dawid_skene(psi, pi), likelihood, found.iterations, found.converged)
