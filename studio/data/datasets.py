"""Datasets in use, kept in the workspace and read once."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import streamlit as st
from numpy.typing import NDArray

from deem_core import InputError, describe
from deem_core.diagnostics import (
    Concordance,
    Finding,
    PanelHealth,
    RuleTable,
    checkup,
    concordance,
    find_rules,
    panel_health,
    true_effective_votes,
    unused_probabilities,
)
from deem_core.readers import (
    TEXTS,
    Choice,
    LabelRow,
    Note,
    Noun,
    PositionBias,
    Reading,
    Sketch,
    Source,
    label_table,
    noun_of,
    proposed_order,
    proposed_sign,
)
from deem_core.runs import Dataset, Run
from deem_core.votes import NO_VOTE, Facts, PairAgreement, RowAgreement, Votes, pair_agreement, row_agreement
from studio import state
from studio.data.samples import Sample
from studio.workspace import workspace


@dataclass(frozen=True)
class Panel:
    """Health of a panel.

    Attributes
    ----------
    health : PanelHealth
        From the votes alone.
    true_votes : float, optional
        Effective votes by the truth, where there is one. For evaluation only.
    agreed : Concordance
        Agreement figures.
    """

    health: PanelHealth
    true_votes: float | None
    agreed: Concordance


@dataclass(frozen=True)
class Format:
    """How a file is written, and what its columns are.

    Attributes
    ----------
    layout : "wide", "long" or "soft"
    delimiter, encoding : str, optional
    source : deem_core.readers.Source, optional
        None of a text that is no table.
    played : dict
        Column → role.
    choice : deem_core.readers.Choice, optional
        Which of several tables or questions of the file this is.
    is_json : bool
        Whether it is JSON of no table.
    """

    layout: str
    delimiter: str | None
    encoding: str | None
    source: Source | None
    played: dict[str, str]
    choice: Choice | None = None
    is_json: bool = False

    @property
    def is_delimited(self) -> bool:
        """Whether it may be text with a delimiter."""
        if self.source is None:
            return self.choice is None and not self.is_json
        return self.source.delimiter is not None

    @property
    def is_text(self) -> bool:
        """Whether bytes were decoded to read it."""
        return self.is_delimited or self.is_json or (self.source is not None and self.source.format in TEXTS)

    def cells(self) -> pd.DataFrame:
        """Return the file as it is spelled.

        Columns of repeated labels stay coded, which is quick and small.
        """
        if self.source is None:
            return pd.DataFrame()
        cells = self.source.table
        return pd.DataFrame(
            {name: pd.Series(pd.arrays.ArrowExtensionArray(cells[name])) for name in cells.column_names}
        )

    def roles(self) -> pd.DataFrame:
        """Return a table of the columns: name, role, and the first values."""
        columns = [] if self.source is None else self.source.columns
        first = None if self.source is None else self.source.table.slice(0, 3)
        return pd.DataFrame(
            {
                "column": columns,
                "role": [_ROLE_WORDS.get(self.played[name], self.played[name]) for name in columns],
                "first values": [
                    "" if first is None else " · ".join(map(str, first[name].to_pylist())) for name in columns
                ],
            }
        )


_ROLE_WORDS = {"ignored": "ignore"}


@dataclass(frozen=True)
class Opened:
    """A dataset that was read.

    Attributes
    ----------
    dataset : deem_core.runs.Dataset
    reading : deem_core.readers.Reading
    facts : deem_core.votes.describe.Facts
    """

    dataset: Dataset
    reading: Reading
    facts: Facts

    def votes_of(self, run: Run | None) -> Votes:
        """Return the votes as a run used them.

        With the gold labels it was given, which are not evaluated on.
        """
        votes = self.reading.votes
        return votes if run is None else workspace().with_gold(votes, run.spec)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What matters about the votes, found without truth."""
        if self.reading.votes.separator:  # sets of labels are no classes to be checked
            return ()
        return (*unused_probabilities(self.reading.report), *checkup(self.reading.votes))

    @cached_property
    def proposed_order(self) -> list[str] | None:
        """The classes, lowest first, if they look like a scale."""
        return None if self.reading.votes.separator else proposed_order(self.reading.votes)

    @cached_property
    def proposed_separator(self) -> str | None:
        """The sign between labels, if cells seem to hold several."""
        return proposed_sign(self.reading.votes)

    @cached_property
    def labels(self) -> list[LabelRow]:
        """Labels of the file, before they were named."""
        reading = self.reading
        return label_table(reading.source, reading.report, reading.votes, reading.labels, merged=True)

    @cached_property
    def agreement(self) -> PairAgreement:
        """How often learners agree with each other."""
        return pair_agreement(self.reading.votes)

    @cached_property
    def rows_agreeing(self) -> RowAgreement:
        """How many learners agree in each row."""
        return row_agreement(self.reading.votes)

    @cached_property
    def rules(self) -> RuleTable | None:
        """How often labelling rules fire and contradict each other.

        None where learners are no rules that know one class each.
        """
        return find_rules(self.reading.votes)

    @property
    def position_bias(self) -> tuple[PositionBias, ...]:
        """How far the order of answers decides; of judges asked in both."""
        return self.reading.report.position_bias

    @cached_property
    def noun(self) -> Noun:
        """What the file calls its learners."""
        return noun_of(self.reading.report, self.reading.votes.learners)

    @cached_property
    def mark(self) -> str:
        """What tells this opening of the file from every other one."""
        return uuid.uuid4().hex

    @cached_property
    def panel(self) -> Panel:
        """Dependence, camps, rules and classes; a second or more in large files."""
        votes, rng = self.reading.votes, np.random.default_rng(0)
        return Panel(panel_health(votes, rng), true_effective_votes(votes, rng), concordance(votes))

    @cached_property
    def truth_counts(self) -> NDArray[np.int64]:
        """Votes of each learner on rows with truth, (d,).

        For evaluation only.
        """
        votes = self.reading.votes
        known = np.zeros(votes.n_rows, bool) if votes.truth is None else votes.truth != NO_VOTE
        counts: NDArray[np.int64] = (votes.codes[known] != NO_VOTE).sum(axis=0)
        return counts

    @property
    def format(self) -> Format:
        """How the file is written, and what its columns are."""
        report, source = self.reading.report, self.reading.source
        return Format(report.layout, report.delimiter, report.encoding, source, report.roles, source.choice)

    def rows_of(self, note: Note) -> pd.DataFrame:
        """Return the rows that a note is about, with their numbers."""
        rows = np.asarray(note.rows, np.int64) - 1
        source = self.reading.source
        inside = rows[(rows >= 0) & (rows < source.table.num_rows)]
        cells = source.table.take(pa.array(inside))
        return pd.DataFrame({"row": inside + 1} | {name: cells[name].to_pylist() for name in source.columns})


