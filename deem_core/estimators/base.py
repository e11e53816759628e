"""Base of the estimators: prediction, scoring, files.

It needs no torch; the estimators that train with it bring it.
"""

from __future__ import annotations

import html
import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import ClassifierTags

from deem_core.answers.answer import Answer
from deem_core.engine import place_in_words, stays_here
from deem_core.errors import InputError
from deem_core.estimators import files
from deem_core.estimators.summary import Setting, TrainingSummary
from deem_core.notebook import curves, figure, paragraphs
from deem_core.typing import Codes, Floats, Integers, Rows
from deem_core.votes import NO_VOTE, Votes, recode
from deem_core.votes.arrays import distinct_rows
from deem_core.votes.coding import as_label_array, code_truth

if TYPE_CHECKING:  # a watcher is told records of a training, which imports torch
    from deem_core.control import Control
    from deem_core.engine import Engine
    from deem_core.training.restarts import Watcher

PRIOR_ROWS = 100_000
"""Rows, evenly spread, that the prior is estimated on."""

_PLAIN = ("seed_", "n_rows_", "warnings_", "settings_", "restarts_", "seconds_", "device_")  # in every header


def stay(method: str, on: str | Engine | None, control: Control | None) -> None:
    """Note that a method runs here, if another place was asked for."""
    if (sentence := stays_here(method, on)) and control is not None:
        control.note(sentence)


class UnfittedError(InputError, NotFittedError):  # type: ignore[misc]  # scikit-learn has no types
    """A model that was not fitted is asked; scikit-learn's error, too."""


