"""Reading: find the layout, read the votes, report what was done."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pandas as pd

from deem_core.errors import InputError
from deem_core.readers import long, roles, soft, wide
from deem_core.readers.columns import Request, refuse_too_few
from deem_core.readers.gold import column_gold, read_gold
from deem_core.readers.notes import ROWS_SHOWN, Notebook, Report, peak_bytes
from deem_core.readers.parse import DELIMITERS, delimiter_of
from deem_core.readers.source import Source, open_source
from deem_core.readers.truth import read_truth
from deem_core.text import count, quoted
from deem_core.votes import Votes
from deem_core.votes.labels import DEFAULT, MissingRule

Layout = Literal["auto", "wide", "long", "soft"]


@dataclass(frozen=True)
class Reading:
    """Votes of a file, the report, and the original cells.

    Attributes
    ----------
    votes : Votes
    report : Report
    source : Source
        Every original cell as text, so that an export can give it back exactly as it was.
    """

    votes: Votes
    report: Report
    source: Source


def read_votes(file: Any, **options: Any) -> Votes:
    """Return the votes of a file; the options are those of `read`."""
    return read(file, **options).votes


def read(  # noqa: PLR0917  # a public contract, and most callers name the options
    path_or_buffer: Any,
    layout: Layout = "auto",
    id: str | None = None,
    truth: str | None = None,
    truth_file: Any = None,
    learners: Sequence[str] | None = None,
    ignore: Collection[str] = (),
    missing: MissingRule | Collection[str] = DEFAULT,
    *,
    worker: str | None = None,
    label: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    classes: Sequence[str] = (),
    gold: str | None = None,
    gold_file: Any = None,
) -> Reading:
    """Read votes from delimited text, gzip of it, or Parquet.

    Delimiters are comma, tab, semicolon and pipe.

    Parameters
    ----------
    path_or_buffer : path, bytes, or an open file
    layout : "auto", "wide", "long" or "soft"
        See docs/formats.md. Found from the columns by default.
    id : str, optional
        The column that names the rows (the task of a long file). Found by its name by default.
    truth : str, optional
        The column of true labels, for evaluation only. Found by its name by default.
    truth_file : path, bytes or open file, optional
        A second file of task and true label.
    learners : sequence of str, optional
        The learners to use: columns of a wide file, learners of a soft one, workers of a long one.
        Columns named here are learners even if their labels do not look like it.
    ignore : collection of str
        Columns or learners to leave out.
    missing : MissingRule or collection of str
        Spellings that mean "no vote"; a plain collection replaces the default ones and the -1 rule.
    worker, label : str, optional
        The columns of a long file that name who answered and the answer. Found by their names by default; naming
        one says that the file is long.
    delimiter : "comma", "tab", "semicolon" or "pipe", or the sign itself, optional
        Between the cells of a text file. Found by default.
    encoding : str, optional
        Of a text file, such as "utf-8" or "cp1252". Found by default.
    classes : sequence of str
        Labels that are known beforehand, as those of a fitted model are: columns that speak them are learners, and a
        few rows, or rows of one class, are enough.
    gold : str, optional
        The column of known labels that are to be used. Never found by its name: you say so, or there is none.
    gold_file : path, bytes or open file, optional
        A second file of known labels that are to be used: task and label, or a queue that came back.

    Returns
    -------
    Reading

    Raises
    ------
    InputError
        One sentence that says what is wrong, where, and what to do.
    """
    if layout not in ("auto", "wide", "long", "soft"):
        raise InputError(f"There is no layout {layout!r}; it is one of auto, wide, long and soft.")
    rule = MissingRule.of(missing)
    ignore = [ignore] if isinstance(ignore, str) else list(ignore)
    learners = [learners] if isinstance(learners, str) else learners
    notebook = Notebook()
    delimiter = None if delimiter is None else delimiter_of(delimiter)
    source = open_source(path_or_buffer, notebook, delimiter=delimiter, encoding=encoding)
    note_file(source, notebook)
    request = Request(
        source, id, truth, learners, ignore, rule, notebook, truth is not None, worker, label, classes, gold
    )
    plan = find_layout(request, layout)
    votes, layout_read = _read_layout(plan), plan.layout
    if truth_file is not None:
        votes = _with_truth_file(votes, truth_file, rule, notebook)
    votes = _with_gold(votes, plan, gold_file)
    _note_votes(votes, layout_read, notebook)
    return Reading(votes, _report(layout_read, source, votes, notebook), source)


def _long_if_named(request: Request, layout: Layout) -> Layout:
    """Return the layout: long if one of its columns was named."""
    if request.worker is None and request.label is None:
        return layout
    if layout in ("wide", "soft"):
        raise InputError(f"A worker or label column belongs to a long file, and the layout is to be {layout}.")
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


def _read_layout(plan: Plan) -> Votes:
    """Return the votes of a file by its plan."""
    if plan.triplet is not None:
        return long.read_long(plan.request, plan.triplet)
    if plan.naming is not None:
        return soft.read_soft(plan.request, plan.naming, plan.columns)
    return wide.read_wide(plan.request, plan.columns)


def find_layout(request: Request, layout: Layout) -> Plan:
    """Find the layout and the roles of the columns, and note them."""
    layout = _long_if_named(request, layout)
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
    naming = _soft_naming(request, columns, taken, layout) if layout in ("auto", "soft") else None
    known = list(naming.groups) if naming else []
    soft_columns = set(naming.columns) if naming else set()
    _refuse_unknown(request, known)
    rest = [name for name in columns if name not in soft_columns and notebook.roles.get(name) is None]
    free = [name for name in rest if name not in taken]
    truth = roles.find_truth(free, request.truth, notebook)
    row_id = roles.find_id(request.source, [name for name in free if name != truth], request.id, notebook)
    request = replace(request, id=row_id, truth=truth)
    rest = [name for name in rest if notebook.roles.get(name) is None]
    if learners is not None:
        rest = _only(rest, learners, notebook)
        refuse_too_few(request.source, [*known, *rest], notebook)
    return Plan("wide" if naming is None else "soft", request, rest, naming=naming)


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
            request.notebook.leave_out(name, "you asked for it.")
        elif request.notebook.roles.get(name) is None:
            columns.append(name)
    return columns


def _long_columns(request: Request, columns: Sequence[str], layout: Layout) -> long.LongColumns | None:
    triplet = long.find_columns(columns, request.id, request.truth, request.worker, request.label)
    if layout == "auto":
        return triplet if long.looks_long(request.source, triplet, request.gold) else None
    if triplet is None and len(columns) == 3 and request.id is None and request.truth is None:
        task, worker, label = columns  # by position, where the names tell nothing
        triplet = long.LongColumns(task, worker, label, None)
    if triplet is None:
        raise InputError(
            f"A long file needs columns for task, worker and label; {request.source.name} has {quoted(columns)}. "
            "Rename its columns to task, worker and label."
        )
    return triplet


def _soft_naming(request: Request, columns: Sequence[str], taken: set[str], layout: Layout) -> soft.Naming | None:
    """Return the soft columns of the learners that are wanted."""
    free = [name for name in columns if name not in taken]
    naming = soft.find_naming(request.source, free, request.rule)
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
            reason = "its name speaks of the truth, which must not be a vote."
        if reason:
            for column in group.values():
                request.notebook.leave_out(column, reason)
        else:
            groups[learner] = group
    return replace(naming, groups=groups) if groups else None


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
                    + (" What is used cannot be evaluated on: leave the truth out." if other == "gold" else "")
                )


def _with_truth_file(votes: Votes, truth_file: Any, rule: MissingRule, notebook: Notebook) -> Votes:
    if votes.truth is not None:
        raise InputError("The truth was given twice: by a column of the file and by a second file. Ignore one of them.")
    if isinstance(votes.ids, pd.RangeIndex):
        raise InputError("A truth file is matched by id, and no column names the rows. Say which one does (id).")
    truth = read_truth(truth_file, votes, rule)
    notebook.notes.extend(truth.notes)
    return replace(votes, truth=truth.codes, truth_only=truth.truth_only)


def _with_gold(votes: Votes, plan: Plan, gold_file: Any) -> Votes:
    """Return the votes with gold labels of a column or file."""
    request = plan.request
    if request.gold is not None and gold_file is not None:
        raise InputError("Gold labels were given twice: by a column of the file and by a second file. Leave one out.")
    if request.gold is not None:
        task = None if plan.triplet is None else plan.triplet.task
        reading = column_gold(request.source, request.gold, votes, task, request.rule)
    elif gold_file is not None:
        reading = read_gold(gold_file, votes, request.rule)
    else:
        return votes
    request.notebook.notes.extend(reading.notes)
    return votes.with_gold(reading.gold)


def note_file(source: Source, notebook: Notebook) -> None:
    """Note the format and the size of a file."""
    size = f"{count(source.n_rows, 'row')} and {count(len(source.columns), 'column')}"
    if source.delimiter is None:
        notebook.add("understood", f"{source.name}: Parquet, {size}.")
    else:
        packed = ", gzip" if source.compression else ""
        kind = f"{source.encoding}, separated by {DELIMITERS[source.delimiter]}{packed}"
        notebook.add("understood", f"{source.name}: {kind}, {size}.")


def _note_votes(votes: Votes, layout: str, notebook: Notebook) -> None:
    silent = (votes.votes_per_row == 0).nonzero()[0]
    if not len(silent):
        return
    if layout == "long":  # a task has no line of its own: it is named instead
        names = quoted([str(votes.ids[row]) for row in silent[:ROWS_SHOWN]])
        some = "" if len(silent) <= ROWS_SHOWN else "the first are "
        text = f"{count(len(silent), 'task')} without any vote: no label can be given ({some}{names})."
        notebook.add("warning", text, count=len(silent))
        return
    text = f"{count(len(silent), 'row')} without any vote: no label can be given"
    notebook.add("warning", text, count=len(silent), rows=silent)


def _report(layout: str, source: Source, votes: Votes, notebook: Notebook) -> Report:
    held = source.table.nbytes + votes.codes.nbytes + (0 if votes.soft is None else votes.soft.nbytes)
    return Report(
        layout=layout,
        encoding=source.encoding,
        delimiter=source.delimiter,
        compression=source.compression,
        n_rows=votes.n_rows,
        n_learners=votes.n_learners,
        n_classes=votes.n_classes,
        roles={name: notebook.roles.get(name, "ignored") for name in source.columns},
        notes=tuple(notebook.notes),
        held_bytes=int(held),
        peak_bytes=peak_bytes(),
    )
