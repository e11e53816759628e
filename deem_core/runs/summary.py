"""Summary of a run that fused votes.

The answer, the training behind it, and its evaluation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deem_core.alarm import Alarm
from deem_core.answers.summary import AnswerSummary
from deem_core.answers.verdict import Verdict
from deem_core.comparison.evaluation import Evaluation
from deem_core.estimators.summary import TrainingSummary
from deem_core.files.plain import from_plain, to_plain
from deem_core.methods.registry import METHODS
from deem_core.runs.run import Run
from deem_core.text import count, percent
from deem_core.training.failure import sentence


@dataclass(frozen=True)
class FusionSummary:
    """Content of ``summary.json`` of a train or apply run.

    Attributes
    ----------
    answer : AnswerSummary
    training : TrainingSummary
    evaluation : Evaluation, optional
        Where the truth is known.
    alarms : tuple of Alarm
        About the labels and the file; empty in what an older version wrote.
    gold : Verdict, optional
        What gold rows chose and prove, where there were any.
    """

    answer: AnswerSummary
    training: TrainingSummary
    evaluation: Evaluation | None = None
    alarms: tuple[Alarm, ...] = ()
    gold: Verdict | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, all in one object."""
        evaluation = {} if self.evaluation is None else {"evaluation": self.evaluation.to_dict()}
        gold = {} if self.gold is None else {"gold": self.gold.to_dict()}
        content = {**to_plain(self.answer), **self.training.to_dict(), **evaluation, **gold}
        return {**content, "alarms": to_plain(self.alarms)}

    @classmethod
    def of(cls, run: Run) -> FusionSummary | None:
        """Return the summary of a finished run.

        None if it has none that says all of this.
        """
        values = run.summary()
        return None if values is None else cls.from_dict(values)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> FusionSummary | None:
        """Inverse of `to_dict`.

        None for what an older version wrote, or for damage.
        """
        plain = dict(values)
        try:
            evaluation = plain.get("evaluation")
            summary = cls(
                from_plain(AnswerSummary, plain),
                TrainingSummary.from_dict(plain),
                None if evaluation is None else Evaluation.from_dict(evaluation),
                tuple(from_plain(Alarm, alarm) for alarm in plain.get("alarms", ())),
                None if plain.get("gold") is None else Verdict.from_dict(plain["gold"]),
            )
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
            return None
        if len(summary.answer.class_shares) != summary.answer.n_classes:
            return None
        return summary

    def story(self, method: str = "DEEM") -> str:
        """Say what fusing changed, and what is known about its worth.

        Parameters
        ----------
        method : str
            What people call the method.
        """
        if self.training.fallback:
            return f"{sentence(self.training.restarts, self.instead)} {self.after_failure()}".strip()
        changed, n_rows = self.answer.changed, self.answer.n_rows
        if changed:
            change = f"{method} changed {changed:,} of {n_rows:,} labels against the majority vote."
        else:
            change = f"{method} changed no label: the majority vote is the same on all {n_rows:,} rows."
        if self.evaluation is None:
            return f"{change} Without true labels there is no telling whether that is a gain."
        return f"{change} {self.evaluation.sentence()}"

    @property
    def answerer(self) -> str:
        """What people call whoever gave the labels."""
        name = self.training.answered_by or self.training.stand_in or self.training.method
        if self.gold is not None and self.gold.chosen_title and self.training.method == "auto":
            return self.gold.chosen_title
        return METHODS[name].title if name in METHODS else name

    @property
    def instead(self) -> str:
        """Whose labels stand in for a failed training; else empty."""
        return METHODS[self.training.stand_in].title.lower() if self.training.fallback else ""

    def after_failure(self) -> str:
        """Say how right the simple methods are; empty without truth."""
        found = self.evaluation
        if found is None:
            return ""
        rows, other = count(found.rows, "row"), percent(found.dawid_skene_accuracy, careful=True)
        own = percent(found.accuracy, careful=True)
        return f"Dawid-Skene is right on {other} of {rows} with known truth, these labels on {own}."
