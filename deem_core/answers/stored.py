"""Stored answers.

The table that a run keeps of its labels, read column by column.

Pages ask for the labels of a run far more often than for its probabilities, so columns are read when they are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow.parquet
from numpy.typing import NDArray

from deem_core.answers.answer import PART_ROWS, Answer, label_changes
from deem_core.errors import InputError
from deem_core.typing import Codes, Floats, Mask, Posterior
from deem_core.votes import Votes


def write_answer(answer: Answer, stream: BinaryIO) -> None:
    """Write an answer as Parquet, part by part."""
    writer = None
    try:
        for part in answer.parts():
            table = part.to_table()
            writer = writer or pyarrow.parquet.ParquetWriter(stream, table.schema)
            writer.write_table(table, row_group_size=PART_ROWS)
        if writer is None:  # no rows
            table = answer.to_table()
            writer = pyarrow.parquet.ParquetWriter(stream, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


@dataclass(frozen=True)
class StoredAnswer:
    """The labels of a finished run, as `write_answer` wrote them.

    Parameters
    ----------
    path : Path
    n_classes : int
    """

    path: Path
    n_classes: int

    @cached_property
    def codes(self) -> Codes:
        """Class of every row, (n,); -1 without votes."""
        return np.asarray(self._column("fused"), np.int32)

    @cached_property
    def majority(self) -> Codes:
        """Majority vote of every row, (n,); -1 without votes."""
        return np.asarray(self._column("majority"), np.int32)

    @cached_property
    def confidence(self) -> NDArray[np.float32]:
        """Probability of every label, (n,); NaN without votes."""
        return np.asarray(self._column("confidence"), np.float32)

    @cached_property
    def changes(self) -> NDArray[np.int64]:
        """Rows by majority vote (first) and label (second), (K, K)."""
        return label_changes(self.majority, self.codes, self.n_classes)

    @cached_property
    def needs_review(self) -> Mask:
        """Rows that deserve a look, (n,)."""
        return np.asarray(self._column("needs_review"), bool)

    @property
    def support(self) -> Floats | None:
        """Share of the restarts that give the label, (n,).

        None if it was not kept.
        """
        name = "restarts_agreeing"
        return np.asarray(self._column(name), np.float64) if name in self._names else None

    @property
    def posterior(self) -> Floats | None:
        """Probabilities, (n, K), the prior in rows without votes.

        That is 1/K where none was kept. None if the classes were too many to keep them.
        """
        if not {f"p_{k}" for k in range(self.n_classes)} <= self._names:
            return None
        posterior = np.empty((len(self.codes), self.n_classes))
        for k in range(self.n_classes):  # one after the other: the table is never there twice
            posterior[:, k] = np.nan_to_num(self._column(f"p_{k}"), nan=1 / self.n_classes)
        return posterior

    def answer(self, votes: Votes, otherwise: Callable[[], Posterior]) -> Answer:
        """Return the answer for the same votes.

        ``otherwise`` gives the posterior where it was not kept.
        """
        posterior = self.posterior
        answer = Answer(votes, otherwise() if posterior is None else posterior, support=self.support)
        answer.__dict__["needs_review"] = self.needs_review  # as it was decided then, and at no cost
        return answer

    @cached_property
    def _names(self) -> set[str]:
        with _readable():
            return set(pyarrow.parquet.read_schema(self.path).names)

    def _column(self, name: str) -> NDArray[Any]:
        with _readable():
            return np.asarray(pyarrow.parquet.read_table(self.path, columns=[name])[name].to_numpy())


@contextmanager
def _readable() -> Iterator[None]:
    """Turn what Arrow says of a damaged file into a sentence."""
    try:
        yield
    except (OSError, ValueError, KeyError):  # Arrow's own errors are of these kinds
        raise InputError("The labels of this run are damaged. Run it again.") from None
