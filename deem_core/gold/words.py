"""Sentences about gold rows: what was used, chosen and proven."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from deem_core.gold.field import CAMPS, Field
from deem_core.text import count, listing, percent

if TYPE_CHECKING:
    from deem_core.answers.verdict import Rival, Verdict

WEIGHED = 5
"""Gold rows from which the vote that they weigh takes part."""
ADVISED, TRUSTED = 20, 50
"""Gold rows below which nothing should be relied on, and from which a switch can be trusted."""


def starts_weighed(field: Field, n_gold: int) -> bool:
    """Return whether the start is the vote weighted by gold rows."""
    return field.split and n_gold >= WEIGHED


def names(side: Sequence[str], most: int = 4) -> str:
    """Return learners in a sentence."""
    return listing(side, most, rest="others")


def sentences(verdict: Verdict, field: Field, rival: Rival | None) -> tuple[str, ...]:
    """Return what the gold rows were used for, and what they prove."""
    said = [
        _used(verdict, field, rival),
        _camps(verdict, field),
        _accuracy(verdict),
        _learner(verdict),
        _unheard(verdict),
        _absent(verdict),
        _advice(verdict),
    ]
    return tuple(text for text in said if text)


def named(verdict: Verdict, *, clamped: bool, weighed: bool, anchored: bool) -> tuple[str, ...]:
    """Return what gold rows say of a method that was named.

    ``clamped`` is one that holds their labels fixed, ``weighed`` one that learns weights from them,
    ``anchored`` one whose hidden classes are named by them, too.
    """
    used = f"Used {count(verdict.n_gold, 'gold row')}"
    if not verdict.n_gold:
        return ("No gold row has votes, so nothing could be learned from them.",)
    if clamped:
        return (
            f"{used} inside {verdict.chosen_title}, which holds their labels fixed. So they cannot tell how accurate "
            "it is; auto makes better use of gold rows.",
        )
    few = f"{_few(verdict)}." if verdict.n_gold < ADVISED else ""
    if weighed:
        how = "to weight the learners by what they got right"
    elif anchored:
        how = "to name the model's hidden classes and to tell how accurate the labels are"
    else:
        how = "to tell how accurate the labels are; the labels of other rows do not depend on them"
    return tuple(
        text for text in (f"{used} {how}.", _accuracy(verdict), _unheard(verdict), _absent(verdict), few) if text
    )


def _used(verdict: Verdict, field: Field, rival: Rival | None) -> str:
    used = f"Used {count(verdict.n_gold, 'gold row')}"
    if not verdict.n_gold:
        return "No gold row has votes, so nothing could be learned from them."
    if rival is not None:
        start = (
            "the vote weighted by gold"
            if starts_weighed(field, verdict.n_gold)
            else f"the answer without gold ({field.title})"
        )
        return (
            f"{used}: the labels now come from “{rival.title}”. Where it differs from {start}, it alone is right on "
            f"{count(rival.wins, 'gold row')}, and the other alone on {rival.losses}."
        )
    if starts_weighed(field, verdict.n_gold):
        return (
            f"{used}: the learners form two camps, so the labels come from their vote weighted by what they got "
            "right on the gold rows."
        )
    return (
        f"{used}: the answer without gold ({field.title}) stays, since no other is ahead by enough.{_closest(verdict)}"
    )


def _closest(verdict: Verdict) -> str:
    ahead = [told for told in verdict.rivals if told.wins > told.losses]
    if not ahead:
        return " No other method is ahead at all."
    best = max(ahead, key=lambda told: told.wins - told.losses)
    return f" The closest, {best.title}, wins {best.wins} and loses {best.losses} of the gold rows where they differ."


def _camps(verdict: Verdict, field: Field) -> str:
    if verdict.strong_camp and field.split and verdict.n_gold < ADVISED:
        return f"So far they favour the camp of {names(verdict.strong_camp)}."
    if verdict.strong_camp and field.split:
        return f"The panel's strong camp is {names(verdict.strong_camp)}."
    if field.split and verdict.chosen in CAMPS:
        return "Compared with each other alone, neither camp is ahead by enough yet."
    if field.split:
        settle = "This row does" if verdict.n_gold == 1 else "These rows do"
        return f"{settle} not settle which of the two camps is right."
    if verdict.strong_camp and verdict.switched and verdict.n_gold >= ADVISED:
        return f"Of the two sides that the learners take, that of {names(verdict.strong_camp)} is right more often."
    return ""


def _accuracy(verdict: Verdict) -> str:
    if not verdict.n_gold:
        return ""
    answer, majority = verdict.answer, verdict.majority
    others = verdict.n_gold - verdict.n_asked
    which = (
        "the gold rows are"
        if not verdict.asked
        else f"the other {count(others, 'gold row')} {'is' if others == 1 else 'are'}"
    )
    fair = f" if {which} a random sample of all rows" if others else ""
    return (
        f"Accuracy of the fused labels {answer.interval} (90% interval{fair}); of the majority vote "
        f"{majority.interval}."
    )


def _learner(verdict: Verdict) -> str:
    best = verdict.best_learner
    if best is None or best.share is None or verdict.n_gold < 5:
        return ""
    return (
        f"The best learner on gold, {best.title}, is right on about {percent(best.share, 0)} of the rows "
        f"({best.interval}, from {count(best.rows, 'gold row')}); the best of many is partly luck."
    )


def _unheard(verdict: Verdict) -> str:
    if not verdict.unheard:
        return ""
    has = "has a label" if verdict.unheard == 1 else "have labels"
    return f"{count(verdict.unheard, 'gold row')} {has} that no learner votes for, so no learner is right there."


def _absent(verdict: Verdict) -> str:
    if not verdict.absent:
        return ""
    are = "is" if verdict.absent == 1 else "are"
    return f"{count(verdict.absent, 'row')} of the gold file {are} not among the votes and {are} left out."


def _few(verdict: Verdict) -> str:
    are = "is" if verdict.n_gold == 1 else "are"
    return f"{count(verdict.n_gold, 'gold row')} {are} too few: aim for at least {ADVISED}"


def _advice(verdict: Verdict) -> str:
    if verdict.n_gold < ADVISED:
        rows = "This row proves" if verdict.n_gold == 1 else "These rows prove"
        proves = "" if verdict.switched else f" {rows} nothing about which method is better."
        return f"{_few(verdict)}, and {TRUSTED} before you trust a switch of method.{proves}"
    if verdict.switched:
        return f"With {TRUSTED} gold rows you could trust this switch." if verdict.n_gold < TRUSTED else ""
    return _beaten(verdict)


def _beaten(verdict: Verdict) -> str:
    """Say which rivals the answer without gold has beaten."""
    behind = [told.title for told in verdict.rivals if told.behind and told.kind in ("method", "weights", "given")]
    if not behind:
        return "These rows prove nothing about which method is better."
    if all(told.behind for told in verdict.rivals):
        return "These rows show that it is right more often than every other candidate."
    worse = listing([f"“{title}”" for title in behind], 3, rest="others")
    return f"These rows show that it is right more often than {worse}; about the rest they prove nothing."
