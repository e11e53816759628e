"""Votes: one table of n rows, d learners and K classes.

Axes are the same everywhere: ``n`` rows, ``d`` learners, ``K`` classes, the class axis last. A vote that
was not cast is -1 among codes and a zero vector among probabilities.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from deem_core.errors import InputError
from deem_core.notebook import bars, paragraphs
from deem_core.text import dimensions
from deem_core.typing import Codes, Floats, Mask
from deem_core.votes import checks, coding
from deem_core.votes.arrays import NO_VOTE, Distinct, distinct_rows
from deem_core.votes.gold import Gold, as_gold
from deem_core.votes.labels import DEFAULT, MissingRule
from deem_core.votes.majority import MajorityVote, majority_vote
from deem_core.votes.scale import in_order, scale_scores


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes of d learners on n rows, in K classes.

    Use `from_labels`, `from_frame` or `from_soft` unless you hold class codes already. Arrays are
    kept as read-only views.

    Parameters
    ----------
    codes : (n, d) array of int
        Class index of each vote, -1 for no vote. Kept as int32.
    classes : (K,) array
        The original label values; ``classes[codes]`` gives labels back.
    learners : sequence of d str
    ids : sequence of n, optional
        Name of each row, kept as a pandas Index; the row's position by default.
    truth : (n,) array of int, optional
        Known true classes, -1 where unknown. For evaluation only.
    soft : (n, d, K) array of float, optional
        Probabilities behind the votes, zeros for no vote. Kept as float32.
    truth_only : array, optional
        Labels that occur in the truth though no learner ever votes for them. The j-th has truth code
        K + j, so that such rows count as known and always wrong; K itself never depends on the truth.
    gold : Gold, optional
        Known labels that are to be used. Rows that have one lose their truth: nothing is evaluated on what was used.
    ordered : bool
        Whether the classes are steps of a scale, lowest first; see `scores`.
    separator : str
        Sign between the labels of a class that is a set of them (`deem_core.votes.label_sets`); empty for one label.

    Raises
    ------
    InputError
        If anything does not fit together; the text names the learner and the row (counted from 1).

    Examples
    --------
    >>> from deem_core import Votes
    >>> votes = Votes.from_labels([["cat", "cat", "dog"], ["dog", None, "dog"]], learners=["ann", "bob", "eve"])
    >>> votes
    Votes(2 rows × 3 learners × 2 classes)
    >>> votes.codes.tolist()
    [[0, 0, 1], [1, -1, 1]]
    >>> votes.majority_vote.codes.tolist()
    [0, 1]
    """

    codes: Codes
    classes: NDArray[Any]
    learners: tuple[str, ...]
    ids: pd.Index = None  # type: ignore[assignment]  # filled in by __post_init__
    truth: Codes | None = None
    soft: NDArray[np.float32] | None = None
    truth_only: NDArray[Any] = field(default_factory=lambda: np.empty(0, object))
    gold: Gold | None = None
    ordered: bool = False
    separator: str = ""

    def __post_init__(self) -> None:
        """Check every invariant once and freeze the arrays."""
        classes = coding.as_label_array(self.classes)
        checks.check_classes(classes)
        codes = checks.as_codes(self.codes, len(classes), self.learners)
        learners = checks.check_learners(self.learners, codes.shape[1])
        truth_only = coding.as_label_array(self.truth_only)
        soft = self.soft
        if soft is not None:
            soft = checks.check(np.asarray(soft, np.float32), codes, len(classes), learners)
        truth = self.truth
        if truth is not None:
            truth = checks.as_truth(truth, len(codes), len(classes) + len(truth_only))
        if self.gold is not None:
            truth = _unused(truth, self.gold.checked(len(codes), len(classes)))
        self._freeze(
            codes=codes,
            classes=classes,
            learners=learners,
            ids=checks.as_ids(self.ids, len(codes)),
            truth=truth,
            soft=soft,
            truth_only=truth_only,
        )

    def _freeze(self, **fields: Any) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, checks.read_only(value) if isinstance(value, np.ndarray) else value)

    def _changed(self, **fields: Any) -> Votes:
        """Return Votes with some fields replaced, without new checks."""
        votes = object.__new__(Votes)
        votes._freeze(**{name: fields.get(name, getattr(self, name)) for name in self.__dataclass_fields__})
        return votes

    # ------------------------------------------------------------------ constructors

    @classmethod
    def from_labels(
        cls,
        labels: ArrayLike,
        *,
        learners: Sequence[str] | None = None,
        ids: Sequence[Any] | pd.Index | pd.Series | None = None,
        truth: ArrayLike | None = None,
        classes: Sequence[Any] | None = None,
        missing: MissingRule | Collection[str] = DEFAULT,
    ) -> Votes:
        """Make Votes from an (n, d) array of labels.

        Parameters
        ----------
        labels : (n, d) array
            Integers, whole floats, booleans or text. None and NaN are missing, and -1 beside
            non-negative integers other than 1 alone; text follows the rules for files.
        learners : sequence of d str, optional
            ``learner_1`` … ``learner_d`` by default.
        ids : sequence of n, optional
        truth : (n,) array of labels, optional
        classes : sequence, optional
            All classes in their order; by default those that were voted for, in natural order.
        missing : MissingRule or spellings
        """
        coded = coding.code_array(labels, classes=classes, missing=missing, learners=learners)
        labels_of_classes = coding.as_label_array(coded.classes)
        truth_codes, truth_only = None, None
        if truth is not None:
            truth_codes, truth_only = coding.code_truth(truth, labels_of_classes, missing=missing)
        return cls(
            codes=coded.codes,
            classes=labels_of_classes,
            learners=checks.default_learners(coded.codes.shape[1]) if learners is None else tuple(learners),
            ids=ids,  # type: ignore[arg-type]
            truth=truth_codes,
            truth_only=np.empty(0, object) if truth_only is None else truth_only,
        )

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        learners: Sequence[str] | None = None,
        id: str | None = None,
        truth: str | None = None,
        classes: Sequence[Any] | None = None,
        missing: MissingRule | Collection[str] = DEFAULT,
    ) -> Votes:
        """Make Votes from a pandas frame with a column per learner.

        ``learners`` defaults to every column that is neither ``id`` nor ``truth``; without ``id`` the
        frame's index names the rows.
        """
        names = [str(name) for name in frame.columns]
        learners = None if learners is None else [str(name) for name in learners]
        if len(set(names)) != len(names):
            raise InputError(f"The frame has two columns named {checks.first_repeated(names)!r}; rename one of them.")
        for column in [*(learners or ()), *(name for name in (id, truth) if name is not None)]:
            if column not in names:
                raise InputError(f"The frame has no column {column!r}; its columns are {', '.join(names)}.")
        for role, column in (("id", id), ("truth", truth)):
            if column is not None and learners is not None and column in learners:
                raise InputError(f"Column {column!r} cannot be both the {role} and a learner.")
        chosen = list(learners) if learners is not None else [name for name in names if name not in (id, truth)]
        columns = {name: frame.iloc[:, position] for position, name in enumerate(names)}
        return cls.from_labels(
            coding.frame_to_array([columns[name] for name in chosen], len(frame)),
            learners=chosen,
            ids=frame.index if id is None else columns[id],
            truth=None if truth is None else coding.frame_to_array([columns[truth]], len(frame))[:, 0],
            classes=classes,
            missing=missing,
        )

    @classmethod
    def from_soft(
        cls,
        probabilities: ArrayLike,
        *,
        classes: Sequence[Any] | None = None,
        learners: Sequence[str] | None = None,
        ids: Sequence[Any] | pd.Index | pd.Series | None = None,
        truth: ArrayLike | None = None,
    ) -> Votes:
        """Make Votes from an (n, d, K) array of class probabilities.

        A vote whose K values are all NaN or all zero is missing. Values that do not sum to 1 within
        1% are renormalised with a warning; negative, larger than 1 or non-finite ones are refused.
        The class codes are the most probable classes, the lowest index among equals.
        """
        array = checks.as_array(probabilities)
        if array.ndim != 3:
            raise InputError(
                f"Soft votes must have the shape (rows, learners, classes); this array has shape {array.shape}."
            )
        names = checks.default_learners(array.shape[1]) if learners is None else tuple(learners)
        checks.check_learners(names, array.shape[1])
        labels = coding.as_label_array(np.arange(array.shape[2]) if classes is None else classes)
        normal = checks.normalise(array, names)
        if normal.n_partial:
            text = f"{normal.n_partial:,} soft votes have some but not all values missing; those were read as 0."
            warnings.warn(text, stacklevel=2)
        if normal.n_renormalised:
            warnings.warn(
                f"{normal.n_renormalised:,} soft votes did not sum to 1 within 1% and were renormalised "
                f"(first in row {normal.first_rows[0]}).",
                stacklevel=2,
            )
        truth_codes, truth_only = None, None
        if truth is not None:
            truth_codes, truth_only = coding.code_truth(truth, labels)
        return cls(
            codes=checks.hard_codes(normal.soft),
            classes=labels,
            learners=names,
            ids=ids,  # type: ignore[arg-type]
            truth=truth_codes,
            soft=normal.soft,
            truth_only=np.empty(0, object) if truth_only is None else truth_only,
        )

    # ------------------------------------------------------------------ size and selection

    @property
    def n_rows(self) -> int:
        """Number of rows, n."""
        return len(self.codes)

    @property
    def n_learners(self) -> int:
        """Number of learners, d."""
        return len(self.learners)

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return len(self.classes)

    @property
    def dimensions(self) -> str:
        """The size in words: "10,000 rows × 6 learners × 5 classes"."""
        size = dimensions(self.n_rows, self.n_learners, self.n_classes)
        return size if not self.separator else f"{size.removesuffix(' classes')} sets of labels"

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and learners, (n, d)."""
        return self.n_rows, self.n_learners

    def __getitem__(self, rows: Any) -> Votes:
        """Return the Votes of some rows, as scikit-learn's splitters ask for them.

        ``votes[rows]`` and ``votes[rows, ...]`` are `select_rows`.
        """
        return self.select_rows(rows[0] if isinstance(rows, tuple) else rows)

    __iter__ = None  # a table is no sequence of tables

    def __repr__(self) -> str:
        """Return the size in words; the arrays themselves would fill the screen."""
        extras = [name for name in ("soft", "truth", "gold") if getattr(self, name) is not None]
        note = (", ordered" if self.ordered else "") + (f", with {' and '.join(extras)}" if extras else "")
        return f"Votes({self.dimensions}{note})"

    def _repr_html_(self) -> str:
        """Return size, classes and the first rows, for notebooks."""
        names, cast = np.array([*self.classes.tolist(), ""], object), self.class_counts.sum(axis=0)
        rows = pd.DataFrame(names[self.codes[:10]], index=self.ids[:10], columns=list(self.learners))
        shares = cast / max(int(cast.sum()), 1)
        shown = bars("Votes by class", self.classes.tolist(), shares.tolist(), [f"{n:,}" for n in cast])
        return f"{paragraphs([repr(self)])}{shown}{rows.to_html(max_cols=20)}"

    def select_rows(self, rows: Any) -> Votes:
        """Return the Votes of some rows; classes stay as they are.

        Rows are a slice, positions or a boolean mask.
        """
        rows = checks.as_rows(rows, self.n_rows)
        return self._changed(
            codes=self.codes[rows],
            ids=self.ids[rows],
            truth=None if self.truth is None else self.truth[rows],
            soft=None if self.soft is None else self.soft[rows],
            gold=None if self.gold is None else self.gold.select(rows),
        )

    def select_learners(self, learners: Sequence[str | int]) -> Votes:
        """Return the Votes of some learners, in the order given.

        Learners are names or positions.
        """
        position = {name: j for j, name in enumerate(self.learners)}
        chosen = []
        for learner in learners:
            at = position.get(learner) if isinstance(learner, str) else checks.as_position(learner)
            if at is None or not -self.n_learners <= at < self.n_learners:
                raise InputError(f"There is no learner {learner!r}; the learners are {', '.join(self.learners)}.")
            chosen.append(at)
        names = tuple(self.learners[at] for at in chosen)
        return self._changed(
            codes=self.codes[:, chosen],
            learners=checks.check_learners(names, len(names)),
            soft=None if self.soft is None else self.soft[:, chosen],
        )

    def without_truth(self) -> Votes:
        """Return the same votes with the truth taken away."""
        return self._changed(truth=None, truth_only=np.empty(0, object))

    def with_gold(self, gold: Any) -> Votes:
        """Return the same votes with known labels to be used.

        `Gold`, ``{id: label}``, a Series by id, or a label or None for each row. The truth of these rows is forgotten.
        """
        made = as_gold(gold, self.ids, self.classes)
        return self._changed(gold=made if made.n_rows else None, truth=_unused(self.truth, made))

    def without_gold(self) -> Votes:
        """Return the same votes with the gold labels taken away.

        The truth of their rows does not come back.
        """
        return self._changed(gold=None)

    def as_ordered(self, order: bool | Sequence[Any] = True) -> Votes:
        """Return the same votes with classes as steps of a scale.

        ``order`` names them, lowest first; True takes numbers by value and words by a known scale, False no order.
        """
        return in_order(self, order) if order is not False else self._changed(ordered=False)

    # ------------------------------------------------------------------ cheap facts

    @property
    def scores(self) -> Floats | None:
        """Number of each step of the scale, (K,); None without an order."""
        return scale_scores(self.classes) if self.ordered else None

    @property
    def has_ids(self) -> bool:
        """Whether rows have names of their own; else they are counted."""
        return not isinstance(self.ids, pd.RangeIndex)

    @cached_property
    def votes_per_row(self) -> Codes:
        """Votes cast in each row, (n,)."""
        per_row: Codes = (self.codes != NO_VOTE).sum(axis=1, dtype=np.int32)
        return per_row

    @cached_property
    def learner_coverage(self) -> Floats:
        """Share of rows each learner voted on, (d,)."""
        return (self.codes != NO_VOTE).mean(axis=0) if self.n_rows else np.zeros(self.n_learners)

    @property
    def coverage(self) -> float:
        """Share of the n·d votes that were cast."""
        return float(self.learner_coverage.mean())

    @cached_property
    def majority_vote(self) -> MajorityVote:
        """Plurality of every row; ties go to the lowest class index."""
        return majority_vote(self.codes)

    @cached_property
    def distinct(self) -> Distinct:
        """Rows without repetition, with their counts.

        Equal votes have equal answers, so methods compute each distinct row once.
        """
        return distinct_rows(self.codes)

    @cached_property
    def unanimous(self) -> Mask:
        """Rows with two votes or more, all the same, (n,)."""
        same: Mask = self.majority_vote.support == self.votes_per_row
        return same & (self.votes_per_row >= 2)

    @cached_property
    def class_counts(self) -> NDArray[np.int64]:
        """Votes of each learner for each class, (d, K)."""
        counts = np.empty((self.n_learners, self.n_classes), np.int64)
        for j in range(self.n_learners):
            counts[j] = np.bincount(self.codes[:, j] + 1, minlength=self.n_classes + 1)[1:]
        return counts

    @property
    def constant_learners(self) -> tuple[str, ...]:
        """Learners that voted at least twice and always for the same class."""
        counts = self.class_counts
        constant = ((counts > 0).sum(axis=1) == 1) & (counts.sum(axis=1) >= 2)
        return tuple(name for name, is_constant in zip(self.learners, constant, strict=True) if is_constant)

    @cached_property
    def identical_learners(self) -> tuple[tuple[str, ...], ...]:
        """Groups of learners with equal votes on every row.

        Silent learners are left out.
        """
        groups: dict[bytes, list[str]] = {}
        for j, name in enumerate(self.learners):
            if self.learner_coverage[j] > 0:
                groups.setdefault(hashlib.sha256(self.codes[:, j].tobytes()).digest(), []).append(name)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of all contents, truth, gold and ids included."""
        return checks.content_hash(self)


def _unused(truth: Codes | None, gold: Gold) -> Codes | None:
    """Return the truth without the rows that have gold labels, (n,)."""
    if truth is None:
        return None
    rest: Codes = np.where(gold.known, NO_VOTE, truth).astype(np.int32)
    return rest if (rest != NO_VOTE).any() else None
