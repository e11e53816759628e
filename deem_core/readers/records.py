"""Records: JSON objects as a table of text.

Nested votes become columns named as the other layouts name them: a column per learner, ``learner:class`` for
probabilities, ``learner.prob`` beside the label of a learner. What is nested otherwise becomes ``outer.inner``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from deem_core.errors import InputError
from deem_core.readers import roles
from deem_core.readers.bounds import Packed
from deem_core.readers.objects import Number, objects
from deem_core.readers.parse import MAX_COLUMNS
from deem_core.text import count

BYTES_PER_CELL = 30
"""Memory of a cell (records × columns) while columns grow."""

CONTAINERS = frozenset(
    {
        *("votes", "vote", "labels", "annotations", "answers", "responses", "judgments", "judgements", "judges"),
        *("predictions", "preds", "verdicts", "workers", "annotators", "raters", "models", "learners", "ratings"),
        *("probs", "probabilities", "scores", "outputs", "results", "rules"),
    }
)
"""Names of fields that hold the votes of a record; they are no part of a learner's name."""

PROBABILITIES = frozenset({"probs", "prob", "probabilities", "proba", "distribution", "scores", "class_probs", "p"})
"""Names of fields that hold the probabilities of one learner's vote, by class."""

_LONGEST_NAME = 2_000  # letters of a nested field's name, which repeats those around it
_EMPTY = 10_000  # records without any field, after which nobody waits for one
_CHECKED = 20_000_000  # bytes by which a table grows between two looks at the memory
_SUM = (0.98, 1.02)


@dataclass(frozen=True)
class Records:
    """Records as columns of text.

    Attributes
    ----------
    columns : dict of str to list of str
        Cells as they were spelled, empty where a record has none.
    votes : tuple of str
        Columns of votes, as the file itself says.
    lines : bool
        Whether each record has a line of its own.
    doubts : tuple of str
        Sentences about what may have been meant otherwise.
    """

    columns: dict[str, list[str]]
    votes: tuple[str, ...]
    lines: bool
    doubts: tuple[str, ...]


def parse_records(name: str, data: bytes, *, packed: int = 0) -> Records:
    """Read UTF-8 text of JSON records into columns of text.

    ``packed`` is the size of the file that the text came in.

    Raises
    ------
    InputError
        If a line or the file is no JSON, or a record is no object; with the number of the line.
    """
    table = _Table(Packed(name, packed))
    by_line = True
    try:
        found, by_line = objects(name, data)
        for place, record in found:
            table.add(place, record)
    except RecursionError:
        raise InputError(f"{name} is nested too deeply to be read. Write one flat object per line.") from None
    return table.finish(by_line=by_line)


# ---------------------------------------------------------------------- objects to columns


