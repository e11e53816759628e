"""Curve: the energies of one training as pictures want them, from a sweep or from records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from deem_core.records import Record

if TYPE_CHECKING:
    from deem_core.sweeping import Sweep

Floats = NDArray[np.float64]
Along = Literal["epoch", "update"]


@dataclass(frozen=True, eq=False)
class Curve:
    """The energies of one training.

    Attributes
    ----------
    key : float, int or str
        What a click on the curve gives back.
    name : str
        Such as "learning rate 0.3".
    x : (T,)
        Epochs or updates.
    positive, negative, difference : (T,)
        NaN where nothing was recorded.
    verdict : str
        In a word or a sentence, for the hover text.
    rejected : bool
        Whether it must not be used; such curves step back.
    """

    key: float | int | str
    name: str
    x: Floats
    positive: Floats
    negative: Floats
    difference: Floats
    verdict: str = ""
    rejected: bool = False


def curves_of_sweep(sweep: Sweep, *, x: Along = "epoch") -> list[Curve]:
    """Return a curve per candidate; its key is the learning rate, or the number of layers if depths were swept."""
    along = np.asarray(sweep.epochs if x == "epoch" else sweep.updates, np.float64)
    curves = []
    for r, verdict in enumerate(sweep.verdicts):
        rate, layers = float(sweep.rates[r]), int(sweep.n_layers[r])
        curves.append(
            Curve(
                key=layers if sweep.by_depth else rate,
                name=f"layers {layers}" if sweep.by_depth else f"learning rate {rate:.3g}",
                x=along,
                positive=sweep.positive[r],
                negative=sweep.negative[r],
                difference=sweep.difference[r],
                verdict=verdict.kind,
                rejected=verdict.rejected,
            )
        )
    return curves


def curves_of_records(
    records: Sequence[Record], *, restarts: Sequence[Mapping[str, Any]] = (), x: Along = "epoch"
) -> list[Curve]:
    """Return a curve per restart; its key is the restart's number from 0.

    Parameters
    ----------
    records : sequence of Record
        As `DEEM.history_` has them, or as many as there are so far.
    restarts : sequence of dict
        As `DEEM.restarts_`: one with ``kept`` False is marked as rejected, with its ``reason``.
    x : "epoch" or "update"
    """
    curves = []
    for at, own in enumerate(by_restart(records)):
        known = restarts[at] if at < len(restarts) else {}
        curves.append(
            Curve(
                key=at,
                name=f"restart {at + 1}",
                x=column(own, x),
                positive=column(own, "positive"),
                negative=column(own, "negative"),
                difference=column(own, "difference"),
                verdict=str(known.get("reason") or ""),
                rejected=not known.get("kept", True),
            )
        )
    return curves


def by_restart(records: Sequence[Record]) -> list[list[Record]]:
    """Return the records of each restart, in the order of `DEEM.restarts_`.

    Where several trainings follow one another (parts of the table trained apart), each has its own restart 0: an
    update that is not later than the one before belongs to the next training.
    """
    found: dict[tuple[int, int], list[Record]] = {}
    training: dict[int, int] = {}
    for record in records:
        at = training.setdefault(record.restart, 0)
        before = found.get((at, record.restart))
        if before and record.update <= before[-1].update:
            at = training[record.restart] = at + 1
        found.setdefault((at, record.restart), []).append(record)
    return [found[key] for key in sorted(found)]


def column(records: Sequence[Record], name: str) -> Floats:
    """Return one number of every record, (T,)."""
    return np.array([getattr(record, name) for record in records], np.float64)
