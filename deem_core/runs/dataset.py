"""Datasets: a stored file of votes, and how to read it."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deem_core import readers
from deem_core.errors import InputError
from deem_core.readers import LabelMap, Reading, Sketch
from deem_core.runs.private import checked_digest, read_json, read_private
from deem_core.runs.run import is_time
from deem_core.votes import MissingRule
from deem_core.votes.sets import SEPARATORS, Sets

READING = (
    *("layout", "id", "truth", "learners", "ignore", "missing", "worker", "label", "delimiter", "encoding"),
    *("classes", "known_learners", "gold", "merge_spellings", "labels", "sheet", "swap_ba", "one_voice"),
    *("ordered", "multilabel", "empty_is_none", "one_label"),
)
"""What can be said about how to read a file; see `deem_core.readers.read`."""


@dataclass(frozen=True)
class Dataset:
    """A file of votes, with the options to read it.

    Attributes
    ----------
    id : str
        32 hex digits that follow from name, contents and reading.
    name : str
        File name, for people.
    data : str
        Content hash of the file.
    truth_name, truth : str, optional
        The same of a second file with true labels; for evaluation only.
    reading : dict
        Options of `deem_core.readers.read` that were given, as plain values.
    created : float
        Unix seconds.
    unread : bool
        Whether the file could not be read as votes that way.
    """

    id: str
    name: str
    data: str
    truth_name: str | None
    truth: str | None
    reading: dict[str, Any]
    created: float
    unread: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    def inputs(self) -> dict[str, Any]:
        """Return what a run needs to know to read it again."""
        return {name: value for name, value in asdict(self).items() if name not in ("id", "created", "unread")}


def dataset_id(name: str, data: str, truth: str | None, reading: Mapping[str, Any]) -> str:
    """Return the id of a dataset."""
    canonical = json.dumps([name, data, truth, reading], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:32]


def load_dataset(path: Path) -> Dataset | None:
    """Return the dataset of a record; None if missing or damaged."""
    content = read_json(path)
    try:
        dataset = None if content is None else Dataset(**content)
        if dataset is None or dataset.id != path.stem:
            return None
        checked_digest(dataset.data)
        if dataset.truth is not None:
            checked_digest(dataset.truth)
        plain_reading(dataset.reading)
        texts = isinstance(dataset.name, str) and isinstance(dataset.truth_name, (str, type(None)))
        return dataset if texts and is_time(dataset.created) and isinstance(dataset.unread, bool) else None
    except (TypeError, ValueError, AttributeError):
        return None


def plain_reading(reading: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return reading options as plain values, without those that are None.

    Raises
    ------
    InputError
        If there is an option that readers do not know, or a value that is not text or a list of texts.
    """
    options: dict[str, Any] = {}
    for name, value in (reading or {}).items():
        if name not in READING:
            raise InputError(f"There is no reading option {name!r}; there are {', '.join(READING)}.")
        if value is None:
            continue
        if name in ("swap_ba", "one_voice"):
            if not isinstance(value, bool):
                raise InputError(f"The reading option {name!r} must be true or false.")
            options |= {name: True} if value else {}
            continue
        if name in ("merge_spellings", "labels"):
            options |= LabelMap.of(**{name: value}).to_options()
            continue
        if name in ("ordered", "multilabel", "empty_is_none") and isinstance(value, bool):
            options |= {name: True} if value else {}
            continue
        many = name in ("learners", "ignore", "missing", "classes", "known_learners", "ordered")
        texts = [value] if isinstance(value, str) else list(value)
        if not all(isinstance(text, str) for text in texts) or (not many and not isinstance(value, str)):
            raise InputError(f"The reading option {name!r} must be {'a list of texts' if many else 'a text'}.")
        options[name] = texts if many else value
    return options


def label_map(reading: Mapping[str, Any]) -> LabelMap:
    """Return the label map of a dataset's reading options."""
    return LabelMap.of(
        reading.get("labels"),
        bool(reading.get("merge_spellings")),
        MissingRule.of(reading.get("missing")),
        _sets(reading),
    )


def _sets(reading: Mapping[str, Any]) -> Sets | None:
    """Return how answers that hold several labels are taken apart."""
    if reading.get("one_label") is not None or not (reading.get("multilabel") or reading.get("empty_is_none")):
        return None
    sign = reading.get("multilabel")
    return Sets(sign if isinstance(sign, str) else SEPARATORS[0])


def read_stored(
    data: Path, name: str, truth: Path | None, truth_name: str | None, reading: Mapping[str, Any]
) -> Reading:
    """Read stored files by their options, under their own names."""
    return readers.read(
        named_stream(data, name),
        truth_file=None if truth is None else named_stream(truth, truth_name or "truth"),
        **plain_reading(reading),
    )


def sketch_stored(data: Path, name: str, problem: InputError, reading: Mapping[str, Any]) -> Sketch:
    """Return what can be shown of a stored file without votes."""
    return readers.sketch(named_stream(data, name), problem, plain_reading(reading))


def named_stream(path: Path, name: str) -> io.BytesIO:
    """Return a stored file, open under the name that people know."""
    try:
        stream = io.BytesIO(read_private(path))
    except OSError as error:
        raise InputError(f"{name} cannot be read from the workspace: {error.strerror or error}.") from None
    stream.name = name  # readers take the name of an open file
    return stream
