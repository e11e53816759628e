"""Parts of a fused file, kept until all are there.

A folder beside the output holds the finished parts and a journal. Parts may be finished in any order. A run that was
killed goes on with the missing ones when the same command is given again; the output appears when all parts are joined.
"""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Generator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pyarrow as pa

from deem_core.answers.answer import Answer
from deem_core.answers.export import fused_form, fused_table
from deem_core.control import NO_CONTROL, Control
from deem_core.engine import Engine, engine_of
from deem_core.errors import DeemError, InputError
from deem_core.files import tables
from deem_core.files.atomic import whole_file, write_json
from deem_core.files.spreadsheet import neutralise
from deem_core.large.labelling import Labeller, Labelling
from deem_core.readers.large import PART_ROWS, LargeFile
from deem_core.readers.shares import Share, run_shares
from deem_core.votes import NO_VOTE

VERSION = 3
SUFFIX = ".parts"
"""What the folder's name adds to that of the output."""


class PartError(DeemError):
    """A part could not be made, for a reason that nobody foresaw."""


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
    rows : int
        Of a part.

    Raises
    ------
    InputError
        If the folder belongs to another command.
    """

    def __init__(self, output: str | Path, command: Mapping[str, Any], rows: int | None = None) -> None:
        self.output = Path(output)
        self.form = tables.format_of(output)
        self.folder = folder_of(output)
        self.rows = PART_ROWS if rows is None else rows
        self.command = {**command, "part_size": self.rows}
        self.done: dict[int, Totals] = self._journal()
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

    @property
    def patterns(self) -> Path:
        """Folder for the distinct rows of every part."""
        return self.folder / "patterns"

    def add(self, at: int, content: bytes, totals: Totals) -> None:
        """Write a part and note that it is there."""
        with whole_file(self._file(at)) as stream:
            stream.write(content)
        self.done[at] = totals
        self._write_journal()

    def join(self) -> Totals:
        """Put the output in its place and remove the folder.

        The parts come in their order.
        """
        order = sorted(self.done)
        with whole_file(self.output) as stream:
            self.form.join([self._file(at) for at in order], stream)
        shutil.rmtree(self.folder, ignore_errors=True)
        return sum((self.done[at] for at in order), Totals())

    def _file(self, at: int) -> Path:
        return self.folder / f"{at:06d}"

    def _write_journal(self) -> None:
        write_json({"version": VERSION, "command": self.command, "parts": self.done}, self.folder / "journal.json")

    def _journal(self) -> dict[int, Totals]:
        """Return the finished parts that an earlier run left."""
        if not self.folder.exists():
            return {}
        advice = "Remove that folder to start again, or give the output another name."
        try:
            content = json.loads((self.folder / "journal.json").read_text(encoding="utf-8"))
            before, version = content["command"], content["version"]
            done = {int(at): Totals(**part) for at, part in content["parts"].items()} if version == VERSION else {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise InputError(f"{str(self.folder)!r} is in the way and holds no journal of parts. {advice}") from None
        same = version == VERSION and before.keys() == self.command.keys()
        differing = [name for name in self.command if not same or before[name] != self.command[name]]
        if differing:
            what = "of another version" if not same else f"made with another {differing[0].replace('_', ' ')}"
            raise InputError(f"{str(self.folder)!r} holds parts {what}, so they cannot be continued. {advice}")
        return done


@dataclass(frozen=True, eq=False)
class _Task:
    """What the pieces of labelling share."""

    large: LargeFile
    labeller: Labeller
    form: tables.Format
    quoted: bool
    safe: bool
    review_below: float | None
    blank: bool


def write_in_parts(
    large: LargeFile,
    labelling: Labelling,
    parts: Parts,
    *,
    spreadsheet_safe: bool = True,
    review_below: float | None = None,
    blank: bool = False,
    control: Control = NO_CONTROL,
    on: str | Engine | None = None,
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
    on : str or Engine, optional
        Where parts are labelled: one after the other on this machine, as many as there are cores on a cluster.

    Raises
    ------
    DeemError
        If a part cannot be made; it says which.
    """
    form = fused_form(large.digest, labelling.sample.votes, parts.output)
    quoted = not large.digest.special.isdisjoint(form.special)
    task = _Task(large, labelling.labeller, form, quoted, spreadsheet_safe, review_below, blank)
    parts.open()
    n_rows = sum(part.rows for part in parts.done.values())
    made = run_shares(
        large.stream,
        engine_of(on),
        _label,
        task,
        parts.rows,
        control=control,
        done=frozenset(parts.done),
        more=labelling.known,
    )
    for share, (content, totals) in made:
        parts.add(share.at, content, totals)
        n_rows += totals.rows
        control.check()
        control.tell(f"Labelling: {n_rows:,} rows", n_rows / large.n_rows)
    control.check()
    large.check_rows(n_rows)
    return parts.join()


def _label(task: _Task, share: Share, control: Control) -> Generator[None, None, tuple[bytes, Totals] | None]:
    """Label and format the rows of a part."""
    yield from ()  # there is no news
    try:
        table = share.rows(task.large.stream)
        return None if table is None else _labelled(task, share, table)
    except MemoryError:  # whoever asked says what to do
        raise
    except DeemError as error:
        raise InputError(f"The part of {share.words} could not be made. {error}") from error
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise PartError(f"The part of {share.words} could not be made ({said}).") from error


def _labelled(task: _Task, share: Share, table: pa.Table) -> tuple[bytes, Totals]:
    reading = task.large.reading(table)
    answer, tied = task.labeller.answer(reading.votes, share.start, share.more)
    fused = fused_table(reading, answer, review_below=task.review_below, blank=task.blank)
    respell, stream = neutralise if task.safe else None, io.BytesIO()
    task.form.write([fused], stream, quoted=task.quoted, header=share.at == 0, respell=respell)
    return stream.getvalue(), Totals.of(answer, tied, task.review_below)
