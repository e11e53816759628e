"""Wide files: a column per learner, cells are labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from deem_core.coding import as_label_array
from deem_core.errors import InputError
from deem_core.labels import (
    MAX_CLASSES,
    Coding,
    LabelColumn,
    MissingRule,
    canonical_name,
    canonical_text,
    code_columns,
    match_truth,
    trim,
)
from deem_core.readers.learners import numbers_the_rows, split_by_overlap, split_by_vocabulary
from deem_core.readers.report import Notebook, clip, listing, plural
from deem_core.readers.request import Request
from deem_core.readers.source import Source
from deem_core.votes import Votes


def read_wide(request: Request, columns: Sequence[str]) -> Votes:
    """Return the votes of a wide file; ``columns`` are those that may be learners."""
    chosen = choose_learners(request, columns)
    coding = code_columns(chosen, request.rule, extra=request.classes)
    note_coding(coding, request.notebook)
    _note_header(request, chosen, coding)
    refuse_hopeless(request, chosen, coding)
    codes, only = read_truth(request, coding.keys)
    return Votes(
        codes=coding.codes,
        classes=as_label_array(coding.classes),
        learners=tuple(column.name for column in chosen),
        ids=read_ids(request),
        truth=codes,
        truth_only=only,
    )


def choose_learners(
    request: Request, candidates: Sequence[str], known: Mapping[str, Mapping[str, int]] | None = None
) -> list[LabelColumn]:
    """Return the label columns that are learners and note why the others are not.

    ``known`` are the label counts of learners read elsewhere (soft columns), which take part in the
    comparison of labels.
    """
    notebook, known = request.notebook, known or {}
    table = request.source.table
    with ThreadPoolExecutor() as pool:  # Arrow works outside the interpreter lock
        columns = list(pool.map(lambda name: LabelColumn.from_text(name, table[name]), candidates))
    if request.learners is not None:
        chosen = _forced(columns)
    else:
        chosen = _by_overlap(request, columns, known)
        refuse_too_few(request.source, [*known, *(column.name for column in chosen)], notebook)
    for column in chosen:
        notebook.roles[column.name] = "learner"
    return chosen


def _forced(columns: list[LabelColumn]) -> list[LabelColumn]:
    for column in columns:
        if column.too_many:
            raise InputError(
                f"Column {column.name!r} holds {column.n_spellings:,} different values: it is an id or a text, "
                "not a learner's labels. Leave it out."
            )
    return columns


def _by_overlap(
    request: Request, columns: Sequence[LabelColumn], known: Mapping[str, Mapping[str, int]]
) -> list[LabelColumn]:
    notebook = request.notebook
    usable: list[LabelColumn] = []
    counts: dict[str, dict[str, int]] = {}
    for column in columns:
        if column.too_many:
            notebook.leave_out(column.name, f"{column.n_spellings:,} different values are not labels.{_FORCE}")
        elif numbers_the_rows(column.keys, request.n_rows):
            notebook.leave_out(column.name, f"it counts the rows.{_FORCE}")
        elif not (tally := column.label_counts(request.rule)):
            notebook.leave_out(column.name, "it has no votes.")
        else:
            usable.append(column)
            counts[column.name] = tally
    if columns and not counts and not known and all(column.n_spellings <= 20 for column in columns):
        raise InputError(
            f"Every vote in {request.source.name} is missing: "
            f"columns {listing(column.name for column in columns)} hold only empty or NA-like cells."
        )
    if request.classes:
        learners, others = split_by_vocabulary({**known, **counts}, map(canonical_text, request.classes))
    else:
        learners, others = split_by_overlap({**known, **counts}) if counts else (list(known), {})
    for name, share in others.items():
        if name in counts:
            notebook.leave_out(name, _why_not_a_learner(share, counts[name], bool(learners)) + _FORCE)
    return [column for column in usable if column.name in set(learners)]


_FORCE = " To use it all the same, name all the learners you want, this one among them."


def _why_not_a_learner(share: float, tally: Mapping[str, int], there_are_learners: bool) -> str:
    examples = ", ".join(repr(clip(label, 30)) for label in list(tally)[:3])
    if not there_are_learners:
        return f"no other column uses the same labels (it has {examples}, …)."
    if share == 0:
        return f"none of its values ({examples}, …) is a label that the learners use."
    return f"only {share:.0%} of its cells hold a label that the learners use (it has {examples}, …)."


def refuse_too_few(source: Source, learners: Sequence[str], notebook: Notebook) -> None:
    """Refuse a file with no learner or a single one, and say what became of the other columns."""
    if len(learners) >= 2:
        return
    left_out = [note.text for note in notebook.notes if note.kind == "left out" and note.column is not None]
    reasons = " ".join(left_out[:3])
    if len(left_out) > 3:
        reasons += f" So were {len(left_out) - 3:,} more columns."
    if source.table.num_columns == 1:
        reasons = (
            f"The file has one column, {source.columns[0]!r}; cells must be separated by comma, tab, semicolon or pipe."
        )
    elif source.table.num_columns <= 6 and not learners:
        reasons += " If each row is one answer of one worker, name the columns task, worker and label."
    if learners:
        what = f"{source.name} has a single learner, {learners[0]!r}; fusing needs at least two columns of votes."
    else:
        what = f"No learner column is left in {source.name}; a column of labels for each learner is needed."
    raise InputError(f"{what} {reasons}".strip())


def refuse_hopeless(request: Request, columns: Sequence[LabelColumn], coding: Coding) -> None:
    """Refuse votes that cannot be fused: none at all, one class, more classes than rows, or labels that are lines.

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
    n, n_classes = source.table.num_rows, len(coding.classes)
    if n_classes == 0:
        raise InputError(f"Every vote in {source.name} is missing: all cells of the learners are empty or NA-like.")
    if n_classes == 1:
        raise InputError(
            f"The learners in {source.name} use one class only, {coding.classes[0]!r}; "
            "there is nothing to fuse with fewer than two."
        )
    if n_classes > n and columns:
        widest = max(columns, key=lambda column: len(set(column.keys)))
        raise InputError(
            f"{source.name} has more classes ({n_classes:,}) than rows ({n:,}): column {widest.name!r} alone has "
            f"{len(set(widest.keys)):,} different values. It is probably an id or a text: leave it out."
        )


