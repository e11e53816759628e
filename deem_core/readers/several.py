"""Several labels in a cell: the sign between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deem_core.errors import InputError
from deem_core.readers.columns import Request
from deem_core.readers.source import Source
from deem_core.text import count, listing
from deem_core.votes import Votes
from deem_core.votes.label_sets import as_label_sets, label_sets, question
from deem_core.votes.sets import SEPARATORS, Sets, proposed_separator

PROPOSAL = "Cells seem to hold several labels"
"""How the note begins that proposes to take cells apart; pages show a button in its place."""


def wished_sets(source: Source, options: Mapping[str, Any]) -> Sets | None:
    """Return how cells are taken apart.

    By the options of `read`; None if they are not.


    Raises
    ------
    InputError
        If the separator is no sign.
    """
    wish, empty, one = (options.get(name) for name in ("multilabel", "empty_is_none", "one_label"))
    if not wish and not empty and one is None:
        return None
    if not isinstance(wish, str):
        return Sets(_found_separator(source), bool(empty))
    if not wish.strip() or wish.strip().isalnum():
        raise InputError(f"{wish!r} cannot separate labels. Use a sign such as |, ; or a comma.")
    return Sets(wish.strip(), bool(empty))


def _found_separator(source: Source) -> str:
    """Return the sign that most columns propose, else the first of all."""
    proposed: dict[str, int] = {}
    for name in source.columns:
        column = source.label_column(name)
        cells = dict(zip(column.spellings, map(int, column.counts), strict=True))
        cells.pop("", None)
        if cells and (sign := proposed_separator(cells)) is not None:
            proposed[sign] = proposed.get(sign, 0) + 1
    return max(proposed, key=lambda sign: (proposed[sign], -SEPARATORS.index(sign)), default=SEPARATORS[0])


def with_sets(votes: Votes, request: Request) -> Votes:
    """Return votes for several labels, if wished, noted.

    If not, it is proposed where cells look like it.
    """
    sets = request.labels.sets
    if sets is not None:
        made = as_label_sets(votes, sets.separator)
        names = label_sets(made).labels
        empty = "says that none applies" if sets.empty_is_none else "is no vote"
        request.notebook.add(
            "understood",
            f"Cells hold several labels with {sets.separator!r} between them: {count(len(names), 'label')} "
            f"({listing(names, 6)}) in {count(made.n_classes, 'set')}. An empty cell {empty}.",
        )
        return made
    sign = proposed_sign(votes)
    if sign is not None:
        request.notebook.add(
            "understood",
            f"{PROPOSAL}, with {sign!r} between them. Each combination is read as a class of its own; “Several labels "
            "in a cell” (or --multilabel) takes them apart.",
        )
    return votes


def proposed_sign(votes: Votes) -> str | None:
    """Return the sign between several labels, if cells seem to hold them."""
    if votes.separator or votes.soft is not None:
        return None
    counts = votes.class_counts.sum(axis=0).tolist()
    return proposed_separator(dict(zip(map(str, votes.classes.tolist()), counts, strict=True)))


def label_names(votes: Votes) -> tuple[str, ...]:
    """Return the labels of votes whose cells hold several."""
    return label_sets(votes).labels


def with_question(votes: Votes, request: Request) -> Votes:
    """Return the votes on the one label that is wished, if any."""
    if request.one_label is None:
        return votes
    request.notebook.add("understood", f"Only the label {request.one_label!r} is read: yes where it is among a cell's.")
    return question(votes, request.one_label)
