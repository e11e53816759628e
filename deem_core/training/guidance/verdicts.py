"""Curves, the numbers drawn from them, and verdicts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from deem_core.errors import InputError
from deem_core.files.plain import from_plain
from deem_core.typing import Floats

Kind = Literal[
    "recommended",
    "usable",
    "too small",
    "not settled",
    "rising energy",
    "exploding difference",
    "class died",
    "not finite",
    "open",
]

REJECTED: tuple[Kind, ...] = ("rising energy", "exploding difference", "class died", "not finite")
"""Verdicts on rates that must not be used."""


@dataclass(frozen=True)
class Shown:
    """Curves of R candidates to be judged together.

    Attributes
    ----------
    rates : (R,)
    positive, negative : (R, T)
        Mean free energies of data and samples; NaN where nothing was recorded (yet, or any more).
    share_ratio : (R,), optional
        What the worst class kept of its majority-vote share at the end; NaN if unknown.
    n_layers : (R,) int, optional
    failures : dict of int to str
        Candidate → why it was abandoned.
    grouped_likelihood : (R, T), optional
        Grouped likelihood of each candidate's labels; NaN as above. None where no grouped model explains the votes.
    """

    rates: Floats
    positive: Floats
    negative: Floats
    share_ratio: Floats | None = None
    n_layers: NDArray[np.intp] | None = None
    failures: Mapping[int, str] = field(default_factory=dict)
    grouped_likelihood: Floats | None = None

    def __post_init__(self) -> None:
        """Check that the shapes fit together."""
        shape = np.shape(self.positive)
        if len(shape) != 2 or np.shape(self.negative) != shape or len(self.rates) != shape[0]:
            raise InputError(
                f"Curves need shape (rates, records) = ({len(self.rates)}, T); these have {shape} and "
                f"{np.shape(self.negative)}."
            )


@dataclass(frozen=True)
class Numbers:
    """Numbers that a verdict rests on.

    Levels and depths are in the units of the energies, the rest are shares or in margins.

    Attributes
    ----------
    margin : float
        S, the same for all candidates.
    start, final : float
        D before training and its mean over the tail, smoothed.
    depth : float
        How deep D went below zero (above, if mirrored).
    peak : float
        Largest |D|, in margins.
    recovery : float
        1 − |final| / max(depth, S/2): 1 is all the way back to zero.
    relapse : float
        By how many margins the tail is further from zero than the best level since the dip began.
    rise_positive, rise_negative : float
        Final minus first energy of data and samples, in margins.
    rise_noise : float
        Standard error of these two, from the noise of the curves, in margins.
    share_ratio : float
    grouped_likelihood : float
        Grouped likelihood at the end, nats per row; NaN where no grouped model explains the votes.
    behind : float
        How far that is below the best of the candidates that are not rejected.
    records : int
    mirrored : bool
    """

    margin: float = math.nan
    start: float = math.nan
    final: float = math.nan
    depth: float = math.nan
    peak: float = math.nan
    recovery: float = math.nan
    relapse: float = math.nan
    rise_positive: float = math.nan
    rise_negative: float = math.nan
    rise_noise: float = math.nan
    share_ratio: float = math.nan
    grouped_likelihood: float = math.nan
    behind: float = math.nan
    records: int = 0
    mirrored: bool = False

    @property
    def rise(self) -> float:
        """The larger rise of the two energies, in margins."""
        return max(self.rise_positive, self.rise_negative)

    @property
    def riser(self) -> str:
        """Whose energy that is, in words."""
        return "the data" if self.rise_positive >= self.rise_negative else "the samples"

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Read back plain values, None for NaN."""
        return from_plain(cls, dict(content))


@dataclass(frozen=True)
class Verdict:
    """What the curves say about one candidate.

    Attributes
    ----------
    kind : str
        One of recommended, usable, too small, not settled, rising energy, exploding difference, class died, not
        finite; open while it is too early to tell.
    learning_rate : float
    n_layers : int
    reason : str
        One sentence for a newcomer.
    numbers : Numbers
    provisional : bool
        Whether more updates may change it.
    """

    kind: Kind
    learning_rate: float
    n_layers: int
    reason: str
    numbers: Numbers
    provisional: bool = False

    @property
    def words(self) -> str:
        """The kind, and that it is provisional if it is."""
        return f"{self.kind} so far" if self.provisional and self.kind != "open" else self.kind

    @property
    def rejected(self) -> bool:
        """Whether the candidate must not be used."""
        return self.kind in REJECTED