def _holds_lines(label: str, source: Source) -> bool:
    lines = label.splitlines()[1:] if source.delimiter else []
    return any(line.count(source.delimiter or ",") == source.table.num_columns - 1 for line in lines)


def note_coding(coding: Coding, notebook: Notebook) -> None:
    """Note missing cells, merged spellings and labels that differ in case only."""
    minus_one = coding.missing_minus_one
    missing = {spelling: count for spelling, count in coding.missing.items() if spelling not in minus_one}
    if missing:
        total = sum(missing.values())
        tokens = ", ".join(
            f"{count:,} {repr(spelling) if spelling else 'empty'}"
            for spelling, count in sorted(missing.items(), key=lambda item: -item[1])[:6]
        )
        notebook.add("understood", f"{plural(total, 'cell')} without a vote: {tokens}.", count=total)
    if coding.minus_one_is_missing:
        count = sum(minus_one.values())
        notebook.add(
            "understood",
            f"-1 is read as no vote ({plural(count, 'cell')}), because all other labels are non-negative integers.",
            count=count,
        )
    if coding.merged:
        pairs = [f"{label!r} also as {listing(others, 3)}" for label, others in list(coding.merged.items())[:3]]
        more = f" and {len(coding.merged) - 3} more" if len(coding.merged) > 3 else ""
        notebook.add(
            "changed",
            f"Labels spelled in several ways were merged: {'; '.join(pairs)}{more}.",
            count=len(coding.merged),
        )
    folded: dict[str, list[str]] = {}
    for label in coding.classes:
        folded.setdefault(label.casefold(), []).append(label)
    for spellings in folded.values():
        if len(spellings) > 1:
            notebook.add(
                "warning", f"{listing(spellings)} differ in case only and are kept as different classes.", count=1
            )


def _note_header(request: Request, columns: Sequence[LabelColumn], coding: Coding) -> None:
    """Warn where the header looks like a row of labels."""
    names = [column.name for column in columns]
    in_order = [str(position) for position in range(len(names))]  # pandas' default names are a true header
    keys = {*coding.keys, "-1"}
    if names != in_order and all(canonical_text(name) in keys for name in names):
        request.notebook.add(
            "warning",
            f"The first line of {request.source.name} was taken as the header, though it looks like labels. "
            "If the file has no header, add one.",
        )


