"""Sharing: rows that a trained model labels in pieces on other machines.

Rows are independent, so that pieces give what the model gives for all at once.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import numpy as np

from deem_core.answers.answer import Answer
from deem_core.control import Control
from deem_core.diagnostics.certainty import row_support
from deem_core.engine import Done, Engine
from deem_core.engine.contract import Work
from deem_core.typing import Codes, Floats, Rows
from deem_core.votes import recode
from deem_core.votes.arrays import chunks, distinct_rows

if TYPE_CHECKING:
    from deem_core.estimators.base import Fuser

SHARED_ROWS = 1_000_000
"""From so many rows on they are shared out; fewer are done here before a cluster has loaded the model."""

PIECE_ROWS = 1 << 17
"""Different rows in a piece."""


def shared_answer(model: Fuser, recoded: recode.Recoded, engine: Engine, control: Control) -> Answer:
    """Return the answer of a model with the restarts behind each label.

    Parameters
    ----------
    model : Fuser
    recoded : Recoded
        Rows in the model's terms.
    engine : Engine
    control : Control

    Raises
    ------
    Stopped
        If the control says so.
    """
    parts = Parts(model, engine, control)
    answer = model.fuse(recoded, by=parts.posterior)
    return answer.supported(parts.support(model.read(answer.votes), answer.codes))


class Parts:
    """Pieces of rows, labelled by an engine.

    Parameters
    ----------
    model : Fuser
    engine : Engine
    control : Control
    """

    def __init__(self, model: Fuser, engine: Engine, control: Control) -> None:
        self.model, self.engine, self.control = model, engine, control

    def posterior(self, rows: Rows) -> Floats:
        """Return (n, K) probabilities, as `Fuser.fuse_rows` does."""
        if rows.ndim == 3:  # hardly two rows of probabilities are the same
            return self._joined(label, rows, "Fusing the votes", 0.3)
        distinct = distinct_rows(rows.astype(np.int32, copy=False))
        return distinct.spread(self._joined(label, distinct.codes, "Fusing the votes", 0.3))

    def support(self, rows: Rows, fused: Codes) -> Floats:
        """Return the share of the restarts behind each label, (n,)."""
        step = "Asking every restart"
        if rows.ndim == 3:
            return self._joined(support, rows, step, 0.6, fused)
        distinct = distinct_rows(np.column_stack([rows, fused]))
        return distinct.spread(self._joined(support, distinct.codes[:, :-1], step, 0.6, distinct.codes[:, -1]))

    def _joined(self, work: Work, rows: Rows, step: str, share: float, fused: Codes | None = None) -> Floats:
        places = list(chunks(len(rows), PIECE_ROWS))
        pieces = (rows[part] if fused is None else (rows[part], fused[part]) for part in places)
        found: dict[int, Floats] = {}
        with self.engine.crew() as crew:
            for told in crew.run(work, pieces, self.model, control=self.control):
                if isinstance(told, Done):
                    found[told.at] = told.value
                    self.control.tell(step, share + 0.3 * len(found) / len(places))
        self.control.check()
        return np.concatenate([found[at] for at in range(len(places))])


def label(model: Fuser, piece: Rows, control: Control) -> Generator[Any, None, Floats]:
    """Return the probabilities of a piece, (b, K)."""
    yield from ()
    return model.fuse_rows(piece)


def support(model: Any, piece: tuple[Rows, Codes], control: Control) -> Generator[Any, None, Floats]:
    """Return the share of the restarts behind the labels of a piece, (b,)."""
    yield from ()
    return row_support(model, *piece)
