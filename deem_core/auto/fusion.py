"""Fusion: the answer, its summary and the model behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from deem_core.answers.answer import Answer
from deem_core.auto.decision import decide
from deem_core.auto.judgement import judged
from deem_core.auto.several import answer_sets
from deem_core.control import NO_CONTROL, Control
from deem_core.errors import InputError
from deem_core.estimators.summary import Setting, TrainingSummary
from deem_core.methods import registry
from deem_core.methods.contract import Aggregate, Rule
from deem_core.votes import Votes
from deem_core.votes.label_sets import refuse_sets
from deem_core.votes.patterns import Table

if TYPE_CHECKING:  # scikit-learn takes a moment
    from deem_core.estimators.base import Fuser

AUTO = "auto"
"""Name of the default method."""


@dataclass(frozen=True, eq=False)
class Fusion:
    """An answer with what runs and commands tell of it.

    Attributes
    ----------
    answer : Answer
    summary : TrainingSummary
        Without restarts; ``seconds`` is 0.
    model : Fuser, optional
        What can be saved and applied to other rows; only the grouped model can.
    rule : function, optional
        Labels any rows as these were, while the process lasts; see `Aggregate.rule`.
    """

    answer: Answer
    summary: TrainingSummary
    model: Fuser | None = None
    rule: Rule | None = None


def fuse_run(
    votes: Votes,
    method: str,
    seed: int,
    *,
    table: Table | None = None,
    also: Mapping[str, Answer] | None = None,
    control: Control = NO_CONTROL,
) -> Fusion:
    """Fuse votes by ``auto`` or by another method that is asked once.

    ``table`` are the patterns of more rows, of which the votes are a sample, and ``also`` further answers between which
    gold rows choose; see `decide`.

    Raises
    ------
    InputError
        If the method is unknown, trains a model, or cannot take such votes.
    """
    rng = np.random.default_rng(seed)
    if votes.separator:
        return _fuse_sets(votes, method, seed, control)
    if method != AUTO:
        if registry.entry(method).trained:
            raise InputError(f"The method {method} trains a model; start a training instead.")
        aggregate = registry.aggregate(method, votes, rng, control=control)
        answer = judged(aggregate.answer(votes, method), control=control)
        return Fusion(answer, summary_of(aggregate, method), rule=aggregate.rule)
    decision = decide(votes, rng, table=table, also=also, control=control)
    summary = replace(summary_of(decision.aggregate, AUTO), answered_by=decision.answered_by, why=decision.sentences)
    answer = replace(decision.aggregate.answer(votes, AUTO), gold=decision.verdict)
    if decision.answered_by != "gds" or decision.grouping is None:
        return Fusion(answer, summary, rule=decision.aggregate.rule)
    from deem_core.estimators.grouped import GroupedDawidSkene  # noqa: PLC0415  # see TYPE_CHECKING above

    model = GroupedDawidSkene.of_grouping(votes.without_truth().without_gold(), decision.grouping, random_state=seed)
    return Fusion(answer, replace(summary, groups=model.summary_.groups), model, decision.aggregate.rule)


def _fuse_sets(votes: Votes, method: str, seed: int, control: Control) -> Fusion:
    """Fuse votes on several labels, each as a question."""
    if method != AUTO and registry.entry(method).trained:
        refuse_sets(votes, registry.entry(method).title)

    def ask(own: Votes, part: Control) -> Aggregate:
        rng = np.random.default_rng(seed)
        if method == AUTO:
            return decide(own, rng, control=part).aggregate
        return registry.aggregate(method, own, rng, control=part)

    answer, made = answer_sets(votes, method, ask, control)
    iterations = Setting(sum(each.iterations for each in made), "of all labels together")
    summary = replace(summary_of(made[0], method), settings={"iterations": iterations})
    if method == AUTO:
        summary = replace(summary, answered_by=answer.answered_by, why=answer.notes)
    return Fusion(answer, summary)


def summary_of(aggregate: Aggregate, method: str) -> TrainingSummary:
    """Return the summary of a method that trains nothing."""
    reason = "the method's own stop rule"
    return TrainingSummary(
        method=method,
        settings={"iterations": Setting(aggregate.iterations, reason)},
        restarts=(),
        warnings=(),
        near_copies=(),
        hedged=False,
        fallback=False,
        device="cpu",
        seconds=0.0,
        answered_by=aggregate.answered_by or None,
    )
