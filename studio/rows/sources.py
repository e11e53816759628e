"""Rows with the labels of a run or a method, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import streamlit as st

from deem_core import InputError
from deem_core.answers import StoredAnswer
from deem_core.diagnostics import RowTable
from deem_core.runs import Run
from studio import comparisons, jobs, run_picker, state
from studio.data.datasets import Opened
from studio.export import sources
from studio.review import evidence


@dataclass(frozen=True)
class Source:
    """Whose labels the rows have.

    Attributes
    ----------
    opened : Opened
    run : Run, optional
        None before anything was fused.
    method : str
        Whose labels these are, if the run is a comparison.
    """

    opened: Opened
    run: Run | None = None
    method: str = ""

    @property
    def table(self) -> RowTable:
        """The rows, put together once."""
        found = self._comparison
        own, other = "" if self.run is None else self.run.id, "" if found is None else found.id
        return _table(self.opened.mark, own, self.method, other, self)

    @property
    def _comparison(self) -> Run | None:
        """The comparison whose methods can be named in filters."""
        if self.run is not None and self.run.kind == "compare":
            return self.run
        found = jobs.in_use("compare")
        return None if found is None or found.state().state != "done" else found

    @property
    def has_model(self) -> bool:
        """Whether a model can be asked why a row got its label."""
        return self.run is not None and self.run.kind != "compare" and jobs.has_model(self.run)


@st.cache_resource(max_entries=6, show_spinner=False)
def _table(opening: str, run: str, method: str, comparison: str, _source: Source) -> RowTable:
    opened, of_run = _source.opened, _source.run
    votes, found = opened.votes_of(of_run), _source._comparison
    methods = {} if found is None else comparisons.labels(found)
    path = None if of_run is None else of_run.labels(method) if method else of_run.result("result.parquet")
    if of_run is None or (path is None and method not in methods):
        return RowTable(votes, methods=methods, texts=texts(opened))
    if path is None:  # an earlier version kept the labels of methods and nothing else
        return RowTable(votes, methods[method], methods=methods, texts=texts(opened))
    stored = StoredAnswer(path, votes.n_classes)
    if len(stored.codes) != votes.n_rows:
        raise InputError("The labels of this run belong to other rows. Fuse again.")
    return RowTable(
        votes, stored.codes, stored.majority, stored.confidence, stored.needs_review, methods, texts(opened)
    )


def texts(opened: Opened) -> tuple[pa.ChunkedArray, ...]:
    """Return the columns of the file that are shown beside the votes."""
    shown, table = evidence.of(opened), opened.reading.source.table
    lines = None if shown.lines is None else pa.array(shown.lines)
    return tuple(table[name] if lines is None else table[name].take(lines) for name in shown.columns)


def current(opened: Opened) -> Source:
    """Return the labels that the address names, else the newest."""
    choices = choices_of(opened)
    if not choices:
        return Source(opened)
    run = sources.in_use(choices)
    state.put(state.RUN, run.id)
    if run.kind != "compare":
        return Source(opened, run)
    names = list(comparisons.labels(run))
    wished = state.get(state.METHOD)
    first = sources.PREFERRED if sources.PREFERRED in names else next(iter(names), "")
    return Source(opened, run, wished if wished in names else first)


def choices_of(opened: Opened) -> Sequence[Run]:
    """Return the finished runs whose labels rows can have."""
    return sources.runs(opened.dataset.id)


def choose(source: Source) -> None:
    """Show the choice of a run and a comparison's method."""
    choices = choices_of(source.opened)
    if source.run is None:
        return
    with st.container(horizontal=True):
        run_picker.choose(choices, source.run, "rows_run", "Labels of")
        if source.run.kind == "compare" and (comparison := comparisons.comparison(source.run)) is not None:
            sources.choose_method(comparison, "rows_method")
