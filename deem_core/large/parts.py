"""Parts of a fused file, kept until all are there.

A folder beside the output holds the finished parts and a journal. A run that was killed goes on after its last
finished part when the same command is given again; the output appears when all parts are joined.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from deem_core.answers.answer import Answer
from deem_core.answers.export import fused_form, fused_table
from deem_core.control import NO_CONTROL, Control
from deem_core.errors import InputError
from deem_core.files import tables
from deem_core.files.atomic import whole_file, write_json
from deem_core.files.spreadsheet import neutralise
from deem_core.large.labelling import Labelling
from deem_core.readers.large import PART_ROWS, LargeFile
from deem_core.readers.read import Reading
from deem_core.votes import NO_VOTE

VERSION = 2
SUFFIX = ".parts"
"""What the folder's name adds to that of the output."""


def folder_of(output: str | Path) -> Path:
    """Return the folder that holds the parts of an output."""
    path = Path(output)
    return path.with_name(path.name + SUFFIX)


@dataclass(frozen=True)
class Totals:
    """Counts over labelled rows, for a part or for all.

    Attributes
    ----------
    rows : int
    changed : int
        Labels that differ from the majority vote.
    review : int
        Rows that need review.
    silent : int
        Rows without votes.
    tied : int
        Doubtful rows at the limit of review.
    known, right : int
        Rows whose truth is known, and those of them that are labelled so. Evaluation only.
    """

    rows: int = 0
    changed: int = 0
    review: int = 0
    silent: int = 0
    tied: int = 0
    known: int = 0
    right: int = 0

    def __add__(self, other: Totals) -> Totals:
        """Return the counts of both."""
        return Totals(*(getattr(self, item.name) + getattr(other, item.name) for item in fields(self)))

    @classmethod
    def of(cls, answer: Answer, tied: int, review_below: float | None) -> Totals:
        """Count the rows of a part."""
        votes, truth = answer.votes, answer.votes.truth
        known = 0 if truth is None else int((truth != NO_VOTE).sum())
        right = 0 if truth is None else int(((answer.codes == truth) & (truth != NO_VOTE)).sum())
        changed = int(((answer.codes != answer.majority) & ~answer.silent).sum())
        review = int(answer.review_rows(review_below).sum())
        return cls(votes.n_rows, changed, review, int(answer.silent.sum()), tied, known, right)


class Parts:
    """Folder of the finished parts of one output.

    Parameters
    ----------
    output : path
        The file that they will make.
    command : mapping
        What the parts depend on, as plain values: file, options, model. Parts of another command are not used.

    Raises
    ------
    InputError
        If the folder belongs to another command.
    """

    def __init__(self, output: str | Path, command: Mapping[str, Any]) -> None:
        self.output = Path(output)
        self.form = tables.format_of(output)
        self.folder = folder_of(output)
        self.command = dict(command)
        self.done: list[Totals] = self._journal()
        self.resumed = len(self.done)

    @property
    def model(self) -> Path:
        """Where a trained model is kept.

        A resumed run labels by the same one.
        """
        return self.folder / "model.safetensors"

    def open(self) -> None:
        """Make the folder, with an empty journal unless there is one."""
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"The folder {str(self.folder)!r} could not be made: {error.strerror or error}.") from None
        self._write_journal()

    def add(
        self,
        reading: Reading,
        answer: Answer,
        totals: Totals,
        form: tables.Format,
        *,
        quoted: bool,
        safe: bool,
        **options: Any,
    ) -> None:
        """Write a part and note that it is there."""
        table = fused_table(reading, answer, **options)
        respell = neutralise if safe else None
        with whole_file(self._file(len(self.done))) as stream:
            form.write([table], stream, quoted=quoted, header=not self.done, respell=respell)
        self.done.append(totals)
        self._write_journal()

    def join(self) -> Totals:
        """Put the output in its place and remove the folder."""
        with whole_file(self.output) as stream:
            self.form.join([self._file(at) for at in range(len(self.done))], stream)
        shutil.rmtree(self.folder, ignore_errors=True)
        return sum(self.done, Totals())

    def _file(self, at: int) -> Path:
        return self.folder / f"{at:06d}"

    def _write_journal(self) -> None:
        write_json({"version": VERSION, "command": self.command, "parts": self.done}, self.folder / "journal.json")

    def _journal(self) -> list[Totals]:
        """Return the finished parts that an earlier run left."""
        if not self.folder.exists():
            return []
        advice = "Remove that folder to start again, or give the output another name."
        try:
            content = json.loads((self.folder / "journal.json").read_text(encoding="utf-8"))
            before, done = content["command"], [Totals(**part) for part in content["parts"]]
        except (OSError, ValueError, KeyError, TypeError):
            raise InputError(f"{str(self.folder)!r} is in the way and holds no journal of parts. {advice}") from None
        same = content.get("version") == VERSION and before.keys() == self.command.keys()
        differing = [name for name in self.command if not same or before[name] != self.command[name]]
        if differing:
            what = "of another version" if not same else f"made with another {differing[0].replace('_', ' ')}"
            raise InputError(f"{str(self.folder)!r} holds parts {what}, so they cannot be continued. {advice}")
        return done


def write_in_parts(
    large: LargeFile,
    labelling: Labelling,
    parts: Parts,
    *,
    spreadsheet_safe: bool = True,
    review_below: float | None = None,
    blank: bool = False,
    control: Control = NO_CONTROL,
) -> Totals:
    """Label a file part by part and write the fused file.

    Parameters
    ----------
    large : LargeFile
    labelling : Labelling
    parts : Parts
        Finished parts are not made again.
    spreadsheet_safe, review_below, blank
        Of `deem_core.answers.export.write_fused`.
    control : Control
        Asked after each part whether to go on; what is finished is kept.
    """
    form = fused_form(large.digest, labelling.sample.votes, parts.output)
    quoted = not large.digest.special.isdisjoint(form.special)
    parts.open()
    n_tied = sum(part.tied for part in parts.done)
    n_rows = sum(part.rows for part in parts.done)
    for reading in large.parts(PART_ROWS, skip=len(parts.done)):
        before = n_tied
        answer, n_tied = labelling.answer(reading.votes, n_rows, n_tied)
        totals = Totals.of(answer, n_tied - before, review_below)
        parts.add(
            reading,
            answer,
            totals,
            form,
            quoted=quoted,
            safe=spreadsheet_safe,
            review_below=review_below,
            blank=blank,
        )
        n_rows += totals.rows
        control.check()
        control.tell(f"Labelling: {n_rows:,} rows", n_rows / large.n_rows)
    return parts.join()
