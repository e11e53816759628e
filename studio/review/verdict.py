"""What the answers prove, said again after each of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd
import streamlit as st

from deem_core.gold import ADVISED, TRUSTED, Estimate, Rival, Verdict
from deem_core.runs import FusionSummary
from deem_core.votes import Gold
from studio import jobs, text, widgets
from studio.data.numbers import Number
from studio.review import desk as desks
from studio.review.desk import Desk
from studio.words import say


def show(desk: Desk, known: Gold | None) -> None:
    """Show what the known labels say of the answer and its rivals."""
    with st.container(border=True, key="verdict"):
        st.header("What the gold rows say", anchor=False)
        if known is None:
            st.caption(
                f"Nothing yet. This is updated after every answer; label at least {ADVISED} rows, and {TRUSTED} "
                f"before you trust a switch of method. {text.plain(say(desk.queue.effect))}"
            )
            return
        told = desks.verdict(desk, known)
        widgets.number_cards(_numbers(told), columns=3)
        if not _said_above(told):
            for sentence in told.sentences:
                st.markdown(f":gray[:material/chevron_right:] {text.plain(say(sentence))}")
        with st.expander("Other methods: which would be right more often"):
            st.dataframe(
                rival_table(told.rivals),
                key="rivals",
                hide_index=True,
                column_config={"Candidate": st.column_config.TextColumn(width="large"), **_shares("Right", "Changes")},
            )
            st.caption(
                "Right is the share of gold rows that the candidate labels correctly, with its 90% interval. Wins and "
                "losses are the gold rows where it differs from the answer and one of the two is right. Changes is "
                "the share of all rows that it would label differently."
            )
        with st.expander(say("Learners: how often each is right")):
            st.dataframe(learner_table(told.learners), key="gold_learners", hide_index=True, column_config=_shares())


def _said_above(told: Verdict) -> bool:
    """Tell whether the answer in use rests on the same labels."""
    run = jobs.in_use("fuse")
    summary = None if run is None or run.state().state != "done" else FusionSummary.of(run)
    return summary is not None and summary.gold is not None and summary.gold.sentences == told.sentences


def rival_table(rivals: Iterable[Rival]) -> pd.DataFrame:
    """Return the candidates beside the answer, the best on gold first."""
    return pd.DataFrame(
        [
            {
                "Candidate": rival.title,
                "Right": _percent(rival.estimate.share),
                "90% interval": rival.estimate.interval,
                "Wins–losses": f"{rival.wins}–{rival.losses}",
                "Changes": _percent(rival.changed),
            }
            for rival in rivals
        ]
    )


def learner_table(learners: Iterable[Estimate]) -> pd.DataFrame:
    """Return the learners that voted on gold rows, the best first."""
    voted = sorted((each for each in learners if each.share is not None), key=lambda each: -(each.share or 0.0))
    return pd.DataFrame(
        [
            {
                say("Learner"): each.title,
                "Right": _percent(each.share),
                "90% interval": each.interval,
                "Gold rows": each.rows,
            }
            for each in voted
        ]
    )


def _shares(*names: str) -> dict[str, Any]:
    return {name: st.column_config.NumberColumn(name, format="%.0f%%") for name in names or ("Right",)}


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _about(estimate: Estimate) -> str:
    return "" if estimate.share is None else f"about {text.percent(estimate.share, 0)}"


def _numbers(told: Verdict) -> list[Number]:
    few = "few" if told.n_gold < ADVISED else ("enough to judge by" if told.n_gold < TRUSTED else "enough to trust")
    return [
        Number(
            "Gold rows",
            text.count(told.n_gold),
            few,
            f"Rows with a known label and votes. Aim for at least {ADVISED}, and {TRUSTED} before you trust a switch "
            "of method.",
        ),
        Number(
            "Fused labels right",
            told.answer.interval,
            _about(told.answer),
            "Accuracy of the answer that these gold rows choose, as a 90% interval.",
        ),
        Number(
            "Majority vote right",
            told.majority.interval,
            _about(told.majority),
            "The same for the majority vote, ties broken at random.",
        ),
    ]
