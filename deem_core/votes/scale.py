"""Scale: classes that have an order.

An order is never taken for granted: files that look like a scale are proposed as one, and whoever reads them says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deem_core.errors import InputError
from deem_core.text import quoted
from deem_core.typing import Codes, Floats
from deem_core.votes.arrays import NO_VOTE, chunks
from deem_core.votes.coding import as_label_array, code_truth, key_of
from deem_core.votes.labels import is_number

if TYPE_CHECKING:  # which knows scales
    from deem_core.votes.table import Votes

FEWEST_STEPS, MOST_STEPS = 3, 11
"""Classes of a scale that is proposed: two have no middle, and 0 to 10 is the longest in use."""

NEAR = 0.9
"""Whole numbers are proposed as a scale if learners who differ do so by at most this share of the steps that two of
their labels are apart by chance. Class codes are not confused with their neighbours more than with others."""

FEWEST_DIFFERENCES = 30
"""Pairs of different votes below which nothing is said about how far they are apart."""

WORDS: tuple[tuple[str, ...], ...] = (
    ("terrible", "very poor", "poor", "fair", "good", "very good", "excellent", "outstanding"),
    ("very bad", "bad", "mediocre", "neutral", "okay", "good", "very good", "great"),
    ("very bad", "bad", "ok", "good", "great"),
    ("unacceptable", "poor", "acceptable", "good", "excellent"),
    (
        *("strongly disagree", "disagree", "somewhat disagree", "slightly disagree", "neither agree nor disagree"),
        *("neutral", "slightly agree", "somewhat agree", "agree", "strongly agree"),
    ),
    ("strongly disagree", "disagree", "undecided", "agree", "strongly agree"),
    ("very negative", "negative", "somewhat negative", "neutral", "somewhat positive", "positive", "very positive"),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("none", "very low", "low", "moderate", "medium", "high", "very high"),
    ("none", "minimal", "minor", "mild", "moderate", "major", "severe", "critical"),
    ("negligible", "low", "medium", "high", "critical"),
    ("never", "rarely", "occasionally", "sometimes", "often", "usually", "always"),
    ("not relevant", "marginally relevant", "partially relevant", "relevant", "highly relevant"),
    ("irrelevant", "marginally relevant", "somewhat relevant", "relevant", "highly relevant", "perfectly relevant"),
    ("very unlikely", "unlikely", "possible", "likely", "very likely"),
    ("very easy", "easy", "medium", "hard", "very hard"),
    ("easy", "medium", "difficult"),
    ("small", "medium", "large"),
    ("beginner", "intermediate", "advanced", "expert"),
)
"""Scales of words, lowest step first. Files may use some of the steps."""

_SIGNS = re.compile(r"[\s_\-]+")


def scale_scores(classes: NDArray[Any]) -> Floats:
    """Return the number of each step, (K,).

    The labels themselves where they are numbers that rise, else the ranks 1 … K.
    """
    numbers = np.array([_number(label) for label in classes.tolist()])
    return numbers if np.isfinite(numbers).all() and (np.diff(numbers) > 0).all() else np.arange(1.0, len(classes) + 1)


def label_scores(votes: Votes) -> Floats:
    """Return the numbers of all labels, those of the truth included, (K + truth only,).

    NaN for a label of which only the truth knows, if it is no number or the steps are not.
    """
    own = scale_scores(votes.classes)
    numeric = all(np.isfinite(_number(label)) for label in votes.classes.tolist())
    only = [_number(label) if numeric else np.nan for label in votes.truth_only.tolist()]
    return np.array([*own, *only])


def _number(label: Any) -> float:
    if isinstance(label, (bool, np.bool_)):
        return float("nan")
    return float(label) if is_number(str(label).strip()) else float("nan")


# ---------------------------------------------------------------------- the order


def word_order(labels: Sequence[Any]) -> list[Any] | None:
    """Return labels by a known scale of words, lowest first.

    None if there is none.
    """
    keys = [_SIGNS.sub(" ", str(label).strip().casefold()) for label in labels]
    for words in WORDS:
        if set(keys) <= set(words):
            return [
                label for _, label in sorted(zip(map(words.index, keys), labels, strict=True), key=lambda at: at[0])
            ]
    return None


def natural_scale(labels: Sequence[Any]) -> bool:
    """Return whether labels are numbers, whose order is known."""
    return len(labels) > 0 and all(np.isfinite(_number(label)) for label in labels)


def ordered_classes(classes: Sequence[Any], order: bool | Sequence[Any] = True) -> list[Any]:
    """Return the classes, lowest first.

    Steps of ``order`` that nobody votes for are among them.

    Parameters
    ----------
    classes : sequence
        As they were read.
    order : True or sequence of labels
        Lowest step first; True takes numbers by value and words by a known scale.

    Raises
    ------
    InputError
        If a class is not among the steps, a step comes twice, or no order is known.
    """
    classes = list(classes)
    if order is True:
        known = classes if natural_scale(classes) else word_order(classes)
        if known is None:
            raise InputError(
                f"The order of the labels {quoted(list(map(str, classes)), 4)} is not known. Name them lowest first: "
                "--order lowest,…,highest, or the column Order of the Labels tab."
            )
        return sorted(known, key=_number) if known is classes else known
    steps = [order] if isinstance(order, str) else list(order or ())
    spelled = {key_of(label): label for label in classes}
    keys = [key_of(step) for step in steps]
    if len(set(keys)) < len(keys):
        raise InputError(f"A step comes twice in the order {quoted(list(map(str, steps)))}. Name each step once.")
    missing = [str(label) for key, label in spelled.items() if key not in keys]
    if missing:
        raise InputError(
            f"The order of the labels, {quoted(list(map(str, steps)))}, lacks {quoted(missing, 4)}. Name every label, "
            "lowest first."
        )
    return [spelled.get(key, step) for key, step in zip(keys, steps, strict=True)]


def in_order(votes: Votes, order: bool | Sequence[Any] = True) -> Votes:
    """Return votes with classes as steps of a scale, lowest first.

    ``order`` is that of `ordered_classes`.
    """
    before = votes.classes.tolist()
    classes = ordered_classes(before, order)
    if classes == before:
        return votes._changed(ordered=True)
    new, steps = new_codes(before, classes), as_label_array(classes)
    truth, only = votes.truth, votes.truth_only
    if truth is not None:
        truth, only = _recoded(truth, [*before, *only.tolist()], steps)
    gold = votes.gold
    if gold is not None:
        codes, gold_only = _recoded(gold.codes, [*before, *gold.only.tolist()], steps)
        gold = replace(gold, codes=codes, only=gold_only)
    soft = votes.soft
    if soft is not None:
        shares = np.zeros((*soft.shape[:2], len(classes)), soft.dtype)
        shares[:, :, new[:-1]] = soft
        soft = shares
    return replace(
        votes, codes=new[votes.codes], classes=steps, truth=truth, truth_only=only, soft=soft, gold=gold, ordered=True
    )


def _recoded(codes: Codes, labels: Sequence[Any], steps: NDArray[Any]) -> tuple[Codes, NDArray[Any]]:
    """Return known labels over the steps, (n,), and the others."""
    return code_truth(np.array([*labels, None], object)[codes], steps)


def new_codes(before: Sequence[Any], after: Sequence[Any]) -> Codes:
    """Return the code of each class among the steps, (K + 1,).

    The last is that of no vote.
    """
    at = {key_of(label): code for code, label in enumerate(after)}
    return np.array([*(at[key_of(label)] for label in before), NO_VOTE], np.int32)


# ---------------------------------------------------------------------- what looks like a scale


def proposed_order(votes: Votes) -> list[str] | None:
    """Return the classes lowest first, if they look like a scale.

    That is: words of a known scale, or at most `MOST_STEPS` consecutive whole numbers which learners confuse with
    their neighbours (`NEAR`). None for votes that have their order already.
    """
    labels = votes.classes.tolist()
    if votes.ordered or not len(labels) >= FEWEST_STEPS:
        return None
    words = word_order(labels)
    if words is not None:
        return [str(label) for label in words]
    numbers = np.array([_number(label) for label in labels])
    if len(labels) > MOST_STEPS or not np.isfinite(numbers).all() or not (np.diff(numbers) == 1).all():
        return None
    if numbers[0] != int(numbers[0]) or abs(numbers).max() > MOST_STEPS:
        return None
    nearness = relative_distance(votes)
    return [str(label) for label in labels] if nearness is not None and nearness <= NEAR else None


def relative_distance(votes: Votes) -> float | None:
    """Return how far different votes on a row are apart, by chance 1.

    The mean number of steps between two different votes on one row, divided by that between two different votes of
    any rows. None with fewer than `FEWEST_DIFFERENCES` such pairs.
    """
    K = votes.n_classes
    together = np.zeros((K, K))
    for rows in chunks(votes.n_rows, 1 << 16):
        codes = votes.codes[rows]
        tally = np.stack([(codes == k).sum(axis=1) for k in range(K)], axis=1).astype(np.float64)
        together += tally.T @ tally
    np.fill_diagonal(together, 0)
    if together.sum() / 2 < FEWEST_DIFFERENCES:
        return None
    cast = votes.class_counts.sum(axis=0).astype(np.float64)
    chance = np.outer(cast, cast)
    np.fill_diagonal(chance, 0)
    steps = np.abs(np.subtract.outer(np.arange(K), np.arange(K)))
    return float((together * steps).sum() / together.sum() / ((chance * steps).sum() / chance.sum()))
