"""Sources of labels: finished answers and trainings, and the methods of comparisons."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from deem_core.comparison import Comparison
from deem_core.runs import Run
from studio import jobs, state

PREFERRED = "auto"
"""The method whose labels are offered first. Never the most accurate one: that would be choosing by the truth."""


def runs(dataset: str) -> list[Run]:
    """Return the finished runs whose labels can be taken home.

    Answers and trainings come first, newest first, then comparisons that kept labels; the one in the address is among
    them in any case.
    """
    done = [run for run in jobs.of_dataset(dataset) if run.state().state == "done"]
    named = state.get(state.RUN)
    compared = [run for run in done if run.kind == "compare"]
    own = [run for run in done if run.kind in ("fuse", "train")]
    return [*own, *(run for run in compared if run.id == named or run.keeps_labels())]


def in_use(choices: Sequence[Run]) -> Run:
    """Return the run in the address, else the first."""
    return next((run for run in choices if run.id == state.get(state.RUN)), choices[0])


def choose_method(comparison: Comparison, key: str, label: str = "Method") -> str | None:
    """Show the choice of a method; None if none ran.

    It stands in the address, so that a refresh or a link shows the same.
    """
    names = [method.name for method in comparison.methods if method.ran]
    if not names:
        return None
    wished = state.get(state.METHOD)
    first = PREFERRED if PREFERRED in names else names[0]
    chosen = wished if wished in names else first
    state.set_value(key, chosen)
    st.selectbox(
        label,
        names,
        format_func=lambda name: comparison[name].title,
        key=key,
        on_change=lambda: state.put(state.METHOD, str(state.value(key))),
    )
    return chosen


def open_export(run: str, method: str) -> None:
    """Turn to the Export page with a method's labels; for ``on_click``."""
    state.put(state.RUN, run)
    state.put(state.METHOD, method)
    state.go_to("export")
