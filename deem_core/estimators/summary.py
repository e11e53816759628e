"""Training summary.

What a training did, in values that pages, reports and commands share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deem_core.files.plain import from_plain, to_plain
from deem_core.model.config import GIVEN
from deem_core.training.health import Restart

_OF_SOME_MODELS = ("groups", "answered_by", "why", "trained_rows", "learners", "classes")


@dataclass(frozen=True)
class Setting:
    """The value of a setting, and why it has it."""

    value: Any
    reason: str


@dataclass(frozen=True)
class OtherGroups:
    """Another placement of the groups that explains the votes as well.

    Attributes
    ----------
    groups : tuple of tuples of str
    behind : float
        Nats behind the chosen one.
    changed : float
        Share of the rows that it labels differently.
    """

    groups: tuple[tuple[str, ...], ...]
    behind: float
    changed: float


@dataclass(frozen=True)
class LearnerGroups:
    """Groups of learners, and how well they explain the votes.

    Attributes
    ----------
    groups : tuple of tuples of str
        Learners of each group of two or more; everybody else stands alone.
    label_group : int, optional
        Number of the group whose hidden opinion is the label; None for the one above all groups.
    fits : bool
        Whether the model explains the votes.
    reason : str
        Why it fits, or why not.
    excess, within_excess : float, optional
        Unexplained share of the dependence between groups, and inside groups of three or more, beyond what chance
        leaves; None where nothing could be tested.
    log_likelihood : float
        Mean over the rows with votes.
    iterations : int
    converged : bool
    moved : float
        Share of the rows whose label the hard rounds changed.
    runners_up : tuple of OtherGroups
    sentences : tuple of str
        What was found, beside the warnings.
    """

    groups: tuple[tuple[str, ...], ...]
    label_group: int | None
    fits: bool
    reason: str
    excess: float | None
    within_excess: float | None
    log_likelihood: float
    iterations: int
    converged: bool
    moved: float
    runners_up: tuple[OtherGroups, ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class TrainingSummary:
    """Summary of a training, or of the one behind an applied model.

    Attributes
    ----------
    method : str
        Of the registry, or "apply".
    settings : dict of str to Setting
    restarts : tuple of Restart
    warnings : tuple of str
    near_copies : tuple of str
        What the near-copy guard has to say.
    hedged : bool
        Whether the answer is the mean of two trainings and the vote shares.
    fallback : bool
        Whether the answer is the majority vote because too few restarts survived.
    device : str
    seconds : float
    sweep : dict, optional
        What ``learning_rate="auto"`` was chosen by, as `Sweep.to_dict` gives it.
    near_copies_found : bool
        Whether the guard found near-copies, whatever was done about them.
    groups : LearnerGroups, optional
        Of grouped Dawid-Skene.
    answered_by, why : optional
        Of ``auto``: the method that answered, and the sentences that say why and what it leaves open. Of a training
        that fell back: the method that answers in its place.
    trained_rows, learners, classes : optional
        Of an applied model: rows it was trained on, and the terms in which it answers.
    """

    method: str
    settings: dict[str, Setting]
    restarts: tuple[Restart, ...]
    warnings: tuple[str, ...]
    near_copies: tuple[str, ...]
    hedged: bool
    fallback: bool
    device: str
    seconds: float
    sweep: dict[str, Any] | None = None
    near_copies_found: bool = False
    groups: LearnerGroups | None = None
    answered_by: str | None = None
    why: tuple[str, ...] | None = None
    trained_rows: int | None = None
    learners: tuple[str, ...] | None = None
    classes: list[Any] | None = None

    @property
    def stand_in(self) -> str:
        """Name of the method that answers in place of a failed training.

        Empty for a training that succeeded. Summaries of older versions do not tell, but there were only two.
        """
        if not self.fallback:
            return ""
        return self.answered_by or ("mean_prob" if self.method == "deem_soft" else "mv")

    @property
    def setting_values(self) -> dict[str, Any]:
        """Setting → value."""
        return {name: setting.value for name, setting in self.settings.items()}

    @property
    def kept_restarts(self) -> tuple[Restart, ...]:
        """The restarts that take part in the answer."""
        return tuple(restart for restart in self.restarts if restart.kept)

    @property
    def findings(self) -> tuple[str, ...]:
        """What was found out about the learners, in sentences."""
        if self.why is not None:
            return self.why
        if self.groups is not None:
            return self.groups.sentences
        return (*([self.start_sentence] if self.start_sentence else []), *self.near_copies)

    @property
    def from_groups(self) -> bool:
        """Whether training started from groups of learners."""
        return self.setting_values.get("start") == "groups"

    @property
    def start_sentence(self) -> str:
        """Where training started and why.

        Empty if that was asked for, or is not known.
        """
        start = self.settings.get("start")
        if start is None or start.reason == GIVEN:
            return ""
        place = "the grouped model" if self.from_groups else "the majority vote"
        return f"Training started from {place}. {start.reason}"

    @property
    def guard_acted(self) -> bool:
        """Whether something was done about near-copies.

        Older summaries tell only of a hedge.
        """
        return self.hedged or (self.near_copies_found and not self.from_groups)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON.

        What only some models have is left out elsewhere.
        """
        plain: dict[str, Any] = to_plain(self)
        return {name: value for name, value in plain.items() if value is not None or name not in _OF_SOME_MODELS}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TrainingSummary:
        """Inverse of `to_dict`; KeyError or TypeError if something is missing or damaged."""
        return from_plain(cls, values)
