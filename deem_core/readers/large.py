"""Large file: a wide file whose votes are read part by part.

A first pass counts the cells of every column, and tells learners, classes and truth by the rules for files that are
read whole; a part is then coded by looking its cells up. Files of other layouts are read whole only.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from deem_core.control import NO_CONTROL, Control
from deem_core.engine import Engine
from deem_core.errors import InputError
from deem_core.readers import wide
from deem_core.readers.columns import Request, with_unique_id
from deem_core.readers.digest import Digest, digest
from deem_core.readers.judging import note_orders
from deem_core.readers.notes import Notebook, Report, peak_bytes
from deem_core.readers.order import as_order, note_order, wished_order
from deem_core.readers.parse import delimiter_of
from deem_core.readers.plan import Layout, Plan, find_layout
from deem_core.readers.read import Reading, note_file
from deem_core.readers.source import Source
from deem_core.readers.stream import Stream, WholeOnlyError, open_stream
from deem_core.readers.truth import TruthCoding, code_truth_column
from deem_core.typing import Codes
from deem_core.votes import Votes
from deem_core.votes.coding import as_label_array, key_of
from deem_core.votes.label_map import AS_SPELLED, LabelMap
from deem_core.votes.labels import DEFAULT, Coding, LabelColumn, MissingRule, codes_of_spellings, encode
from deem_core.votes.orders import find_pairs, spread_wishes
from deem_core.votes.scale import ordered_classes

PART_ROWS = 1 << 18
"""Rows of a part."""

HEAD_ROWS = 20_000
"""Rows at the beginning that tell the layout."""


@dataclass(frozen=True, eq=False)
class LargeFile:
    """A wide file of votes, read in parts as often as one likes.

    Attributes
    ----------
    stream : Stream
    digest : Digest
        Counts of all cells.
    report : Report
        What was understood, changed and left out; without notes on single rows.
    learners : tuple of str
    classes : (K,) array
    truth_only : array
        Labels that only the truth has.
    lookups : dict of str to dict
        Column of a learner or of the truth → spelling → code.
    truth : str, optional
        Column of the truth, for evaluation only.
    labels : LabelMap
    ordered : bool
        Whether the classes are steps of a scale, lowest first.
    """

    stream: Stream
    digest: Digest
    report: Report
    learners: tuple[str, ...]
    classes: NDArray[Any]
    truth_only: NDArray[Any]
    lookups: dict[str, dict[str, int]]
    truth: str | None
    labels: LabelMap = AS_SPELLED
    ordered: bool = False

    @property
    def name(self) -> str:
        """The file's name."""
        return self.stream.name

    @property
    def n_rows(self) -> int:
        """Rows of the file."""
        return self.digest.n_rows

    def parts(self, rows: int = PART_ROWS) -> Iterator[Reading]:
        """Yield the file in parts of ``rows`` rows.

        Raises
        ------
        InputError
            If the file is not the one that was counted.
        """
        done = 0
        for table in self.stream.batches(rows):
            done += table.num_rows
            yield self.reading(table)
        self.check_rows(done)

    def check_rows(self, n: int) -> None:
        """Refuse another number of rows than was counted."""
        if n != self.n_rows:
            raise self._changed()

    def reading(self, table: pa.Table) -> Reading:
        """Return the votes of some rows, with their cells.

        Raises
        ------
        InputError
            If they hold cells that were not counted.
        """
        codes = np.empty((table.num_rows, len(self.learners)), np.int32)
        for j, name in enumerate(self.learners):
            codes[:, j] = self._codes(name, encode(table[name]))
        votes = Votes(
            codes=codes,
            classes=self.classes,
            learners=self.learners,
            truth=None if self.truth is None else self._codes(self.truth, encode(table[self.truth])),
            truth_only=self.truth_only,
            ordered=self.ordered,
        )
        stream = self.stream
        source = Source(stream.name, table, stream.header, stream.encoding, stream.delimiter, stream.compression)
        return Reading(votes, self.report, source, self.labels)

    def _codes(self, name: str, column: pa.DictionaryArray) -> Codes:
        lookup = self.lookups[name]
        try:
            known = np.array([lookup[spelling] for spelling in column.dictionary.to_pylist()], np.int32)
        except KeyError:
            raise self._changed() from None
        codes: Codes = known[column.indices.to_numpy(zero_copy_only=False)]
        return codes

    def _changed(self) -> InputError:
        return InputError(f"{self.name} was changed while it was read. Start again when it is complete.")


