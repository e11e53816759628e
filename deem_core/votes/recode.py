"""Recoding: what estimators accept, and votes in a fitted model's terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from deem_core.errors import InputError
from deem_core.text import listing
from deem_core.typing import Codes
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.checks import hard_codes
from deem_core.votes.coding import UnknownLabelError, as_label_array, code_truth, key_of
from deem_core.votes.frames import frame_votes, is_frame
from deem_core.votes.gold import Gold
from deem_core.votes.orders import find_pairs, one_voice, pairs_known_as_one
from deem_core.votes.spelling import folded

MIN_LEARNERS = 3
"""With fewer, who is right cannot be told from the votes alone."""


@dataclass(frozen=True)
class Recoded:
    """New votes in the terms of a fitted model.

    Attributes
    ----------
    votes : Votes
        Over the model's learners and classes, with the ids and the truth of the new rows; with probabilities only if
        the model reads them, and the rows have some.
    unknown : dict
        Labels the model does not know → number of votes; they count as not cast.
    absent : tuple of str
        Learners of the model that the new votes lack; their votes count as not cast.
    extra : tuple of str
        Learners of the new votes that the model does not know; they are left out.
    same_terms : bool
        Whether learners and classes were the model's already.
    unread : dict
        Learners who voted, but for no label that the model knows → their labels.
    spelled : bool
        Whether some unknown labels are known ones in another spelling.
    merged : tuple of str
        Judges asked in both orders whose two answers became one vote, since the model knows them so.
    """

    votes: Votes
    unknown: dict[str, int]
    absent: tuple[str, ...]
    extra: tuple[str, ...]
    same_terms: bool = False
    unread: dict[str, tuple[str, ...]] = field(default_factory=dict)
    spelled: bool = False
    merged: tuple[str, ...] = ()

    @property
    def codes(self) -> Codes:
        """Class codes over the model's learners and classes, (n, d)."""
        return self.votes.codes

    def sentences(self) -> list[str]:
        """Return what was not as in training, as plain sentences."""
        sentences = []
        if self.merged:
            sentences.append(
                f"The two answers of {listing(self.merged, 5)} became one vote where they agree and none where they "
                "contradict each other, as in training."
            )
        if apart := [pair.judge for pair in find_pairs(self.absent) if pair.judge in self.extra]:
            sentences.append(
                f"The model knows the two answers of {listing(apart, 5)} as two learners. Leave --one-voice out, and "
                "they count."
            )
        if self.unknown:
            names = ", ".join(repr(label) for label in list(self.unknown)[:5])
            total = sum(self.unknown.values())
            counted = f"{total:,} votes for labels" if total > 1 else "A vote for a label"
            verb = "are" if total > 1 else "is"
            sentences.append(f"{counted} unknown in training ({names}) {verb} treated as missing.")
        sentences.extend(self.unread_words())
        if self.spelled:
            sentences.append("Some unknown labels look like known ones: merge the spellings to match them.")
        if self.absent:
            sentences.append(f"No votes from {', '.join(self.absent)}; treated as missing.")
        if self.extra:
            sentences.append(f"Learners unknown in training were left out: {', '.join(self.extra)}.")
        return sentences

    def unread_words(self) -> list[str]:
        """Return whose labels are all unknown, a sentence each."""
        return [
            f"None of {learner}'s labels is known: {listing(labels, 5)}. They count as missing."
            for learner, labels in self.unread.items()
        ]


def bare(votes: Votes, *, soft: bool = False) -> Votes:
    """Return the votes alone: no names of rows, no known labels.

    That is all that training needs, and it travels light. With ``soft`` their probabilities come along.
    """
    return Votes(votes.codes, votes.classes, votes.learners, soft=votes.soft if soft else None)


def as_votes(X: Any) -> Votes:
    """Return Votes from Votes, a frame, labels or probabilities.

    Frames are those of pandas, Polars and Arrow; arrays of labels have the shape (n, d), of probabilities (n, d, K).
    """
    if isinstance(X, Votes):
        return X
    if is_frame(X):
        return frame_votes(X)
    X = _dense(X)
    try:
        dimensions = np.ndim(X)
    except ValueError:  # lists of several lengths
        raise InputError("Votes must be a regular table: every row needs a label, or None, of every learner.") from None
    if dimensions == 3:
        return Votes.from_soft(X)
    return Votes.from_labels(X)


