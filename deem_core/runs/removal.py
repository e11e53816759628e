"""Removal of runs and datasets, with a plan to show first."""

from __future__ import annotations

import os
import secrets
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deem_core.errors import InputError
from deem_core.runs.private import disk, remove
from deem_core.runs.run import Run
from deem_core.text import count

if TYPE_CHECKING:
    from deem_core.runs.dataset import Dataset
    from deem_core.runs.workspace import Workspace

_TRASH = ".deleted-"


@dataclass(frozen=True)
class Removal:
    """What a deletion removes.

    Attributes
    ----------
    what : list of str
        One line for each thing.
    bytes : int
        Space that it frees.
    """

    what: list[str]
    bytes: int


@dataclass(frozen=True)
class Plan:
    """Plan of a deletion.

    Attributes
    ----------
    runs : list of Run
    dataset : Dataset, optional
    files : list of Path
        The record of the dataset.
    answers : list of Path
        Reviewers' answers about a content that no other dataset has.
    inputs : list of Path
        Stored inputs that nothing else uses.
    """

    runs: list[Run]
    dataset: Dataset | None
    files: list[Path]
    inputs: list[Path]
    answers: list[Path] = field(default_factory=list)

    def removal(self) -> Removal:
        """Return the plan in words, with its size."""
        what = [] if self.dataset is None else [f"dataset {self.dataset.name}"]
        what += [in_words(run) for run in self.runs]
        if self.inputs:
            what.append(f"{count(len(self.inputs), 'stored input file')} that nothing else uses")
        if self.answers:
            what.append("the reviewers' answers about its rows")
        files = [*self.files, *self.inputs, *self.answers]
        size = sum(folder_bytes(run.path) for run in self.runs) + sum(map(file_bytes, files))
        return Removal(what, size)

    def carry_out(self) -> None:
        """Delete all of it; refuse if a run is active."""
        for run in self.runs:
            if run.is_active() or run.is_attended():
                raise InputError(f"The {in_words(run)} is still running; cancel it before you delete it.")
        for run in self.runs:
            delete_folder(run.path)
        for path in [*self.files, *self.inputs, *self.answers]:
            remove(path)


def plan(workspace: Workspace, runs: list[Run], dataset: Dataset | None = None) -> Plan:
    """Plan the deletion of runs, with their inspections and perhaps their dataset."""
    doomed = {run.id for run in runs}
    for run in workspace.runs(kind="inspect"):  # what was found by looking into a training goes with it
        if str(run.config.get("training")) in doomed and run.id not in doomed:
            runs = [*runs, run]
            doomed.add(run.id)
    going = _digests(runs, [] if dataset is None else [dataset])
    inputs = unused(workspace, going, doomed, dataset)
    files = [] if dataset is None else [workspace.root / "datasets" / f"{dataset.id}.json"]
    return Plan(runs, dataset, files, inputs, _answers(workspace, dataset))


def unused(
    workspace: Workspace, digests: Iterable[str], runs: Collection[str] = (), dataset: Dataset | None = None
) -> list[Path]:
    """Return which inputs nothing will use once something is gone.

    Parameters
    ----------
    workspace : Workspace
    digests : iterable of str
        The inputs in question.
    runs : collection of str
        Ids of the runs that go.
    dataset : Dataset, optional
        What goes with them.
    """
    staying = _digests(
        (run for run in workspace.runs() if run.id not in runs),
        (other for other in workspace.datasets() if dataset is None or other.id != dataset.id),
    )
    staying |= {digest for wreck in workspace.wrecks() for digest in wreck.digests()}
    inputs = []
    for digest in sorted(set(digests) - staying):
        with suppress(InputError):  # it is gone already
            inputs.append(workspace.inputs.place(digest))
    return inputs


def _answers(workspace: Workspace, dataset: Dataset | None) -> list[Path]:
    """Return the answer book that goes with a dataset.

    It stays while the same content is read in another way.
    """
    if dataset is None:
        return []
    book = workspace.answer_book(dataset).path
    shared = any(other.data == dataset.data and other.id != dataset.id for other in workspace.datasets())
    return [book] if book.exists() and not shared else []


def _digests(runs: Iterable[Run], datasets: Iterable[Dataset]) -> set[str]:
    used = {digest for run in runs for digest in digests_of(run.spec)}
    return used | {digest for dataset in datasets for digest in (dataset.data, dataset.truth) if digest is not None}


def folder_bytes(folder: Path) -> int:
    """Return the size of all files in a folder, links not followed."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def file_bytes(path: Path) -> int:
    """Return the size of a file, 0 if it is not there."""
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def in_words(run: Run) -> str:
    """Return a run in a line of text."""
    title = f" “{name}”" if (name := run.name()) else ""
    words = f"{run.kind} run {run.id}{title} on {run.spec['inputs'].get('name', 'a deleted dataset')}"
    return "".join(character if character.isprintable() else "?" for character in words)


def digests_of(spec: dict[str, Any]) -> set[str]:
    """Return the hashes of the inputs that a run uses."""
    named = [
        spec["inputs"].get("data"),
        spec["inputs"].get("truth"),
        *(spec["config"].get(name) for name in ("model", "gold")),
    ]
    return {digest for digest in named if isinstance(digest, str)}


def delete_folder(folder: Path) -> None:
    """Delete a run's folder.

    It is gone for everyone at once, and a deletion cut short is finished by the next.
    """
    doomed = folder.with_name(f"{_TRASH}{secrets.token_hex(8)}")
    try:
        with disk(f"{str(folder)!r} cannot be deleted"), suppress(FileNotFoundError):  # someone else was quicker
            folder.rename(doomed)
    finally:
        for trash in folder.parent.glob(f"{_TRASH}*"):
            with suppress(InputError):
                remove(trash)


def outdated(runs: Sequence[Run], older_than: timedelta | None, keep_last: int | None, now: float) -> list[Run]:
    """Return the ended runs beyond an age and a number to keep.

    Parameters
    ----------
    runs : sequence of Run
        Newest first.
    older_than : timedelta, optional
        None asks for no age.
    keep_last : int, optional
        None keeps none for being recent.
    now : float
        Unix seconds.
    """
    if older_than is None and keep_last is None:
        raise InputError("Say which runs to keep: the last so many, those younger than an age, or both.")
    if keep_last is not None and keep_last < 0:
        raise InputError(f"{keep_last} runs cannot be kept; give 0 or more.")
    ended = [run for run in runs[keep_last or 0 :] if not run.is_active()]
    latest = now if older_than is None else now - older_than.total_seconds()
    return [run for run in ended if run.created <= latest]
