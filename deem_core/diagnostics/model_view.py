"""View of a fitted model: logits, posteriors and weights of restarts.

Everything is about the learners of the file, whatever the near-copy guard made of them, and the columns are the
model's classes, whatever order the hidden states of a restart have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deem_core.groups.latent_tree import GroupedModel
from deem_core.groups.reduction import Reduction, Voices
from deem_core.typing import Codes, Floats, Integers, Rows
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.arrays import chunks, votes_cast, weighted_votes
from deem_core.votes.recode import Recoded

_FUSED_CELLS = 1 << 24  # (row, class) cells of a posterior held at once


class ModelPart(Protocol):
    """Part of an answer: kept restarts of a training, or a tree."""

    @property
    def reduction(self) -> Reduction:
        """From the learners of the file to those of the part."""

    @property
    def n_restarts(self) -> int:
        """Number of restarts, R'."""

    @property
    def n_layers(self) -> int:
        """Number of layers."""

    @property
    def states_per_row(self) -> int:
        """Unit states that asking about a row takes."""

    @property
    def tree(self) -> GroupedModel | None:
        """The tree of groups, if it is one."""

    def posteriors(self, rows: Any, /) -> Floats:
        """Return p(label | votes), (n, K)."""

    def logits(self, rows: Any, /) -> Floats:
        """Return the label's logits of every restart, (R', n, K)."""

    def unit_codes(self, codes: Integers, restart: int) -> list[Codes]:
        """Return the most active state of each unit after each layer."""

    def parameters(self) -> tuple[Floats, Floats] | None:
        """Return ψ (d', K, K) and π (K,); None if there are none."""


class FittedModel(Protocol):
    """What diagnostics need of a fitted model of any kind."""

    classes_: NDArray[Any]
    learners_: tuple[str, ...]
    reduction_: Reduction

    @property
    def parts_(self) -> Sequence[ModelPart]:
        """What answers; empty for the majority vote."""

    @property
    def voices_(self) -> Voices:
        """Learners to be looked at together."""

    def recoded(self, X: Any) -> Recoded:
        """Return new rows in the model's terms."""

    def read(self, votes: Votes) -> Rows:
        """Return what it reads of votes in its terms."""

    def fuse_rows(self, rows: Rows) -> Floats:
        """Return (n, K) probabilities for what it reads."""


def fused_labels(model: FittedModel, rows: Rows) -> Codes:
    """Return the most probable class of every row, (n,).

    -1 without votes. Memory does not grow with the number of classes.
    """
    labels = np.empty(len(rows), np.int32)
    for part in chunks(len(rows), _FUSED_CELLS // len(model.classes_)):
        labels[part] = model.fuse_rows(rows[part]).argmax(axis=1)
    labels[~votes_cast(rows).any(axis=1)] = NO_VOTE
    return labels


def belief(model: FittedModel, rows: Rows) -> Floats:
    """Return the posteriors by which learners are judged, (n, K).

    A hedged answer also holds the vote shares, in which every learner agrees with itself: it would make good learners
    look poor and poor ones good. They are left out here; the majority vote alone counts as certain.
    """
    if model.parts_:
        return np.asarray(np.mean([part.posteriors(rows) for part in model.parts_], axis=0))
    return np.asarray(np.eye(len(model.classes_))[model.fuse_rows(rows).argmax(axis=1)])


def restart_weights(model: FittedModel) -> Floats:
    """Return the weight of each restart in the answer, (R,).

    They sum to 1, and belong to the rows of `logits`.

    Parts count the same, and so do the restarts of a part. The vote shares that a hedged answer also holds have no
    logits and treat all learners alike: they are left out.
    """
    if not model.parts_:
        return np.ones(1)
    each = [np.full(part.n_restarts, 1 / part.n_restarts) for part in model.parts_]
    return np.concatenate(each) / len(each)


def logits(model: FittedModel, rows: Rows) -> Floats:
    """Return the label's logits of every kept restart, (R, n, K).

    Columns are in class order. They are b + v·U for DEEM, and log Pr(label, votes) for a tree of groups and for soft
    DEEM, where votes are evidence.

    Without parts the answer is the majority vote, which is an iRBM with the identity as weights (paper,
    initialisation scheme): its logits are the numbers of votes, R = 1; of probabilities, their sums.

    Parameters
    ----------
    rows : (n, d) array of int, or (n, d, K) array of float
        What the model reads, of the file's learners.
    """
    if not model.parts_:
        if rows.ndim == 3:
            return np.asarray(rows.sum(axis=1, dtype=np.float64))[None]
        reduced = model.reduction_.apply(rows.astype(np.int32, copy=False))
        return weighted_votes(reduced, np.ones(reduced.shape[1]), len(model.classes_))[None]
    return np.concatenate([part.logits(rows) for part in model.parts_])


def class_names(classes: Sequence[Any] | NDArray[Any]) -> tuple[str, ...]:
    """Return the classes as text."""
    return tuple(str(label) for label in np.asarray(classes, object).tolist())
