"""Answer of several labels: a set of them for each row.

The label of a row is the set of labels with a probability of at least ½; where no label has one, it is the empty set.
Its **confidence** is the product of the probabilities of what was decided, Π_k max(p_k, 1 − p_k): the probability that
the whole set is right, as the confidence of one label is that of the label, if labels err independently given the
votes. (They tend to err together, and then more sets are right than it says.) The **entropy** is the sum of the
labels' entropies, and the **review score** that of the label which the votes back least.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from deem_core.alarm import Alarm
from deem_core.answers.answer import Answer
from deem_core.answers.summary import AnswerSummary
from deem_core.errors import InputError
from deem_core.typing import Codes, Floats, Labels, Mask, Posterior
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.coding import as_label_array
from deem_core.votes.label_sets import LabelSets, label_sets, question

APPLIES = 0.5
"""Probability from which a label is in the set. Without truth no other one can be found."""


class SetAnswer(Answer):
    """Sets of labels for the rows of some votes.

    ``posterior`` is (n, K): the probability of each label of `label_names`, which do not sum to 1. The classes of its
    votes are sets, those that were answered among them.
    """

    @classmethod
    def of_questions(cls, votes: Votes, answers: Sequence[Answer], method: str, answered_by: str = "") -> SetAnswer:
        """Return the answer of K questions, in the order of the labels."""
        posterior = np.stack([np.asarray(each.posterior[:, 1], np.float64) for each in answers], axis=1)
        return cls.of(votes, posterior, method=method, answered_by=answered_by, questions=answers)

    @classmethod
    def of(
        cls,
        votes: Votes,
        posterior: Posterior,
        *,
        method: str = "",
        answered_by: str = "",
        support: Floats | None = None,
        questions: Sequence[Answer] | None = None,
    ) -> SetAnswer:
        """Return the answer with these probabilities, (n, K)."""
        sets = label_sets(votes)
        if np.shape(posterior) != (votes.n_rows, len(sets.labels)):
            raise InputError(f"The probabilities have the shape {np.shape(posterior)}, not (rows, labels).")
        if questions is None:
            questions = [
                Answer(question(votes, k), np.stack([1 - posterior[:, k], posterior[:, k]], axis=1))
                for k in range(len(sets.labels))
            ]
        chosen = np.asarray(posterior >= APPLIES)
        leading = np.stack([each.majority == 1 for each in questions], axis=1)
        silent = votes.votes_per_row == 0
        made = [sets.joined(rows) for rows in (chosen, leading)]
        names = list(dict.fromkeys([*votes.classes.tolist(), *made[0], *made[1]]))
        place = {name: code for code, name in enumerate(names)}
        codes, majority = (
            np.where(silent, NO_VOTE, [place[name] for name in each]).astype(np.int32) if len(each) else _no_codes()
            for each in made
        )
        scores = np.stack([each.review_score for each in questions], axis=1)
        answer = object.__new__(cls)
        answer.__dict__.update(
            votes=_with_classes(votes, names),
            posterior=posterior,
            support=support,
            notes=(),
            method=method,
            answered_by=answered_by,
            method_alarms=(),
            handles=(),
            gold=None,
            said_on_gold=None,
            codes=codes,
            majority=majority,
            confidence=np.maximum(posterior, 1 - posterior).prod(axis=1),
            margin=np.abs(2 * np.asarray(posterior) - 1).min(axis=1),
            entropy=np.sum([each.entropy for each in questions], axis=0),
            review_score=scores.min(axis=1),
            label_names=sets.labels,
            _whole=None,
            _questions=tuple(questions),
        )
        return answer

    @property
    def sets(self) -> LabelSets:
        """The labels, and which are in each class of the votes."""
        return label_sets(self.votes)

    @property
    def probability_names(self) -> Labels:
        """The labels, whose probabilities `probability` gives."""
        return np.array(self.label_names, object)

    def probability(self, k: int) -> pa.Array:
        """Return the probability that a label applies, as a column, (n,)."""
        values = np.asarray(self.posterior[:, k], np.float64)
        return pa.array(values, mask=np.isnan(values))

    def with_notes(self, notes: Sequence[str]) -> SetAnswer:
        """Return the same answer with sentences of what was done."""
        answer = object.__new__(type(self))
        answer.__dict__.update(self.__dict__ | {"notes": tuple(notes)})
        return answer

    def rows(self, start: int, stop: int) -> Answer:
        """Return the rows from ``start`` to ``stop`` as views."""
        chosen, part = slice(start, stop), object.__new__(type(self))
        of_rows = ("posterior", "codes", "majority", "confidence", "margin", "entropy")
        part.__dict__.update(
            self.__dict__
            | {name: getattr(self, name)[chosen] for name in of_rows}
            | {
                "votes": self.votes.select_rows(chosen),
                "support": None if self.support is None else self.support[chosen],
                "_whole": (self, chosen),
            }
        )
        for name in ("agreement", "overruled", "doubtful", "needs_review", "changes", "review_score"):
            part.__dict__.pop(name, None)
        return part

    @cached_property
    def alarms(self) -> tuple[Alarm, ...]:
        """Alarms of the labels, each said to be about its label."""
        if self._whole is not None:
            return self._whole[0].alarms
        return tuple(
            replace(alarm, title=f"{alarm.title} ({name})")
            for name, each in zip(self.label_names, self._questions, strict=True)
            for alarm in each.alarms
            if alarm.kind != "silent rows"
        )

    def summary(self) -> AnswerSummary:
        """Return the answer in a few numbers.

        Shares are those of the rows with each label.
        """
        voted, sets = ~self.silent, self.sets
        n_voted = int(voted.sum())
        same = int((self.codes == self.majority)[voted].sum())

        def shares(codes: Codes) -> list[float]:
            each = sets.members[codes[voted]].sum(axis=0) / max(n_voted, 1)
            return [float(share) for share in each]

        return AnswerSummary(
            n_rows=self.votes.n_rows,
            n_learners=self.votes.n_learners,
            n_classes=len(sets.labels),
            class_shares=shares(self.codes),
            majority_shares=shares(self.majority),
            changed=n_voted - same,
            overruled=int(self.overruled.sum()),
            mean_confidence=float(self.confidence[voted].mean()) if n_voted else None,
            agreement=same / n_voted if n_voted else None,
        )

    label_names: tuple[str, ...]
    _questions: tuple[Answer, ...]


def _no_codes() -> Codes:
    return np.empty(0, np.int32)


def _with_classes(votes: Votes, names: Sequence[Any]) -> Votes:
    """Return votes whose classes are also the sets that were answered.

    A set that only the truth or gold had is a class now.
    """
    if list(names) == votes.classes.tolist():
        return votes
    made = {name: code for code, name in enumerate(names)}

    def known(codes: Codes, only: Sequence[Any]) -> tuple[Codes, list[Any]]:
        beyond = [name for name in only if name not in made]
        place = made | {name: len(names) + at for at, name in enumerate(beyond)}
        lookup = np.array([*(place[name] for name in [*votes.classes.tolist(), *only]), NO_VOTE], np.int32)
        return lookup[codes], beyond

    truth, only = votes.truth, votes.truth_only.tolist()
    if truth is not None:
        truth, only = known(truth, only)
    gold = votes.gold
    if gold is not None:
        codes, beyond = known(gold.codes, gold.only.tolist())
        gold = replace(gold, codes=codes, only=as_label_array(beyond))
    return replace(votes, classes=as_label_array(names), truth=truth, truth_only=as_label_array(only), gold=gold)


def chosen_sets(answer: SetAnswer) -> Mask:
    """Return which labels each row got, (n, K)."""
    return np.asarray(answer.posterior >= APPLIES) & ~answer.silent[:, None]
