"""The review queue.

Which rows are worth a human look, why, and in which order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deem_core.answers.answer import Answer
from deem_core.files.results import Result
from deem_core.text import listing, percent
from deem_core.typing import Codes, Floats, Mask, Posterior
from deem_core.votes import NO_VOTE

REASONS = ("votes give this label little support", "a unanimous vote was overruled", "restarts disagree on it")
"""Why a row is in the queue, in words that hold for many rows; `review_reasons` tells each by itself."""

MOST_NAMED = 3
"""Learners with another vote whom a reason names."""

SURE, NEAR = 0.9, 0.2
"""Confidence below which a reason tells what else the label could be, and lead below which that is a near tie."""


@dataclass(frozen=True)
class Queue(Result):
    """Rows to review, the most urgent first.

    Attributes
    ----------
    rows : (m,) int64
        Positions.
    score : (m,) float64
        Log-probability of the fused label by the votes alone (`scores.review_score`); low is doubtful.
    doubtful, overruled, disputed : (m,) bool
        The reasons, as in `REASONS`.
    support : (m,) float64
        Share of the restarts that give the fused label; NaN if unknown.
    """

    rows: NDArray[np.int64]
    score: Floats
    doubtful: Mask
    overruled: Mask
    disputed: Mask
    support: Floats

    @property
    def why(self) -> list[str]:
        """The kinds of reasons of each row, in words."""
        flags = np.stack([self.doubtful, self.overruled, self.disputed], axis=1)
        return ["; ".join(REASONS[at] for at in np.flatnonzero(row)) for row in flags]

    def to_frame(self) -> pd.DataFrame:
        """Return a row per row, numbers counted from 1."""
        return pd.DataFrame(
            {"row": self.rows + 1, "why": self.why, "score": self.score, "restarts_agreeing": self.support}
        )


def review_queue(answer: Answer) -> Queue:
    """Return the rows worth a look.

    Those with the most reasons first, then those with the least backing.

    Restarts disagree on a row where the support of the answer is below 1.
    """
    score, doubtful, overruled = answer.review_score, answer.doubtful, answer.overruled
    support = np.full(len(score), np.nan) if answer.support is None else np.asarray(answer.support, np.float64)
    disputed = support < 1
    reasons = doubtful.astype(np.int8) + overruled + disputed
    chosen = np.flatnonzero((reasons > 0) & ~answer.silent)
    order = chosen[np.lexsort((score[chosen], -reasons[chosen]))]
    return Queue(order, score[order], doubtful[order], overruled[order], disputed[order], support[order])


def review_reasons(answer: Answer, queue: Queue) -> list[str]:
    """Return why each row of a queue deserves a look.

    Its own votes, the next class and restarts.

    Parameters
    ----------
    answer : Answer
    queue : Queue
        Of that answer, or the beginning of it.
    """
    names = [str(label) for label in answer.votes.classes.tolist()]
    told = []
    for at, row in enumerate(queue.rows.tolist()):
        label, codes = int(answer.codes[row]), answer.votes.codes[row]
        parts = [_vote_words(codes, label, names), _against(codes, label, names, answer.votes.learners)]
        if answer.votes.separator:
            parts.append(_least_certain(answer, row))
        elif answer.probabilities_known and answer.confidence[row] < SURE:
            parts.append(_odds(np.asarray(answer.posterior[row]), label, names))
        if queue.disputed[at]:
            parts.append(f"only {percent(float(queue.support[at]), 0)} of the restarts agree")
        told.append("; ".join(part for part in parts if part))
    return told


def _least_certain(answer: Answer, row: int) -> str:
    """Say which of several labels is in doubt, if any is."""
    posterior = np.asarray(answer.posterior[row])
    k = int(np.argmin(np.abs(posterior - 0.5)))
    if max(posterior[k], 1 - posterior[k]) >= SURE:
        return ""
    return f"least certain: {answer.probability_names[k]} {percent(float(posterior[k]), 0)}"


def _vote_words(codes: Codes, label: int, names: Sequence[str]) -> str:
    """Say how the votes of a row are spread."""
    counts = np.bincount(codes[codes != NO_VOTE], minlength=len(names))
    cast, own = int(counts.sum()), int(counts[label])
    if own == cast:
        return f"a single vote, {names[label]}" if cast == 1 else f"all {cast} votes say {names[label]}"
    other = int(np.argmax(np.where(np.arange(len(counts)) == label, -1, counts)))
    most = int(counts[other])
    if most == cast:
        said = "the single vote says" if cast == 1 else f"all {cast} votes say"
        return f"{said} {names[other]}, overruled"
    if own == most:
        return f"tie: {names[label]} {own}, {names[other]} {most} of {cast} votes"
    if own < most:
        return f"{own or 'none'} of {cast} votes for {names[label]}, {most} for {names[other]}"
    close = "close: " if own - most == 1 else ""
    return f"{close}{own} of {cast} votes for {names[label]}, {most} for {names[other]}"


def _against(codes: Codes, label: int, names: Sequence[str], learners: Sequence[str]) -> str:
    """Name learners of a row that vote otherwise."""
    others = np.flatnonzero((codes != NO_VOTE) & (codes != label)).tolist()
    if not others:
        return ""
    return f"against: {listing([f'{learners[j]} ({names[codes[j]]})' for j in others], MOST_NAMED)}"


def _odds(posterior: Posterior, label: int, names: Sequence[str]) -> str:
    """Say how probable the label and the next class are."""
    if len(posterior) < 2:
        return ""
    other = int(np.argmax(np.where(np.arange(len(posterior)) == label, -1, posterior)))
    near = "near tie: " if posterior[label] - posterior[other] < NEAR else ""
    first, second = (f"{names[k]} {percent(float(posterior[k]), 0)}" for k in (label, other))
    return f"{near}{first}, {second}"
