"""Alarm: a reason to look closer before labels are trusted.

Every room that finds one speaks of it in the same words: trainings (`training.alarms`), labels and files
(`answers.alarms`), and methods that doubt their own answer (`methods.contract.Aggregate.alarms`). Pages, reports and
JSON show all of them alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Kind = Literal[
    "fallback",
    "spellings",
    "collapse",
    "instability",
    "sampler",
    "dead class",
    "far from the votes",
    "capture",
    "overturned",
    "overruled",
    "one-class rules",
    "camps",
    "little to gain",
    "silent rows",
    "unsettled",
    "misfit",
]
"""What an alarm is about.

Of a training: ``fallback`` to a simpler answer since it failed, ``collapse`` and ``instability`` of its restarts, its
``sampler``. Of labels: a ``dead class``, labels ``far from the votes``, ``capture`` by a part of the learners, clear
majorities ``overturned``, unanimous ones ``overruled``. Of the file: ``spellings`` of one label, ``one-class
rules``, ``camps``, ``little to gain``, ``silent rows``. Of a method: an answer that the votes left ``unsettled``, a
model that is a ``misfit`` to the votes.
"""

Mend = Literal["", "labels", "spellings"]
"""What can be mended in the file's reading.

Its ``labels`` can be merged, renamed or ignored; its ``spellings`` are merged by one click.
"""


@dataclass(frozen=True)
class Alarm:
    """Something to look at before labels are trusted.

    Attributes
    ----------
    kind : str
        See `Kind`.
    title, sentence, advice : str
        In short, what was seen, what to do.
    remedies : dict
        Words for a button → settings of a training that differ from those of the run.
    mend : str
        What to change about the reading of the file, if that helps; see `Mend`.

    Examples
    --------
    >>> from deem_core import Alarm
    >>> Alarm("camps", "Two camps", "The learners form two camps.", "Label 20 rows.").text
    'The learners form two camps. Label 20 rows.'
    """

    kind: Kind
    title: str
    sentence: str
    advice: str
    remedies: dict[str, dict[str, Any]] = field(default_factory=dict)
    mend: Mend = ""

    @property
    def text(self) -> str:
        """What was seen and what to do."""
        return f"{self.sentence} {self.advice}".strip()


_SYMPTOMS: tuple[Kind, ...] = (
    *("collapse", "instability", "sampler", "dead class", "far from the votes", "capture", "overturned", "overruled"),
    *("little to gain", "unsettled", "misfit"),
)
"""What labels in several spellings bring about."""


def cause_first(alarms: Iterable[Alarm]) -> list[Alarm]:
    """Return alarms with spellings of one label first.

    Their symptoms then give no advice of their own: another rate or more restarts would not help.
    """
    alarms = list(alarms)
    cause = [alarm for alarm in alarms if alarm.kind == "spellings"][:1]
    if not cause:
        return alarms
    advice = "The spellings are the likely reason: merge them first."
    rest = [alarm for alarm in alarms if alarm.kind != "spellings"]
    return cause + [replace(one, advice=advice, remedies={}) if one.kind in _SYMPTOMS else one for one in rest]


def with_alarms(notes: Iterable[str], alarms: Iterable[Alarm]) -> list[str]:
    """Return the ``warnings`` of JSON outputs: notes, then alarms, nothing twice."""
    return list(dict.fromkeys([*notes, *(alarm.sentence for alarm in alarms)]))
