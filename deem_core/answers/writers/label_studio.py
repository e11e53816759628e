"""Label Studio predictions: a task for each row with its fused label.

The file is imported as tasks with predictions. Where rows are named by whole numbers, as in Label Studio's own export,
they are the ids of the tasks.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from deem_core import __version__
from deem_core.answers.answer import Answer
from deem_core.answers.export import answerer, reading_rows
from deem_core.errors import InputError
from deem_core.files.atomic import whole_file
from deem_core.files.json_lines import line_of
from deem_core.files.tables import DIGITS, class_texts, id_texts, row_names
from deem_core.readers import Reading
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.sets import Sets

_NOT_DATA = ("learner", "truth", "gold", "worker", "label")  # roles of columns that a task does not show
_WHOLE = r"0|[1-9][0-9]{0,14}"  # so many digits every reader of JSON keeps


@dataclass(frozen=True)
class Names:
    """Names of the labelling interface that predictions belong to.

    Attributes
    ----------
    from_name : str
        Of the tag ``Choices``.
    to_name : str
        Of the tag that shows the thing, such as ``Text`` or ``Image``.
    model_version : str
        What Label Studio calls the source of the predictions; by default the version of this library and the method.

    Raises
    ------
    InputError
        If a name is empty.
    """

    from_name: str = "label"
    to_name: str = "text"
    model_version: str = ""

    def __post_init__(self) -> None:
        """Refuse empty names."""
        for name in (self.from_name, self.to_name):
            if not name.strip():
                raise InputError("The names of the labelling interface (from_name and to_name) may not be empty.")


def write(
    reading: Reading,
    answer: Answer,
    path: str | os.PathLike[str],
    *,
    names: Names,
    review_below: float | None = None,
    review_share: float | None = None,
    blank: bool = False,
) -> None:
    """Write tasks with predictions as JSON.

    Parameters
    ----------
    reading, answer, path
        As in `deem_core.answers.export.write_fused`.
    names : Names
    review_below, review_share, blank
        With ``blank`` the rows that either of the others chooses get no prediction, as rows without votes do.

    Raises
    ------
    InputError
        If the answer has other rows, or the file cannot be written.
    """
    if answer.votes.n_rows != reading.votes.n_rows:
        raise InputError(f"The answer has {answer.votes.n_rows:,} rows; the file has {reading.votes.n_rows:,}.")
    if review_share is not None and review_below is None:
        answer = answer.reviewing(review_share)
    with whole_file(path) as stream:
        stream.write(b"[")
        for at, task in enumerate(tasks(reading, answer, names, review_below=review_below, blank=blank)):
            stream.write(f"{',' if at else ''}\n{line_of(task)}".encode())
        stream.write(b"\n]\n")


def tasks(
    reading: Reading, answer: Answer, names: Names, *, review_below: float | None = None, blank: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield a task for each row, in the order of the file."""
    version = names.model_version or f"deem-studio {__version__} {answerer(answer)}".strip()
    numbered, start = _numbered(reading), 0
    for part in answer.parts() if answer.votes.n_rows else [answer]:
        rows = reading_rows(reading, start, start + part.votes.n_rows)
        labels = _choices(part.votes)
        shown = part.codes
        if blank:
            left = part.doubtful if review_below is None else part.below(review_below)
            shown = np.where(left, NO_VOTE, shown)
        scores = np.round(np.asarray(part.confidence, np.float64), DIGITS).tolist()
        ids = id_texts(rows.votes.ids).to_pylist()
        for name, data, code, score in zip(ids, _data(rows), shown.tolist(), scores, strict=True):
            task: dict[str, Any] = {"id": int(name)} if numbered else {}
            task["data"] = data
            task["predictions"] = [] if code == NO_VOTE else [_prediction(labels[code], score, version, names)]
            yield task
        start += part.votes.n_rows


def _choices(votes: Votes) -> list[list[str]]:
    """Return the choices that each class means.

    Several, or none, where classes are sets of labels.
    """
    texts = class_texts(votes)
    if not votes.separator:
        return [[text] for text in texts]
    return [Sets(votes.separator).parts(text) or [] for text in texts]


def _prediction(choices: list[str], score: float, version: str, names: Names) -> dict[str, Any]:
    choice = {
        "from_name": names.from_name,
        "to_name": names.to_name,
        "type": "choices",
        "value": {"choices": choices},
    }
    return {"model_version": version, "score": score, "result": [choice] if choices else []}


def _numbered(reading: Reading) -> bool:
    """Return whether the file names its rows by whole numbers.

    A number is one only if it is written as such: 007 and 7 would be the same task.
    """
    if reading.report.column("id") is None or not reading.votes.ids.is_unique:
        return False
    names = id_texts(reading.votes.ids).to_pylist()
    return all(re.fullmatch(_WHOLE, name) for name in names)


def _data(reading: Reading) -> Iterator[dict[str, Any]]:
    """Yield what a task shows.

    The cells that are neither votes nor known labels.
    """
    roles, source = reading.report.roles, reading.source
    id_column = reading.report.column("id")
    if reading.report.layout == "long":
        yield from ({id_column or "id": name} for name in id_texts(reading.votes.ids).to_pylist())
        return
    columns = [name for name in source.columns if roles.get(name) not in _NOT_DATA]
    if not columns:
        yield from ({"row": name} for name in row_names(reading.votes).to_pylist())
        return
    for piece in source.table.select(columns).to_batches(max_chunksize=1 << 16):
        yield from piece.to_pylist()
