"""Panel health: the card of the Data and Compare pages."""

from __future__ import annotations

import streamlit as st

from deem_core.diagnostics import Concordance, PanelHealth
from deem_core.figures import pictures
from studio import background, errors, widgets
from studio.data.datasets import Opened, Panel
from studio.data.numbers import Number
from studio.rows import cells, sources
from studio.text import listing, percent, plain
from studio.words import say

QUICK_VOTES, QUICK_CLASSES, QUICK_LEARNERS = 60_000, 20, 60
"""Votes, classes and learners up to which the numbers are there in a blink, so that nobody has to wait for them."""
MOST_NAMES = 30
"""Names of a camp that are listed."""


def card(opened: Opened) -> None:
    """Show how many independent votes there are, camps, rules and classes.

    Large files are looked at in the background, and the card fills in when that is done.
    """
    with st.container(border=True, key="panel_health"):
        st.header(
            "Panel health",
            anchor=False,
            help="What the votes alone say about the panel. Only the figure with a lock uses the truth.",
        )
        if _quick(opened):
            _content(opened)
            return
        asking = _look(opened)

        @st.fragment(run_every=background.POLL_SECONDS if asking else None)
        def fragment() -> None:
            still = _look(opened)
            if _seen(opened):
                _content(opened)
            elif still:
                st.caption(say(":material/hourglass: Checking which learners share mistakes…"))
            else:
                st.caption("The health of this panel could not be computed.")
            if asking and not still:
                st.rerun()

        fragment()


def _quick(opened: Opened) -> bool:
    votes, facts = opened.reading.votes, opened.facts
    small = facts.n_votes <= QUICK_VOTES and votes.n_classes <= QUICK_CLASSES and votes.n_learners <= QUICK_LEARNERS
    return small or _seen(opened)


def _seen(opened: Opened) -> bool:
    """Return whether the numbers are there already.

    They live and die with the open file.
    """
    return "panel" in vars(opened)


def _look(opened: Opened) -> bool:
    """Have a thread work the numbers out.

    Returns whether it is still at it.
    """
    _, still = _questions().get(opened.mark, lambda: opened.panel is not None)
    return still


@st.cache_resource(show_spinner=False)
def _questions() -> background.Questions[bool]:
    return background.Questions()


@errors.boundary()
def _content(opened: Opened) -> None:
    panel, health = opened.panel, opened.panel.health
    widgets.number_cards(_numbers(panel), columns=5)
    for sentence, alarm in zip(health.sentences, _alarms(health), strict=True):
        icon = ":orange[:material/warning:]" if alarm else ":gray[:material/chevron_right:]"
        st.markdown(f"{icon} {plain(say(sentence))}")
    if health.camps.split:
        for which, side in (("One camp", health.camps.first), ("The other", health.camps.second)):
            st.caption(f"**{which}:** {plain(listing(side, MOST_NAMES))}")
    _agreement(panel.agreed)
    if panel.true_votes is not None:
        widgets.evaluation_badge("From the true labels: evaluation only")
    views = {"Votes for each class": lambda: widgets.picture(pictures.class_coverage(health), "class_coverage_chart")}
    if len(health.mistakes.rho):
        shown, source = pictures.shared_mistakes(health), sources.current(opened)
        views = {"Who shares mistakes with whom": lambda: cells.picture(shown, "mistakes_chart", source), **views}
    widgets.tabs(views, "panel_tabs")


def _agreement(agreed: Concordance) -> None:
    """Show the agreement figures with what they rest on."""
    st.dataframe(
        [{"Agreement": each.title, "Figure and 95% interval": each.text} for each in agreed.coefficients],
        hide_index=True,
        key="agreement_figures",
    )
    st.caption(f"1 is perfect agreement, 0 is chance. {plain(agreed.sentence)} Learners that copy agree perfectly.")


def _alarms(health: PanelHealth) -> tuple[bool, ...]:
    """Return which of the sentences deserve a sign of warning."""
    return (False, health.camps.split, False, health.one_class.made_of_rules, False)


def _numbers(panel: Panel) -> tuple[Number, ...]:
    health = panel.health
    effective, camps, rules = health.effective, health.camps, health.one_class
    per_row = "" if effective.per_row is None else f"of {effective.per_row:.1f} votes a row"
    numbers = (
        Number(
            "Effective votes",
            _figure(effective.n_eff),
            per_row,
            "How many independent votes a row is worth, usually right to within a third. Learners that make the same "
            "mistakes count for less. Where all of them make the same mistakes, this figure is too high.",
        ),
        Number(
            "Shared mistakes",
            "–" if health.mistakes.mean is None else f"{health.mistakes.mean:.2f}",
            "mean correlation",
            "How strongly the mistakes of two learners correlate; 0 is not at all. A mistake is a vote against the "
            "majority of all the others.",
        ),
        Number(
            "Camps",
            "–" if camps.strength is None else ("two" if camps.split else "none"),
            "" if camps.strength is None else f"strength {camps.strength:.2f}",
            "Two groups of learners, each consistent in itself. The votes cannot tell which is right.",
        ),
        Number(
            "One-class rules",
            f"{len(rules.learners):,} of {rules.n_learners:,}",
            f"{percent(rules.vote_share)} of votes",
            "Learners that vote for one class only, as rules do. Their accuracy cannot be learned from votes.",
        ),
    )
    if panel.true_votes is None:
        return numbers
    true = Number(
        ":material/lock: From true labels",
        _figure(panel.true_votes),
        "effective votes",
        "Effective votes (Kish) from the real mistakes, where the truth is known. Evaluation only.",
    )
    return (numbers[0], true, *numbers[1:])


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
