"""Verdict of gold rows: who answers, and how right everybody is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from deem_core.files.plain import from_plain, to_plain
from deem_core.text import percent

Kind = Literal["start", "weights", "method", "camp", "learner", "given"]


@dataclass(frozen=True)
class Estimate:
    """Accuracy of an answer or learner, by gold rows.

    Attributes
    ----------
    name, title : str
    share, low, high : float, optional
        With the ends of its 90% interval; None without a row.
    rows : int
        Gold rows that it rests on.
    """

    name: str
    title: str
    share: float | None
    low: float | None
    high: float | None
    rows: int

    @property
    def interval(self) -> str:
        """The interval in words: "83–94%"."""
        if self.low is None or self.high is None:
            return "unknown"
        return f"{percent(self.low, 0).rstrip(' %')}–{percent(self.high, 0)}"


@dataclass(frozen=True)
class Rival:
    """A candidate and what the gold rows say of it.

    Attributes
    ----------
    name, title : str
    kind : Kind
    estimate : Estimate
    wins, losses : int
        Gold rows where it differs from the chosen answer and one of the two is right.
    changed : float
        Share of all rows that it labels differently from the chosen answer.
    ahead : bool
        Whether it is ahead of that answer by enough to replace a start.
    behind : bool
        Whether it is behind that answer by more than chance would explain.
    """

    name: str
    title: str
    kind: Kind
    estimate: Estimate
    wins: int
    losses: int
    changed: float
    ahead: bool
    behind: bool = False


@dataclass(frozen=True)
class Verdict:
    """What gold rows choose, and what they prove.

    Attributes
    ----------
    n_gold : int
        Gold rows with votes.
    asked : bool
        Whether some were chosen by `ask`.
    unheard : int
        Gold rows whose label no learner votes for.
    start, chosen, chosen_title : str
    switched : bool
        Whether gold changed who answers.
    answer, majority : Estimate
        Accuracy of the chosen answer, and of the majority vote with ties as a fair draw.
    learners : tuple of Estimate
    rivals : tuple of Rival
        All candidates but the chosen one, the most accurate on gold first.
    best_learner : Estimate, optional
        The learner that is best on gold among those that cover half of the rows.
    strong_camp : tuple of str
        Learners of the side that gold favours; empty where it does not tell.
    sentences : tuple of str
    absent : int
        Rows of the file of gold labels that are not among the votes.
    n_asked : int
        Gold rows that `ask` chose, so that they are no fair draw.
    """

    n_gold: int
    asked: bool
    unheard: int
    start: str
    chosen: str
    chosen_title: str
    switched: bool
    answer: Estimate
    majority: Estimate
    learners: tuple[Estimate, ...]
    rivals: tuple[Rival, ...]
    best_learner: Estimate | None
    strong_camp: tuple[str, ...]
    sentences: tuple[str, ...]
    absent: int = 0
    n_asked: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        plain: dict[str, Any] = to_plain(self)
        return plain

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Verdict:
        """Inverse of `to_dict`; KeyError or TypeError for damage."""
        return from_plain(cls, values)
