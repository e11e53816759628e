"""Trainings beside each other: results, settings, curves, rows that differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from deem_core.figures import pictures
from deem_core.runs import Run, agreement, differing_rows, differing_settings
from deem_core.typing import Codes, Integers
from studio import errors, jobs, text, widgets
from studio.data.datasets import Opened
from studio.export import results
from studio.rows import listing
from studio.rows.sources import Source
from studio.train import settings, trainings
from studio.workspace import workspace

MOST_ROWS = 200
"""Rows in the table of those that differ; the file has all."""


@dataclass(frozen=True)
class Compared:
    """Trainings that are compared.

    Attributes
    ----------
    runs : tuple of Run
        The baseline first, where one is pinned.
    names : tuple of str
        What each is called, no two alike.
    baseline : Run, optional
        The pinned one, marked or not.
    labels : dict of str to (n,) array of int
        By name, of those that are done.
    """

    runs: tuple[Run, ...]
    names: tuple[str, ...]
    baseline: Run | None
    labels: Mapping[str, Codes]

    @property
    def reference(self) -> str | None:
        """Name of the training whose labels the others are held against.

        The baseline, or the first that has labels.
        """
        return next(iter(self.labels), None)


def compared(opened: Opened, chosen: Sequence[Run]) -> Compared:
    """Return marked trainings together with the pinned baseline."""
    baseline = workspace().baseline(opened.dataset.id)
    if baseline is not None and baseline.kind != "train":
        baseline = None
    others = [run for run in chosen if baseline is None or run.id != baseline.id]
    runs = ([] if baseline is None else [baseline]) + others
    called = trainings.names(jobs.of_dataset(opened.dataset.id, "train"))
    labels = {}
    for run in runs:
        stored = trainings.outcome(run, opened)
        if stored is not None and len(stored.codes) == opened.reading.votes.n_rows:
            labels[called[run.id]] = stored.codes
    return Compared(tuple(runs), tuple(called[run.id] for run in runs), baseline, labels)


def show(opened: Opened, chosen: Sequence[Run]) -> None:
    """Show what is alike and what differs between trainings."""
    found = compared(opened, chosen)
    st.subheader("Comparison", anchor=False)
    if found.baseline is not None and all(run.id != found.baseline.id for run in chosen):
        st.caption(f"{text.plain(found.names[0])} is the pinned baseline and is shown with them.")
    with errors.boundary():
        st.dataframe(results_table(found), hide_index=True)
        if any(known is not None and known.evaluation is not None for known in map(trainings.summary, found.runs)):
            widgets.evaluation_badge()
    with errors.boundary():
        differing = settings_table(found)
        st.markdown("**Settings that differ**" if len(differing) else "All have the same settings.")
        if len(differing):
            st.dataframe(differing, hide_index=True)
    with errors.boundary():
        _curves(found)
    with errors.boundary():
        _rows(opened, found)


def results_table(found: Compared) -> pd.DataFrame:
    """Return a row for each training: its numbers, and agreement."""
    rows, reference = [], found.reference
    shares = (
        {}
        if reference is None
        else dict(zip(found.labels, agreement(list(found.labels.values()), found.labels[reference]), strict=True))
    )
    for run, name in zip(found.runs, found.names, strict=True):
        known = trainings.summary(run)
        evaluation = None if known is None else known.evaluation
        rows.append(
            {
                "training": name,
                f"same label as {reference}": text.percent(shares[name]) if name in shares else "–",
                "labels changed": "–" if known is None else text.count(known.answer.changed),
                "mean confidence": "–"
                if known is None or known.answer.mean_confidence is None
                else text.percent(known.answer.mean_confidence),
                "accuracy (evaluation)": "–" if evaluation is None else text.percent(evaluation.accuracy),
            }
        )
    table = pd.DataFrame(rows)
    return table.loc[:, (table != "–").any()]


def settings_table(found: Compared) -> pd.DataFrame:
    """Return the settings that differ, in words, a column per training."""
    differing = differing_settings(found.runs)
    columns = {
        name: [settings.value(setting, values[at]) for setting, values in differing.items()]
        for at, name in enumerate(found.names)
    }
    return pd.DataFrame({"setting": [settings.title(setting) for setting in differing], **columns})


def _curves(found: Compared) -> None:
    drawn, without = {}, []
    for run, name in zip(found.runs, found.names, strict=True):
        records, known = trainings.records(run), trainings.summary(run)
        if records:
            drawn[name] = (records, () if known is None else known.training.restarts)
        else:
            without.append(name)
    if drawn:
        smoothing = st.slider("Smoothing", 0.0, 0.99, 0.5, **widgets.keep("beside_smoothing"), width=220)
        widgets.live_picture(pictures.run_energies(drawn, smoothing=smoothing), "beside_chart")
    if without:
        st.caption(f"No energy curves: {text.plain(text.listing(without))}.")


def _rows(opened: Opened, found: Compared) -> None:
    missing = [name for name in found.names if name not in found.labels]
    if missing:
        st.caption(f"No labels yet: {text.plain(text.listing(missing))}.")
    if len(found.labels) < 2:
        return
    rows = differing_rows(list(found.labels.values()))
    if not len(rows):
        st.markdown("**Rows that differ:** none. All give every row the same label.")
        return
    more = f" The first {MOST_ROWS} are listed; the file has all." if len(rows) > MOST_ROWS else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Rows that differ:** {len(rows):,} of {opened.reading.votes.n_rows:,}.{more}", width="stretch")
        widgets.download(
            "Download these rows (CSV)",
            lambda: results.frame_bytes(rows_table(opened, found, rows, whole=True), opened.reading.source),
            results.file_name(opened, "differing_rows.csv"),
            "download_differing",
        )
    st.dataframe(rows_table(opened, found, rows[:MOST_ROWS]), hide_index=True)


def rows_table(opened: Opened, found: Compared, rows: Integers, *, whole: bool = False) -> pd.DataFrame:
    """Return rows with the label of each training, texts and votes.

    Parameters
    ----------
    opened : Opened
    found : Compared
    rows : (m,) array of int
    whole : bool
        Whether texts are whole and votes there however many learners there are, as in a file.
    """
    source, votes = Source(opened), opened.reading.votes
    names = np.array([*map(str, votes.classes), ""], object)
    columns = listing.head_columns(source, rows)
    for name, codes in found.labels.items():
        columns[f"{name} (label)" if name in columns else name] = names[codes[rows]]
    for name, cells in listing.text_columns(source, rows).items():
        columns[listing.free(columns, name)] = cells if whole else listing.clipped(cells)
    if whole or votes.n_learners <= listing.MOST_LEARNERS:
        columns |= listing.vote_columns(source.table, rows, columns)
    return pd.DataFrame(columns)
