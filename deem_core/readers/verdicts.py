"""Verdicts: a label with its probability, read as a soft vote.

LLM judges write them.

``judge_verdict`` beside ``judge_prob`` gives the verdict that probability and spreads the rest evenly over the other
classes. Where the numbers may mean something else, the columns are not paired, and the report says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from deem_core.readers import roles
from deem_core.readers.columns import Request
from deem_core.readers.notes import Notebook
from deem_core.readers.source import Source
from deem_core.text import count, quoted
from deem_core.typing import Codes, Floats
from deem_core.votes.labels import LabelColumn, MissingRule

LABEL_WORDS = ("verdict", "label", "pred", "prediction", "answer", "choice", "vote", "class")
PROBABILITY_WORDS = ("prob", "probability", "proba", "score", "confidence", "conf", "certainty", "p")

MOST_BELOW_CHANCE = 0.2
"""Share of verdicts less probable than chance beyond which the numbers are not their probabilities."""

SURE = 0.95
"""Share of the verdicts of one class that must lie on its side if the numbers are of that class."""

_LABEL = re.compile(rf"(.+?)(?:__|[_.:\-\s])({'|'.join(LABEL_WORDS)})", re.IGNORECASE)
_PROBABILITY = re.compile(rf"(.+?)(?:__|[_.:\-\s])({'|'.join(PROBABILITY_WORDS)})", re.IGNORECASE)
_LEAST_LEAD = 1e-3  # of a verdict over an even split

Numbers = Callable[[Source, str, MissingRule], Floats | None]


@dataclass(frozen=True)
class Verdict:
    """A column of labels and the column of their probabilities.

    Attributes
    ----------
    learner : str
    label, probability : str
        Columns.
    shares : (n,) array
        Probabilities between 0 and 1, NaN where there is none.
    in_percent : bool
        Whether the file has them between 0 and 100.
    of_class : str, optional
        Key of the class that they are the probability of; None if of the verdict.
    """

    learner: str
    label: str
    probability: str
    shares: Floats
    in_percent: bool
    of_class: str | None


def label_columns(columns: Sequence[str], learner: str) -> list[str]:
    """Return the columns that hold a learner's labels, by their names."""
    return [name for name in columns if name == learner or _base(_LABEL, name) == learner]


def is_named_probability(column: str) -> bool:
    """Tell whether a column's name speaks of a probability."""
    return _base(_PROBABILITY, column) is not None or roles.simple(column) in PROBABILITY_WORDS


def stands_beside(column: str, learners: Sequence[str]) -> bool:
    """Tell whether a column is named after a learner.

    Such as ``judge_sureness``, of ``judge``.
    """
    return any(re.match(rf"{re.escape(name)}\s*[_.:\-]+\s*\S", column, re.IGNORECASE) for name in learners)


def are_shares(values: Floats) -> bool:
    """Tell numbers that look like probabilities: fractions up to 1, or percentages."""
    given = values[np.isfinite(values)]
    if not given.size or given.min() < 0 or given.max() > 100:
        return False
    return bool(given.max() > 10 or (given.max() <= 1 and (given != np.round(given)).any()))


def find_verdicts(request: Request, columns: Sequence[str], numbers: Numbers) -> list[Verdict]:
    """Return the pairs of label and probability that can be decided.

    Parameters
    ----------
    request : Request
    columns : sequence of str
        Those that are free.
    numbers : function
        Returns a column as numbers, None if a cell is none.
    """
    named: dict[str, tuple[str, str]] = {}
    for column in columns:
        learner = _base(_PROBABILITY, column)
        labels = [] if learner is None else [name for name in label_columns(columns, learner) if name != column]
        if learner is not None and labels and learner not in named and not roles.speaks_of_truth(labels[0]):
            named[learner] = labels[0], column
    found = [(learner, *pair, numbers(request.source, pair[1], request.rule)) for learner, pair in named.items()]
    cells = {label: request.label_column(label) for _, label, _, values in found if values is not None}
    cells = {label: column for label, column in cells.items() if not column.too_many}
    classes = {key for column in cells.values() for key in column.label_counts(request.rule)}
    verdicts = []
    for learner, label, probability, values in found:
        if values is not None and label in cells and len(classes) >= 2:
            verdict = _decided(request, (learner, probability), cells[label], values, len(classes))
            if verdict is not None:
                verdicts.append(verdict)
    return verdicts


def _base(pattern: re.Pattern[str], column: str) -> str | None:
    match = pattern.fullmatch(column)
    return match.group(1) if match else None