@dataclass
class _Table:
    """Columns that grow record by record."""

    packed: Packed
    columns: dict[str, list[str]] = field(default_factory=dict)
    voters: dict[str, None] = field(default_factory=dict)
    distributions: set[str] = field(default_factory=set)
    numbered: set[str] = field(default_factory=set)
    repeated: int = 0
    n: int = 0
    checked: int = 0

    @property
    def name(self) -> str:
        """The file's name, for messages."""
        return self.packed.name

    def add(self, place: str, record: Any) -> None:
        """Add a record as a row."""
        if not isinstance(record, dict):
            what = "a list" if isinstance(record, list) else "a single value"
            raise InputError(
                f"{place.capitalize()} of {self.name} is {what}, not an object. "
                'Write each record as {"id": …, "learner": "label", …}.'
            )
        row: dict[str, str] = {}
        for key, value in record.items():
            self._field(row, key.strip(), value)
        self._check_size(place, len(self.columns) + sum(column not in self.columns for column in row))
        for column, cell in row.items():
            cells = self.columns.setdefault(column, [])
            cells.extend([""] * (self.n - len(cells)))
            cells.append(cell)
        self.n += 1
        if self.n == _EMPTY and not self.columns:
            raise InputError(f"The first {_EMPTY:,} records of {self.name} are empty. Write the votes into them.")

    def _check_size(self, place: str, n_columns: int) -> None:
        """Refuse another record if the table would become too wide or large."""
        if n_columns > MAX_COLUMNS:
            raise InputError(
                f"{self.name} has more than {MAX_COLUMNS:,} different fields (at {place}); that many columns cannot be "
                "read. Of a large crowd write one answer per line: item, worker, label."
            )
        need = BYTES_PER_CELL * (self.n + 1) * n_columns
        if need > self.checked:
            what = f"{self.n + 1:,} records or more with {count(n_columns, 'field')} each"
            self.packed.check_growth(need, what)
            self.packed.check_memory(need, what)
            self.checked = need + _CHECKED

    def _field(self, row: dict[str, str], key: str, value: Any) -> None:
        """Write one field of a record."""
        held = roles.simple(key) in CONTAINERS
        if isinstance(value, dict) and value:
            if held and not _is_distribution(value):
                for learner, vote in value.items():
                    self._vote(row, learner.strip(), vote)
            else:
                self._nested(row, key, value)
        elif isinstance(value, list) and value and (answers := _answers(value)) is not None:
            for learner, vote in answers:
                self._vote(row, learner, vote)
        elif isinstance(value, list) and value and held and not any(isinstance(each, (dict, list)) for each in value):
            self.numbered.add(key)
            for number, label in enumerate(value, start=1):
                self._vote(row, f"{key}.{number}", label)
        else:
            self._put(row, key, spelled(value))

    def _vote(self, row: dict[str, str], learner: str, vote: Any) -> None:
        """Write what a learner says of a record."""
        if isinstance(vote, dict):
            if _are_numbers(vote) and not roles.matches(vote, roles.LABEL_NAMES):
                self.distributions.add(learner)  # among votes, numbers by name are nothing else
            self._nested(row, learner, vote)
        else:
            self._put(row, learner, spelled(vote))
        self.voters[learner] = None

    def _nested(self, row: dict[str, str], path: str, value: Mapping[str, Any]) -> None:
        """Write an object inside a record, depth first and without recursion."""
        waiting = [(path, value)]
        while waiting:
            outer, inside = waiting.pop(0)
            classes = _is_distribution(inside) or (outer in self.distributions and _are_numbers(inside))
            if classes:
                self.distributions.add(outer)
            for key, each in inside.items():
                if classes:
                    self._put(row, self._path(outer, ":", key), spelled(each))
                elif isinstance(each, dict) and each:
                    by_class = roles.simple(key) in PROBABILITIES and _are_numbers(each)
                    if by_class:
                        self.distributions.add(outer)
                        for class_, share in each.items():
                            self._put(row, self._path(outer, ":", class_), spelled(share))
                    else:
                        waiting.append((self._path(outer, ".", key), each))
                elif roles.simple(key) in roles.LABEL_NAMES:
                    self._put(row, outer, spelled(each))
                else:
                    self._put(row, self._path(outer, ".", key), spelled(each))

    def _path(self, outer: str, sign: str, key: str) -> str:
        """Return the name of a nested field."""
        if len(outer) + len(key) > _LONGEST_NAME:
            raise InputError(f"{self.name} has a nested field whose name is longer than {_LONGEST_NAME:,} letters.")
        return f"{outer}{sign}{key.strip()}"

    def _put(self, row: dict[str, str], column: str, cell: str) -> None:
        if column in row:
            self.repeated += 1
        row[column] = cell

    def _learner_of(self, column: str) -> str | None:
        return next((learner for learner in self.distributions if column.startswith(f"{learner}:")), None)

    def _rename_early_classes(self) -> None:
        """Name classes alike in records that did not tell them."""
        for learner in self.distributions:
            classes = {column[len(learner) + 1 :] for column in self.columns if column.startswith(f"{learner}:")}
            for class_ in classes & {
                name[len(learner) + 1 :] for name in self.columns if name.startswith(f"{learner}.")
            }:
                early, cells = self.columns.pop(f"{learner}.{class_}"), self.columns[f"{learner}:{class_}"]
                self.columns[f"{learner}:{class_}"] = [late or first for first, late in zip(early, cells, strict=True)]

    def finish(self, *, by_line: bool) -> Records:
        """Return the columns, all of one length."""
        if not self.n:
            raise InputError(f"{self.name} holds no records. Upload a file with at least one.")
        for cells in self.columns.values():
            cells.extend([""] * (self.n - len(cells)))
        self._rename_early_classes()
        votes = [column for column in self.columns if column in self.voters or self._learner_of(column) in self.voters]
        doubts = [
            f"The votes in {key!r} have no names: the first of each record is taken as one learner, and so on."
            for key in sorted(self.numbered)
        ]
        if self.repeated:
            doubts.append(f"{count(self.repeated, 'field')} came twice in a record; the last one counts.")
        return Records(self.columns, tuple(votes), by_line, tuple(doubts))


def _answers(value: Sequence[Any]) -> list[tuple[str, Any]] | None:
    """Return (learner, vote) of a list of answers; None if it is none."""
    answers = []
    for each in value:
        if not isinstance(each, dict):
            return None
        named = next(iter(roles.matches(each, (*roles.WORKER_NAMES, "name", "id"))), None)
        if named is None or len(each) < 2 or isinstance(each[named], (dict, list)):
            return None
        answers.append((spelled(each[named]).strip(), {key: vote for key, vote in each.items() if key != named}))
    return answers


def _is_distribution(value: Mapping[str, Any]) -> bool:
    """Tell probabilities by class: two numbers or more that sum to 1."""
    if len(value) < 2 or not _are_numbers(value) or roles.matches(value, roles.LABEL_NAMES):
        return False
    numbers = [float(each or 0) for each in value.values()]
    return all(0 <= number <= 1 for number in numbers) and _SUM[0] <= sum(numbers) <= _SUM[1]


def _are_numbers(value: Mapping[str, Any]) -> bool:
    return all(each is None or isinstance(each, Number) for each in value.values())


def spelled(value: Any) -> str:
    """Return a value as the text of a cell."""
    if value is None:
        return ""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return _json(value)


def _json(value: Any) -> str:
    """Return a value as JSON, numbers as they were spelled."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{json.dumps(key, ensure_ascii=False)}: {_json(each)}" for key, each in value.items())
            + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def as_column(cells: list[str]) -> pa.ChunkedArray | None:
    """Return cells as Arrow text; None if they are none."""
    try:
        texts = pa.array(cells, pa.string())
    except UnicodeError:  # half a character, which has no UTF-8
        texts = pa.array([as_name(cell) for cell in cells])
    return None if any("\0" in cell for cell in cells) else pa.chunked_array([texts])


def as_name(name: str) -> str:
    """Return a name without half characters.

    Nor has it numbers that are no character at all, as NumPy may hold them.
    """
    return name.encode("utf-32", "surrogatepass").decode("utf-32", "replace")
