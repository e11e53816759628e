"""Spellings: classes that look like one label written in several ways."""

from __future__ import annotations

from collections.abc import Iterator

from deem_core.diagnostics.checkup.findings import Finding
from deem_core.text import count
from deem_core.votes import Votes
from deem_core.votes.merging import alike_classes
from deem_core.votes.spelling import examples, headline, loosely_folded, n_spellings


def spellings(votes: Votes) -> Finding | None:
    """Find classes that differ in writing only."""
    groups = alike_classes(votes)
    if not groups:
        return None
    return Finding(
        "spellings",
        "warning",
        headline(groups, votes.classes),
        f"{examples(groups)}. As separate classes they split the votes: majorities are lost, classes look rare, and "
        "learners who agree seem to disagree.",
        "Merge the spellings before you train; the findings below hold for merged labels.",
        classes=tuple(label for group in groups for label in group.labels),
        numbers={
            "groups": tuple(group.labels for group in groups),
            "names": tuple(group.name for group in groups),
            "spellings": n_spellings(groups),
        },
    )


def similar(votes: Votes) -> Iterator[Finding]:
    """Find classes that may be one: joined words, accents, leading zeros."""
    groups = alike_classes(votes, loosely_folded)
    if groups:
        yield Finding(
            "similar_labels",
            "note",
            f"{count(n_spellings(groups), 'label')} that may be {count(len(groups))}",
            f"{examples(groups)}.",
            "If they mean the same, give them one name under Labels; otherwise there is nothing to do.",
            classes=tuple(label for group in groups for label in group.labels),
            numbers={"groups": tuple(group.labels for group in groups)},
        )
