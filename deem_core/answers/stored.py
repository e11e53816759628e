"""Stored answers.

The table that a run keeps of its labels, read column by column.

Pages ask for the labels of a run far more often than for its probabilities, so columns are read when they are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from deem_core.answers.answer import MAX_PROBABILITIES, PART_ROWS, Answer
from deem_core.answers.scores import label_changes
from deem_core.errors import InputError
from deem_core.typing import Codes, Floats, Mask, Posterior
from deem_core.votes import Votes

NOT_KEPT = "The probabilities of these labels were not kept: there were too many rows, classes and methods."


def table(answer: Answer, *, probabilities: bool = True) -> pa.Table:
    """Return a row per row in class codes.

    Columns: ``fused`` and ``majority`` (int32, -1 for no label), ``confidence``, ``agreement`` and ``entropy``
    (float32, null without votes), ``needs_review`` (bool), ``restarts_agreeing`` (float32) where the support is
    known, and ``p_0`` … (float64, so that the most probable class stays the same) for up to `MAX_PROBABILITIES`
    classes. Without probabilities ``review_score`` (float64) stands in their place: it cannot be found again.
    """
    silent = answer.silent

    def floats(values: Posterior) -> pa.Array:
        return pa.array(np.asarray(values, np.float32), mask=silent)

    columns = {
        "fused": pa.array(answer.codes, pa.int32()),
        "confidence": floats(answer.confidence),
        "majority": pa.array(answer.majority, pa.int32()),
        "agreement": floats(answer.agreement),
        "entropy": floats(answer.entropy),
        "needs_review": pa.array(answer.needs_review),
    }
    if answer.support is not None:
        columns["restarts_agreeing"] = floats(answer.support)
    if not probabilities:
        columns["review_score"] = pa.array(answer.review_score, mask=silent)
    elif len(answer.probability_names) <= MAX_PROBABILITIES or answer.votes.separator:
        for k in range(len(answer.probability_names)):
            columns[f"p_{k}"] = answer.probability(k)
    return pa.table(columns)


def write_answer(answer: Answer, stream: BinaryIO, *, probabilities: bool = True) -> None:
    """Write an answer as Parquet, part by part.

    Without probabilities it reads back as `LabelsOnly`.
    """
    writer = None
    try:
        for part in answer.parts() if answer.votes.n_rows else [answer]:
            rows = table(part, probabilities=probabilities)
            rows = rows.replace_schema_metadata({"method": answer.method, "answered_by": answer.answered_by})
            writer = writer or pyarrow.parquet.ParquetWriter(stream, rows.schema)
            writer.write_table(rows, row_group_size=PART_ROWS)
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
        """Majority vote of every row, (n,), as `Answer.majority`."""
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
    def review_score(self) -> Floats:
        """Backing of every label by its votes, (n,); NaN if not kept."""
        if "review_score" not in self._names:
            return np.full(len(self.codes), np.nan)
        return np.asarray(self._column("review_score"), np.float64)

    @property
    def posterior(self) -> Floats | None:
        """Probabilities, (n, K), the prior in rows without votes.

        That is 1/K where none was kept. None if the classes were too many to keep them.
        """
        if not {f"p_{k}" for k in range(self.n_classes)} <= self._names:
            return None
        posterior = np.empty((len(self.codes), self.n_classes))
        with _readable():  # a damaged column may have another length
            for k in range(self.n_classes):  # one after the other: the table is never there twice
                posterior[:, k] = np.nan_to_num(self._column(f"p_{k}"), nan=1 / self.n_classes)
        return posterior

    def answer(self, votes: Votes, otherwise: Callable[[], Posterior] | None = None) -> Answer:
        """Return the answer for the same votes.

        ``otherwise`` gives the posterior where it was not kept; without it the answer is `LabelsOnly`.

        Raises
        ------
        InputError
            If the table is damaged or has other rows.
        """
        if len(self.codes) != votes.n_rows:
            raise InputError(f"The stored labels have {len(self.codes):,} rows; the votes have {votes.n_rows:,}.")
        if votes.separator:
            return self._of_sets(votes)
        posterior: Posterior | None = self.posterior
        if posterior is None:
            if otherwise is None:
                return LabelsOnly.of(self, votes)
            posterior = otherwise()
        answer = Answer(
            votes, posterior, support=self.support, method=self.name("method"), answered_by=self.name("answered_by")
        )
        answer.__dict__["needs_review"] = self.needs_review  # as it was decided then, and at no cost
        return answer

    def _of_sets(self, votes: Votes) -> Answer:
        """Return the answer for votes on several labels."""
        from deem_core.answers.label_sets import SetAnswer  # noqa: PLC0415  # which knows answers
        from deem_core.votes.label_sets import label_sets  # noqa: PLC0415

        names = [f"p_{k}" for k in range(len(label_sets(votes).labels))]
        if not set(names) <= self._names:
            raise InputError(NOT_KEPT)
        with _readable():
            posterior = np.stack([np.nan_to_num(self._column(name), nan=0.0) for name in names], axis=1)
        answer = SetAnswer.of(
            votes,
            np.asarray(posterior, np.float64),
            support=self.support,
            method=self.name("method"),
            answered_by=self.name("answered_by"),
        )
        answer.__dict__["needs_review"] = self.needs_review
        return answer

    def name(self, kind: Literal["method", "answered_by"]) -> str:
        """Return `Answer.method` or `Answer.answered_by`; empty in what an older version wrote."""
        told: dict[bytes, bytes] = self._schema.metadata or {}
        return told.get(kind.encode(), b"").decode()

    @property
    def _names(self) -> set[str]:
        return set(self._schema.names)

    @cached_property
    def _schema(self) -> pa.Schema:
        with _readable():
            return pyarrow.parquet.read_schema(self.path)

    def _column(self, name: str) -> NDArray[Any]:
        with _readable():
            return np.asarray(pyarrow.parquet.read_table(self.path, columns=[name])[name].to_numpy())


class LabelsOnly(Answer):
    """Answer of which labels and confidence were kept, and probabilities not.

    What follows from the labels is there; asking for the posterior is an `InputError`.
    """

    probabilities_known: ClassVar[bool] = False

    COLUMNS: ClassVar[tuple[str, ...]] = (
        *("codes", "majority", "confidence", "entropy", "needs_review", "review_score"),
    )
    """What cannot be found again without the probabilities."""

    @classmethod
    def of(cls, stored: StoredAnswer, votes: Votes) -> LabelsOnly:
        """Return the labels of a stored table."""
        columns: dict[str, NDArray[Any]] = {
            "codes": stored.codes,
            "majority": stored.majority,
            "confidence": _decimals(stored.confidence),
            "entropy": _decimals(stored._column("entropy")),
            "needs_review": stored.needs_review,
            "review_score": stored.review_score,
        }
        names = {"method": stored.name("method"), "answered_by": stored.name("answered_by")}
        return cls.of_columns(votes, columns, support=stored.support, **names)

    @classmethod
    def of_columns(
        cls,
        votes: Votes,
        columns: Mapping[str, NDArray[Any]],
        *,
        method: str,
        answered_by: str,
        support: Floats | None = None,
    ) -> LabelsOnly:
        """Return labels of which `COLUMNS` are known, each (n,)."""
        answer = object.__new__(cls)
        answer.__dict__.update(votes=votes, method=method, answered_by=answered_by, support=support, **columns)
        return answer

    @staticmethod
    def columns(answer: Answer) -> dict[str, NDArray[Any]]:
        """Return `COLUMNS` of an answer, as exact as a table keeps them."""
        columns: dict[str, NDArray[Any]] = {name: getattr(answer, name) for name in LabelsOnly.COLUMNS}
        return columns | {name: columns[name].astype(np.float32) for name in ("confidence", "entropy")}

    def rows(self, start: int, stop: int) -> Answer:
        """Return the rows from ``start`` to ``stop`` as views."""
        chosen, part = slice(start, stop), object.__new__(type(self))
        part.__dict__.update(
            votes=self.votes.select_rows(chosen),
            support=None if self.support is None else self.support[chosen],
            _whole=(self, chosen),
            method=self.method,
            answered_by=self.answered_by,
            **{name: getattr(self, name)[chosen] for name in ("codes", "majority", "confidence", "entropy")},
        )
        return part

    def __getattr__(self, name: str) -> Any:
        """Refuse what was not kept; called only for what is not there."""
        if name == "posterior":
            raise InputError(NOT_KEPT)
        raise AttributeError(name)


def _decimals(values: NDArray[Any]) -> Floats:
    """Return numbers of seven digits as they are written."""
    return np.asarray(values, np.float64).round(7)


@contextmanager
def _readable() -> Iterator[None]:
    """Turn what Arrow says of a damaged file into a sentence."""
    try:
        yield
    except (OSError, ValueError, KeyError, pa.ArrowException):
        raise InputError("The labels of this run are damaged. Run it again.") from None
