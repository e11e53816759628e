"""Named conditions on an answer, for pipelines that stop when one fails.

Most are alarms (`deem_core.alarm`), asked for by name; the others hold a figure of the answer or its votes against a
limit. All but ``below-accuracy`` do without the truth, and no condition proves that labels are right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from deem_core.alarm import Alarm, Kind
from deem_core.answers.answer import Answer
from deem_core.answers.verdict import Verdict
from deem_core.errors import InputError
from deem_core.files.plain import to_plain
from deem_core.text import count, percent, quoted
from deem_core.votes.concordance import concordance
from deem_core.votes.describe import accuracy

REVIEW_CONFIDENCE = 0.8
"""Confidence below which ``below-review`` counts a row, unless another one is given."""
COLLAPSED_SHARE = 0.95
"""Share of the majority vote's most frequent class up to which labels of one class alone are a collapse."""


@dataclass(frozen=True)
class Evidence:
    """What conditions look at.

    Attributes
    ----------
    answer : Answer
    alarms : tuple of Alarm
        Of its training, too, if there was one.
    review_below : float
        Confidence below which a row counts as one for review.
    gold : Verdict, optional
        What gold rows say of the answer.
    """

    answer: Answer
    alarms: tuple[Alarm, ...]
    review_below: float = REVIEW_CONFIDENCE
    gold: Verdict | None = None


@dataclass(frozen=True)
class Finding:
    """What a condition found.

    ``value`` is None where it looks at alarms.
    """

    failed: bool
    sentence: str
    value: float | None = None
    advice: str = ""


@dataclass(frozen=True)
class Condition:
    """Something that fails a check.

    Attributes
    ----------
    name : str
        As ``--fail-on`` takes it.
    what : str
        When it fails, in words; ``X`` stands for the limit.
    measure : function
        From evidence and limit to what was found.
    side : str
        Whether its limit is the ``least`` or the ``most`` that passes; empty if it takes none.
    unit : str
        Whether the limit is a share or a number.
    """

    name: str
    what: str
    measure: Callable[[Evidence, float], Finding]
    side: Literal["", "least", "most"] = ""
    unit: Literal["share", "number"] = "share"

    @property
    def spelled(self) -> str:
        """How it is written: with ``=X`` where it takes a limit."""
        return f"{self.name}=X" if self.side else self.name


@dataclass(frozen=True)
class Wish:
    """A condition with its limit, NaN if it takes none."""

    condition: Condition
    limit: float = math.nan

    @property
    def text(self) -> str:
        """As it was written: ``below-review=0.2``."""
        return f"{self.condition.name}={self.limit:g}" if self.condition.side else self.condition.name


@dataclass(frozen=True)
class Result:
    """A condition after it was looked at.

    Attributes
    ----------
    name, condition : str
        Its name, and the name with the limit.
    failed : bool
    limit, value : float, optional
        None where it looks at alarms.
    sentence, advice : str
    """

    name: str
    condition: str
    failed: bool
    limit: float | None
    value: float | None
    sentence: str
    advice: str


@dataclass(frozen=True, eq=False)
class Check:
    """Conditions on an answer, and which of them failed.

    Attributes
    ----------
    answer : Answer
    results : tuple of Result
        In the order in which they were asked for.
    alarms : tuple of Alarm
        All there are, whether a condition asks for them or not.
    """

    answer: Answer
    results: tuple[Result, ...]
    alarms: tuple[Alarm, ...]

    @property
    def failed(self) -> tuple[Result, ...]:
        """The conditions that failed."""
        return tuple(result for result in self.results if result.failed)

    @property
    def passed(self) -> bool:
        """Whether none failed."""
        return not self.failed

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        votes = self.answer.votes
        return {
            "method": self.answer.method,
            "answered_by": self.answer.answered_by or self.answer.method,
            "n_rows": votes.n_rows,
            "n_learners": votes.n_learners,
            "n_classes": votes.n_classes,
            "passed": self.passed,
            "failed": [result.condition for result in self.failed],
            "conditions": to_plain(self.results),
            "alarms": to_plain(self.alarms),
        }


def look(evidence: Evidence, wishes: Sequence[Wish]) -> Check:
    """Return what the conditions found.

    Raises
    ------
    InputError
        If one needs gold rows or a truth, and there are none.
    """
    results = []
    for wish in wishes:
        found = wish.condition.measure(evidence, wish.limit)
        limit = wish.limit if wish.condition.side else None
        results.append(
            Result(wish.condition.name, wish.text, found.failed, limit, found.value, found.sentence, found.advice)
        )
    return Check(evidence.answer, tuple(results), evidence.alarms)


