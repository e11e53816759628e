"""Reading: find the layout, read the votes, report what was done."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from deem_core.errors import InputError
from deem_core.readers.columns import Request
from deem_core.readers.gold import column_gold, read_gold
from deem_core.readers.judging import note_verdicts, read_orders
from deem_core.readers.notes import ROWS_SHOWN, Notebook, Report, peak_bytes
from deem_core.readers.order import as_order, with_order
from deem_core.readers.parse import DELIMITERS, delimiter_of
from deem_core.readers.plan import Layout, Plan, find_layout, read_plan
from deem_core.readers.probabilities import note_unused
from deem_core.readers.several import wished_sets, with_question, with_sets
from deem_core.readers.source import Source, open_source
from deem_core.readers.truth import read_truth
from deem_core.text import count, quoted
from deem_core.votes import Votes
from deem_core.votes.label_map import AS_SPELLED, LabelMap
from deem_core.votes.labels import DEFAULT, MissingRule
from deem_core.votes.orders import spread_wishes


@dataclass(frozen=True)
class Reading:
    """Votes of a file, the report, and the original cells.

    Attributes
    ----------
    votes : Votes
    report : Report
    source : Source
        Every original cell as text, so that an export can give it back exactly as it was.
    labels : LabelMap
        By which cells became classes; truth, gold labels and answers to these votes go through it, too.
    """

    votes: Votes
    report: Report
    source: Source
    labels: LabelMap = AS_SPELLED


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
    known_learners: Sequence[str] = (),
    gold: str | None = None,
    gold_file: Any = None,
    merge_spellings: bool = False,
    labels: Any = None,
    sheet: str | int | None = None,
    swap_ba: bool = False,
    one_voice: bool = False,
    ordered: bool | Sequence[str] = False,
    multilabel: bool | str = False,
    empty_is_none: bool = False,
    one_label: str | None = None,
) -> Reading:
    """Read votes from a file in any of the formats of docs/formats.md.

    Delimiters of text are comma, tab, semicolon and pipe.

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
    known_learners : sequence of str
        Those of a fitted model: columns of these names are learners even if their labels are not among ``classes``.
    gold : str, optional
        The column of known labels that are to be used. Never found by its name: you say so, or there is none.
    gold_file : path, bytes or open file, optional
        A second file of known labels that are to be used: task and label, or a queue that came back.
    merge_spellings : bool
        Whether labels that differ in writing only, such as ``spam``, ``Spam`` and ``SPAM``, are one class.
    labels : mapping or pairs, optional
        Label → the name of its class; None or an empty name is no vote. Classes come in this order, before all others.
    sheet : str or int, optional
        The sheet of a workbook, by its name or its number from 1, by default the first that holds anything; or the
        array of an archive of NumPy, if it has several matrices.
    swap_ba : bool
        Whether, in columns of judges that were asked in the order BA (``judge/ba``), A means what was shown first.
    one_voice : bool
        Whether the two answers of a judge that was asked in both orders are one vote, and none where they contradict
        each other; else both are votes.
    ordered : bool or sequence of str
        Whether the labels are steps of a scale, such as 1 to 5: True takes numbers by value, words by a known scale,
        and else the order of ``labels``; or name the steps, lowest first.
    multilabel : bool or str
        Whether a cell holds several labels; or the sign between them, found by default. JSON lists are read, too.
    empty_is_none : bool
        Whether an empty cell of several labels says that none applies; else it is no vote.
    one_label : str, optional
        One of several labels, as a question of its own: yes where it is among them, else no.

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
    notebook = Notebook()
    delimiter = None if delimiter is None else delimiter_of(delimiter)
    sheet = None if sheet is None else str(sheet)
    source = open_source(path_or_buffer, notebook, delimiter=delimiter, encoding=encoding, sheet=sheet, label=label)
    note_file(source, notebook)
    options: dict[str, Any] = {"id": id, "truth": truth, "learners": learners, "ignore": ignore, "missing": missing}
    options |= {"worker": worker, "label": label, "classes": classes, "gold": gold}
    options |= {"known_learners": known_learners}
    options |= {"labels": labels, "merge_spellings": merge_spellings, "ordered": ordered}
    options |= {"multilabel": multilabel, "empty_is_none": empty_is_none, "one_label": one_label}
    request = request_of(source, notebook, options)
    plan = find_layout(request, layout)
    votes, biases = read_orders(read_plan(plan), notebook, swap=swap_ba, merge=one_voice, known=known_learners)
    votes, layout_read = with_order(with_sets(votes, request), request), plan.layout
    if truth_file is not None:
        votes = _with_truth_file(votes, truth_file, request)
    votes = with_question(_with_gold(votes, plan, gold_file), request)
    _note_votes(votes, layout_read, notebook)
    note_verdicts(votes, notebook)
    unused = note_unused(plan.request)
    return Reading(
        votes,
        replace(_report(layout_read, source, votes, notebook), unused_probabilities=unused, position_bias=biases),
        source,
        request.labels,
    )


