"""Finished stacks of a sweep, from which it can go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import torch

from deem_core.control import Control, Saved
from deem_core.training.sweep.depth import Dependence
from deem_core.training.sweep.result import CURVES, Curves


@dataclass(frozen=True)
class Outcome:
    """What a finished stack has brought, beside its curves.

    Attributes
    ----------
    failures : dict of int to str
    dependence : dict of int to Dependence
    """

    failures: dict[int, str]
    dependence: dict[int, Dependence]


class KeptStacks:
    """Keeper of finished stacks; it keeps nothing where its control does not.

    Parameters
    ----------
    control : Control
    mark : dict
        All that their numbers depend on, as plain values; those of another mark are not taken.
    """

    def __init__(self, control: Control, mark: dict[str, Any]) -> None:
        self.control, self.mark = control, mark

    def save(self, members: Sequence[int], curves: Curves, outcome: Outcome) -> None:
        """Keep the curves of a stack's candidates."""
        if not self.control.keeps:
            return
        rows = list(members)
        tensors = {name: torch.from_numpy(getattr(curves, name)[rows]) for name in (*CURVES, "shares")}
        notes = {
            "mark": {**self.mark, "members": rows},
            "failures": [[at, why] for at, why in outcome.failures.items()],
            "dependence": [[at, *astuple(found)] for at, found in outcome.dependence.items()],
        }
        self.control.save(self._key(rows), Saved(tensors, notes))

    def load(self, members: Sequence[int], curves: Curves) -> Outcome | None:
        """Enter what was kept of a stack into the curves.

        None if there is nothing.
        """
        rows = list(members)
        saved = self.control.load(self._key(rows)) if self.control.keeps else None
        if saved is None or saved.notes["mark"] != {**self.mark, "members": rows}:
            return None
        for name in (*CURVES, "shares"):
            getattr(curves, name)[rows] = saved.tensors[name].numpy().astype(np.float64)
        return Outcome(
            {at: why for at, why in saved.notes["failures"]},  # noqa: C416  # JSON keys would be text
            {at: Dependence(mean, frobenius) for at, mean, frobenius in saved.notes["dependence"]},
        )

    def _key(self, rows: Sequence[int]) -> str:
        return f"sweep-{self.mark['pass']}-{rows[0]}"
