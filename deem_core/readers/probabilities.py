"""Probabilities: which columns hold them, and which stay unused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from deem_core.errors import InputError
from deem_core.readers import roles, soft
from deem_core.readers.columns import Request
from deem_core.readers.verdicts import (
    LABEL_WORDS,
    PROBABILITY_WORDS,
    Verdict,
    are_shares,
    find_verdicts,
    is_named_probability,
    label_columns,
    stands_beside,
)
from deem_core.text import count, quoted

HOW_TO_USE = (
    "To use them, name them <learner>:<class>, one for each class, or put <learner>_label beside <learner>_prob, the "
    "probability of that label."
)


def soft_naming(request: Request, columns: Sequence[str], taken: set[str], layout: str) -> soft.Naming | None:
    """Return the soft columns of the learners that are wanted."""
    free = [name for name in columns if name not in taken]
    verdicts = _verdicts(request, columns)
    paired = {name for verdict in verdicts.values() for name in (verdict.label, verdict.probability)}
    naming = soft.find_naming(request.source, [name for name in free if name not in paired], request.rule)
    if naming is None and verdicts:
        return soft.Naming({}, verdicts=verdicts)
    if naming is None and layout == "soft":
        named = soft.named_groups(free)
        if named is None:
            raise InputError(
                "A soft file needs at least two columns named <learner>:<class> for a learner; "
                f"{request.source.name} has {quoted(columns)}."
            )
        naming = soft.read_values(request.source, named, request.rule)
    if naming is None:
        return None
    groups = {}
    for learner, group in naming.groups.items():
        reason = None
        if learner in request.ignore or (request.learners is not None and learner not in request.learners):
            reason = f"learner {learner!r} is not to be used."
        elif request.learners is None and (
            roles.simple(learner) in roles.TRUTH_NAMES or roles.smells_of_truth(learner)
        ):
            reason = "its name suggests the truth, which must not be a vote."
        if reason:
            for column in group.values():
                request.notebook.leave_out(column, reason)
        else:
            groups[learner] = group
    return replace(naming, groups=groups, verdicts=verdicts) if groups or verdicts else None


def _verdicts(request: Request, columns: Sequence[str]) -> dict[str, Verdict]:
    """Return the labels with a probability each, by learner."""
    grouped = soft.classes_named(columns, (*LABEL_WORDS, *PROBABILITY_WORDS))
    named = {request.id, request.truth, request.gold} | grouped
    wanted, ignored = request.learners, request.ignore
    found = find_verdicts(request, [name for name in columns if name not in named], soft.numbers_of)
    return {
        verdict.learner: verdict
        for verdict in found
        if verdict.learner not in ignored and (wanted is None or verdict.learner in wanted)
    }


def leave_labels_out(request: Request, naming: soft.Naming, columns: Sequence[str]) -> None:
    """Set aside the labels of learners whose probabilities are read."""
    for learner in naming.groups:
        for name in label_columns(columns, learner):
            if name not in naming.columns and name not in (request.id, request.truth):
                request.notebook.leave_out(
                    name,
                    f"the probabilities of {learner!r} are read instead; using both would count it twice.",
                    "To use the labels, ignore the columns of probabilities.",
                )


def note_unused(request: Request) -> tuple[str, ...]:
    """Return the columns that look like probabilities and are none; say so."""
    source, notebook = request.source, request.notebook
    by_class = soft.classes_named(source.columns, ())
    learners = [name for name, role in notebook.roles.items() if role == "learner"]
    unused = tuple(
        name
        for name in source.columns
        if notebook.roles.get(name, "ignored") == "ignored"
        and name not in request.ignore
        and (name in by_class or is_named_probability(name) or stands_beside(name, learners))
        and (values := soft.numbers_of(source, name, request.rule)) is not None
        and are_shares(values)
    )
    if unused:
        verb = "is" if len(unused) == 1 else "are"
        notebook.add(
            "warning",
            f"{count(len(unused), 'column')} of probabilities {verb} unused: {quoted(unused, 5)}. {HOW_TO_USE}",
            count=len(unused),
        )
    return unused
