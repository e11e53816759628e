"""One row with all that is known of it."""

from __future__ import annotations

import numpy as np
import streamlit as st

from deem_core.diagnostics.rows import FUSED, Column
from deem_core.files.tables import row_names
from deem_core.runs import Run
from deem_core.text import clip
from deem_core.votes import NO_VOTE
from studio import errors, text, widgets
from studio.data.datasets import Opened
from studio.inspect import frame
from studio.review import evidence
from studio.review import row as desk_row
from studio.rows.sources import Source


def show(source: Source, row: int) -> None:
    """Show a row: evidence, votes, labels, and why it got its label."""
    votes = source.table.votes
    name = row_names(votes, np.array([row]))[0].as_py()
    with st.container(border=True, key="row_detail"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            short = f" · {text.plain(name)}" if votes.has_ids and len(name) <= evidence.SHORT_ID else ""
            st.subheader(f"Row {row + 1:,}{short}", anchor=False, width="content")
            _labels(source, row)
        left, right = st.columns([3, 2], gap="medium")
        with left.container(key="row_evidence"):
            evidence.show(source.opened, row)
        with right.container(key="row_votes"):
            desk_row.show_votes(votes, row)
        if source.run is not None and source.has_model and votes.votes_per_row[row]:
            _why(source.run, source.opened, row)


def _labels(source: Source, row: int) -> None:
    table = source.table
    silent = not table.votes.votes_per_row[row]
    if table.fused is not None and not silent:
        sure = "" if table.confidence is None else f", {text.percent(float(table.confidence[row]))}"
        st.badge(f"Fused: {_name(source, FUSED, row)}{sure}", color="blue")
    tied = " (tied)" if table.votes.majority_vote.tied[row] else ""
    st.badge(f"Majority: {_name(source, Column('majority'), row)}{tied}", color="gray")
    gold = table.votes.gold
    if gold is not None and gold.known[row]:
        label = [*map(str, table.votes.classes), *map(str, gold.only)][gold.codes[row]]
        st.badge(f"Gold: {text.plain(clip(label))}", icon=":material/workspace_premium:", color="yellow")
    if table.votes.truth is not None and table.votes.truth[row] != NO_VOTE:
        widgets.evaluation_badge(f"Truth: {_name(source, Column('truth'), row)} (evaluation)")


def _name(source: Source, column: Column, row: int) -> str:
    return text.plain(clip(source.table.names[source.table.column(column)[row]])) or "none"


@errors.boundary()
def _why(run: Run, opened: Opened, row: int) -> None:
    if st.toggle("Why this label?", **widgets.keep("rows_why")):
        frame.why_chart(run, opened, row, "row_why")
