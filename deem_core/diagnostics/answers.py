"""Answers of a fitted model in the terms that diagnostics need: logits of every restart, units of every layer.

Everything is about the learners of the file, whatever the near-copy guard made of them, and the columns are the
model's classes, whatever order the hidden states of a restart have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deem_core.coding import code_truth, key_of
from deem_core.copies import Reduction
from deem_core.distinct import distinct_rows
from deem_core.inputs import Recoded
from deem_core.votes import NO_VOTE, Votes

if TYPE_CHECKING:  # results are looked at without torch; only those who ask a model need it
    from deem_core.fitting import Part

Float = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]

_FUSED_CELLS = 1 << 24  # (row, class) cells of a posterior held at once


class Fused(Protocol):
    """What diagnostics ask of a fitted estimator (`DEEM`, `IRBM`)."""

    classes_: NDArray[Any]
    learners_: tuple[str, ...]
    parts_: list[Part]
    reduction_: Reduction

    def transform(self, X: Any) -> Recoded:
        """Return new rows in the model's terms."""

    def fuse_codes(self, codes: Codes) -> Float:
        """Return (n, K) probabilities for (n, d) codes."""


def in_model_terms(model: Fused, votes: Votes) -> Votes:
    """Return the votes over the model's learners and classes, in the model's order; votes it does not know are gone."""
    same = [key_of(a) for a in votes.classes.tolist()] == [key_of(b) for b in model.classes_.tolist()]
    if same and votes.learners == tuple(model.learners_):
        return votes
    truth, only = None, None
    if votes.truth is not None:
        labels = np.array([*votes.classes.tolist(), *votes.truth_only.tolist(), None], object)
        truth, only = code_truth(labels[votes.truth], model.classes_)
    return Votes(
        codes=model.transform(votes).codes,
        classes=model.classes_,
        learners=tuple(model.learners_),
        ids=votes.ids,
        truth=truth,
        truth_only=np.empty(0, object) if only is None else only,
    )


def fused_labels(model: Fused, codes: Codes) -> NDArray[np.int32]:
    """Return the most probable class of every row, (n,), -1 without votes; memory does not grow with the classes."""
    found = np.empty(len(codes), np.int32)
    step = max(1, _FUSED_CELLS // len(model.classes_))
    for start in range(0, len(codes), step):
        found[start : start + step] = model.fuse_codes(codes[start : start + step]).argmax(axis=1)
    found[(codes == NO_VOTE).all(axis=1)] = NO_VOTE
    return found


def belief(model: Fused, codes: Codes) -> Float:
    """Return the trainings' own posteriors, (n, K), by which learners are judged.

    A hedged answer also holds the vote shares, in which every learner agrees with itself: it would make good learners
    look poor and poor ones good. They are left out here; the majority vote alone counts as certain.
    """
    rows = distinct_rows(codes)
    if model.parts_:
        found = np.mean([part.posteriors(rows.codes) for part in model.parts_], axis=0)
    else:
        found = np.eye(len(model.classes_))[model.fuse_codes(rows.codes).argmax(axis=1)]
    return np.asarray(found[rows.of_row])


def restart_weights(model: Fused) -> Float:
    """Return the weight of every row of `logits` in the model's answer, (R,), with sum 1.

    Parts count the same, and so do the restarts of a part. The vote shares that a hedged answer also holds have no
    logits and treat all learners alike: they are left out.
    """
    if not model.parts_:
        return np.ones(1)
    each = [np.full(len(part.maps), 1 / len(part.maps)) for part in model.parts_]
    return np.concatenate(each) / len(each)


def logits(model: Fused, codes: Codes) -> Float:
    """Return the label's logits b + v·U of every kept restart of every part, (R, n, K), columns in class order.

    Without parts the answer is the majority vote, which is an iRBM with the identity as weights (paper,
    initialisation scheme): its logits are the numbers of votes, R = 1.

    Parameters
    ----------
    codes : (n, d) array of int
        Of the file's learners.
    """
    if not model.parts_:
        return _vote_counts(model.reduction_.apply(codes), len(model.classes_))[None]
    from deem_core.diagnostics.asking import part_logits  # noqa: PLC0415  # imports torch

    return np.concatenate([part_logits(part, codes) for part in model.parts_])


def voices(reduction: Reduction) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """Return names and members of the cliques of near-copies that speak with one voice."""
    at = [j for j, group in enumerate(reduction.members) if len(group) > 1]
    return tuple(reduction.learners[j] for j in at), tuple(reduction.members[j] for j in at)


def class_names(classes: Sequence[Any] | NDArray[Any]) -> tuple[str, ...]:
    """Return the classes as text."""
    return tuple(str(label) for label in np.asarray(classes, object).tolist())


def _vote_counts(codes: Codes, n_classes: int) -> Float:
    cells = codes + n_classes * np.arange(len(codes), dtype=np.int64)[:, None]
    counts = np.bincount(cells[codes != NO_VOTE], minlength=len(codes) * n_classes)
    return counts.reshape(-1, n_classes).astype(np.float64)
