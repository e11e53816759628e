"""Ballots: answers of an annotation tool, collected row by row."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from deem_core.errors import InputError
from deem_core.readers.bounds import Packed
from deem_core.readers.formats.content import Choice, Content, UndecidedError, choose, text_column
from deem_core.readers.notes import Note
from deem_core.readers.parse import MAX_COLUMNS
from deem_core.readers.records import BYTES_PER_CELL, spelled
from deem_core.text import clip, count, quoted

ID, TRUTH = "id", "ground_truth"
"""Columns that are made; data of the same name are called ``data.id``."""

SEVERAL = "|"
"""Between the labels of an answer that has several."""

_CHECKED = 1 << 20  # cells by which a table grows between two looks at the memory


@dataclass
class Ballots:
    """Rows with data, and answers to questions about them.

    Attributes
    ----------
    packed : Packed
        The file.
    answers : dict
        Question → (row, learner) → label; an empty label is no vote.
    truths : dict
        Question → row → label.
    repeated : int
        Answers that a later one of the same learner replaced.
    """

    packed: Packed
    ids: list[str] = field(default_factory=list)
    data: dict[str, dict[int, str]] = field(default_factory=dict)
    answers: dict[str, dict[tuple[int, str], str]] = field(default_factory=dict)
    truths: dict[str, dict[int, str]] = field(default_factory=dict)
    learners: dict[str, None] = field(default_factory=dict)
    repeated: int = 0
    checked: int = 0

    def add_row(self, id: str, data: Mapping[str, Any]) -> int:
        """Add a row with its data; return its position."""
        row = len(self.ids)
        self.ids.append(id)
        for key, value in data.items():
            name = key.strip() or "data"
            self.data.setdefault(f"data.{name}" if name in (ID, TRUTH) else name, {})[row] = spelled(value)
        width = len(self.data) + len(self.learners) + 2
        if width > MAX_COLUMNS:
            raise InputError(
                f"{self.packed.name} has more than {MAX_COLUMNS:,} fields and annotators; too many to read."
            )
        self._check_size((row + 1) * width)
        return row

    def _check_size(self, cells: int) -> None:
        if cells > self.checked:
            what = f"{count(len(self.ids), 'row')} with {count(cells, 'cell')}"
            self.packed.check_growth(cells * BYTES_PER_CELL, what)
            self.packed.check_memory(cells * BYTES_PER_CELL, what)
            self.checked = cells + _CHECKED

    def vote(self, row: int, question: str, learner: str, label: str) -> None:
        """Note an answer; of several by one learner the last counts."""
        answers = self.answers.setdefault(question, {})
        self.learners[learner] = None
        self.repeated += (row, learner) in answers
        answers[row, learner] = label

    def know(self, row: int, question: str, label: str) -> None:
        """Note the true label of a row."""
        truths = self.truths.setdefault(question, {})
        if truths.setdefault(row, label) != label:
            raise InputError(
                f"{self.packed.name} gives two different true labels for the task {clip(self.ids[row], 60)!r} "
                f"({clip(truths[row], 30)!r} and {clip(label, 30)!r}). Keep one ground truth for each task."
            )

    def question(self, wish: str | None, notes: Iterable[Note] = ()) -> Choice:
        """Return which question is read.

        Parameters
        ----------
        wish : str, optional
        notes : iterable of Note
            What was left out, which is the reason if nothing remains.

        Raises
        ------
        UndecidedError
            If there are several, and none or another was named.
        """
        names = tuple(self.answers)
        if not names:
            reasons = " ".join(note.text for note in notes if note.kind == "left out")
            nothing = f"{self.packed.name} holds no answer that is a choice, a rating or a number."
            raise InputError(f"{nothing} {reasons}".rstrip())
        choice = Choice("label", "Question", names)
        if wish is not None:
            return Choice("label", "Question", names, choose(self.packed.name, choice, wish))
        if len(names) > 1:
            told = [f"{clip(name, 40)!r} ({count(len(self.answers[name]), 'answer')})" for name in names[:8]]
            more = "" if len(names) <= 8 else f" and {len(names) - 8} more"
            raise UndecidedError(
                f"{self.packed.name} has answers to {len(names)} questions: {', '.join(told)}{more}. Say which one to "
                "read with --label, or under “Columns and reading”.",
                choice,
            )
        return Choice("label", "Question", names, names[0])

    def content(
        self,
        wish: str | None,
        *,
        format: str,
        title: str,
        encoding: str,
        notes: Iterable[Note] = (),
        names: Mapping[str, str] | None = None,
        others: Collection[str] = (),
    ) -> Content:
        """Return the answers to a question as columns of text.

        Parameters
        ----------
        wish : str, optional
            The question.
        format, title, encoding
            See `Content`.
        notes : iterable of Note
        names : mapping, optional
            Label → the name of its class.
        others : collection of str
            Learners that have a column even if they never answer.
        """
        notes = tuple(notes)
        choice = self.question(wish, notes)
        chosen, names = choice.chosen or "", names or {}
        answers, truth, n = self.answers[chosen], self.truths.get(chosen, {}), len(self.ids)
        told = {learner for _, learner in answers} | set(others)
        learners = [name for name in self.learners if name in told]
        taken = {ID, TRUTH, *learners}
        data = {f"data.{name}" if name in taken else name: cells for name, cells in self.data.items()}
        columns: dict[str, pa.ChunkedArray] = {ID: text_column(self.ids)}
        columns |= {name: text_column([cells.get(row, "") for row in range(n)]) for name, cells in data.items()}
        for name in learners:
            columns[name] = _labels([answers.get((row, name), "") for row in range(n)], names)
        roles = {ID: "id", **dict.fromkeys(data, "ignored"), **dict.fromkeys(learners, "learner")}
        if truth:
            columns[TRUTH] = text_column(
                [names.get(label, label) for label in (truth.get(row, "") for row in range(n))]
            )
            roles[TRUTH] = "truth"
        return Content(columns, format, title, encoding, roles, choice, (*notes, *self._told(choice)))

    def _told(self, choice: Choice) -> Iterable[Note]:
        if len(choice.names) > 1:
            rest = [name for name in choice.names if name != choice.chosen]
            yield Note("left out", f"Answers to other questions were left out: {quoted(rest)}.", len(rest))
        if self.repeated:
            text = f"Dropped {count(self.repeated, 'repeated answer')} of a learner on a task: the last one counts."
            yield Note("changed", text, self.repeated)


def _labels(labels: Sequence[str], names: Mapping[str, str]) -> pa.ChunkedArray:
    return text_column([names.get(label, label) for label in labels])


def label_of(value: Any) -> str | None:
    """Return an answer as a label; several are joined, None is none."""
    if value is None or isinstance(value, dict):
        return None
    if isinstance(value, list):
        if not all(isinstance(each, (str, bool, int, float)) for each in value):
            return None
        return SEVERAL.join(spelled(each).strip() for each in value)
    return spelled(value).strip()
