"""Probabilities: who reads them, and a word where they are reduced."""

from __future__ import annotations

from deem_core.methods import registry
from deem_core.votes import Votes

READERS = ("cal_pool", "deem_soft")
"""Methods to offer where probabilities would be reduced: a pool in a blink, and a model that can be kept."""


ADVICE = (
    "The calibrated pool reads all of them: it was right more often than the majority vote on 12 of 13 test ensembles "
    "and never less often, by 1.8 points on average. Against DEEM nothing is clear: the pool was right more often than "
    "DEEM on 8 of the 13, soft DEEM on 7. Compare them before you choose."
)
"""What was measured (benchmarks/results/soft.md), for pages and commands."""


def reads_probabilities(method: str) -> bool:
    """Return whether a method reads more of probabilities than their argmax.

    Auto does where no model explains the votes.
    """
    return registry.entry(method).soft


def reduction_note(votes: Votes, method: str) -> str:
    """Return the sentence about probabilities that a method reduces.

    Empty for labels, for a method that reads probabilities, and for auto, which says who answered.
    """
    if votes.soft is None or method == "auto" or reads_probabilities(method):
        return ""
    title = registry.entry(method).title
    return f"This file has probabilities, and {title} uses only the most probable class of each vote. {ADVICE}"