def _dense(X: Any) -> Any:
    """Return what calls itself an array as one.

    Raises
    ------
    InputError
        If it is sparse.
    """
    if issparse(X):
        raise InputError("Votes must not be sparse: a zero would be a vote for class 0. Pass X.toarray().")
    own = isinstance(X, np.ndarray) or is_frame(X) or not hasattr(X, "__array__")
    return X if own else np.asarray(X)


def votes_to_learn_from(X: Any, allow_few: bool = False) -> Votes:
    """Return votes without truth from which something can be learnt.

    Parameters
    ----------
    X : Votes, frame or array
    allow_few : bool
        Whether fewer than `MIN_LEARNERS` learners are accepted.

    Raises
    ------
    InputError
        If learners are too few or nobody voted.
    """
    votes = as_votes(X).without_truth()
    if votes.separator:
        from deem_core.votes.label_sets import refuse_sets  # noqa: PLC0415  # which knows tables

        refuse_sets(votes, "a model")
    if votes.n_learners < MIN_LEARNERS and not allow_few:
        raise InputError(
            f"{votes.n_learners} learners are too few: with fewer than three, the votes alone cannot tell who is "
            "right (the model is not identifiable). Add learners, or pass allow_few_learners=True."
        )
    if not votes.votes_per_row.any():
        raise InputError("There is no vote to learn from: every vote is missing.")
    return votes


def recode(X: Any, learners: Sequence[str], classes: NDArray[Any], *, soft: bool = False) -> Recoded:
    """Return new rows over a model's learners and classes.

    Votes and frames are matched by learner name, arrays by position. The two answers of a judge asked in both orders
    are one vote where the model knows the judge alone. Probabilities of classes that the model does not know are left
    out and the others scaled to 1; a vote for such a class counts as not cast.

    Parameters
    ----------
    X : Votes, frame or array
        With n rows.
    learners : sequence of d str
    classes : (K,) array
    soft : bool
        Whether the model reads probabilities.

    Raises
    ------
    InputError
        If the rows have none of the learners, or an array has another number of them.
    """
    votes, learners, classes = _as_votes_over(X, classes), tuple(learners), as_label_array(classes)
    if votes.learners == learners and _same_labels(votes.classes, classes):
        kept = votes if soft or votes.soft is None else replace(votes, soft=None)
        return Recoded(kept, {}, (), (), same_terms=True)
    pairs = pairs_known_as_one(votes.learners, learners) if isinstance(X, Votes) or is_frame(X) else ()
    votes = one_voice(votes, pairs)
    code_of = {key_of(label): code for code, label in enumerate(classes.tolist())}
    lookup = np.array([*(code_of.get(key_of(label), NO_VOTE) for label in votes.classes.tolist()), NO_VOTE], np.int32)
    codes = lookup[votes.codes]
    unknown = _lost_votes(votes, codes)
    unread = _unread(votes, codes, learners)
    known = {folded(str(label)) for label in classes.tolist()}
    spelled = any(folded(label) in known for label in unknown)
    absent: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    if isinstance(X, Votes) or is_frame(X):
        absent = tuple(name for name in learners if name not in set(votes.learners))
        extra = tuple(name for name in votes.learners if name not in set(learners))
        if len(absent) == len(learners):
            raise InputError(
                f"None of the model's learners ({', '.join(learners[:8])}) is in these votes; "
                f"theirs are {', '.join(votes.learners[:8])}."
            )
        codes = _in_order(codes, votes.learners, learners)
    elif votes.n_learners != len(learners):
        raise InputError(f"The model knows {len(learners)} learners; these votes have {votes.n_learners}.")
    truth, truth_only = _recoded_truth(votes, classes)
    shares = None
    if soft and votes.soft is not None:
        shares = np.zeros((*codes.shape, len(classes)), np.float32)
        _recode_soft(votes.soft, lookup[:-1], _places(X, votes, learners), codes, shares)
        codes = hard_codes(shares)  # among equals the first class, which may be another one now
    gold, ordered = _recoded_gold(votes, classes), votes.ordered and _keeps_order(lookup[:-1])
    made = Votes(codes, classes, learners, votes.ids, truth, shares, truth_only, gold, ordered)
    merged = tuple(pair.judge for pair in pairs)
    return Recoded(made, unknown, absent, extra, unread=unread, spelled=spelled, merged=merged)


