"""Energy curves of a sweep or a training, for figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from deem_core.model.records import Record, by_restart
from deem_core.training.health import Restart
from deem_core.typing import Floats

if TYPE_CHECKING:
    from deem_core.training.sweep import Sweep

Along = Literal["epoch", "update", "second"]
"""What the horizontal axes show."""


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
        Epochs, updates or seconds.
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
    """Return a curve per candidate.

    Its key is the learning rate, or the number of layers if depths were swept.
    """
    along = np.asarray(sweep.epochs if x == "epoch" else sweep.updates, np.float64)
    curves = []
    for r, verdict in enumerate(sweep.verdicts):
        rate, layers = float(sweep.rates[r]), int(sweep.n_layers[r])
        curves.append(
            Curve(
                key=layers if sweep.by_depth else rate,
                name=f"layers {layers}" if sweep.by_depth else f"learning rate {rate:.3g}",
                x=sweep.curves.seconds[r] if x == "second" else along,
                positive=sweep.positive[r],
                negative=sweep.negative[r],
                difference=sweep.difference[r],
                verdict=verdict.words,
                rejected=verdict.rejected,
            )
        )
    return curves


def curves_of_records(
    records: Sequence[Record], *, restarts: Sequence[Restart] = (), x: Along = "epoch"
) -> list[Curve]:
    """Return a curve per restart, with its number from 0 as key.

    Parameters
    ----------
    records : sequence of Record
        As `DEEM.history_` has them, or as many as there are so far.
    restarts : sequence of Restart
        One that was not kept is marked as rejected, with its reason. Empty while the training runs.
    x : "epoch", "update" or "second"
    """
    curves = []
    for at, own in enumerate(by_restart(records)):
        verdict = restarts[at] if at < len(restarts) else None
        curves.append(
            Curve(
                key=at,
                name=f"restart {at + 1}",
                x=column(own, "seconds" if x == "second" else x),
                positive=column(own, "positive"),
                negative=column(own, "negative"),
                difference=column(own, "difference"),
                verdict="" if verdict is None else verdict.reason,
                rejected=verdict is not None and not verdict.kept,
            )
        )
    return curves


def column(records: Sequence[Record], name: str) -> Floats:
    """Return one number of every record, (T,)."""
    return np.array([getattr(record, name) for record in records], np.float64)
