"""Soft DEEM as a scikit-learn estimator: probabilities as evidence on hidden votes."""

from __future__ import annotations

from typing import Any, ClassVar, Self, cast

import numpy as np

from deem_core.control import Control
from deem_core.errors import InputError
from deem_core.estimators.deem import DEEM
from deem_core.estimators.files import Content
from deem_core.methods.soft_deem.part import SoftPart
from deem_core.methods.soft_deem.training import SoftTask
from deem_core.model.config import AUTO, TrainConfig
from deem_core.training.near_copies import GuardPlan, Reduction
from deem_core.training.restarts import Task
from deem_core.training.start import MAJORITY
from deem_core.typing import Floats, Rows
from deem_core.votes import Votes
from deem_core.votes.arrays import as_probabilities, chunks, votes_cast
from deem_core.votes.recode import as_votes

_CELLS = 1 << 24  # (row, learner, class) cells of one-hot votes made at once


class SoftDEEM(DEEM):
    """DEEM on hidden votes, for which the learners' probabilities are evidence.

    Every learner is believed by its weight in the weighted log pool, and hidden votes are drawn where DEEM reads them
    (docs/method.md, Soft votes). Restarts are trained, judged and averaged as DEEM's, with the mean probability in
    place of the majority vote. There is no near-copy guard and no start from groups. Applied to labels, it takes them
    as certain votes.

    Parameters
    ----------
    **settings
        Those of `DEEM`, except ``start``, ``near_copies`` and ``draws``; ``learning_rate`` is a number or None.

    Attributes
    ----------
    weights_ : (d,) array
        How far each learner's probabilities are believed; mean 1.
    **others
        Those of `DEEM`.

    Examples
    --------
    >>> import numpy as np
    >>> from deem_core import SoftDEEM
    >>> rng = np.random.default_rng(0)
    >>> soft = rng.dirichlet(np.ones(3), (200, 4)) + 2 * np.eye(3)[rng.integers(3, size=200)][:, None]
    >>> model = SoftDEEM(random_state=0, restarts=2, updates=20).fit(soft / soft.sum(axis=2, keepdims=True))
    >>> model.predict(soft[:5] / 3).shape
    (5,)
    """

    reads_soft: ClassVar[bool] = True
    prior_rows: ClassVar[int] = 5_000  # hidden votes are drawn for each
    falls_back_to: ClassVar[str] = "mean_prob"

    def __init__(
        self,
        *,
        n_layers: int | None = None,
        learning_rate: float | None = None,
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
        init_scale: float | None = None,
        activation: str = "sparsemax",
        early_stop: bool = False,
        device: str = "auto",
        backend: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        allow_few_learners: bool = False,
    ) -> None:
        super().__init__(
            n_layers=n_layers,
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
            start="majority",
            init_scale=init_scale,
            activation=activation,
            early_stop=early_stop,
            near_copies="keep",
            device=device,
            backend=backend,
            random_state=random_state,
            allow_few_learners=allow_few_learners,
        )

    @property
    def method_name(self) -> str:
        """The method's name in the registry."""
        return "deem_soft"

    # ------------------------------------------------------------------ training

    def _check_settings(self) -> TrainConfig:
        config = super()._check_settings()
        if config.learning_rate == AUTO:
            raise InputError(
                "Sweeps of the learning rate read labels, so deem_soft cannot use one: give a number, or leave it to "
                "be set from the data."
            )
        return config

    def _take_votes(self, X: Any) -> Votes:
        given = as_votes(X)
        if given.soft is None:
            raise InputError(
                "deem_soft takes probabilities as evidence, and these votes are labels only: use soft votes, or "
                "choose deem, which is for labels."
            )
        return super()._take_votes(given)

    def _plan(self, votes: Votes, config: TrainConfig, control: Control) -> None:
        """Take every learner as it is."""
        self.near_copies_, self.start_ = GuardPlan((), Reduction.of(votes.learners), None, ()), MAJORITY

    def _task(self, votes: Votes, table: Reduction) -> Task:
        task = SoftTask(votes, self.seed_)
        self.weights_ = task.weights
        return task

    # ------------------------------------------------------------------ the answer

    def read(self, votes: Votes) -> Rows:
        """Return what the model reads of votes in its own terms.

        Their probabilities (n, d, K), or class codes (n, d) of labels, which count as certain.
        """
        return votes.codes if votes.soft is None else votes.soft

    def fuse_rows(self, rows: Rows) -> Floats:
        """Return (n, K) probabilities for what `read` returned."""
        if rows.ndim == 2:
            return super().fuse_rows(rows)
        posterior = self._posterior(rows)
        posterior[~votes_cast(rows).any(axis=1)] = self.prior_
        return posterior

    def set_draws(self, draws: int) -> Self:
        """Refuse: hidden votes are drawn in any case."""
        raise InputError("deem_soft draws hidden votes in any case; leave draws out.")

    def _posterior(self, rows: Rows) -> Floats:
        """Return the answer (n, K) for probabilities or codes.

        Their mean where no restart survived.
        """
        if self.parts_:
            return cast(SoftPart, self.parts_[0]).posteriors(rows)
        K = len(self.classes_)
        posterior = np.empty((len(rows), K))
        for part in chunks(len(rows), _CELLS // (rows.shape[1] * K)):
            sums = as_probabilities(rows[part], K).sum(axis=1, dtype=np.float64)
            posterior[part] = sums / np.maximum(sums.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        return posterior

    # ------------------------------------------------------------------ files

    def content(self) -> Content:
        """Return what a model file holds of this model."""
        content = super().content()
        return Content(content.header, {**content.arrays, "evidence_weights": self.weights_})

    @classmethod
    def of_content(cls, content: Content) -> Self:
        """Return the model that a file holds; see `Fuser.of_content`."""
        model = super().of_content(content)
        model.weights_ = content.array("evidence_weights", len(model.learners_))
        if (model.weights_ <= 0).any():
            raise ValueError("a weight is not positive")
        model.parts_ = [
            SoftPart(part.reduction, part.model, part.maps, weights=model.weights_, seed=model.seed_)
            for part in model.parts_
        ]
        return model