@dataclass(frozen=True)
class Unread:
    """A dataset that was decoded, and cannot be read as votes yet.

    Attributes
    ----------
    dataset : deem_core.runs.Dataset
    sketch : deem_core.readers.Sketch
    """

    dataset: Dataset
    sketch: Sketch

    @property
    def format(self) -> Format:
        """How the file is written, and what its columns may be."""
        sketch = self.sketch
        told = (sketch.layout, sketch.delimiter, sketch.encoding, sketch.source, sketch.roles, sketch.choice)
        return Format(*told, sketch.is_json)


def at_hand() -> Opened | Unread | None:
    """Return the dataset in use, read as votes or not.

    A link that names only a run leads to the run's dataset.

    Raises
    ------
    DeemError
        If the address names one that is not there or can no longer be decoded.
    """
    dataset_id = state.get(state.DATA)
    if dataset_id is None and (run := state.get(state.RUN) or state.get(state.SWEEP)) is not None:
        dataset_id = workspace().run(run).dataset_id
        state.put(state.DATA, dataset_id)
    return None if dataset_id is None else _find(dataset_id)


def current() -> Opened | None:
    """Return the dataset in use, if any.

    Raises
    ------
    DeemError
        As `at_hand` does, and if it is not read as votes yet.
    """
    found = at_hand()
    return None if found is None else _read_as_votes(found)


def open_dataset(id: str) -> Opened:
    """Return a dataset of the workspace, read."""
    return _read_as_votes(_find(id))


def _read_as_votes(found: Opened | Unread) -> Opened:
    if isinstance(found, Unread):
        raise InputError(found.sketch.problem)
    return found


def _find(id: str) -> Opened | Unread:
    kept = workspace()
    return _open(kept.dataset(id), str(kept.root))


@st.cache_resource(max_entries=6, show_spinner="Reading the file…", hash_funcs={Dataset: lambda dataset: dataset.id})
def _open(dataset: Dataset, root: str) -> Opened | Unread:
    """Read a dataset, or sketch one that is not read as votes.

    Its id follows from the contents and the way to read them.
    """
    try:
        reading = workspace().read(dataset)
    except InputError as problem:
        return Unread(dataset, workspace().sketch(dataset, problem))
    return Opened(dataset, reading, describe(reading.votes))


def forget() -> None:
    """Clear the cache of datasets.

    What was deleted must not linger in memory.
    """
    _open.clear()


def bring(name: str, data: BinaryIO | os.PathLike[str], truth: tuple[str, Any] | None = None) -> Opened | Unread:
    """Store a file that can be decoded, and turn to it.

    If not, the dataset in use stays.

    Raises
    ------
    DeemError
        If the file cannot be decoded or kept.
    """
    return _take(workspace().add_dataset(os.path.basename(name), data, truth=truth))


def bring_sample(sample: Sample) -> Opened | Unread:
    """Keep a bundled sample and turn to it."""
    truth = None if sample.truth_path is None else (sample.truth_path.name, sample.truth_path)
    return bring(sample.path.name, sample.path, truth)


def read_otherwise(found: Opened | Unread, reading: Mapping[str, Any], *, must_work: bool = False) -> Opened | Unread:
    """Read the same file in another way and turn to that.

    Raises
    ------
    DeemError
        If it must work and gives no votes; then the dataset in use stays.
    """
    return _take(workspace().vary_dataset(found.dataset, reading=reading), must_work=must_work)


def add_truth(opened: Opened | Unread, name: str, data: BinaryIO) -> Opened | Unread:
    """Add a file of true labels, for evaluation only."""
    return _take(workspace().vary_dataset(opened.dataset, truth=(os.path.basename(name), data)), must_work=True)


def _take(dataset: Dataset, *, must_work: bool = False) -> Opened | Unread:
    try:
        found = open_dataset(dataset.id) if must_work else _find(dataset.id)
    except Exception:  # whatever the reason, a file of which nothing can be shown is not kept
        if not workspace().runs(dataset=dataset.id):
            workspace().delete_dataset(dataset.id)
        raise
    workspace().mark_unread(dataset, isinstance(found, Unread))
    state.use_dataset(dataset.id)
    return found