IDS_COMPARED = 200_000
"""Ids of text are slow to compare: in a larger file only so many are, and the warning says so."""


def read_ids(request: Request) -> pd.Index:
    """Return the ids as they are spelled, trimmed; the rows' positions if the file has none."""
    if request.id is None:
        return pd.RangeIndex(request.n_rows)
    texts = trim(request.source.text(request.id))
    if not _ascend(texts):
        _note_repeats(request, request.id, canonical_name(texts.slice(0, IDS_COMPARED)))
    return text_index(texts)


def _note_repeats(request: Request, name: str, ids: pa.ChunkedArray) -> None:
    repeated = len(ids) - pc.count_distinct(ids).as_py()
    if not repeated:
        return
    looked_at = f" among the first {len(ids):,}" if len(ids) < request.n_rows else ""
    hint = " Is each row one answer? Then name the columns task, worker and label." if repeated > len(ids) / 2 else ""
    request.notebook.add(
        "warning",
        f"Column {name!r} does not name every row: {plural(repeated, 'row repeats', 'rows repeat')} an id{looked_at}; "
        f"rows stay separate.{hint}",
        count=repeated,
    )


def _ascend(texts: pa.ChunkedArray) -> bool:
    """Tell at little cost whether ids are whole numbers in ascending order, which are all different."""
    try:
        values = pc.cast(texts, pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        return False
    return bool((values[1:] > values[:-1]).all())


def text_index(texts: pa.Array | pa.ChunkedArray) -> pd.Index:
    """Return Arrow text as a pandas Index without copying it into Python strings."""
    index: pd.Index = pd.Index(pd.array(texts, dtype="str"))
    return index


def read_truth(request: Request, class_keys: Sequence[str]) -> tuple[NDArray[np.int32] | None, NDArray[np.object_]]:
    """Return truth codes (n,) over the classes of the votes and the labels that only the truth knows.

    A column that was taken as the truth by its name alone, but shares nothing with the votes, is set aside.
    """
    if request.truth is None:
        return None, np.empty(0, object)
    name, texts = request.truth, request.source.table[request.truth]
    codes, only = code_truth_texts(name, texts, class_keys, request.rule, request.notebook)
    if codes is not None and not request.truth_was_named and not ((codes >= 0) & (codes < len(class_keys))).any():
        request.notebook.notes[:] = [note for note in request.notebook.notes if note.column != name]
        request.notebook.leave_out(name, "it is named like the truth, but none of its values is a label of the votes.")
        return None, np.empty(0, object)
    return codes, only


def code_truth_texts(
    name: str, texts: pa.ChunkedArray, class_keys: Sequence[str], rule: MissingRule, notebook: Notebook
) -> tuple[NDArray[np.int32] | None, NDArray[np.object_]]:
    """Code a column of true labels over the classes of the votes."""
    column = LabelColumn.from_text(name, texts)
    if column.too_many or len(set(column.keys)) > MAX_CLASSES:
        notebook.notes[:] = [note for note in notebook.notes if note.column != name]
        notebook.leave_out(name, f"it is named as the truth, but its {column.n_spellings:,} values are not labels.")
        return None, np.empty(0, object)
    coding = code_columns([column], replace(rule, minus_one=False))
    codes, only = match_truth(coding, class_keys, rule)
    known = int((codes >= 0).sum())
    if known == 0:
        notebook.add("warning", f"The truth column {name!r} holds no label.", count=0, column=name)
        return None, np.empty(0, object)
    unheard = codes >= len(class_keys)
    if unheard.any():
        notebook.add(
            "warning",
            f"{plural(int(unheard.sum()), 'true label')} of class {listing(only, 3)} can never be hit: "
            "no learner votes for it",
            count=int(unheard.sum()),
            rows=np.flatnonzero(unheard),
            column=name,
        )
    if known < len(codes):
        notebook.add(
            "understood", f"The truth is known for {known:,} of {len(codes):,} rows.", count=known, column=name
        )
    return codes, as_label_array(only).astype(object)
