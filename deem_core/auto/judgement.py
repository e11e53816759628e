"""Judgement of a named method's answer by gold rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deem_core.answers.answer import Answer
from deem_core.answers.verdict import Verdict
from deem_core.auto.decision import make_field
from deem_core.control import NO_CONTROL, Control
from deem_core.gold import words
from deem_core.gold.choice import WEIGHTS, learner_estimates, majority_estimate
from deem_core.gold.estimates import Design
from deem_core.gold.weights import left_out_scores
from deem_core.methods import registry
from deem_core.typing import Codes

CLAMPED = ("ds",)
"""Methods that hold gold labels fixed, so that gold rows cannot tell how right they are."""
ANCHORED = ("deem",)
"""Methods whose hidden classes get their names from gold labels, too (`votes.alignment.anchored_map`)."""


def judged(answer: Answer, method: str = "", *, control: Control = NO_CONTROL) -> Answer:
    """Return an answer with what gold rows say of it.

    The same answer where there is no gold. Nothing is chosen: whoever names a method gets it. Where `ask` chose rows,
    the candidates are run once, to weigh these rows by their strata.
    """
    votes = answer.votes
    if votes.gold is None or answer.said_on_gold is None:
        return answer
    method = method or answer.method or "answer"
    voted = np.asarray(votes.votes_per_row > 0)
    gold = votes.gold.without(np.flatnonzero(~voted))
    own = _said(answer, method)[voted[votes.gold.rows]]
    disputed = make_field(votes, control=control).disputed if gold.was_asked else np.zeros(votes.n_rows, bool)
    design = Design.of(voted, disputed, gold)
    title = registry.METHODS[method].title if method in registry.METHODS else method
    judged = np.full(gold.n_rows, method not in CLAMPED)
    verdict = Verdict(
        n_gold=gold.n_rows,
        asked=gold.was_asked,
        unheard=int((gold.labels >= votes.n_classes).sum()),
        start=method,
        chosen=method,
        chosen_title=title,
        switched=False,
        answer=design.estimate(method, title, (own == gold.labels).astype(float), judged),
        majority=majority_estimate(votes, gold, design),
        learners=learner_estimates(votes, gold, design),
        rivals=(),
        best_learner=None,
        strong_camp=(),
        sentences=(),
        absent=gold.absent,
        n_asked=gold.n_asked,
    )
    told = words.named(verdict, clamped=method in CLAMPED, weighed=method == WEIGHTS, anchored=method in ANCHORED)
    return replace(answer, notes=(*told, *answer.notes), gold=replace(verdict, sentences=told))


def _said(answer: Answer, method: str) -> Codes:
    """Return the method's labels of gold rows, each without its own help, (g,)."""
    assert answer.votes.gold is not None  # noqa: S101  # asked by the caller
    assert answer.said_on_gold is not None  # noqa: S101
    if method == WEIGHTS:
        return np.asarray(left_out_scores(answer.votes, answer.votes.gold).argmax(axis=1), np.int32)
    return answer.said_on_gold
