"""Columns of any layout: the request, names of rows, refusals, notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from deem_core.errors import InputError
from deem_core.readers.notes import Notebook
from deem_core.readers.source import Source
from deem_core.text import clip, count, quoted
from deem_core.typing import Codes
from deem_core.votes.label_map import AS_SPELLED, LabelMap
from deem_core.votes.labels import (
    Coding,
    LabelColumn,
    MissingRule,
    canonical_name,
    encode,
    is_whole_number,
    trim,
)
from deem_core.votes.sets import proposed_separator
from deem_core.votes.spelling import alike, examples, headline, n_spellings

FEWEST_NAMED = 5
"""Rows; in a smaller file different cells say little."""

IDS_COMPARED = 200_000
"""Ids of text are slow to compare: in a larger file only so many are, and the warning says so."""


@dataclass(frozen=True)
class Request:
    """What to read and how; see `read` for the options.

    ``truth_was_named`` tells a truth column that the caller named from one found by its name.
    """

    source: Source
    id: str | None
    truth: str | None
    learners: Sequence[str] | None
    ignore: Sequence[str]
    rule: MissingRule
    notebook: Notebook
    truth_was_named: bool = False
    worker: str | None = None
    label: str | None = None
    classes: Sequence[str] = ()
    known_learners: Sequence[str] = ()
    gold: str | None = None
    labels: LabelMap = AS_SPELLED
    ordered: bool | tuple[str, ...] = False
    one_label: str | None = None

    @property
    def n_rows(self) -> int:
        """Rows of the file, without the header."""
        return self.source.n_rows

    def label_column(self, name: str) -> LabelColumn:
        """Return a column, mapped to the keys of its classes."""
        return self.labels.column(self.source.label_column(name))


# ---------------------------------------------------------------------- refusals and notes


def refuse_too_few(source: Source, learners: Sequence[str], notebook: Notebook) -> None:
    """Refuse fewer than two learners, and say what became of the others."""
    if len(learners) >= 2:
        return
    named = [(name, reason) for name, reason in notebook.reasons.items() if name in source.columns]
    reasons = "; ".join(
        f"{name!r} was left out{': ' if reason else ' at your request'}{reason.rstrip('.')}"
        for name, reason in named[:3]
    )
    if reasons:
        more = f"; and so were {count(len(named) - 3, 'other column')}" if len(named) > 3 else ""
        reasons = f"Column {reasons}{more}."
    if len(source.columns) == 1 and source.delimiter is not None:
        reasons = (
            f"The file has one column, {source.columns[0]!r}; cells must be separated by comma, tab, semicolon or pipe."
        )
    elif source.choice is not None and len(source.choice.names) > 1:
        others = [name for name in source.choice.names if name != source.choice.chosen]
        what, option = source.choice.title.casefold(), source.choice.option
        reasons += f" Another {what} may hold them: {quoted(others)} (--{option}, or under “Columns and reading”)."
    elif len(source.columns) <= 6 and not learners:
        reasons += " If each row is one answer of one worker, choose the layout long."
    if learners:
        what = f"{source.name} has a single learner, {learners[0]!r}; fusing needs at least two columns of votes."
    else:
        what = f"No learner column is left in {source.name}; a column of labels for each learner is needed."
    unread = [note.text for note in notebook.notes if note.column and note.column not in source.columns]
    raise InputError(" ".join(filter(None, (what, *unread[:2], reasons.strip()))))


def refuse_hopeless(request: Request, columns: Sequence[LabelColumn], coding: Coding) -> None:
    """Refuse votes that cannot be fused.

    There are none, or one class, or more classes than rows, or labels that are lines of the file.

    Where classes are known beforehand, nothing is to be learnt, and few of them or few rows do not matter.
    """
    source = request.source
    swallowed = next((label for label in coding.classes if _holds_lines(label, source)), None)
    if swallowed is not None:
        raise InputError(
            f"A label in {source.name} spans several lines of the file ({clip(swallowed, 40)!r}): a quote is "
            "probably opened and not closed there. Close it, or double quotes that are part of the text."
        )
    if request.classes:
        return
    n, n_classes = source.n_rows, len(coding.classes)
    if n_classes == 0:
        raise InputError(f"Every vote in {source.name} is missing: all cells of the learners are empty or NA-like.")
    if n_classes == 1:
        raise InputError(
            f"The learners in {source.name} use one class only, {coding.classes[0]!r}; "
            f"there is nothing to fuse with fewer than two.{_advice_for_one_class(coding)}"
        )
    if n_classes > n and columns and request.labels.sets is None:
        widest = max(columns, key=lambda column: len(set(column.keys)))
        raise InputError(
            f"{source.name} has more classes ({n_classes:,}) than rows ({n:,}): column {widest.name!r} alone has "
            f"{len(set(widest.keys)):,} different values. {_advice_for_many(widest)}"
        )


def _advice_for_many(column: LabelColumn) -> str:
    """Say what to do where classes are more than rows."""
    cells = {cell: int(n) for cell, n in zip(column.spellings, column.counts, strict=True) if cell}
    sign = proposed_separator(cells)
    if sign is None:
        return "It is probably an id or a text: leave it out."
    return f"Its cells seem to hold several labels, with {sign!r} between them: say so (multilabel, or --multilabel)."


def _advice_for_one_class(coding: Coding) -> str:
    """Say what to do where all votes are for one class."""
    if coding.minus_one_is_missing:
        return " -1 was read as no vote; if it is a class, set what stands for a missing vote instead (missing)."
    if coding.missing:
        return " An empty cell is not a vote against it: add learners that vote for another class."
    return ""


def _holds_lines(label: str, source: Source) -> bool:
    lines = label.splitlines()[1:] if source.delimiter else []
    return any(line.count(source.delimiter or ",") == len(source.columns) - 1 for line in lines)


def note_coding(request: Request, columns: Sequence[LabelColumn], coding: Coding) -> None:
    """Note missing cells and what became of labels."""
    notebook, labels = request.notebook, request.labels
    minus_one = coding.missing_minus_one
    missing = {spelling: count for spelling, count in coding.missing.items() if spelling not in minus_one}
    if missing:
        total = sum(missing.values())
        tokens = ", ".join(
            f"{count:,} {repr(spelling) if spelling else 'empty'}"
            for spelling, count in sorted(missing.items(), key=lambda item: -item[1])[:6]
        )
        notebook.add("understood", f"{count(total, 'cell')} without a vote: {tokens}.", count=total)
    if coding.minus_one_is_missing:
        cells = sum(minus_one.values())
        others = "are non-negative integers" if all(map(is_whole_number, coding.keys)) else "are words"
        notebook.add(
            "understood",
            f"-1 is read as no vote ({count(cells, 'cell')}), because all other labels {others}.",
            count=cells,
        )
    if coding.keys == ("-1", "1") and 2 * _cells(columns, ("-1",)) > _cells(columns, coding.keys):
        notebook.add(
            "warning",
            "-1 is read as a class, because 1 is the only other label. If it means that a learner abstains, set -1 "
            "as a missing vote.",
        )
    for sentence in labels.sentences([text for column in columns for text in column.spellings]):
        notebook.add("changed", sentence)
    named = {label for label, _ in labels.names}
    merged = {label: left for label, others in coding.merged.items() if (left := [o for o in others if o not in named])}
    if merged:
        pairs = [f"{label!r} also as {quoted(others, 3)}" for label, others in list(merged.items())[:3]]
        more = f" and {len(merged) - 3} more" if len(merged) > 3 else ""
        what = (
            "Labels spelled in several ways were merged"
            if labels.sets is None
            else "Cells with the same labels are one"
        )
        text = f"{what}: {'; '.join(pairs)}{more}."
        notebook.add("changed", text, count=len(merged))
    _note_alike(columns, coding, notebook)


def _note_alike(columns: Sequence[LabelColumn], coding: Coding, notebook: Notebook) -> None:
    """Warn of classes that look like spellings of one."""
    cells: dict[str, int] = dict.fromkeys(coding.keys, 0)
    for column in columns:
        for key, n in zip(column.keys, column.counts, strict=True):
            if key in cells:
                cells[key] += int(n)
    groups = alike({str(name): cells[key] for key, name in zip(coding.keys, coding.classes, strict=True)})
    if groups:
        notebook.add(
            "warning",
            f"{headline(groups, coding.classes)}: {examples(groups)}. They are kept as separate classes; "
            "“Merge spellings” (or --merge-spellings) merges them.",
            count=n_spellings(groups),
        )


def _cells(columns: Sequence[LabelColumn], keys: Sequence[str]) -> int:
    """Return the cells that hold one of some labels."""
    return sum(int(n) for column in columns for key, n in zip(column.keys, column.counts, strict=True) if key in keys)


# ---------------------------------------------------------------------- names of rows and workers


def read_ids(request: Request) -> pd.Index:
    """Return the ids as spelled, trimmed; positions if there are none."""
    if request.id is None:
        return pd.RangeIndex(request.n_rows)
    texts = trim(request.source.text(request.id))
    if not _ascend(texts):
        _note_repeats(request, request.id, canonical_name(texts.slice(0, IDS_COMPARED)))
    return text_index(texts)


def with_unique_id(request: Request, learners: Sequence[str]) -> Request:
    """Return the request, with an id where one is found.

    That is the one column of different cells left of the votes, if they look like names: short, and no measurements.
    """
    source, notebook = request.source, request.notebook
    if request.id is not None or not learners or request.n_rows < FEWEST_NAMED:
        return request
    columns, voting = source.columns, set(learners)
    first = next(at for at, name in enumerate(columns) if name in voting)
    free = [
        name
        for name in columns[:first]
        if notebook.roles.get(name) in (None, "ignored") and name not in request.ignore and source.names_rows(name)
    ]
    named = [name for name in free if source.holds_names(name)]
    if len(named) != 1:
        return request
    notebook.forget(named[0])
    notebook.roles[named[0]] = "id"
    notebook.add("understood", f"Column {named[0]!r} names the rows (id): all its values differ.", column=named[0])
    return replace(request, id=named[0])


def _note_repeats(request: Request, name: str, ids: pa.ChunkedArray) -> None:
    repeated = len(ids) - pc.count_distinct(ids).as_py()
    if not repeated:
        return
    looked_at = f" among the first {len(ids):,}" if len(ids) < request.n_rows else ""
    hint = " If each row is one answer, set the columns task, worker and label." if repeated > len(ids) / 2 else ""
    request.notebook.add(
        "warning",
        f"Column {name!r} does not name every row: {count(repeated, 'row repeats', 'rows repeat')} an id{looked_at}; "
        f"rows stay separate.{hint}",
        count=repeated,
    )


def _ascend(texts: pa.ChunkedArray) -> bool:
    """Tell whether ids are whole numbers in ascending order.

    This costs little, and such ids are all different.
    """
    try:
        values = pc.cast(texts, pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        return False
    return bool((values[1:] > values[:-1]).all())


def text_index(texts: pa.Array | pa.ChunkedArray) -> pd.Index:
    """Return Arrow text as a pandas Index, without Python strings."""
    index: pd.Index = pd.Index(pd.array(texts, dtype="str"))
    return index


@dataclass(frozen=True)
class Names:
    """Repeated names as codes (m,) into distinct names.

    Names are in order of first appearance; the code of an empty one is -1.

    ``n_merged`` counts spellings beyond white space that were taken as the same name.
    """

    codes: Codes
    names: pa.Array
    keys: pa.Array
    n_merged: int


def encode_names(texts: pa.ChunkedArray) -> Names:
    """Return names as codes.

    `` 1 ``, ``1`` and ``1.0`` are one name, spelled as it came first.
    """
    encoded = encode(texts)
    spelled = encoded.dictionary
    keys = canonical_name(spelled).dictionary_encode()  # distinct spellings → distinct names
    name_of = keys.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    first = np.full(len(keys.dictionary), -1, np.int64)
    first[name_of[::-1]] = np.arange(len(name_of))[::-1]
    empty = pc.index(keys.dictionary, "").as_py()
    codes = name_of[encoded.indices.to_numpy(zero_copy_only=False)]
    if empty >= 0:
        codes = np.where(codes == empty, -1, codes)
    trimmed = trim(spelled)
    merged = pc.count_distinct(trimmed).as_py() - len(keys.dictionary)
    return Names(codes.astype(np.int32), trimmed.take(pa.array(first)), keys.dictionary, merged)
