"""What the estimators share: prediction, scoring, saving, and the first checks of the votes."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from deem_core import inputs, storage
from deem_core.baselines.majority import vote_shares
from deem_core.coding import code_truth
from deem_core.distinct import distinct_rows
from deem_core.errors import InputError
from deem_core.votes import NO_VOTE, Votes


class Fuser(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What DEEM and the iRBM share: prediction, scoring, saving."""

    # ------------------------------------------------------------------ prediction

    def predict_proba(self, X: Any, n_samples: int | None = None) -> NDArray[np.float64]:
        """Return the probability of each class in each row, (n, K), columns in ``classes_``.

        Parameters
        ----------
        X : Votes, frame or array
            As in `fit`. Votes and frames are matched by learner name; labels unknown in training count as not
            cast (`transform` says how many).
        n_samples : int, optional
            Draw the label so many times from the posterior and average, as the paper describes; by default the
            posterior itself.
        """
        return self.fuse_codes(self.transform(X).codes, n_samples)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable label of each row, (n,), in the original values."""
        labels: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels

    def transform(self, X: Any) -> inputs.Recoded:
        """Return new rows in the model's terms, with what was unknown or missing."""
        check_is_fitted(self)
        return inputs.recode(X, self.learners_, self.classes_)

    def fuse_codes(self, codes: NDArray[np.integer[Any]], n_samples: int | None = None) -> NDArray[np.float64]:
        """Return (n, K) probabilities for (n, d) class codes; each distinct row is computed once."""
        check_is_fitted(self)
        rows = distinct_rows(codes)
        found = self._posterior(rows.codes)
        found[(rows.codes == NO_VOTE).all(axis=1)] = self.prior_
        posterior: NDArray[np.float64] = found[rows.of_row]
        if n_samples is None:
            return posterior
        rng = np.random.default_rng(self.seed_)
        return np.asarray(rng.multinomial(n_samples, posterior / posterior.sum(axis=1, keepdims=True)) / n_samples)

    def _posterior(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the answer of all parts together, (n, K); the vote shares where there is none."""
        shares = vote_shares(self.reduction_.apply(codes), len(self.classes_))
        if not self.parts_:
            return shares
        answers = [part.posteriors(codes) for part in self.parts_]
        # Loose cliques of near-copies may be right or wrong: the answer hedges between both trainings and the votes.
        return np.asarray(np.mean([*answers, shares], axis=0)) if self.hedged_ else answers[0]

    def score(self, X: Any, y: Any = None) -> float:
        """Return the accuracy on rows with known truth; for evaluation only.

        The truth is ``y``, or that of ``X`` if it is Votes.
        """
        votes = inputs.as_votes(X)
        if y is not None:
            codes, only = code_truth(y, votes.classes)
            votes = replace(votes, truth=codes, truth_only=only)
        if votes.truth is None:
            raise InputError("There is no truth to score against; hand it in as y.")
        known = votes.truth != NO_VOTE
        labels = [*votes.classes.tolist(), *votes.truth_only.tolist()]
        right = [str(labels[code]) for code in votes.truth[known]]
        found = [str(label) for label in self.predict(X)[known]]
        return float(np.mean([one == other for one, other in zip(found, right, strict=True)]))

    # ------------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model as safetensors: parameters, and everything else as JSON in the header."""
        check_is_fitted(self)
        storage.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save` wrote; nothing in the file is executed.

        Raises
        ------
        InputError
            If it is damaged, foreign, or a model of another kind.
        """
        from deem_core.estimator import DEEM, IRBM  # noqa: PLC0415  # the kinds that a file may hold are made of this one

        model = storage.load(path, {"DEEM": DEEM, "IRBM": IRBM})
        if not isinstance(model, cls):
            raise InputError(f"{os.fspath(path)!r} holds a {type(model).__name__} model, not a {cls.__name__}.")
        return model

    # ------------------------------------------------------------------ for fit

    def _begin(self, X: Any, allow_few: bool) -> Votes:
        votes = inputs.votes_to_learn_from(X, allow_few)
        self.classes_, self.learners_ = votes.classes, votes.learners
        self.n_features_in_ = votes.n_learners
        self.n_rows_ = votes.n_rows
        self.warnings_: list[str] = []
        return votes

    def _finish(self, votes: Votes, begun: float) -> Self:
        self.prior_ = np.full(votes.n_classes, 1 / votes.n_classes)
        voted = votes.codes[votes.votes_per_row > 0]
        step = max(1, len(voted) // 100_000)
        self.prior_ = self.fuse_codes(voted[::step]).mean(axis=0)
        self.seconds_ = time.perf_counter() - begun
        return self