def _as_votes_over(X: Any, classes: NDArray[Any]) -> Votes:
    """Return Votes, also of rows that hold a single class."""
    if isinstance(X, Votes):
        return X
    X = _dense(X)
    if not is_frame(X) and np.ndim(X) == 3:
        return Votes.from_soft(X, classes=classes.tolist() if np.shape(X)[2] == len(classes) else None)
    make: Callable[..., Votes] = frame_votes if is_frame(X) else Votes.from_labels
    try:
        return make(X, classes=classes.tolist())
    except UnknownLabelError:
        return make(X)


def _same_labels(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return one.dtype == other.dtype and one.tolist() == other.tolist()


def _keeps_order(lookup: Codes) -> bool:
    """Tell whether known classes stand in the same order.

    Then a scale stays one.
    """
    known = lookup[lookup != NO_VOTE]
    return bool((np.diff(known) > 0).all())


def _lost_votes(votes: Votes, codes: Codes) -> dict[str, int]:
    """Count the votes for labels that the model does not know."""
    lost = (codes == NO_VOTE) & (votes.codes != NO_VOTE)
    if not lost.any():
        return {}
    which, counts = np.unique(votes.codes[lost], return_counts=True)
    return {str(votes.classes[code]): int(count) for code, count in zip(which, counts, strict=True)}


def _unread(votes: Votes, codes: Codes, learners: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return learners who voted, but for no known label."""
    mute = (votes.codes != NO_VOTE).any(axis=0) & (codes == NO_VOTE).all(axis=0)
    found = {}
    for j in np.flatnonzero(mute).tolist():
        if votes.learners[j] in learners:
            used = np.unique(votes.codes[:, j][votes.codes[:, j] != NO_VOTE])
            found[votes.learners[j]] = tuple(str(label) for label in votes.classes[used].tolist())
    return found


def _in_order(codes: Codes, names: Sequence[str], learners: Sequence[str]) -> Codes:
    """Return (n, d') codes in another order of learners, (n, d).

    A learner that is absent casts no vote.
    """
    position = {name: j for j, name in enumerate(names)}
    ordered = np.full((len(codes), len(learners)), NO_VOTE, np.int32)
    for j, name in enumerate(learners):
        if name in position:
            ordered[:, j] = codes[:, position[name]]
    return ordered


def _places(X: Any, votes: Votes, learners: Sequence[str]) -> list[int]:
    """Return where each learner stands in the votes, -1 for nowhere."""
    if not (isinstance(X, Votes) or is_frame(X)):
        return list(range(len(learners)))
    position = {name: j for j, name in enumerate(votes.learners)}
    return [position.get(name, -1) for name in learners]


def _recode_soft(
    soft: NDArray[np.float32], new_code: Codes, places: Sequence[int], codes: Codes, made: NDArray[np.float32]
) -> None:
    """Write probabilities over other learners and classes into zeros (n, d', K').

    Parameters
    ----------
    soft : (n, d, K)
    new_code : (K,) int
        Each class's code among the new ones, -1 for none.
    places : sequence of d' int
        Each new learner's place among the old ones, -1 for none.
    codes : (n, d') int
        The votes over the new classes; where there is none, zeros stay.
    made : (n, d', K')
    """
    known = np.flatnonzero(new_code != NO_VOTE)
    for j, place in enumerate(places):
        if place >= 0:
            made[:, j, new_code[known]] = soft[:, place, known]
    made[codes == NO_VOTE] = 0
    total = made.sum(axis=2, keepdims=True)
    np.divide(made, total, out=made, where=total > 0)


def _recoded_truth(votes: Votes, classes: NDArray[Any]) -> tuple[Codes | None, NDArray[Any]]:
    """Return the truth over other classes, (n,), and labels only truth has."""
    if votes.truth is None:
        return None, np.empty(0, object)
    labels = np.array([*votes.classes.tolist(), *votes.truth_only.tolist(), None], object)
    return code_truth(labels[votes.truth], classes)


def _recoded_gold(votes: Votes, classes: NDArray[Any]) -> Gold | None:
    """Return the gold labels over other classes."""
    if votes.gold is None:
        return None
    labels = np.array([*votes.classes.tolist(), *votes.gold.only.tolist(), None], object)
    codes, only = code_truth(labels[votes.gold.codes], classes)
    return replace(votes.gold, codes=codes, only=only)