def open_large(
    path: str | os.PathLike[str],
    *,
    layout: Layout = "auto",
    id: str | None = None,
    truth: str | None = None,
    truth_file: Any = None,
    learners: Sequence[str] | None = None,
    ignore: Collection[str] = (),
    missing: MissingRule | Collection[str] = DEFAULT,
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
    sheet: str | None = None,
    swap_ba: bool = False,
    one_voice: bool = False,
    ordered: bool | Sequence[str] = False,
    multilabel: bool | str = False,
    empty_is_none: bool = False,
    one_label: str | None = None,
    control: Control = NO_CONTROL,
    on: str | Engine | None = None,
) -> LargeFile:
    """Open a file to be read in parts.

    The options are those of `read`; ``on`` says where cells are counted.

    Raises
    ------
    WholeOnlyError
        If the file must be read whole: a long or soft one, or one with a truth file or gold labels.
    InputError
        If it cannot be read.
    """
    if truth_file is not None:
        raise WholeOnlyError("A truth file is matched by id, which needs all rows at once: such a file is read whole.")
    if gold is not None or gold_file is not None:
        raise WholeOnlyError("Gold labels are compared with the answers of all rows: such a file is read whole.")
    if multilabel or empty_is_none or one_label is not None:
        raise WholeOnlyError("Several labels in a cell are taken apart in memory: such a file is read whole.")
    notebook = Notebook()
    if sheet is not None:
        raise WholeOnlyError("Workbooks are read whole only: leave --stream out.")
    if swap_ba or one_voice:
        done = "swapped" if swap_ba else "made one vote"
        raise WholeOnlyError(f"Judges asked in both orders are {done} in memory: such a file is read whole.")
    stream = open_stream(
        path, notebook, delimiter=None if delimiter is None else delimiter_of(delimiter), encoding=encoding
    )
    rule = MissingRule.of(missing)
    learners, ignored = spread_wishes(learners, [ignore] if isinstance(ignore, str) else list(ignore), stream.columns)
    named: dict[str, Any] = {
        "id": id,
        "truth": truth,
        "learners": learners,
        "ignore": ignored,
        "rule": rule,
        "truth_was_named": truth is not None,
        "worker": worker,
        "label": label,
        "classes": classes,
        "known_learners": known_learners,
        "labels": LabelMap.of(labels, merge_spellings, rule).knowing(classes),
        "ordered": as_order(ordered),
    }
    _refuse_layout(stream, layout, named)
    counted = digest(stream, control, on=on)
    note_file(counted, notebook)
    request = Request(source=counted, notebook=notebook, **named)
    return _large(stream, counted, find_layout(request, "wide"))


def _refuse_layout(stream: Stream, layout: Layout, named: dict[str, Any]) -> None:
    """Refuse a layout other than wide, by the first rows."""
    table = next(stream.batches(HEAD_ROWS), None)
    if table is None:
        raise InputError(f"{stream.name} has a header but no rows below it. Upload a file with at least one row.")
    source = Source(stream.name, table, stream.header, stream.encoding, stream.delimiter, stream.compression)
    plan = find_layout(Request(source=source, notebook=Notebook(), **named), layout)
    if plan.layout != "wide":
        what = "a row per answer (long)" if plan.layout == "long" else "probabilities (soft)"
        raise WholeOnlyError(
            f"{stream.name} holds {what}, which is read whole; in parts only files with a column of labels per learner "
            "(wide) are read."
        )


def _large(stream: Stream, counted: Digest, plan: Plan) -> LargeFile:
    request = plan.request
    chosen, coding = wide.code_learners(request, plan.columns)
    if pairs := find_pairs(column.name for column in chosen):
        note_orders(pairs, request.notebook, known=request.known_learners)
        request.notebook.add("understood", "How often they contradict each other is counted in files read whole only.")
    request = with_unique_id(request, [column.name for column in chosen])
    wish = wished_order(request, coding.classes)
    if wish is not False:
        coding = in_steps(coding, ordered_classes(coding.classes, wish))
        note_order(request, coding.classes)
    lookups = {column.name: _lookup(column, codes_of_spellings(column, coding.keys)) for column in chosen}
    truth = TruthCoding.none()
    if request.truth is not None:
        column = request.label_column(request.truth)
        truth = code_truth_column(request, column, coding.keys)
        if truth.of_spelling is not None:
            lookups[request.truth] = _lookup(column, truth.of_spelling)
    notebook = request.notebook
    report = Report(
        layout="wide",
        encoding=stream.encoding,
        delimiter=stream.delimiter,
        compression=stream.compression,
        n_rows=counted.n_rows,
        n_learners=len(chosen),
        n_classes=len(coding.classes),
        roles={name: notebook.roles.get(name, "ignored") for name in counted.columns},
        notes=tuple(notebook.notes),
        held_bytes=0,
        peak_bytes=peak_bytes(),
    )
    return LargeFile(
        stream=stream,
        digest=counted,
        report=report,
        learners=tuple(column.name for column in chosen),
        classes=as_label_array(coding.classes),
        truth_only=truth.only,
        lookups=lookups,
        truth=request.truth if truth.of_spelling is not None else None,
        labels=request.labels,
        ordered=wish is not False,
    )


def in_steps(coding: Coding, classes: Sequence[Any]) -> Coding:
    """Return a coding, of no rows, over the steps of a scale."""
    key = dict(zip(coding.classes, coding.keys, strict=True))
    return replace(coding, classes=tuple(classes), keys=tuple(key.get(step, key_of(step)) for step in classes))


def _lookup(column: LabelColumn, codes: Codes) -> dict[str, int]:
    return dict(zip(column.spellings, codes.tolist(), strict=True))