class Fuser(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base of DEEM, soft DEEM, the iRBM and grouped Dawid-Skene.

    What a kind of model must bring is `fit`, `method_name`, `findings_` and ``_posterior``; one that reads
    probabilities also `read` and `fuse_rows`.
    """

    reads_soft: ClassVar[bool] = False
    """Whether probabilities count, or only the most probable class of each vote."""

    prior_rows: ClassVar[int] = PRIOR_ROWS
    """Rows that the prior is estimated on."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        watch: Watcher | None = None,
        control: Control | None = None,
        on: str | Engine | None = None,
    ) -> Self:
        """Fit on votes alone, on this machine or ``on`` an engine."""
        raise NotImplementedError

    # ------------------------------------------------------------------ prediction

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class in each row, (n, K), columns in ``classes_``.

        Parameters
        ----------
        X : Votes, frame or array
            As in `fit`. Votes and frames are matched by learner name; labels unknown in training count as not
            cast (`recoded` says how many).
        """
        return self.fuse_rows(self.read(self.recoded(X).votes))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable label of each row, (n,), in the original values."""
        best = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def fuse(self, X: Any, *, by: Callable[[Rows], Floats] | None = None) -> Answer:
        """Return the answer for some rows: labels, probabilities and all that follows.

        Parameters
        ----------
        X : Votes, frame, array, or rows that `recoded` returned
            As in `predict_proba`. Truth and ids of Votes stay with the answer, and their probabilities too where
            learners and classes are the model's.
        by : callable, optional
            Does what `fuse_rows` does, elsewhere.

        Returns
        -------
        Answer
            Its notes say what was not as in training, and what training found.
        """
        recoded = X if isinstance(X, recode.Recoded) else self.recoded(X)
        posterior = (by or self.fuse_rows)(self.read(recoded.votes))
        notes = (*recoded.sentences(), *self.findings_, *self.warnings_)
        votes = X if recoded.same_terms and isinstance(X, Votes) else recoded.votes
        return Answer(votes, posterior, notes=notes, method=self.method_name, answered_by=self.stand_in_)

    def transform(self, X: Any) -> Floats:
        """Return `predict_proba`, as features for what comes next in a pipeline.

        ``set_output(transform="pandas")`` makes it a frame with a column ``p_<class>`` for each class.
        """
        return self.predict_proba(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of `transform`, (K,)."""
        self._check_fitted()
        return np.array([f"p_{label}" for label in self.classes_.tolist()], object)

    def recoded(self, X: Any) -> recode.Recoded:
        """Return new rows in the model's terms.

        With them comes what was unknown or missing.
        """
        self._check_fitted()
        return recode.recode(X, self.learners_, self.classes_, soft=self.reads_soft)

    def read(self, votes: Votes) -> Rows:
        """Return what the model reads of votes in its own terms.

        Class codes (n, d), unless it reads probabilities.
        """
        return votes.codes

    def fuse_rows(self, rows: Rows) -> Floats:
        """Return (n, K) probabilities for what `read` returned."""
        return self.fuse_codes(rows.astype(np.int32, copy=False))

    def fuse_codes(self, codes: Integers) -> Floats:
        """Return (n, K) probabilities for (n, d) class codes.

        Each distinct row is computed once.
        """
        self._check_fitted()
        rows = distinct_rows(codes)
        found = self._posterior(rows.codes)
        found[(rows.codes == NO_VOTE).all(axis=1)] = self.prior_
        posterior: Floats = rows.spread(found)
        return posterior

    def set_draws(self, draws: int) -> Self:
        """Set how many drawn passes an answer averages.

        Raises
        ------
        InputError
            If the model has no layers, or draws its votes already.
        """
        raise InputError(
            f"A model of the method {self.method_name} has no layers to draw from, or draws its votes already."
        )

    def _posterior(self, codes: Codes) -> Floats:
        """Return the answer for distinct rows, (n, K); those without votes do not matter."""
        raise NotImplementedError

    def score(self, X: Any, y: Any = None) -> float:
        """Return the accuracy on rows with known truth; for evaluation only.

        The truth is ``y``, or that of ``X`` if it is Votes.
        """
        votes = recode.as_votes(X)
        if y is not None:
            codes, only = code_truth(y, votes.classes)
            votes = replace(votes, truth=codes, truth_only=only)
        if votes.truth is None:
            raise InputError("There is no truth to score against; pass it as y.")
        known = votes.truth != NO_VOTE
        labels = [*votes.classes.tolist(), *votes.truth_only.tolist()]
        right = [str(labels[code]) for code in votes.truth[known]]
        found = [str(label) for label in self.predict(X)[known]]
        return float(np.mean([one == other for one, other in zip(found, right, strict=True)]))

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn should know.

        Labels of any kind, gaps in them, and no target.
        """
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags()
        tags.target_tags.required = False
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.input_tags.three_d_array = True
        tags.non_deterministic = self.get_params(deep=False).get("random_state", 0) is None
        return tags

    # ------------------------------------------------------------------ what training did

    @property
    def method_name(self) -> str:
        """The method's name in the registry."""
        raise NotImplementedError

    @property
    def stand_in_(self) -> str:
        """Name of the method that answers for a failed training."""
        return ""

    @property
    def findings_(self) -> tuple[str, ...]:
        """What fitting found out about the learners, in sentences; warnings are apart."""
        raise NotImplementedError

    @property
    def summary_(self) -> TrainingSummary:
        """What training did, as a typed summary."""
        self._check_fitted()
        return TrainingSummary(
            method=self.method_name,
            settings={name: Setting(**item) for name, item in self.settings_.items()},
            restarts=(),
            warnings=tuple(self.warnings_),
            near_copies=(),
            hedged=False,
            fallback=bool(self.stand_in_),
            answered_by=self.stand_in_ or None,
            device=self.device_,
            seconds=self.seconds_,
        )

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram of the parameters and, once fitted, what training did.

        For notebooks.
        """
        diagram = str(super()._html_repr())
        return diagram if not hasattr(self, "settings_") else f"{diagram}{self._training_html()}"

    def _training_html(self) -> str:
        summary = self.summary_
        kept = f", {len(summary.kept_restarts)} of {len(summary.restarts)} restarts kept" if summary.restarts else ""
        first = (
            f"{len(self.learners_)} learners, {len(self.classes_)} classes, {self.n_rows_:,} rows, "
            f"{summary.seconds:.1f} s on {place_in_words(summary.device)}{kept}"
        )
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{html.escape(str(item.value))}</td>"
            f"<td>{html.escape(item.reason)}</td></tr>"
            for name, item in summary.settings.items()
        )
        sentences = paragraphs((first, *self.findings_, *summary.warnings))
        return (
            f"{sentences}{self._curves()}<details><summary>Settings</summary><table>"
            f"<tr><th>setting</th><th>value</th><th>reason</th></tr>{rows}</table></details>"
        )

    def _curves(self) -> str:
        """Return the difference of energies of each restart as a small picture."""
        lines: dict[int, list[float]] = {}
        for record in getattr(self, "history_", ()):
            lines.setdefault(record.restart, []).append(record.difference)
        return curves("Difference of energies, one line per restart", list(lines.values()))

    def plot_energies(self, *, smoothing: float = 0.7, x: str = "epoch", theme: str = "light") -> Any:
        """Return the energy curves of all restarts as a Plotly figure.

        Parameters
        ----------
        smoothing : float in [0, 1)
            Weight of the past.
        x : "epoch", "update" or "second"
        theme : "light" or "dark"

        Raises
        ------
        InputError
            If the model was fitted exactly, without curves.
        """
        self._check_fitted()
        return figure("energies", self, smoothing, x, theme)

    # ------------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model as safetensors.

        Parameters, and everything else as JSON in the header.
        """
        self._check_fitted()
        files.save(self.content(), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save` wrote; nothing in the file is executed.

        `deem_core.load` reads models of any kind.

        Raises
        ------
        InputError
            If it is damaged, foreign, or a model of another kind.
        """
        model = files.load(path)
        if not isinstance(model, cls):
            raise InputError(
                f"{os.fspath(path)!r} holds a {type(model).__name__} model, not a {cls.__name__}. "
                "Read it with deem_core.load, which takes every kind."
            )
        return model

    def content(self) -> files.Content:
        """Return what a model file holds of this model."""
        params = {name: value for name, value in self.get_params(deep=False).items() if files.is_plain(value)}
        header = {
            "estimator": type(self).__name__,
            "params": params,
            "classes": self.classes_.tolist(),
            "learners": list(self.learners_),
            **{name: getattr(self, name) for name in _PLAIN},
        }
        return files.Content(header, {"prior": self.prior_})

    @classmethod
    def of_content(cls, content: files.Content) -> Self:
        """Return the model that a file holds.

        Raises
        ------
        KeyError, TypeError, ValueError
            If something is missing or does not fit.
        """
        header = content.header
        model = cls(**header["params"])
        model.classes_ = as_label_array(header["classes"])
        model.learners_ = tuple(map(str, header["learners"]))
        model.n_features_in_ = len(model.learners_)
        model.prior_ = content.array("prior", len(model.classes_))
        for name in _PLAIN:
            if name in header:
                setattr(model, name, header[name])
        return model

    # ------------------------------------------------------------------ for fit

    def _check_fitted(self) -> None:
        """Refuse a model that knows no classes and learners yet."""
        if not hasattr(self, "classes_"):
            raise UnfittedError(
                f"This {type(self).__name__} model is not fitted yet. Call fit with votes first, or read a saved model "
                "with deem_core.load."
            )

    def _take_votes(self, X: Any) -> Votes:
        """Return the votes to learn from, without their truth.

        Their learners and classes become the model's.
        """
        votes = recode.votes_to_learn_from(X, self.allow_few_learners)
        if isinstance(X, pd.DataFrame) and all(isinstance(name, str) for name in X.columns):
            self.feature_names_in_ = np.array(X.columns, object)
        elif hasattr(self, "feature_names_in_"):  # of an earlier fit
            del self.feature_names_in_
        self.classes_, self.learners_ = votes.classes, votes.learners
        self.n_features_in_ = votes.n_learners
        self.n_rows_ = votes.n_rows
        self.warnings_: list[str] = []
        return votes

    def _estimate_prior(self, votes: Votes) -> None:
        """Set the prior, the mean posterior of the rows with votes.

        The answer for rows without any.
        """
        self.prior_ = np.full(votes.n_classes, 1 / votes.n_classes)
        voted = np.flatnonzero(votes.votes_per_row)
        step = max(1, len(voted) // self.prior_rows)
        self.prior_ = self.fuse_rows(self.read(votes.select_rows(voted[::step]))).mean(axis=0)