def request_of(source: Source, notebook: Notebook, options: Mapping[str, Any]) -> Request:
    """Return what to read of a source, from the options of `read`."""
    learners, ignore, classes = options.get("learners"), options.get("ignore", ()), options.get("classes", ())
    learners = [learners] if isinstance(learners, str) else learners
    ignore = [ignore] if isinstance(ignore, str) else list(ignore)
    learners, ignore = spread_wishes(learners, ignore, source.columns)
    rule = MissingRule.of(options.get("missing", DEFAULT))
    sets = wished_sets(source, options)
    label_map = LabelMap.of(options.get("labels"), options.get("merge_spellings", False), rule, sets)
    return Request(
        source=source,
        id=options.get("id"),
        truth=options.get("truth"),
        learners=learners,
        ignore=ignore,
        rule=rule,
        notebook=notebook,
        truth_was_named=options.get("truth") is not None,
        worker=options.get("worker"),
        label=None if source.choice is not None and source.choice.option == "label" else options.get("label"),
        classes=classes,
        known_learners=options.get("known_learners", ()),
        gold=options.get("gold"),
        labels=label_map.knowing(classes),
        ordered=as_order(options.get("ordered", False)),
        one_label=options.get("one_label"),
    )


def _with_truth_file(votes: Votes, truth_file: Any, request: Request) -> Votes:
    if votes.truth is not None:
        raise InputError("The truth was given twice: by a column of the file and by a second file. Ignore one of them.")
    if isinstance(votes.ids, pd.RangeIndex):
        raise InputError("A truth file is matched by id, and no id column is set. Set it (id).")
    truth = read_truth(truth_file, votes, request.rule, request.labels)
    request.notebook.notes.extend(truth.notes)
    return replace(votes, truth=truth.codes, truth_only=truth.truth_only)


def _with_gold(votes: Votes, plan: Plan, gold_file: Any) -> Votes:
    """Return the votes with gold labels of a column or file."""
    request = plan.request
    if request.gold is not None and gold_file is not None:
        raise InputError("Gold labels were given twice: by a column of the file and by a second file. Leave one out.")
    if request.gold is not None:
        task = None if plan.triplet is None else plan.triplet.task
        reading = column_gold(request, request.gold, votes, task)
    elif gold_file is not None:
        reading = read_gold(gold_file, votes, request.rule, request.labels)
    else:
        return votes
    request.notebook.notes.extend(reading.notes)
    return votes.with_gold(reading.gold)


def note_file(source: Source, notebook: Notebook) -> None:
    """Note the format and the size of a file."""
    size = f"{count(source.n_rows, 'row')} and {count(len(source.columns), 'column')}"
    packed = ", gzip" if source.compression else ""
    if source.title:
        notebook.add("understood", f"{source.name}: {source.title}{packed}, {size}.")
    elif source.encoding == "parquet":
        notebook.add("understood", f"{source.name}: Parquet, {size}.")
    elif source.delimiter is None:
        notebook.add("understood", f"{source.name}: JSON records, {source.encoding}{packed}, {size}.")
    else:
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
        format=source.format,
        sheet=None if source.choice is None or source.choice.option != "sheet" else source.choice.chosen,
    )
