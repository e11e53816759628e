"""Verdict of a comparison in a sentence or two."""

from __future__ import annotations

from deem_core.comparison.result import Comparison, Difference, MethodResult
from deem_core.text import percent

SUBJECT, REFERENCE = "deem", "mv"

SAME = 0.02
"""Two methods are called equally good if the interval of their difference in accuracy stays within this of 0."""


def conclusion(comparison: Comparison) -> str:
    """Return in plain sentences whether DEEM is worth it here.

    Better and worse mean that the 95 % interval of the paired difference in accuracy leaves out 0. Just as good means
    that it is near 0 (`SAME`); an interval that is wider than that tells only that there are too few true labels.
    """
    if not comparison.n_truth:
        return _without_truth(comparison)
    if SUBJECT not in comparison or not comparison[SUBJECT].ran:
        return _without_subject(comparison)
    deem = comparison[SUBJECT]
    gain = deem.versus[REFERENCE]
    figures = f"{percent(deem.accuracy)} against {percent(_majority(deem))}"
    if gain.low > 0:
        words = f"DEEM is better than majority vote here: {figures} right, {_points(gain)}."
        return f"{words}{_rival(comparison)}"
    if gain.high < 0:
        words = f"DEEM is worse than majority vote here: {figures} right, {_points(gain)}."
        why = (
            " That suggests learners of similar skill that err independently, so that there is nothing to gain, or too "
            "few rows to learn from: use the majority vote, or look at the learning rate, near-copies and restarts."
        )
        return f"{words}{why}{_rival(comparison)}"
    rival = _rival(comparison)
    if max(abs(gain.low), abs(gain.high)) > SAME:
        rows = "1 row" if comparison.n_truth == 1 else f"{comparison.n_truth:,} rows"
        words = f"True labels of {rows} cannot tell DEEM from majority vote here: {figures} right, {_points(gain)}."
        return f"{words}{rival}" if rival else f"{words} More true labels would; until then the simpler rule will do."
    figures = f"{percent(_majority(deem))} right against {percent(deem.accuracy)}"
    words = f"Majority vote is just as good as DEEM here: {figures}, {_points(gain)}."
    return f"{words}{rival}" if rival else f"{words} The simpler rule will do."


def _without_truth(comparison: Comparison) -> str:
    names = comparison.agreement.names
    words = "Without true labels nobody can know whether any method is better than majority vote here."
    if SUBJECT in names and REFERENCE in names:
        share = comparison.agreement.matrix[names.index(SUBJECT)][names.index(REFERENCE)]
        words += f" DEEM and majority vote give the same label on {percent(share)} of the rows."
    if comparison.n_disputed:
        verb = "differ" if len(names) > 1 else "differs"
        rows = "1 row" if comparison.n_disputed == 1 else f"{comparison.n_disputed:,} rows"
        words += f" The methods {verb} on {rows}: true labels for some of the most disputed ones would tell."
    elif len(names) > 1:
        words += " All methods give the same labels, so it makes no difference which one is used."
    return words


def _without_subject(comparison: Comparison) -> str:
    ranked = comparison.ranked()
    missing = "DEEM could not run here." if SUBJECT in comparison else "DEEM was not among the methods."
    if not ranked or ranked[0].accuracy is None:
        return f"{missing} No other method gave labels either." if not ranked else missing
    others = [method for method in ranked if method.name != REFERENCE]
    if not others:
        return f"{missing} Majority vote is right on {percent(ranked[0].accuracy)} of the rows."
    for best in others:
        gain = best.versus[REFERENCE]
        if gain.low > 0:  # not always the first one: a smaller gain may be surer
            figures = f"{percent(best.accuracy)} right, {_points(gain)}"
            return f"{missing} {_name(best)} is better than majority vote: {figures}."
    return f"{missing} No method here is surely better than majority vote ({percent(_majority(others[0]))} right)."


def _rival(comparison: Comparison) -> str:
    """Return a sentence about the best method that beats DEEM.

    Empty if none surely does.
    """
    better = [
        method
        for method in comparison.ranked()
        if method.name not in (SUBJECT, REFERENCE) and SUBJECT in method.versus and method.versus[SUBJECT].low > 0
    ]
    if not better:
        return ""
    best = better[0]
    return f" {_name(best)} does better than DEEM: {percent(best.accuracy)}." if best.accuracy is not None else ""


def _majority(method: MethodResult) -> float | None:
    """Return the accuracy of the majority vote, which is always compared with."""
    return None if method.accuracy is None else method.accuracy - method.versus[REFERENCE].difference


def _name(method: MethodResult) -> str:
    """Return the title as it reads inside a sentence: "LA (two passes)"."""
    what, _, which = method.title.partition(", ")
    return f"{what} ({which})" if which else what


def _points(gain: Difference) -> str:
    return (
        f"a difference of {100 * gain.difference:+.1f} points (95 % interval {100 * gain.low:+.1f} to "
        f"{100 * gain.high:+.1f})"
    ).replace("-", "−")
