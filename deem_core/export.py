"""Export: the fused table that people take home, with their own cells exactly as they were.

To the columns of the file that was read it adds

==================  ==============================================================================
``fused_label``     the label, spelled like the class; empty for a row without votes
``confidence``      its probability
``p_<class>``       the probability of every class, up to `MAX_PROBABILITIES` classes by default
``majority_vote``   what most learners say, for comparison
``agreement``       share of the votes cast that equal the fused label
``entropy``         of the probabilities, in nats
``needs_review``    true for the rows worth a human look
==================  ==============================================================================

If the file already has a column of such a name, the added one gets a number: ``fused_label_2``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from deem_core import tables
from deem_core.diagnostics import confidence as sure
from deem_core.errors import InputError
from deem_core.readers import Reading
from deem_core.votes import NO_VOTE, Votes

MAX_PROBABILITIES = 50
"""With more classes than this, their probabilities are left out unless asked for."""

_FORMULA = r"^[\p{Z}\p{Cc}\x{feff}]*[=+\-@＝＋－＠]|^[\t\r\n]"
_NUMBER = r"^\s*[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?\s*%?\s*$"
_LONE_SIGN = r"^\s*[+-]\s*$"  # often stands for "no vote", and no spreadsheet runs it
_HARMLESS = f"{_NUMBER}|{_LONE_SIGN}"


def fused_table(
    reading: Reading,
    posterior: NDArray[np.floating[Any]],
    *,
    originals: bool = True,
    probabilities: bool | None = None,
    diagnostics: bool = True,
    label_column: str = "fused_label",
    review_below: float | None = None,
    blank: bool = False,
) -> pa.Table:
    """Return the fused labels beside the cells of the file, row by row in its order.

    Parameters
    ----------
    reading : Reading
        The file as it was read. Its votes may have been replaced by others of the same rows, such as the
        same votes coded in the classes of a trained model.
    posterior : (n, K) array
        Probabilities of the classes for every row of ``reading.votes``. Rows without votes may hold anything:
        they get no label, and all that follows from one is null.
    originals : bool
        Whether to give back every column of the file, or only the id if there is one. A long file comes back
        with one row per task, which leaves its task column alone.
    probabilities : bool, optional
        Whether to add ``p_<class>`` columns; None adds up to `MAX_PROBABILITIES` of them or none.
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
        If the posterior does not fit the votes, or holds something else than probabilities.
    """
    votes = reading.votes
    posterior = np.asarray(posterior)
    _check(votes, posterior)
    if not label_column.strip():
        raise InputError("The column of labels needs a name.")
    if review_below is not None and not 0 <= review_below <= 1:
        raise InputError(f"The confidence for review is {review_below:g}; it must be between 0 and 1.")
    if blank and review_below is None:
        raise InputError("To leave doubtful labels empty, say below which confidence (review_below).")
    if probabilities is None:
        probabilities = votes.n_classes <= MAX_PROBABILITIES
    columns = list(_originals(reading, every=originals))
    taken = {name.strip() for name, _ in columns}
    wishes = _Wishes(label_column, probabilities, diagnostics, review_below, blank)
    for wish, cells in _added(votes, posterior, wishes):
        name = _free_name(wish, taken)
        taken.add(name.strip())  # readers trim names, and refuse two that are the same
        columns.append((name, cells))
    return pa.table([cells for _, cells in columns], names=[name for name, _ in columns])


def write(table: pa.Table, path: str | os.PathLike[str], *, spreadsheet_safe: bool = True) -> None:
    """Write a table as .csv, .tsv (or either with .gz) or .parquet, complete or not at all.

    Parameters
    ----------
    table : pyarrow.Table
    path : path
        The ending of the name says the format.
    spreadsheet_safe : bool
        Whether to `neutralise` the cells and the header of text files. Parquet is never altered.

    Raises
    ------
    InputError
        If the name has another ending or the file cannot be written.
    """
    tables.write(table, path, respell=neutralise if spreadsheet_safe else None)


def neutralise(texts: pa.Array) -> pa.Array:
    """Return texts (n,) with an apostrophe before those that a spreadsheet would run as a formula.

    These begin, after white space, with =, +, -, @ or their full-width forms, or begin with a tab or line
    break. Plain numbers such as ``-1``, ``+3.5`` and ``1e5`` and a lone sign are not touched.
    """
    running = pc.match_substring_regex(texts, _FORMULA)
    if not pc.any(running).as_py():
        return texts
    running = pc.and_not(running, pc.match_substring_regex(texts, _HARMLESS))
    return pc.if_else(running, pc.binary_join_element_wise("'", texts, ""), texts)


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
    """Yield header cells as they were spelled; a repeated one, which can only be blank, gets its clean name."""
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


def _added(votes: Votes, posterior: NDArray[np.floating[Any]], wishes: _Wishes) -> Iterator[tuple[str, pa.Array]]:
    """Yield (name, cells) of the columns that fusion adds."""
    labels = tables.class_texts(votes)
    codes = sure.fused_codes(votes, posterior)
    silent = votes.votes_per_row == 0
    confidence = sure.confidence(posterior)
    low = confidence < (-1.0 if wishes.review_below is None else wishes.review_below)
    yield wishes.label_column, tables.look_up(np.where(low & wishes.blank, NO_VOTE, codes), labels)
    yield "confidence", pa.array(confidence, mask=silent)
    if wishes.probabilities:
        for k, label in enumerate(labels):
            yield f"p_{label}", pa.array(posterior[:, k].astype(np.float64), mask=silent)
    if wishes.diagnostics:
        yield "majority_vote", tables.look_up(votes.majority_vote.codes, labels)
        yield "agreement", pa.array(sure.agreement(votes, codes), mask=silent)
        yield "entropy", pa.array(sure.entropy(posterior), mask=silent)
        share = sure.REVIEW_SHARE if wishes.review_below is None else 0.0
        yield "needs_review", pa.array(sure.needs_review(votes, posterior, share=share) | (low & ~silent))


def _free_name(wish: str, taken: set[str]) -> str:
    name, number = wish, 2
    while name.strip() in taken:
        name, number = f"{wish}_{number}", number + 1
    return name


def _check(votes: Votes, posterior: NDArray[np.floating[Any]]) -> None:
    """Refuse what is not a posterior of these votes; rows without votes are not looked at."""
    if posterior.shape != (votes.n_rows, votes.n_classes):
        raise InputError(
            f"The posterior has the shape {posterior.shape}; these votes need ({votes.n_rows}, {votes.n_classes}): "
            "a row for each row and a column for each class."
        )
    good = (posterior.min(axis=1) >= 0) & (np.abs(posterior.sum(axis=1) - 1) < 1e-3)  # NaN is not good
    bad = ~good & (votes.votes_per_row > 0)
    if bad.any():
        raise InputError(
            f"Row {int(bad.argmax()) + 1:,} of the posterior does not hold probabilities: "
            "they must be at least 0 and sum to 1."
        )
