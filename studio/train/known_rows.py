"""Gold rows from Review for a training, unless people switch them off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from studio import jobs, state, text
from studio.data.datasets import Opened, open_dataset
from studio.errors import callback_boundary
from studio.review import desk
from studio.train import trainings


def switch(opened: Opened) -> bool:
    """Show the switch if there are labelled rows; return where it is."""
    n = len(desk.ledger(opened).labels)
    if not n:
        return False
    return st.toggle(
        f"Use the {text.count(n, 'gold row')} labelled in Review",
        value=True,
        key=f"train_gold_{opened.dataset.id}",
        help="They say how accurate the labels are. DEEM also names its hidden classes by them. Rows that are used are "
        "left out of every evaluation.",
    )


def start(dataset: str, config: Mapping[str, Any], use: bool) -> None:
    """Start a training, with the labels so far if wished; for ``on_click``."""
    known: dict[str, str] = {}
    with callback_boundary():
        if use:
            known = desk.gold_of(open_dataset(dataset))
    if state.problem() is None:
        wished = {**config, **known}
        jobs.start("train", dataset, wished, trainings.title_of(wished))