def wishes_of(fail_on: str | Iterable[str] | None = None) -> tuple[Wish, ...]:
    """Return conditions from text such as ``collapse,captured,below-review=0.2``.

    Parameters
    ----------
    fail_on : str or iterable of str, optional
        `DEFAULT` by default. The name of an alarm stands for its condition, too.

    Raises
    ------
    InputError
        If a name is unknown, or a limit is missing, wrong or not wanted.
    """
    if fail_on is None:
        fail_on = DEFAULT
    given = [fail_on] if isinstance(fail_on, str) else list(fail_on)
    words = [word.strip() for text in given for word in str(text).split(",") if word.strip()]
    if not words:
        raise InputError(f"There is no condition to check; there are {', '.join(_spellings())}.")
    wishes = [_wish(word) for word in words]
    names = [wish.condition.name for wish in wishes]
    if repeated := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise InputError(f"The condition {repeated[0]} is given twice; give it once.")
    return tuple(wishes)


def _wish(word: str) -> Wish:
    name, equals, text = word.partition("=")
    name = name.strip().lower().replace("_", "-").replace(" ", "-")
    condition = CONDITIONS.get(_SYNONYMS.get(name, name))
    if condition is None:
        raise InputError(f"There is no condition {quoted([word])}; there are {', '.join(_spellings())}.")
    if not condition.side:
        if equals:
            raise InputError(f"The condition {condition.name} takes no number; write {condition.name} alone.")
        return Wish(condition)
    most = 1.0 if condition.unit == "share" else math.inf
    try:
        limit = float(text)
    except ValueError:
        limit = math.nan
    least = -1.0 if condition.name == "below-alpha" else 0.0
    if not least <= limit <= most or math.isinf(limit):
        between = "a number of 0 or more" if most == math.inf else f"a number between {least:g} and 1"
        raise InputError(f"The condition {condition.spelled} needs {between} for X, not {text[:40]!r}.")
    return Wish(condition, limit)


def _spellings() -> list[str]:
    return [condition.spelled for condition in CONDITIONS.values()]


# ---------------------------------------------------------------------- alarms


def _raised(*kinds: Kind) -> Callable[[Evidence, float], Finding]:
    """Return the measure of alarms of some kinds."""

    def measure(evidence: Evidence, _: float) -> Finding:
        found = [alarm for alarm in evidence.alarms if alarm.kind in kinds]
        if not found:
            return Finding(False, "No such alarm.")
        said = " ".join(f"{alarm.title}. {alarm.sentence}" for alarm in found)
        return Finding(True, said, advice=" ".join(dict.fromkeys(alarm.advice for alarm in found)))

    return measure


def _collapse(evidence: Evidence, limit: float) -> Finding:
    """Look for restarts that collapsed, and for labels of one class alone."""
    answer = evidence.answer
    shares, before = answer.changes.sum(axis=0), answer.changes.sum(axis=1)
    total = int(shares.sum())
    if total and int((shares > 0).sum()) == 1 and before.max() <= COLLAPSED_SHARE * total:
        only = answer.votes.classes[int(shares.argmax())]
        usual = percent(before[int(shares.argmax())] / total)
        return Finding(
            True,
            f"All {count(total, 'row')} with votes got the label {only}, which the majority vote gives to {usual}.",
            advice="Use the majority vote, or another method.",
        )
    return _raised("collapse")(evidence, limit)


# ---------------------------------------------------------------------- figures


def _review(evidence: Evidence, limit: float) -> Finding:
    rows = evidence.answer.review_rows(evidence.review_below)
    share = float(rows.mean()) if len(rows) else 0.0
    said = (
        f"{percent(share, careful=True)} of the rows need review: a confidence below "
        f"{percent(evidence.review_below, 0)}, no votes, or a unanimous vote overruled."
    )
    return Finding(share > limit, said, share, "Look at these rows, or ask for more votes on them.")


def _silent(evidence: Evidence, limit: float) -> Finding:
    silent = evidence.answer.silent
    share = float(silent.mean()) if len(silent) else 0.0
    return Finding(share > limit, f"{percent(share, careful=True)} of the rows have no vote.", share)


def _changed(evidence: Evidence, limit: float) -> Finding:
    found = evidence.answer.summary()
    share = 0.0 if found.agreement is None else 1 - found.agreement
    said = f"{percent(share, careful=True)} of the labels differ from the majority vote."
    return Finding(share > limit, said, share, "Compare some of these rows by hand.")


