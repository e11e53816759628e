"""What a file calls its learners: annotators, judges, models, rules.

People find their own word at once and have to learn ours, so pages and reports follow the file where it has one: the
name of a long file's worker column, or what nearly all names begin with (``annotator_1``, ``judge-b``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from deem_core.readers.notes import Report

KNOWN = frozenset(
    {
        *("annotator", "assessor", "classifier", "coder", "crowdworker", "detector", "evaluator", "expert", "grader"),
        *("judge", "labeler", "labeller", "model", "participant", "predictor", "rater", "reader", "reviewer", "rule"),
        *("sensor", "worker"),
    }
)
"""Words for somebody or something that labels; others are left alone, since they may mean anything."""

MOST_NAMES = 0.8
"""Share of the learners whose names have to begin with the word."""

_WORD = re.compile(r"[^\W\d_]+")
_OURS = re.compile(r"(?<!-)\b([Ll])earner(s?)\b")  # --learner is an option, not a word
_QUOTED = re.compile(r"('[^']*'|\"[^\"]*\"|“[^”]*”|`[^`]*`)")


@dataclass(frozen=True)
class Noun:
    """A word for learners.

    Attributes
    ----------
    one : str
        In lower case: "learner", "annotator".
    """

    one: str = "learner"

    @property
    def many(self) -> str:
        """The plural."""
        return f"{self.one}s"

    def say(self, sentence: str) -> str:
        """Return a sentence about learners in the file's word.

        What stands in quotation marks is a name and stays.
        """
        if self.one == "learner" or "earner" not in sentence:
            return sentence
        parts = _QUOTED.split(sentence)
        parts[::2] = [self._said(part) for part in parts[::2]]
        return "".join(parts)

    def _said(self, words: str) -> str:
        def ours(match: re.Match[str]) -> str:
            word = self.one.capitalize() if match[1] == "L" else self.one
            return word + match[2]

        if self.one[0] in "aeiou":
            words = re.sub(r"\b([Aa]) (?=learner\b)", r"\1n ", words)
        return _OURS.sub(ours, words)


LEARNER = Noun()


def noun_of(report: Report, learners: Sequence[str]) -> Noun:
    """Return what a file calls its learners; "learner" if unknown.

    Parameters
    ----------
    report : Report
        Of the reading, for the name of the worker column.
    learners : sequence of str
    """
    if any("learner" in name.casefold() for name in learners):
        return LEARNER
    column = report.column("worker")
    words = [column] if column is not None else []
    starts = Counter(first for name in learners if (first := _first_word(name)) is not None)
    if starts:
        word, number = starts.most_common(1)[0]
        if number >= MOST_NAMES * len(learners):
            words.append(word)
    said = [known for each in words if (known := _known(each)) is not None]
    return Noun(said[0]) if said else LEARNER


def _first_word(name: str) -> str | None:
    match = _WORD.match(name)
    return None if match is None else match[0].casefold()


def _known(name: str) -> str | None:
    """Return the known word in a name, such as `annotator_id`."""
    for word in _WORD.findall(name.casefold()):
        single = word.removesuffix("s")
        if single in KNOWN:
            return str(single)
    return None
