"""Order of labels: the steps of a scale, named or proposed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deem_core.errors import InputError
from deem_core.readers.columns import Request
from deem_core.votes import Votes
from deem_core.votes.scale import in_order, natural_scale, proposed_order, word_order

PROPOSAL = "These labels look like a scale"
"""How the note begins that proposes an order; pages show a button in its place."""

_SHOWN = 8


def as_order(ordered: Any) -> bool | tuple[str, ...]:
    """Return the option ``ordered`` of `read`.

    A bool, or the steps, lowest first.
    """
    if ordered is None or isinstance(ordered, bool):
        return bool(ordered)
    steps = [ordered] if isinstance(ordered, str) else list(ordered)
    return tuple(str(step).strip() for step in steps) or False


def wished_order(request: Request, classes: Sequence[Any]) -> bool | Sequence[Any]:
    """Return the order of the classes that were read.

    Classes that were named, and are neither numbers nor words of a known scale, keep the order of their names.
    """
    if request.ordered is not True or not request.labels.names:
        return request.ordered
    return True if knows_order(classes) else list(classes)


def with_order(votes: Votes, request: Request) -> Votes:
    """Return votes with their classes in order, if wished, noted.

    If not, a scale that they look like is proposed.

    Raises
    ------
    InputError
        If an order is wished that is not known.
    """
    wish = wished_order(request, votes.classes.tolist())
    if wish is not False and votes.separator:
        raise InputError("Labels that stand together in a cell have no order. Leave out one of the two.")
    if wish is False:
        proposed = None if votes.separator else proposed_order(votes)
        if proposed is not None:
            request.notebook.add(
                "understood",
                f"{PROPOSAL} ({steps_text(proposed)}). They are read as classes without an order; “Labels have an "
                "order” (or --ordinal) says that they have one.",
            )
        return votes
    made = in_order(votes, wish)
    note_order(request, made.classes.tolist())
    return made


def knows_order(labels: Sequence[Any]) -> bool:
    """Return whether labels are numbers or words of a known scale."""
    return natural_scale(labels) or word_order(labels) is not None


def note_order(request: Request, classes: Sequence[Any]) -> None:
    """Note the steps of the scale."""
    request.notebook.add("understood", f"The labels are steps of a scale, lowest first: {steps_text(classes)}.")


def steps_text(steps: Sequence[Any]) -> str:
    """Return steps in words, lowest first."""
    texts = [str(step) for step in steps]
    return " < ".join(texts) if len(texts) <= _SHOWN else f"{' < '.join(texts[:3])} < … < {texts[-1]}"