def _coverage(evidence: Evidence, limit: float) -> Finding:
    share = evidence.answer.votes.coverage
    return Finding(share < limit, f"{percent(share, careful=True)} of the possible votes were cast.", share)


def _alpha(evidence: Evidence, limit: float) -> Finding:
    figure = concordance(evidence.answer.votes)["alpha_nominal"]
    if figure.value is None:
        return Finding(False, f"Krippendorff's α is not defined: {figure.reason}.")
    return Finding(figure.value < limit, f"Krippendorff's α is {figure.text}.", figure.value)


def _panel(evidence: Evidence, limit: float) -> Finding:
    from deem_core.answers.alarms import file_health  # noqa: PLC0415  # which few conditions need

    effective = file_health(evidence.answer.votes).effective
    if effective.n_eff is None:
        return Finding(False, effective.sentence)
    return Finding(effective.n_eff < limit, effective.sentence, effective.n_eff, "Add learners that err differently.")


def _gold(evidence: Evidence, limit: float) -> Finding:
    verdict = evidence.gold
    if verdict is None or verdict.answer.share is None:
        raise InputError("The condition below-gold needs known labels to judge by: give --gold or --gold-file.")
    own = verdict.answer
    said = f"Right on {percent(own.share)} of the gold rows (90% interval {own.interval}, {count(own.rows, 'row')})."
    return Finding(float(own.share or 0.0) < limit, said, own.share)


def _truth(evidence: Evidence, limit: float) -> Finding:
    votes = evidence.answer.votes
    if votes.truth is None:
        raise InputError("The condition below-accuracy needs true labels to evaluate by: give --truth or --truth-file.")
    share = accuracy(evidence.answer.codes, votes.truth)
    rows = int((votes.truth >= 0).sum())
    said = f"Right on {percent(share, careful=True)} of {count(rows, 'row')} with known truth (evaluation only)."
    return Finding(share < limit, said, share)


def _by_name(*conditions: Condition) -> dict[str, Condition]:
    return {condition.name: condition for condition in conditions}


CONDITIONS = _by_name(
    Condition("collapse", "restarts of a training collapsed, or every row got the same label", _collapse),
    Condition("fallback", "a training failed, and a simpler rule answered", _raised("fallback")),
    Condition("instability", "restarts of a training disagree", _raised("instability")),
    Condition("sampler", "the sampler of a training stands still or is mostly refused", _raised("sampler")),
    Condition("dead-class", "hardly any row got a class that has many votes", _raised("dead class")),
    Condition(
        "far-from-the-votes",
        "votes agree with the labels less than with one another",
        _raised("far from the votes"),
    ),
    Condition("captured", "the labels follow a few learners and ignore the others", _raised("capture")),
    Condition("overturned", "too many clear majorities are overturned", _raised("overturned")),
    Condition("overruled", "too many unanimous votes are overruled", _raised("overruled")),
    Condition("unsettled", "the votes left the answer unsettled", _raised("unsettled")),
    Condition("misfit", "the model does not fit the votes", _raised("misfit")),
    Condition("camps", "the panel is split into two camps", _raised("camps")),
    Condition("spellings", "one label occurs in several spellings", _raised("spellings")),
    Condition(
        "one-class-rules",
        "the learners are one-class rules, and no method for rules answered",
        _raised("one-class rules"),
    ),
    Condition("little-to-gain", "models rarely gain on such a file", _raised("little to gain")),
    Condition("silent", "more than the share X of the rows have no vote", _silent, "most"),
    Condition("below-review", "more than the share X of the rows need review", _review, "most"),
    Condition("changed", "more than the share X of the labels differ from the majority vote", _changed, "most"),
    Condition("below-coverage", "less than the share X of the possible votes were cast", _coverage, "least"),
    Condition("below-alpha", "Krippendorff's α of the votes is below X", _alpha, "least"),
    Condition("below-panel", "the learners are worth fewer than X independent ones", _panel, "least", "number"),
    Condition("below-gold", "less than the share X of the gold rows is right", _gold, "least"),
    Condition("below-accuracy", "less than the share X of the rows with known truth is right", _truth, "least"),
)
"""Every condition by its name, in the order of the help."""

_SYNONYMS = {"capture": "captured"}  # the alarm's own name

DEFAULT = ("collapse", "fallback", "dead-class", "far-from-the-votes", "captured", "overturned", "overruled", "camps")
"""What is checked where nothing is named: signs that labels went where votes did not, and a split panel."""
