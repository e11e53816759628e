"""Several labels: each fused as a question, and one answer for all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deem_core.answers.answer import Answer
from deem_core.answers.label_sets import SetAnswer
from deem_core.control import Control
from deem_core.methods.contract import Aggregate
from deem_core.methods.registry import METHODS
from deem_core.text import count, listing
from deem_core.votes import Votes
from deem_core.votes.label_sets import label_sets, question

Ask = Callable[[Votes, Control], Aggregate]


def answer_sets(votes: Votes, method: str, ask: Ask, control: Control) -> tuple[SetAnswer, list[Aggregate]]:
    """Fuse the question of each label, and return the sets.

    Parameters
    ----------
    votes : Votes
        Of label sets.
    method : str
        Name of the method, for the sentences.
    ask : function
        Votes of a question and a control → what a method says.
    control : Control
        Asked between labels.
    """
    labels = label_sets(votes).labels
    answers: list[Answer] = []
    made: list[Aggregate] = []
    for k, label in enumerate(labels):
        control.check()
        control.tell(f"Fusing the label {label}", k / len(labels))
        own = question(votes, k)
        found = ask(own, control.part(k / len(labels), (k + 1) / len(labels)))
        made.append(found)
        answers.append(found.answer(own, method))
    by = [each.answered_by or method for each in made]
    one = by[0] if len(set(by)) == 1 else method  # where several answered, the sentences say whose each label is
    whole = SetAnswer.of_questions(votes, answers, method, one)
    return whole.with_notes(_sentences(labels, by, votes)), made


def _sentences(labels: tuple[str, ...], by: list[str], votes: Votes) -> list[str]:
    """Say how many questions there were, and who answered which."""
    groups: dict[str, list[str]] = {}
    for label, name in zip(labels, by, strict=True):
        groups.setdefault(METHODS[name].title if name in METHODS else name, []).append(label)
    who = "; ".join(f"{listing(own, 5)} by {title}" for title, own in groups.items())
    said = [
        f"Each of {count(len(labels), 'label')} was fused as a yes or no question: {who}. A row gets the labels that "
        "have a probability of at least one half."
    ]
    silent = int(np.sum(votes.votes_per_row == 0))
    if silent:
        said.append(f"{count(silent, 'row')} without votes {'gets' if silent == 1 else 'get'} no label.")
    return said
