"""The verdict of a comparison in a sentence or two: whether it is worth it."""

from __future__ import annotations

from deem_core.comparing.result import Comparison, Difference, MethodResult

SUBJECT, REFERENCE = "deem", "mv"

SAME = 0.02
"""Two methods are called equally good if the interval of their difference in accuracy stays within this of 0."""


def conclusion(comparison: Comparison) -> str:
    """Return plain sentences on whether DEEM is worth it here, or what else is.

    Better and worse mean that the 95 % interval of the paired difference in accuracy leaves out 0. Just as good means
    that it is near 0 (`SAME`); an interval that is wider than that tells only that there are too few true labels.
    """
    if not comparison.n_truth:
        return _without_truth(comparison)
    if SUBJECT not in comparison or not comparison[SUBJECT].ran:
        return _without_subject(comparison)
    deem = comparison[SUBJECT]
    gain = deem.versus[REFERENCE]
    figures = f"{_percent(deem.accuracy)} against {_percent(_majority(deem))}"
    if gain.low > 0:
        said = f"DEEM is better than majority vote here: {figures} right, {_points(gain)}."
        return f"{said}{_rival(comparison)}"
    if gain.high < 0:
        said = f"DEEM is worse than majority vote here: {figures} right, {_points(gain)}."
        why = (
            " That suggests learners of similar skill that err independently, so that there is nothing to gain, or too "
            "few rows to learn from: use the majority vote, or look at the learning rate, near-copies and restarts."
        )
        return f"{said}{why}{_rival(comparison)}"
    rival = _rival(comparison)
    if max(abs(gain.low), abs(gain.high)) > SAME:
        rows = "1 row" if comparison.n_truth == 1 else f"{comparison.n_truth:,} rows"
        said = f"True labels of {rows} cannot tell DEEM from majority vote here: {figures} right, {_points(gain)}."
        return f"{said}{rival}" if rival else f"{said} More true labels would; until then the simpler rule will do."
    figures = f"{_percent(_majority(deem))} right against {_percent(deem.accuracy)}"
    said = f"Majority vote is just as good as DEEM here: {figures}, {_points(gain)}."
    return f"{said}{rival}" if rival else f"{said} The simpler rule will do."


def _without_truth(comparison: Comparison) -> str:
    names = comparison.agreement.names
    said = "Without true labels nobody can know whether any method is better than majority vote here."
    if SUBJECT in names and REFERENCE in names:
        share = comparison.agreement.matrix[names.index(SUBJECT)][names.index(REFERENCE)]
        said += f" DEEM and majority vote give the same label on {_percent(share)} of the rows."
    if comparison.n_disputed:
        verb = "differ" if len(names) > 1 else "differs"
        rows = "1 row" if comparison.n_disputed == 1 else f"{comparison.n_disputed:,} rows"
        said += f" The methods {verb} on {rows}: true labels for some of the most disputed ones would tell."
    elif len(names) > 1:
        said += " All methods give the same labels, so it makes no difference which one is used."
    return said


def _without_subject(comparison: Comparison) -> str:
    ranked = comparison.ranked()
    missing = "DEEM could not run here." if SUBJECT in comparison else "DEEM was not among the methods."
    if not ranked or ranked[0].accuracy is None:
        return f"{missing} No other method gave labels either." if not ranked else missing
    others = [method for method in ranked if method.name != REFERENCE]
    if not others:
        return f"{missing} Majority vote is right on {_percent(ranked[0].accuracy)} of the rows."
    for best in others:
        gain = best.versus[REFERENCE]
        if gain.low > 0:  # not always the first one: a smaller gain may be surer
            told = f"{_percent(best.accuracy)} right, {_points(gain)}"
            return f"{missing} {_name(best)} is better than majority vote: {told}."
    return f"{missing} No method here is surely better than majority vote ({_percent(_majority(others[0]))} right)."


def _rival(comparison: Comparison) -> str:
    """Return a sentence about the best method that is surely better than DEEM, if there is one."""
    better = [
        method
        for method in comparison.ranked()
        if method.name not in (SUBJECT, REFERENCE) and SUBJECT in method.versus and method.versus[SUBJECT].low > 0
    ]
    if not better:
        return ""
    best = better[0]
    return f" {_name(best)} does better than DEEM: {_percent(best.accuracy)}." if best.accuracy is not None else ""


def _majority(method: MethodResult) -> float | None:
    """Return the accuracy of the majority vote, which is always compared with."""
    return None if method.accuracy is None else method.accuracy - method.versus[REFERENCE].difference


def _name(method: MethodResult) -> str:
    """Return the title as it reads inside a sentence: "LA (two passes)"."""
    what, _, which = method.title.partition(", ")
    return f"{what} ({which})" if which else what


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def _points(gain: Difference) -> str:
    return (
        f"a difference of {100 * gain.difference:+.1f} points (95 % interval {100 * gain.low:+.1f} to "
        f"{100 * gain.high:+.1f})"
    ).replace("-", "−")
