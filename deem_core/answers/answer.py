"""Answer: votes with a posterior, and all that follows for every row.

Nothing here makes a second (n, K) array: what follows from the posterior is computed in blocks of rows, kept as (n,)
arrays, and computed once. A posterior may be float32 or memory-mapped, filled part by part (`Answer.from_parts`), and
an answer is scored and written part by part (`Answer.parts`), so that ten million rows go through it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import DTypeLike, NDArray

from deem_core.alarm import Alarm, Kind
from deem_core.answers import gold_rows, scores
from deem_core.answers.checks import check_posterior, check_support
from deem_core.answers.shown import Shown
from deem_core.answers.summary import AnswerSummary
from deem_core.answers.verdict import Verdict
from deem_core.errors import InputError
from deem_core.typing import Codes, Floats, Labels, Mask, Posterior
from deem_core.votes import Votes
from deem_core.votes.majority import break_ties

PART_ROWS = 1 << 18
"""Rows of a part; also the rows of a stored row group."""

MAX_PROBABILITIES = 50
"""With more classes than this, tables leave the probabilities out unless asked for them."""


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Shown):
    """Labels of a method for the rows of some votes.

    All that follows from its posterior is computed when it is asked for, once.

    Parameters
    ----------
    votes : Votes
        Their truth, if there is one, is not looked at.
    posterior : (n, K) array
        Probabilities of the classes. Rows without votes hold the method's prior, or anything else, NaN included.
    support : (n,) array, optional
        Share of the restarts that give the label.
    notes : tuple of str
        What the method says of itself, in sentences.
    method : str
        Its name in the registry, if it has one.
    answered_by : str
        Name of the method that answered, where ``method`` asks others.
    method_alarms : tuple of Alarm
        Doubts that the method itself has about its answer.
    handles : tuple of str
        Kinds of alarms that it takes care of, so that `alarms` leaves them out.
    gold : Verdict, optional
        What gold rows chose and prove, where there are any.
    said_on_gold : (g,) array of int, optional
        The method's own labels of gold rows, which have their gold label here. Found by itself; None without gold.

    Raises
    ------
    InputError
        If the posterior does not fit the votes, or holds something else than probabilities.

    Examples
    --------
    >>> from deem_core import Answer, Votes
    >>> votes = Votes.from_labels([["cat", "cat", "dog"], ["dog", "dog", "dog"]])
    >>> answer = Answer(votes, [[0.9, 0.1], [0.2, 0.8]])
    >>> answer.labels.tolist()
    ['cat', 'dog']
    >>> answer.confidence.tolist()
    [0.9, 0.8]
    """

    votes: Votes
    posterior: Posterior
    support: Floats | None = None
    notes: tuple[str, ...] = ()
    method: str = ""
    answered_by: str = ""
    method_alarms: tuple[Alarm, ...] = ()
    handles: tuple[Kind, ...] = ()
    gold: Verdict | None = field(default=None, repr=False)
    said_on_gold: Codes | None = field(default=None, repr=False)
    _whole: tuple[Answer, slice] | None = field(default=None, init=False, repr=False)  # of which this is a part

    probabilities_known: ClassVar[bool] = True
    """False for labels that a run kept without them (`deem_core.answers.stored.LabelsOnly`)."""

    def __post_init__(self) -> None:
        """Check that the posterior is one of these votes."""
        object.__setattr__(self, "posterior", np.asanyarray(self.posterior))
        object.__setattr__(self, "notes", tuple(self.notes))
        check_posterior(self.votes, self.posterior)
        if self.votes.gold is not None and self.said_on_gold is None:  # else it is a copy, with all in its place
            posterior, said = gold_rows.settle(self.votes, self.votes.gold, self.posterior)
            object.__setattr__(self, "posterior", posterior)
            object.__setattr__(self, "said_on_gold", said)
        if self.support is not None:
            check_support(self.votes, self.support)

    @classmethod
    def from_parts(
        cls, votes: Votes, parts: Iterable[Posterior], *, dtype: DTypeLike = np.float32, **others: Any
    ) -> Answer:
        """Make an answer from posteriors of consecutive rows.

        Each part is let go before the next is asked for.

        Parameters
        ----------
        votes : Votes
        parts : iterable of (b, K) arrays
            Together they have n rows.
        dtype : type
            Of the posterior that is kept.
        **others
            ``support``, ``notes`` and ``method``.
        """
        posterior = np.empty((votes.n_rows, votes.n_classes), dtype)
        filled = 0
        for part in parts:
            if filled + len(part) > votes.n_rows:
                raise InputError(f"The parts hold more rows than the {votes.n_rows:,} of the votes.")
            posterior[filled : filled + len(part)] = part
            filled += len(part)
        if filled < votes.n_rows:
            raise InputError(f"The parts hold {filled:,} rows; the votes have {votes.n_rows:,}.")
        return cls(votes, posterior, **others)

    # ------------------------------------------------------------------ one value per row

    @cached_property
    def codes(self) -> Codes:
        """Most probable class of every row, the first among equals, (n,).

        -1 for rows without votes.
        """
        return scores.fused_codes(self.votes, self.posterior)

    @property
    def labels(self) -> Labels:
        """Label of every row in the original values, (n,).

        None for rows without votes.
        """
        return np.array([*self.votes.classes.tolist(), None], object)[self.codes]

    @cached_property
    def confidence(self) -> Floats:
        """Probability of the label, (n,)."""
        return scores.confidence(self.posterior)

    @cached_property
    def margin(self) -> Floats:
        """Lead of the most probable class over the next one, (n,)."""
        return scores.margin(self.posterior)

    @cached_property
    def entropy(self) -> Floats:
        """Entropy of every row in nats, (n,)."""
        return scores.entropy(self.posterior)

    @property
    def expected_score(self) -> Floats | None:
        """Mean of `Votes.scores` by the row's probabilities, (n,); None without an order."""
        return None if self._expected_scores is None else self._expected_scores[0]

    @property
    def expected_score_sd(self) -> Floats | None:
        """Standard deviation of the score, (n,); None without an order."""
        return None if self._expected_scores is None else self._expected_scores[1]

    @cached_property
    def _expected_scores(self) -> tuple[Floats, Floats] | None:
        numbers = self.votes.scores
        return None if numbers is None else scores.expected_score(self.posterior, numbers)

    @cached_property
    def agreement(self) -> Floats:
        """Share of a row's votes that equal its label, (n,).

        NaN for rows without votes.
        """
        return scores.agreement(self.votes, self.codes)

    @cached_property
    def review_score(self) -> Floats:
        """Backing of every label by its votes, (n,).

        As `scores.review_score` defines it; low is doubtful.
        """
        if self._whole is not None:
            return self._whole[0].review_score[self._whole[1]]
        return scores.review_score(self.votes, self.posterior)

    @cached_property
    def majority(self) -> Codes:
        """Majority vote of every row, (n,); -1 without votes.

        A tied row takes the most probable of its tied classes, so it differs from the label only if the label is none
        of them.
        """
        return break_ties(self.votes.codes, self.votes.majority_vote, self.posterior)

    @cached_property
    def overruled(self) -> Mask:
        """Rows in which a unanimous vote was overruled, (n,)."""
        differs: Mask = self.votes.unanimous & (self.codes != self.majority)
        return differs & ~gold_rows.settled(self.votes)

    @cached_property
    def doubtful(self) -> Mask:
        """The tenth of the rows that votes back least, (n,).

        Of the rows with votes; earlier ones first among equals.
        """
        if self._whole is not None:
            return self._whole[0].doubtful[self._whole[1]]
        return self._least_backed(scores.REVIEW_SHARE)

    def _least_backed(self, share: float) -> Mask:
        """Return the rows that votes back least, (n,)."""
        chosen = np.zeros(self.votes.n_rows, bool)
        wanted = scores.review_quota(int((~self.silent).sum()), share)
        chosen[self._by_backing[:wanted]] = True
        return gold_rows.review(self.votes, chosen)

    @cached_property
    def _by_backing(self) -> NDArray[np.intp]:
        """Rows by their backing, the least first, without votes last."""
        return np.argsort(self.review_score, kind="stable")

    @cached_property
    def needs_review(self) -> Mask:
        """Rows that deserve a human look, (n,).

        The doubtful, the overruled, and those without votes.
        """
        if self._whole is not None:
            return self._whole[0].needs_review[self._whole[1]]
        return self.doubtful | self.overruled | self.silent

    @property
    def silent(self) -> Mask:
        """Rows without votes, (n,); they have no label."""
        return np.asarray(self.votes.votes_per_row == 0)

    def below(self, confidence: float) -> Mask:
        """Return the rows with votes whose label is less probable than this, (n,)."""
        return (self.confidence < confidence) & ~self.silent

    def review_rows(self, below: float | None = None) -> Mask:
        """Return the rows to review, (n,).

        `needs_review`, or with a confidence the rows below it in place of the doubtful tenth.
        """
        return self.needs_review if below is None else self.overruled | self.silent | self.below(below)

    # ------------------------------------------------------------------ in short

    def as_told(self, notes: Sequence[str], alarms: Sequence[Alarm]) -> Self:
        """Return the same answer with what its run said.

        What a run keeps of its labels cannot tell the method's own doubts again.
        """
        answer = object.__new__(type(self))
        answer.__dict__.update(self.__dict__ | {"notes": tuple(notes), "alarms": tuple(alarms)})
        return answer

    @cached_property
    def alarms(self) -> tuple[Alarm, ...]:
        """Reasons to look closer before the labels are trusted, of all rows.

        See `deem_core.answers.alarms`. They rest on the votes alone; silence is no proof.
        """
        from deem_core.answers.alarms import alarms  # noqa: PLC0415  # which knows answers

        return alarms(self) if self._whole is None else self._whole[0].alarms

    @cached_property
    def changes(self) -> NDArray[np.int64]:
        """Rows by majority vote (first) and label (second), (K, K)."""
        return scores.label_changes(self.majority, self.codes, self.votes.n_classes)

    @property
    def shares(self) -> Floats:
        """Share of the rows with votes that each class got, (K,)."""
        return np.asarray(self.changes.sum(axis=0) / max(int(self.changes.sum()), 1))

    def summary(self) -> AnswerSummary:
        """Return the answer in a few numbers."""
        changes, voted = self.changes, ~self.silent
        n_voted = int(changes.sum())
        same = int(np.trace(changes))
        return AnswerSummary(
            n_rows=self.votes.n_rows,
            n_learners=self.votes.n_learners,
            n_classes=self.votes.n_classes,
            class_shares=self.shares.tolist(),
            majority_shares=(changes.sum(axis=1) / max(n_voted, 1)).tolist(),
            changed=n_voted - same,
            overruled=int(self.overruled.sum()),
            mean_confidence=float(self.confidence[voted].mean()) if n_voted else None,
            agreement=same / n_voted if n_voted else None,
            mean_score=scores.mean_of(self.expected_score, voted) if self.probabilities_known else None,
        )

    def with_truth(self, votes: Votes) -> Answer:
        """Return the same answer with the same votes and another truth.

        What was computed stays.
        """
        if not np.array_equal(votes.codes, self.votes.codes):
            raise InputError("The answer is for other votes; only the truth may differ.")
        answer = object.__new__(type(self))
        answer.__dict__.update(self.__dict__ | {"votes": votes})
        return answer

    def supported(self, support: Floats) -> Answer:
        """Return the same answer with a support, (n,).

        The share of the restarts that give each label.
        """
        check_support(self.votes, support)
        answer = object.__new__(type(self))
        answer.__dict__.update(self.__dict__ | {"support": support})
        return answer

    def reviewing(self, share: float) -> Answer:
        """Return the same answer with another share of doubtful rows.

        Raises
        ------
        InputError
            If there is no such share.
        """
        if not 0 <= share <= 1:
            raise InputError(f"The share of rows to review is {share:g}; it must be between 0 and 1.")
        if self._whole is not None:
            whole, chosen = self._whole
            return whole.reviewing(share).rows(chosen.start, chosen.stop)
        return self.doubted(self._least_backed(share))

    def doubted(self, doubtful: Mask) -> Answer:
        """Return the same answer with other doubtful rows, (n,).

        For a part of a file whose doubtful rows are told among all rows.
        """
        answer = object.__new__(type(self))
        answer.__dict__.update({**self.__dict__, "doubtful": doubtful})
        answer.__dict__.pop("needs_review", None)
        return answer

    # ------------------------------------------------------------------ some rows

    def rows(self, start: int, stop: int) -> Answer:
        """Return the rows from ``start`` to ``stop`` as views.

        What needs review is decided among all rows.
        """
        chosen = slice(start, stop)
        part = object.__new__(Answer)  # checked already
        part.__dict__.update(
            votes=self.votes.select_rows(chosen),
            posterior=self.posterior[chosen],
            support=None if self.support is None else self.support[chosen],
            notes=self.notes,
            method=self.method,
            answered_by=self.answered_by,
            method_alarms=self.method_alarms,
            handles=self.handles,
            _whole=(self, chosen),
        )
        return part

    def head(self, n: int) -> Answer:
        """Return the first rows."""
        return self.rows(0, min(n, self.votes.n_rows))

    def parts(self, n: int = PART_ROWS) -> Iterator[Answer]:
        """Yield all rows in parts of ``n``."""
        for start in range(0, self.votes.n_rows, n):
            yield self.rows(start, min(start + n, self.votes.n_rows))

    # ------------------------------------------------------------------ tables

    def to_table(self, *, probabilities: bool = True) -> pa.Table:
        """Return a row per row in class codes, as `deem_core.answers.stored` keeps it."""
        from deem_core.answers.stored import table  # noqa: PLC0415  # which knows answers

        return table(self, probabilities=probabilities)

    @property
    def probability_names(self) -> Labels:
        """The classes, (K,), or whatever else has a `probability`."""
        return self.votes.classes

    def probability(self, k: int) -> pa.Array:
        """Return the probability of a class as a column, (n,).

        Rows without votes have the prior; null where a method gives them none.
        """
        values = np.asarray(self.posterior[:, k], np.float64)
        return pa.array(values, mask=np.isnan(values))

    def to_frame(self) -> pd.DataFrame:
        """Return a frame in the original labels, ids as its index.

        Columns have the names of the fused file.
        """
        from deem_core.answers.frame import frame  # noqa: PLC0415  # which knows answers

        return frame(self)

    def export(self, reading: Any, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the labels in any format, by the ending of the name.

        See `deem_core.answers.writers`.

        Parameters
        ----------
        reading : Reading
            Of `deem_core.read`; its rows are those of the votes.
        path : path
            .csv, .tsv, .jsonl (or any of them with .gz) or .parquet: the file that was read with the labels beside its
            cells. .json: predictions for Label Studio. A folder, with ``format="huggingface"``: a dataset with a card.
        **options
            Of `writers.write_answer`.
        """
        from deem_core.answers.writers import write_answer  # noqa: PLC0415  # which knows answers

        write_answer(reading, self, path, **options)
