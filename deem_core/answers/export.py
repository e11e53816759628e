"""Export of the fused table, with users' own cells as they were.

To the columns of the file that was read it adds

==================  ==============================================================================
``fused_label``     the label, spelled like the class; empty for a row without votes
``confidence``      its probability
``expected_score``  where labels have an order: the mean of their numbers, weighed by the probabilities
``expected_score_sd``  its standard deviation
``p_<class>``       the probability of every class, up to `MAX_PROBABILITIES` classes by default; the
                    method's prior for a row without votes
``majority_vote``   what most learners say, for comparison; the most probable of tied classes
``agreement``       share of the votes cast that equal the fused label
``entropy``         of the probabilities, in nats
``needs_review``    true for the rows worth a human look
``method``          who really answered: a method's name in the registry, but `PLAIN_RULES` in words
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
from deem_core.readers import Reading, Source
from deem_core.readers.decode import codec_of
from deem_core.votes import NO_VOTE, Votes

PLAIN_RULES = {"mv": "majority vote", "mean_prob": "mean probability"}
"""What the column ``method`` calls the rules that learn nothing, so that nobody takes them for a model."""

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
    review_share: float | None = None,
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
    review_share : float, optional
        Share of the rows with votes that needs review instead of that tenth; not together with ``review_below``.
    blank : bool
        Whether to leave the label of rows below that confidence empty, or else of the share that votes back least.

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
    if review_below is not None and review_share is not None:
        raise InputError("Choose the rows to review by a confidence or by a share, not both.")
    if review_share is not None:
        answer = answer.reviewing(review_share)
    if probabilities is None:
        probabilities = answer.probabilities_known and len(answer.probability_names) <= MAX_PROBABILITIES
    columns = list(_originals(reading, every=originals))
    taken = {name.strip() for name, _ in columns}
    wishes = _Wishes(label_column, probabilities, diagnostics, review_below, blank)
    for wish, cells in _added(answer, wishes):
        name = _free_name(wish, taken)
        taken.add(name.strip())  # readers trim names, and refuse two that are the same
        columns.append((name, cells))
    return pa.table([cells for _, cells in columns], names=[name for name, _ in columns])


def form_like(source: Source, path: str | os.PathLike[str], words: Iterable[str] = ()) -> tables.Format:
    """Return how to write a file that belongs beside another.

    What opens the one should open the other: a text file has the delimiter, encoding and byte order mark of its
    source, and `tables.DIGITS` digits. A tab belongs to a .tsv file and to no other.

    Parameters
    ----------
    source : Source
    path : path
        The ending of the name says the format.
    words : iterable of str
        Texts that are not in the source. Where its encoding lacks a letter of theirs, UTF-8 with a mark takes its
        place.
    """
    form = tables.format_of(path)
    if form.delimiter is None or source.delimiter is None:
        return replace(form, digits=tables.DIGITS)
    codec, mark = codec_of(source.encoding)
    try:
        "".join(words).encode(codec)
    except UnicodeError:
        codec, mark = "utf-8", True
    delimiter = form.delimiter if "\t" in (form.delimiter, source.delimiter) else source.delimiter
    return replace(form, delimiter=delimiter, codec=codec, mark=mark, digits=tables.DIGITS)


def fused_form(
    source: Source, votes: Votes, path: str | os.PathLike[str], label_column: str = "fused_label"
) -> tables.Format:
    """Return how the fused file of a source is written; see `form_like`."""
    gold = () if votes.gold is None else votes.gold.only.tolist()
    return form_like(source, path, [label_column, *tables.class_texts(votes), *map(str, gold)])


def write(
    table: pa.Table,
    path: str | os.PathLike[str],
    *,
    spreadsheet_safe: bool = True,
    form: tables.Format | None = None,
) -> None:
    """Write a table as `write_fused` does."""
    respell = neutralise if spreadsheet_safe else None
    tables.write_parts([table], path, texts=table, respell=respell, form=form)


def write_fused(
    reading: Reading, answer: Answer, path: str | os.PathLike[str], *, spreadsheet_safe: bool = True, **options: Any
) -> None:
    """Write the fused table to a file, part by part.

    Formats: .csv, .tsv (or either with .gz) and .parquet. Text files are written like the one that was read
    (`form_like`).

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
    if options.get("review_share") is not None and options.get("review_below") is None:  # among all rows, once
        answer = answer.reviewing(options.pop("review_share"))
    texts = fused_table(reading, answer, **{**options, "probabilities": False})  # these are no texts
    tables.write_parts(
        _parts(reading, answer, options),
        path,
        texts=texts,
        respell=neutralise if spreadsheet_safe else None,
        form=fused_form(reading.source, answer.votes, path, options.get("label_column", "fused_label")),
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
    blank: Any = False
    if wishes.blank:
        blank = answer.doubtful if wishes.review_below is None else answer.below(wishes.review_below)
    yield wishes.label_column, tables.look_up(np.where(blank, NO_VOTE, answer.codes), labels)
    yield "confidence", pa.array(answer.confidence, mask=silent)
    if answer.probabilities_known and answer.expected_score is not None and answer.expected_score_sd is not None:
        yield "expected_score", pa.array(answer.expected_score, mask=silent)
        yield "expected_score_sd", pa.array(answer.expected_score_sd, mask=silent)
    if votes.gold is not None:
        yield "gold_label", tables.look_up(votes.gold.codes, [*labels, *map(str, votes.gold.only.tolist())])
    if wishes.probabilities:
        for k, label in enumerate(map(str, answer.probability_names.tolist())):
            yield f"p_{label}", answer.probability(k)
    if wishes.diagnostics:
        cells = (
            tables.look_up(answer.majority, labels),
            pa.array(answer.agreement, mask=silent),
            pa.array(answer.entropy, mask=silent),
            pa.array(answer.review_rows(wishes.review_below)),
        )
        yield from zip(DIAGNOSTICS, cells, strict=True)
    if answerer(answer):
        said = pa.array([answerer(answer)]).dictionary_encode()
        indices = pa.array(np.zeros(len(silent), np.int32), mask=silent)
        yield "method", pa.DictionaryArray.from_arrays(indices, said.dictionary)


def answerer(answer: Answer) -> str:
    """Return who gave the labels, as the fused file tells it.

    After a training that failed that is not the model. Empty if nobody knows.
    """
    name = answer.answered_by or answer.method
    return PLAIN_RULES.get(name, name)


def original_names(reading: Reading, *, originals: bool = True) -> list[str]:
    """Return the columns of the file that `fused_table` gives back.

    Without ``originals`` the id, if there is one.
    """
    return [name for name, _ in _originals(reading, every=originals)]


def label_name(reading: Reading, label_column: str = "fused_label", *, originals: bool = True) -> str:
    """Return the name that the column of labels gets.

    It differs from the wish where the file has such a column.
    """
    return _free_name(label_column, {name.strip() for name in original_names(reading, originals=originals)})


def _free_name(wish: str, taken: set[str]) -> str:
    name, number = wish, 2
    while name.strip() in taken:
        name, number = f"{wish}_{number}", number + 1
    return name
