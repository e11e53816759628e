"""Mishaps: troubles of a run that were put right."""

from __future__ import annotations

from collections import Counter
from threading import Lock

import streamlit as st

from deem_core.runs import Run
from studio import text


class _Tail:
    """Mishaps of a run, read on from the last position."""

    def __init__(self) -> None:
        self.lock = Lock()  # several tabs look at the same run
        self.offset = 0
        self.told: list[str] = []

    def read(self, run: Run) -> list[str]:
        with self.lock:
            latest, offset = run.mishaps(self.offset)
            if offset < self.offset:  # the run was started over
                self.told = []
            self.offset = offset
            self.told += latest
            return list(self.told)


@st.cache_resource(max_entries=20, show_spinner=False)
def _tail(run_id: str) -> _Tail:
    return _Tail()


def told(run: Run) -> list[str]:
    """Return each sentence once, with how often it was told."""
    counted = Counter(_tail(run.id).read(run))
    return [sentence if times == 1 else f"{sentence} ({times} times)" for sentence, times in counted.items()]


def show(run: Run) -> None:
    """Show what went wrong so far, if anything did."""
    for sentence in told(run):
        st.caption(f":material/healing: {text.plain(sentence)}")
