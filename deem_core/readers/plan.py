"""Plan: the layout of a file, and the parts its columns play."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from deem_core.errors import InputError
from deem_core.readers import long, roles, soft, wide
from deem_core.readers.columns import Request, refuse_too_few
from deem_core.readers.notes import Notebook
from deem_core.readers.probabilities import leave_labels_out, soft_naming
from deem_core.text import quoted
from deem_core.votes import Votes

Layout = Literal["auto", "wide", "long", "soft"]


def _long_if_named(request: Request, layout: Layout) -> Layout:
    """Return the layout: long if one of its columns was named."""
    if request.worker is None and request.label is None:
        return layout
    if layout in ("wide", "soft"):
        raise InputError(f"A worker or label column belongs to a long file, and the layout is set to {layout}.")
    return "long"


@dataclass(frozen=True)
class Plan:
    """The layout of a file, and the parts its columns play.

    Attributes
    ----------
    layout : "wide", "long" or "soft"
    request : Request
        With the columns of id and truth.
    columns : list of str
        Those that may be learners; empty for a long file.
    triplet : LongColumns, optional
    naming : Naming, optional
    """

    layout: str
    request: Request
    columns: Sequence[str] = ()
    triplet: long.LongColumns | None = None
    naming: soft.Naming | None = None


def read_plan(plan: Plan) -> Votes:
    """Return the votes of a file by its plan."""
    if plan.triplet is not None:
        return long.read_long(plan.request, plan.triplet)
    if plan.naming is not None:
        return soft.read_soft(plan.request, plan.naming, plan.columns)
    return wide.read_wide(plan.request, plan.columns)


def find_layout(request: Request, layout: Layout) -> Plan:
    """Find the layout and the roles of the columns, and note them."""
    layout = _long_if_named(request, layout)
    request = _as_told(request)
    notebook, learners = request.notebook, request.learners
    columns = _without_ignored(request)
    _refuse_roles(request, columns)
    if request.gold is not None:
        notebook.roles[request.gold] = "gold"
        columns = [name for name in columns if name != request.gold]
    if layout in ("auto", "long"):
        triplet = _long_columns(request, columns, layout)
        if triplet is not None:
            return Plan("long", request, triplet=triplet)
    taken = {*(learners or ()), *(name for name in (request.id, request.truth) if name is not None)}
    may_be_soft = layout == "soft" or (layout == "auto" and not request.source.tells_learners)
    naming = soft_naming(request, columns, taken, layout) if may_be_soft else None
    known = naming.learners if naming else []
    soft_columns = set(naming.columns) if naming else set[str]()
    if naming is not None:
        soft_columns |= {verdict.probability for verdict in naming.verdicts.values()}
        labels = {verdict.label for verdict in naming.verdicts.values()}
        taken |= labels  # no truth, no id
        learners = None if learners is None else [*learners, *labels]
        leave_labels_out(request, naming, columns)
    _refuse_unknown(request, known)
    rest = [name for name in columns if name not in soft_columns and notebook.roles.get(name) is None]
    free = [name for name in rest if name not in taken]
    roles.leave_out_answers(free, notebook)
    free = [name for name in free if notebook.roles.get(name) is None]
    truth = roles.find_truth(free, request.truth, notebook)
    row_id = roles.find_id(request.source, [name for name in free if name != truth], request.id, notebook)
    request = replace(request, id=row_id, truth=truth)
    rest = [name for name in rest if notebook.roles.get(name) is None]
    if learners is not None:
        rest = _only(rest, learners, notebook)
        voters = {*rest, *(naming.groups if naming else ())}
        refuse_too_few(request.source, sorted(voters), notebook)
    return Plan("wide" if naming is None else "soft", request, rest, naming=naming)


def _as_told(request: Request) -> Request:
    """Return the request with the roles that the format tells.

    What somebody said of the columns goes before it.
    """
    told, notebook = request.source.roles, request.notebook
    if not told:
        return request
    said = {request.id, request.truth, request.gold, *request.ignore, *(request.learners or ())}
    free = {name: role for name, role in told.items() if name not in said}
    others = [name for name, role in free.items() if role == "ignored"]
    for name in others:
        notebook.roles[name] = "ignored"
    if others:
        notebook.add("left out", f"Not read as votes: {quoted(others)}.", count=len(others))
    learners = request.learners
    if learners is None:
        learners = [name for name, role in free.items() if role == "learner"] or None
    return replace(
        request,
        id=request.id or next((name for name, role in free.items() if role == "id"), None),
        truth=request.truth or next((name for name, role in free.items() if role == "truth"), None),
        learners=learners,
        truth_was_named=request.truth_was_named or "truth" in free.values(),
    )


def _refuse_unknown(request: Request, soft_learners: Sequence[str]) -> None:
    """Refuse learners and columns to ignore that the file does not have."""
    names = [*request.source.columns, *soft_learners]
    roles.require(names, request.learners or (), "learner")
    ignored_soft = {learner for group in _ignored_groups(request) for learner in group}
    roles.require([*names, *ignored_soft], request.ignore, "ignored")


def _ignored_groups(request: Request) -> list[set[str]]:
    """Return the soft learners that the ignored names could mean."""
    named = soft.named_groups(request.source.columns)
    return [set(named.groups)] if named else []


def _without_ignored(request: Request) -> list[str]:
    columns = []
    for name in request.source.columns:
        if name in request.ignore:
            request.notebook.leave_out(name)
        elif request.notebook.roles.get(name) is None:
            columns.append(name)
    return columns


def _long_columns(request: Request, columns: Sequence[str], layout: Layout) -> long.LongColumns | None:
    triplet = long.find_columns(columns, request.id, request.truth, request.worker, request.label)
    if layout == "auto":
        if request.source.votes or request.source.tells_learners:  # the file says who voted
            return None
        return triplet if long.looks_long(request.source, triplet, request.gold) else None
    if triplet is None and len(columns) == 3 and request.id is None and request.truth is None:
        task, worker, label = columns  # by position, where the names tell nothing
        triplet = long.LongColumns(task, worker, label, None)
    if triplet is None:
        raise InputError(
            f"A long file needs columns for task, worker and label; {request.source.name} has {quoted(columns)}. "
            "Set their roles under “Columns and reading”, or use --id, --worker and --label."
        )
    return triplet


def _only(columns: Sequence[str], learners: Sequence[str] | None, notebook: Notebook) -> list[str]:
    """Return the columns that the caller wants, in the file's order."""
    if learners is None:
        return list(columns)
    for name in columns:
        if name not in learners:
            notebook.leave_out(name, "it is not among the learners you listed.")
    return [name for name in columns if name in learners]


def _refuse_roles(request: Request, columns: Sequence[str]) -> None:
    """Refuse roles of absent columns, and two roles of one."""
    wishes = [("id", request.id), ("truth", request.truth), ("worker", request.worker), ("label", request.label)]
    wishes.append(("gold", request.gold))
    named = [(role, name) for role, name in wishes if name is not None]
    for role, name in named:
        roles.require(columns, [name], role)
        if name in (request.learners or ()):
            raise InputError(f"Column {name!r} cannot be both the {role} and a learner.")
    if both := set(request.ignore) & set(request.learners or ()):
        raise InputError(f"{min(both)!r} cannot be both a learner and ignored.")
    for at, (role, name) in enumerate(named):
        for other, twin in named[at + 1 :]:
            if name == twin:
                raise InputError(
                    f"Column {name!r} cannot be both the {role} and the {other}."
                    + (" Labels that are used cannot serve evaluation: leave the truth out." if other == "gold" else "")
                )
