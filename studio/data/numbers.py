"""Facts about votes as the few numbers a person looks at first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from deem_core.readers import label_names
from deem_core.votes import Facts, Votes
from studio.text import count, percent


@dataclass(frozen=True)
class Number:
    """A number on a card.

    Attributes
    ----------
    label, value : str
    note : str
        A few words below the value.
    help : str
        What it means, and which way is good.
    """

    label: str
    value: str
    note: str
    help: str


def headline(votes: Votes, facts: Facts) -> tuple[Number, ...]:
    """Return the numbers that need no truth."""
    rows = votes.n_rows
    return (
        Number(
            "Rows",
            count(rows),
            f"{count(facts.n_silent)} without a vote" if facts.n_silent else "all with votes",
            "Things to be labelled. A row without any vote cannot get a label.",
        ),
        Number(
            "Learners",
            count(votes.n_learners),
            f"{facts.n_votes / rows:.1f} votes per row",
            "Models or people who vote. With fewer than three, there is no telling who is right without the truth.",
        ),
        _labels(votes),
        Number(
            "Coverage",
            percent(facts.coverage),
            f"{count(facts.n_votes)} votes",
            "Share of all possible votes that were cast: 100% means every learner voted on every row.",
        ),
        Number(
            "Unanimous rows",
            count(facts.n_unanimous),
            f"{percent(facts.n_unanimous / rows)} of rows",
            "Rows with at least two votes that all agree. If there are few, it matters how votes are fused.",
        ),
        Number(
            "Tied rows",
            count(facts.n_tied),
            f"{percent(facts.n_tied / rows)} of rows",
            "Rows where two classes have equally many votes, so a plain majority has to toss a coin. Fewer is better.",
        ),
    )


def _labels(votes: Votes) -> Number:
    """Return the number of classes, or of several labels."""
    if not votes.separator:
        return Number(
            "Classes", count(votes.n_classes), _names(votes.classes), "The different labels that learners voted for."
        )
    names = label_names(votes)
    return Number(
        "Labels",
        count(len(names)),
        _names(names),
        f"A cell holds several; {count(votes.n_classes)} combinations occur.",
    )


def _names(labels: Iterable[Any], most: int = 24) -> str:
    """Return labels as a short list, or first and last."""
    names = [str(label) for label in labels]
    listed = ", ".join(names)
    return listed if len(listed) <= most else f"{names[0]} … {names[-1]}"