def _decided(
    request: Request, pair: tuple[str, str], column: LabelColumn, values: Floats, n_classes: int
) -> Verdict | None:
    """Return a verdict if it is clear what its numbers are."""
    learner, probability = pair
    given = np.isfinite(values)
    if not given.any() or np.nanmin(values) < 0:
        return None
    highest = float(np.nanmax(values))
    if highest <= 10 and (values[given] == np.round(values[given])).all():  # marks from 1 to 5, say
        return None
    signed = pc.any(pc.match_substring(request.source.text(probability), "%")).as_py()
    in_percent = bool(signed) or 10 < highest <= 100
    if highest > (100 if in_percent else 1):
        return None
    shares = values / 100 if in_percent else values
    keys = np.array(column.keys, object)[column.indices]
    voted = given & ~np.isin(column.indices, [at for at, key in enumerate(column.keys) if request.rule.is_missing(key)])
    low = shares[voted] < 1 / n_classes - 0.01
    of_class = None
    if n_classes == 2 and low.size and low.mean() > 1 - SURE:
        of_class = _class_of(keys[voted], shares[voted])
    if of_class is None and low.size and low.mean() > MOST_BELOW_CHANCE:
        return None
    return Verdict(learner, column.name, probability, shares, in_percent, of_class)


def _class_of(keys: NDArray[np.object_], shares: Floats) -> str | None:
    """Return the class of two whose probability the numbers are."""
    labels = sorted(set(keys.tolist()))
    for one in labels:
        mine, others = shares[keys == one], shares[keys != one]
        if len(labels) == 2 and (mine >= 0.5).mean() >= SURE and (others <= 0.5).mean() >= SURE:
            return str(one)
    return None


def as_soft(
    verdict: Verdict, codes: Codes, n_classes: int, of_code: int | None
) -> tuple[NDArray[np.float32], int, int]:
    """Return the soft votes (n, K) of a learner, and what was mended.

    Parameters
    ----------
    verdict : Verdict
    codes : (n,) class codes, -1 for no vote
    n_classes : int
    of_code : int, optional
        Code of ``verdict.of_class``.

    Returns
    -------
    soft : (n, K) float32
    without, raised : int
        Verdicts without a probability, which count as certain, and those less probable than chance, which are raised
        to it so that the vote stays with its verdict.
    """
    voted = codes >= 0
    shares = verdict.shares if of_code is None else np.where(codes == of_code, verdict.shares, 1 - verdict.shares)
    without = voted & np.isnan(shares)
    least = 1 / n_classes + _LEAST_LEAD * (1 - 1 / n_classes)
    raised = voted & (shares < least)
    shares = np.clip(np.where(without, 1.0, shares), least, 1.0)
    soft = np.zeros((len(codes), n_classes), np.float32)
    soft[voted] = ((1 - shares[voted]) / (n_classes - 1))[:, None]
    soft[voted, codes[voted]] = shares[voted]
    return soft, int(without.sum()), int(raised.sum())


def note_verdicts(request: Request, used: Mapping[str, Verdict]) -> None:
    """Say which labels were read with which probabilities."""
    pairs = list(used.values())
    if not pairs:
        return
    one = pairs[0]
    request.notebook.add(
        "understood",
        f"{count(len(pairs), 'learner')} ({quoted([pair.learner for pair in pairs], 5)}) "
        f"{'gives' if len(pairs) == 1 else 'give'} a label with its probability, such as {one.label!r} with "
        f"{one.probability!r}: a soft vote. The rest of the probability is spread evenly over the other classes.",
        count=len(pairs),
    )
    note_percent(request.notebook, [pair.probability for pair in pairs if pair.in_percent])
    for pair in pairs:
        if pair.of_class is not None:
            request.notebook.add(
                "understood",
                f"{pair.probability!r} is the probability of {pair.of_class!r}, whatever the label: it is high where "
                f"{pair.label!r} says {pair.of_class!r}, and low elsewhere.",
                column=pair.probability,
            )


def note_percent(notebook: Notebook, columns: Sequence[str]) -> None:
    """Say which columns were read as percentages."""
    if columns:
        text = f"Read {quoted(columns, 5)} as percentages, from 0 to 100."
        notebook.add("changed", text, count=len(columns))


def note_mended(notebook: Notebook, without: int, raised: int) -> None:
    """Say how many verdicts got another probability than the file's."""
    if without:
        text = f"{count(without, 'label')} without a probability {'counts' if without == 1 else 'count'} as certain."
        notebook.add("changed", text, count=without)
    if raised:
        how_many = count(raised, "probability", "probabilities")
        text = f"Raised {how_many} below chance, so that the vote stays with its label."
        notebook.add("changed", text, count=raised)
