"""Probabilities: a word where a method reduces them."""

from __future__ import annotations

from deem_core.methods import registry
from deem_core.votes import Votes

ADVICE = (
    "The calibrated pool reads all of them: on 13 test ensembles it was 1.8 points better than the majority vote on "
    "average and on none of them worse. Against DEEM nothing is clear: of these 13 the pool was better on 8, soft DEEM "
    "on 7. Compare them before you choose."
)
"""What was measured (benchmarks/results/soft.md), for pages and commands."""


def reduction_note(votes: Votes, method: str) -> str:
    """Return the sentence about probabilities that a method reduces.

    Empty for labels, for a method that reads probabilities, and for auto, which says who answered.
    """
    entry = registry.entry(method)
    if votes.soft is None or method == "auto" or entry.soft:
        return ""
    return f"This file has probabilities, and {entry.title} uses only the most probable class of each vote. {ADVICE}"
