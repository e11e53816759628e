"""Export of the fused table, with users' own cells as they were.

To the columns of the file that was read it adds

==================  ==============================================================================
``fused_label``     the label, spelled like the class; empty for a row without votes
``confidence``      its probability
``p_<class>``       the probability of every class, up to `MAX_PROBABILITIES` classes by default; the
                    method's prior for a row without votes
``majority_vote``   what most learners say, for comparison; the most probable of tied classes
``agreement``       share of the votes cast that equal the fused label
``entropy``         of the probabilities, in nats
``needs_review``    true for the rows worth a human look
==================  ==============================================================================

If the file already has a column of such a name, the added one gets a number: ``fused_label_2``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from deem_core.answers.answer import MAX_PROBABILITIES, Answer
from deem_core.errors import InputError
from deem_core.files import tables
from deem_core.files.spreadsheet import neutralise
from deem_core.readers import Reading
from deem_core.votes import NO_VOTE

DIAGNOSTICS = ("majority_vote", "agreement", "entropy", "needs_review")
"""Columns after the label, its confidence and the probabilities."""


def fused_table(
    reading: Reading,
    answer: Answer,
    *,
    originals: bool = True,
    probabilities: bool | None = None,
    diagnostics: bool = True,
    label_column: str = "fused_label",
    review_below: float | None = None,
    blank: bool = False,
) -> pa.Table:
    """Return the fused labels beside the cells of the file.

    Rows stand in its order.

    Parameters
    ----------
    reading : Reading
        The file as it was read.
    answer : Answer
        For the same rows; its votes may be coded in the classes of a trained model. Rows without votes get no label,
        all that follows from one is null, and their probabilities are the method's prior.
    originals : bool
        Whether to give back every column of the file, or only the id if there is one. A long file comes back
        with one row per task, which leaves its task column alone.
    probabilities : bool, optional
        Whether to add ``p_<class>`` columns; None adds up to `MAX_PROBABILITIES` of them or none, and none where the
        answer does not know them.
    diagnostics : bool
        Whether to add ``majority_vote``, ``agreement``, ``entropy`` and ``needs_review``.
    label_column : str
        Name of the column of labels.
    review_below : float, optional
        Confidence below which a row needs review, instead of the lowest tenth by review score; rows in which a
        unanimous vote was overruled and rows without votes need it in any case.
    blank : bool
        Whether to leave the label of rows below that confidence empty.

    Returns
    -------
    pyarrow.Table
        Original columns share their memory with ``reading.source`` and may be dictionary-encoded; names and
        cells are as they were spelled. Of several nameless columns all but the first are given the names of
        the report, because a table needs names that differ.

    Raises
    ------
    InputError
        If the answer has other rows, or an option makes no sense.
    """
    votes = answer.votes
    if votes.n_rows != reading.votes.n_rows:
        raise InputError(f"The answer has {votes.n_rows:,} rows; the file has {reading.votes.n_rows:,}.")
    if not label_column.strip():
        raise InputError("The column of labels needs a name.")
    if review_below is not None and not 0 <= review_below <= 1:
        raise InputError(f"The confidence for review is {review_below:g}; it must be between 0 and 1.")
    if blank and review_below is None:
        raise InputError("To leave doubtful labels empty, say below which confidence (review_below).")
    if probabilities is None:
        probabilities = answer.probabilities_known and votes.n_classes <= MAX_PROBABILITIES
    columns = list(_originals(reading, every=originals))
    taken = {name.strip() for name, _ in columns}
    wishes = _Wishes(label_column, probabilities, diagnostics, review_below, blank)
    for wish, cells in _added(answer, wishes):
        name = _free_name(wish, taken)
        taken.add(name.strip())  # readers trim names, and refuse two that are the same
        columns.append((name, cells))
    return pa.table([cells for _, cells in columns], names=[name for name, _ in columns])


def write(table: pa.Table, path: str | os.PathLike[str], *, spreadsheet_safe: bool = True) -> None:
    """Write a table as `write_fused` does."""
    tables.write(table, path, respell=neutralise if spreadsheet_safe else None)


def write_fused(
    reading: Reading, answer: Answer, path: str | os.PathLike[str], *, spreadsheet_safe: bool = True, **options: Any
) -> None:
    """Write the fused table to a file, part by part.

    Formats: .csv, .tsv (or either with .gz) and .parquet.

    The file appears complete or not at all.

    Parameters
    ----------
    reading : Reading
    answer : Answer
    path : path
        The ending of the name says the format.
    spreadsheet_safe : bool
        Whether to `neutralise` the cells and the header of text files. Parquet is never altered.
    **options
        Of `fused_table`.

    Raises
    ------
    InputError
        If the name has another ending or the file cannot be written, or as `fused_table` does.
    """
    texts = fused_table(reading, answer, **{**options, "probabilities": False})  # these are no texts
    tables.write_parts(
        _parts(reading, answer, options), path, texts=texts, respell=neutralise if spreadsheet_safe else None
    )


def _parts(reading: Reading, answer: Answer, options: dict[str, Any]) -> Iterator[pa.Table]:
    """Yield the fused table in parts.

    One without rows, if there are none.
    """
    start = 0
    for part in answer.parts() if answer.votes.n_rows else [answer]:
        yield fused_table(reading_rows(reading, start, start + part.votes.n_rows), part, **options)
        start += part.votes.n_rows


def reading_rows(reading: Reading, start: int, stop: int) -> Reading:
    """Return some rows of a reading, at no cost.

    Of a long file the source stays whole.
    """
    source = reading.source
    if reading.report.layout != "long":
        source = replace(source, table=source.table.slice(start, stop - start))
    return replace(reading, votes=reading.votes.select_rows(slice(start, stop)), source=source)


# ---------------------------------------------------------------------- columns


def _originals(reading: Reading, *, every: bool) -> Iterator[tuple[str, pa.ChunkedArray | pa.Array]]:
    """Yield (name, cells) of the columns to give back, as they were spelled."""
    source = reading.source
    spelled = dict(zip(source.columns, _differing(source.header, source.columns), strict=True))
    id_column = reading.report.column("id")
    if reading.report.layout == "long":
        if id_column is not None:
            yield spelled[id_column], tables.id_texts(reading.votes.ids)
        return
    for position, name in enumerate(source.columns):
        if every or name == id_column:
            yield spelled[name], source.table.column(position)


def _differing(header: Iterable[str], names: Iterable[str]) -> Iterator[str]:
    """Yield header cells as they were spelled.

    A repeated one, which can only be blank, gets its clean name.
    """
    seen = set[str]()
    for cell, name in zip(header, names, strict=True):
        yield name if cell in seen else cell
        seen.add(cell)


@dataclass(frozen=True)
class _Wishes:
    """Which columns to add; see `fused_table`."""

    label_column: str
    probabilities: bool
    diagnostics: bool
    review_below: float | None
    blank: bool


def _added(answer: Answer, wishes: _Wishes) -> Iterator[tuple[str, pa.Array]]:
    """Yield (name, cells) of the columns that fusion adds."""
    votes, silent = answer.votes, answer.silent
    labels = tables.class_texts(votes)
    blank = answer.below(wishes.review_below) if wishes.blank and wishes.review_below is not None else False
    yield wishes.label_column, tables.look_up(np.where(blank, NO_VOTE, answer.codes), labels)
    yield "confidence", pa.array(answer.confidence, mask=silent)
    if votes.gold is not None:
        yield "gold_label", tables.look_up(votes.gold.codes, [*labels, *map(str, votes.gold.only.tolist())])
    if wishes.probabilities:
        for k, label in enumerate(labels):
            yield f"p_{label}", answer.probability(k)
    if wishes.diagnostics:
        cells = (
            tables.look_up(answer.majority, labels),
            pa.array(answer.agreement, mask=silent),
            pa.array(answer.entropy, mask=silent),
            pa.array(answer.review_rows(wishes.review_below)),
        )
        yield from zip(DIAGNOSTICS, cells, strict=True)


def label_name(reading: Reading, label_column: str = "fused_label", *, originals: bool = True) -> str:
    """Return the name that the column of labels gets.

    It differs from the wish where the file has such a column.
    """
    return _free_name(label_column, {name.strip() for name, _ in _originals(reading, every=originals)})


def _free_name(wish: str, taken: set[str]) -> str:
    name, number = wish, 2
    while name.strip() in taken:
        name, number = f"{wish}_{number}", number + 1
    return name
