"""Scorecard of the learners on a page: card, table, order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from deem_core import Answer, InputError, scorecard
from deem_core.diagnostics import Inspection, Reliability, Scorecard
from deem_core.figures import pictures
from deem_core.runs import Run
from deem_core.typing import Floats
from studio import text, widgets
from studio.data.datasets import Opened
from studio.export import results
from studio.inspect import frame
from studio.train import trainings
from studio.train.settings import method_title
from studio.words import say

ORDERS = ("Accuracy, best first", "Accuracy, worst first", "Most votes", "Most influence", "As in the file")
_ROW, _TALL_ROW = 35, 56  # pixels; the latter has room for two lines of flags
_LONG_FLAGS = 34  # letters that fit on one line
_MOST_HEIGHT = 560  # of the table, in pixels


def of_run(run: Run, opened: Opened, inspection: Inspection | None) -> Scorecard:
    """Return the scorecard of a finished run.

    It is made once without the inspection of its model, and once with it.

    Raises
    ------
    InputError
        If the run has no labels any more.
    """
    return _card(run, inspection is not None, inspection, opened)


@st.cache_resource(max_entries=6, show_spinner="Making the scorecard…", hash_funcs={Run: lambda run: run.id})
def _card(run: Run, inspected: bool, _inspection: Inspection | None, _opened: Opened) -> Scorecard:
    del inspected  # part of the key: influence and experts come later
    stored = trainings.outcome(run, _opened)
    if stored is None:
        raise InputError("The labels of this run are gone. Run it again.")
    answer: Answer = stored.answer(_opened.votes_of(run))
    summary = trainings.summary(run)
    by = "" if summary is None else summary.training.answered_by or summary.training.method
    gold = None if summary is None else summary.gold
    return scorecard(answer, inspection=_inspection, findings=_opened.findings, gold=gold, answered_by=by)


def show(card: Scorecard, opened: Opened) -> None:
    """Show a scorecard: what it rests on, table, picture and file."""
    st.caption(text.plain(say(basis(card))))
    if card.real is not None:
        widgets.evaluation_badge("“True accuracy” is for evaluation only")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        orders = [order for order in ORDERS if card.influence is not None or order != "Most influence"]
        order = st.selectbox("Order", orders, key="scorecard_order", bind="query-params", width=260)
        flagged = st.toggle(say("Only flagged learners"), key="scorecard_flagged", bind="query-params")
    at = ordered(card, order or orders[0])
    at = np.array([j for j in at.tolist() if not flagged or card.flags_of(card.learners[j])], np.intp)
    if not len(at):
        st.caption(say("No learner has a flag."))
        return
    rows = table(card, at)
    tall = bool((rows["flags"].str.len() > _LONG_FLAGS).any())
    height = _TALL_ROW if tall else _ROW
    st.dataframe(
        rows,
        key="scorecard_table",
        hide_index=True,
        row_height=height,
        height=min(_MOST_HEIGHT, 40 + height * len(rows)),
        column_config=columns(card),
    )
    widgets.picture(pictures.scorecard(card, at), "scorecard_chart")
    frame.download_csv("scorecard", card.to_frame, results.file_name(opened, "scorecard.csv"))


def basis(card: Scorecard) -> str:
    """Return what the estimates rest on, in two sentences."""
    by = f" ({method_title(card.answered_by)})" if card.answered_by else ""
    sentence = (
        f"Estimated accuracy is the average probability that the answer{by} gives to a learner's votes, with a 95% "
        "interval. It rests on the answer, not on the truth: where the answer is wrong, so is the estimate."
    )
    return (
        sentence
        if card.gold is None
        else f"{sentence} On gold rows, votes are checked against the known labels (90% intervals)."
    )


def ordered(card: Scorecard, order: str) -> NDArray[np.intp]:
    """Return the learners in one of `ORDERS`."""
    by_accuracy = card.ranked()
    keys: dict[str, Callable[[], NDArray[np.intp]]] = {
        ORDERS[0]: lambda: by_accuracy,
        ORDERS[1]: lambda: by_accuracy[::-1],
        ORDERS[2]: lambda: np.argsort(-card.votes, kind="stable"),
        ORDERS[3]: lambda: np.argsort(-_finite(card.influence), kind="stable"),
        ORDERS[4]: lambda: np.arange(len(card.learners)),
    }
    return np.asarray(keys[order](), np.intp)


def table(card: Scorecard, at: NDArray[np.intp]) -> pd.DataFrame:
    """Return a row per learner as the page shows it, in percent."""
    told = card.words()
    shown: dict[str, Any] = {
        "learner": [card.learners[j] for j in at],
        "flags": [told[j] for j in at],
        "estimated": 100 * card.estimated.accuracy[at],
        "interval": _intervals(card.estimated, at),
    }
    for name, source in (("gold", card.gold), ("real", card.real)):
        if source is not None:
            shown |= {name: 100 * source.accuracy[at], f"{name}_interval": _intervals(source, at)}
    shown |= {
        "votes": card.votes[at],
        "coverage": 100 * card.coverage[at],
        "fused": 100 * card.with_fused[at],
        "majority": 100 * card.with_majority[at],
    }
    if card.influence is not None:
        shown["influence"] = card.influence[at]
    return pd.DataFrame(shown)


def columns(card: Scorecard) -> dict[str, Any]:
    """Return how the table shows its columns."""
    config = st.column_config
    most = 1.0 if card.influence is None else float(np.nanmax(_finite(card.influence), initial=1e-9))

    def share(label: str, help: str) -> Any:
        return config.ProgressColumn(label, format=widgets.PERCENT, min_value=0.0, max_value=100.0, help=help)

    return {
        "learner": config.TextColumn(say("Learner"), pinned=True),
        "flags": config.TextColumn("Flags", width="medium", help="The findings of the Data page, and experts."),
        "estimated": share(
            "Estimated accuracy", "Mean probability of its votes under the answer; the truth is not used."
        ),
        "interval": config.TextColumn(
            "95% interval", width=120, help="How precise this is, given the number of votes."
        ),
        "gold": share("On gold rows", "Share of its votes on gold rows that are right."),
        "gold_interval": config.TextColumn(
            "90% interval", width=120, help="How precise this is, given the number of gold rows."
        ),
        "real": share("True accuracy", "For evaluation only: share of its votes that are right."),
        "real_interval": config.TextColumn(
            "95% interval", width=120, help="How precise this is, given the number of votes."
        ),
        "votes": config.NumberColumn("Votes", format="localized"),
        "coverage": share("Coverage", "Share of the rows it voted on."),
        "fused": share("Agrees with answer", "Share of its votes that equal the fused label."),
        "majority": share("Agrees with majority", "Share of its votes that equal the majority vote."),
        "influence": config.ProgressColumn(
            "Influence",
            format="%.3f",
            min_value=0.0,
            max_value=most,
            help="How much the labels depend on it, in nats.",
        ),
    }


def _intervals(source: Reliability, at: NDArray[np.intp]) -> list[str]:
    return [
        "" if np.isnan(low) else f"{text.percent(low).rstrip(' %')}–{text.percent(high)}"
        for low, high in zip(source.low[at].tolist(), source.high[at].tolist(), strict=True)
    ]


def _finite(values: Floats | None) -> Floats:
    """Return numbers with the least one where there is none."""
    known = np.zeros(0) if values is None else values
    return np.nan_to_num(known, nan=float(np.nanmin(known, initial=0.0)))
