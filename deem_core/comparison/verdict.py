"""Verdict of a comparison in a sentence or two."""

from __future__ import annotations

from deem_core.comparison.result import Comparison, Dependence, Difference, MethodResult
from deem_core.methods.registry import SUBJECTS
from deem_core.text import count, percent, points
from deem_core.votes import intervals

REFERENCE = "mv"

APART = 0.05
"""Correlation of errors up to which learners are said to err nearly independently.

Of ten learners with this correlation seven votes are left, 10 / (1 + 9 · 0.05); simulated independent learners
have 0.00, real panels 0.1 to 0.6.
"""

TOGETHER = 0.2
"""Correlation of errors from which learners are said to err together: of ten learners less than four votes are left."""

FEW_ROWS = 400
"""Rows with known truth below which nobody is said to err independently: a pair's correlation is known to ± 0.1."""

ALIKE = 0.05
"""Lead of the best learner over the average one, in accuracy, up to which learners are of similar skill."""


def conclusion(comparison: Comparison) -> str:
    """Return in plain sentences whether the fused labels are worth it here.

    They are those of `Comparison.subject`. Better and worse mean that the 95% interval of the
    paired difference in accuracy leaves out 0. Just as good means that it is near 0 (`intervals.TELLING`); an
    interval that is wider than that tells only that there are too few true labels. What is said of dependence follows
    from `Comparison.dependence`.
    """
    subject = comparison.subject
    if not comparison.n_truth:
        return _without_truth(comparison, subject)
    return _without_subject(comparison) if subject is None else _held_against_majority(comparison, subject)


def _held_against_majority(comparison: Comparison, subject: MethodResult) -> str:
    name, gain = _name(subject), subject.versus[REFERENCE]
    figures = f"{percent(subject.accuracy)} against {percent(_majority(subject))}"
    rival = _rival(comparison, subject)
    if gain.low > 0:
        return f"{name} is better than majority vote here: {figures} right, {_points(gain)}.{rival}"
    if gain.high < 0:
        words = f"{name} is worse than majority vote here: {figures} right, {_points(gain)}."
        return f"{words} {errors_in_words(comparison)}{rival}"
    if _same_labels(comparison, subject) == 1:
        return f"{name} gives the labels of the majority vote here: {percent(subject.accuracy)} right.{rival}"
    if not intervals.tells_alike(gain.low, gain.high):
        rows = (
            "1 row with known truth is"
            if comparison.n_truth == 1
            else f"{comparison.n_truth:,} rows with known truth are"
        )
        words = f"{rows} too few to tell {name} from majority vote: {figures} right, {_points(gain)}."
        return (
            f"{words}{rival}"
            if rival
            else f"{words} More true labels would tell; until then the simpler rule is enough."
        )
    figures = f"{percent(_majority(subject))} right against {percent(subject.accuracy)}"
    words = f"Majority vote is just as good as {name} here: {figures}, {_points(gain)}."
    return f"{words}{rival}" if rival else f"{words} The simpler rule is enough."


# ---------------------------------------------------------------------- dependence


def errors_in_words(comparison: Comparison) -> str:
    """Return how far learners err together, with advice.

    For where a model loses. Evaluation only: it rests on the true labels.
    """
    found = comparison.dependence
    advice = "Use the majority vote, or check the learning rate, near-copies and restarts."
    if found is None or found.error_correlation is None:
        return f"How often the learners make the same mistakes could not be measured here. {advice}"
    rho = found.error_correlation
    measured = f"errors of two learners correlate {_correlation(rho)} on average"
    if rho >= TOGETHER:
        return (
            f"Learners make the same mistakes here: {measured}. A model can take shared errors for the truth: use "
            "the majority vote, and check some disputed rows."
        )
    if rho > APART:
        return f"Learners share some mistakes: {measured}. {advice}"
    if found.error_rows < FEW_ROWS:
        few = f"on {count(found.error_rows, 'row')} with known truth, too few to call them independent"
        return f"The {measured}, {few}. {advice}"
    best, average = comparison.best_learner_accuracy, comparison.average_learner_accuracy
    words = f"Learners make nearly independent mistakes here: {measured}"
    if best is not None and average is not None and best - average <= ALIKE:
        words += (
            f"; and they are of similar skill (the best {percent(best)} right, the average one {percent(average)}), so "
            "that a model has little to gain"
        )
    return f"{words}. {advice}"


def votes_in_words(found: Dependence | None) -> str:
    """Return how far learners go against the others together.

    Without the truth, and so nothing about errors. Empty if it could not be measured.
    """
    if found is None or found.rho_others is None:
        return ""
    words = (
        f"Two learners contradict the majority of the others on the same rows with a correlation of "
        f"{_correlation(found.rho_others)}"
    )
    if found.n_eff is None or found.votes_per_row is None:
        return f"{words}."
    per_row = f"{found.votes_per_row:.1f}".removesuffix(".0")
    return f"{words}; {per_row} votes a row are worth about {found.n_eff:.1f} independent ones."


def _correlation(rho: float) -> str:
    return f"{rho:.2f}".replace("-0.00", "0.00").replace("-", "−")


# ---------------------------------------------------------------------- other cases


def _without_truth(comparison: Comparison, subject: MethodResult | None) -> str:
    names = comparison.agreement.names
    words = "Without true labels there is no telling whether any method is better than majority vote here."
    share = None if subject is None else _same_labels(comparison, subject)
    if subject is not None and share is not None:
        words += f" {_name(subject)} and majority vote give the same label on {percent(share)} of the rows."
    if comparison.n_disputed:
        verb = "differ" if len(names) > 1 else "differs"
        rows = "1 row" if comparison.n_disputed == 1 else f"{comparison.n_disputed:,} rows"
        words += f" The methods {verb} on {rows}: true labels for some of the most disputed ones would tell."
    elif len(names) > 1:
        words += " All methods give the same labels, so it makes no difference which one is used."
    return f"{words} {votes_in_words(comparison.dependence)}".rstrip()


def _without_subject(comparison: Comparison) -> str:
    ranked = comparison.ranked()
    asked = next((comparison[name].title for name in SUBJECTS if name in comparison), None)
    missing = "DEEM was not among the methods." if asked is None else f"{asked} could not run here."
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
    return f"{missing} No method here is clearly better than majority vote ({percent(_majority(others[0]))} right)."


def _rival(comparison: Comparison, subject: MethodResult) -> str:
    """Return a sentence about the best method that beats the subject.

    Empty if none surely does, or if it loses to the majority vote as well.
    """
    better = [
        method
        for method in comparison.ranked()
        if method.name != REFERENCE
        and subject.name in method.versus
        and method.versus[subject.name].low > 0
        and method.versus[REFERENCE].high >= 0
    ]
    if not better:
        return ""
    best = better[0]
    said = f" {_name(best)} does better than {_name(subject)}: {percent(best.accuracy)}."
    return said if best.accuracy is not None else ""


def _same_labels(comparison: Comparison, subject: MethodResult) -> float | None:
    """Return the share of rows with the label of the majority vote.

    None if that was not among the methods.
    """
    names = comparison.agreement.names
    if REFERENCE not in names:
        return None
    return comparison.agreement.matrix[names.index(subject.name)][names.index(REFERENCE)]


def _majority(method: MethodResult) -> float | None:
    """Return the accuracy of the majority vote, which is always compared with."""
    return None if method.accuracy is None else method.accuracy - method.versus[REFERENCE].difference


def _name(method: MethodResult) -> str:
    """Return the title as it reads inside a sentence: "LA (two passes)"."""
    what, _, which = method.title.partition(", ")
    return f"{what} ({which})" if which else what


def _points(gain: Difference) -> str:
    return f"a difference of {points(gain.difference, gain.low, gain.high)}"
