"""Workspace: inputs, datasets and runs of a user, in one folder."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from deem_core import __version__
from deem_core.errors import InputError
from deem_core.files.home import home
from deem_core.files.seals import sealed
from deem_core.model.passport import torch_version
from deem_core.readers import Reading, Sketch, read_gold
from deem_core.runs import attendance, removal
from deem_core.runs.answer_book import AnswerBook, merged_gold
from deem_core.runs.dataset import (
    Dataset,
    dataset_id,
    label_map,
    load_dataset,
    named_stream,
    plain_reading,
    read_stored,
    sketch_stored,
)
from deem_core.runs.kinds import KINDS
from deem_core.runs.private import (
    FORMAT,
    MARK,
    checked_id,
    disk,
    is_id,
    is_plain,
    make_folder,
    read_json,
    remove,
    write_private_json,
)
from deem_core.runs.queue import Queue, queue_of
from deem_core.runs.removal import Removal
from deem_core.runs.run import SPEC, Run, State, write_state
from deem_core.runs.store import Data, Inputs
from deem_core.runs.wreck import Wreck
from deem_core.votes import Votes


class Workspace:
    """A user's folder of inputs, datasets and runs.

    Parameters
    ----------
    path : path, optional
        By default ``$DEEM_HOME``, else the folder for data of this user.

    Attributes
    ----------
    root : Path
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.root = Path(os.path.realpath(os.path.expanduser(path))) if path else home()
        make_folder(self.root)
        for name in ("inputs", "datasets", "runs", "queue", "answers"):
            folder = make_folder(self.root / name)
            if not is_plain(folder):
                raise InputError(f"{str(folder)!r} is a link; the workspace holds no links. Remove it.")
        if read_json(self.root / MARK) is None:
            write_private_json({"format": FORMAT, "version": 1}, self.root / MARK)
        self.inputs = Inputs(self.root / "inputs")
        self.queue = Queue.of(self.root)

    # ------------------------------------------------------------------ inputs and datasets

    def store(self, source: Data) -> str:
        """Store a file, bytes or an open file; return its SHA-256."""
        return self.inputs.store(source)

    def input(self, digest: str) -> Path:
        """Return the path of an input; InputError if there is none."""
        return self.inputs.path(digest)

    def add_dataset(
        self,
        name: str,
        data: Data,
        *,
        truth: tuple[str, Data] | None = None,
        reading: Mapping[str, Any] | None = None,
    ) -> Dataset:
        """Store a file of votes as a dataset.

        Perhaps with a truth file.
        """
        options = plain_reading(reading)
        truth_file = None if truth is None else (truth[0], self.store(truth[1]))
        return self._keep_dataset(name, self.store(data), truth_file, options)

    def vary_dataset(
        self,
        dataset: Dataset,
        *,
        reading: Mapping[str, Any] | None = None,
        truth: tuple[str, Data] | None = None,
    ) -> Dataset:
        """Return the same file with another reading or truth, as a dataset.

        None leaves either as it was.
        """
        options = dataset.reading if reading is None else plain_reading(reading)
        truth_file = (dataset.truth_name or "truth", dataset.truth) if dataset.truth is not None else None
        truth_file = truth_file if truth is None else (truth[0], self.store(truth[1]))
        return self._keep_dataset(dataset.name, dataset.data, truth_file, options)

    def _keep_dataset(self, name: str, data: str, truth: tuple[str, str] | None, reading: dict[str, Any]) -> Dataset:
        truth_name, truth_digest = truth or (None, None)
        own_id = dataset_id(name, data, truth_digest, reading)
        path = self.root / "datasets" / f"{own_id}.json"
        dataset = load_dataset(path)
        if dataset is None or dataset.truth_name != truth_name:
            dataset = Dataset(own_id, name, data, truth_name, truth_digest, reading, time.time())
            write_private_json(sealed(dataset.to_dict()), path, durable=True)
        return dataset

    def dataset(self, id: str) -> Dataset:
        """Return a dataset; InputError if there is none."""
        dataset = load_dataset(self.root / "datasets" / f"{checked_id(id, 'dataset')}.json")
        if dataset is None:
            raise InputError(f"There is no dataset {id} in the workspace: it was deleted. Upload the file again.")
        return dataset

    def datasets(self) -> list[Dataset]:
        """Return all datasets, newest first; `wrecks` are left out."""
        paths = (path for path in (self.root / "datasets").glob("*.json") if is_id(path.stem))
        datasets = [dataset for path in paths if (dataset := load_dataset(path)) is not None]
        return sorted(datasets, key=lambda dataset: (dataset.created, dataset.id), reverse=True)

    def read(self, dataset: Dataset) -> Reading:
        """Read a dataset."""
        return self.read_inputs(dataset.inputs())

    def sketch(self, dataset: Dataset, problem: InputError) -> Sketch:
        """Return what can be shown of a dataset that is no votes.

        Raises
        ------
        InputError
            The problem itself, if it cannot even be decoded.
        """
        return sketch_stored(self.input(dataset.data), dataset.name, problem, dataset.reading)

    def mark_unread(self, dataset: Dataset, unread: bool) -> None:
        """Note whether a dataset could not be read as votes."""
        if dataset.unread != unread:
            path = self.root / "datasets" / f"{dataset.id}.json"
            write_private_json(sealed(replace(dataset, unread=unread).to_dict()), path, durable=True)

    def read_inputs(self, inputs: Mapping[str, Any]) -> Reading:
        """Read the inputs of a dataset or of a run's spec."""
        truth = inputs.get("truth")
        return read_stored(
            self.input(inputs["data"]),
            inputs["name"],
            None if truth is None else self.input(truth),
            inputs.get("truth_name"),
            inputs["reading"],
        )

    # ------------------------------------------------------------------ known labels that are used

    def answer_book(self, dataset: Dataset) -> AnswerBook:
        """Return the reviewers' answers about the content of a dataset."""
        return AnswerBook(self.root / "answers" / f"{dataset.data}.jsonl")

    def with_gold(self, votes: Votes, spec: Mapping[str, Any]) -> Votes:
        """Return votes with the gold labels that a run was started with.

        They are added to those of the file's own gold column, and win where both speak.
        """
        digest = spec["config"].get("gold")
        if digest is None:
            return votes
        stream = named_stream(self.input(digest), "The answers in use")
        labels = label_map(spec["inputs"]["reading"])
        book = read_gold(stream, votes, labels.rule, labels).gold
        return votes.with_gold(merged_gold(votes.gold, book, votes.n_classes))

    # ------------------------------------------------------------------ runs

    def new_run(self, kind: str, dataset: Dataset, config: Mapping[str, Any], *, title: str = "") -> Run:
        """Make a run that waits to be started.

        Parameters
        ----------
        kind : "sweep", "train", "fuse", "compare", "apply", "inspect" or "ask"
        dataset : Dataset
        config : mapping
            Settings of the kind, plain JSON values. ``random_state`` is the seed; without it one is drawn.
        title : str
            For people.
        """
        if kind not in KINDS:
            raise InputError(f"There are no runs of the kind {kind!r}; there are {', '.join(KINDS)}.")
        try:
            plain = json.loads(json.dumps(dict(config), allow_nan=False))
        except (TypeError, ValueError) as error:
            raise InputError(f"The settings of a run must be plain, finite values: {error}.") from None
        for digest in removal.digests_of({"inputs": dataset.inputs(), "config": plain}):
            self.input(digest)
        queue_of(kind, plain)
        seed, now = plain.get("random_state"), time.time()
        spec = {
            "id": secrets.token_hex(16),
            "kind": kind,
            "title": str(title),
            "dataset": dataset.id,
            "created": now,
            "inputs": dataset.inputs(),
            "config": plain,
            "seed": seed if isinstance(seed, int) else secrets.randbelow(2**31),
            "versions": _versions(),
        }
        return self._make_run(spec, State("queued", created=now))

    def _make_run(self, spec: dict[str, Any], state: State) -> Run:
        """Write a run beside its place and move it there.

        So nobody ever sees half of one.
        """
        target = self.root / "runs" / spec["id"]
        folder = make_folder(target.with_name(f".new-{spec['id']}"))
        try:
            write_private_json(sealed(spec), folder / SPEC, durable=True)
            write_state(folder, state, durable=True)
            attendance.set_ballast(folder)
            with disk("The run could not be written"):
                folder.rename(target)
        finally:
            if os.path.isdir(folder):
                removal.delete_folder(folder)
        return self.run(spec["id"])

    def run(self, id: str) -> Run:
        """Return a run; InputError if there is none, or only a wreck."""
        path = self.root / "runs" / checked_id(id, "run")
        run = Run.load(path)
        if run is None:
            wreck = Wreck.of_run(path)
            raise InputError(f"There is no run {id} in the workspace." if wreck is None else wreck.sentence)
        return run

    def wrecks(self) -> list[Wreck]:
        """Return the runs and datasets that cannot be read, newest first."""
        return Wreck.find(self.root)

    def delete_wreck(self, wreck: Wreck) -> None:
        """Delete a wreck, and the inputs that only it names."""
        going = wreck.digests()
        wreck.delete()
        for path in removal.unused(self, going):
            remove(path)

    def runs(self, *, dataset: str | None = None, kind: str | None = None) -> list[Run]:
        """Return the runs, newest first; `wrecks` are left out.

        Only those of a dataset or kind, if given.
        """
        try:
            names = os.listdir(self.root / "runs")
        except OSError:
            return []
        everything = [run for name in names if (run := Run.load(self.root / "runs" / name)) is not None]
        chosen = [run for run in everything if dataset in (None, run.dataset_id) and kind in (None, run.kind)]
        return sorted(chosen, key=lambda run: (run.created, run.id), reverse=True)

    def start_run(self, kind: str, dataset: Dataset, config: Mapping[str, Any], title: str = "") -> Run:
        """Make a run and start it."""
        run = self.new_run(kind, dataset, config, title=title)
        self.start(run)
        return run

    def start(self, run: Run) -> None:
        """Start the worker of a waiting run.

        It waits at the end of the queue of its device.
        """
        with self.queue.lock():
            self._start(run)

    def _start(self, run: Run) -> None:
        attendance.start(self.root, self.queue, self.run(run.id))

    def resume(self, run: Run) -> None:
        """Resume a cancelled or failed run from its last checkpoint.

        Without a checkpoint it begins anew.
        """
        attendance.check_resumable(run)
        for digest in removal.digests_of(run.spec):
            self.input(digest)
        with self.queue.lock():
            attendance.make_ready(run)
            self._start(run)

    def cancel(self, run: Run) -> None:
        """Ask a run to stop, which takes at most two seconds.

        One that has ended stays as it is. Workers stop by themselves; one that does not, because the machine is too
        busy to let it, is ended from here.
        """
        attendance.cancel(self.queue, run)

    def finish(self, run: Run) -> None:
        """Ask a running sweep to end with what it has.

        It is done then, not cancelled; one that waits or has ended stays as it is.
        """
        attendance.finish(self.queue, run)

    # ------------------------------------------------------------------ what people say of runs

    def annotate(
        self, run: Run, *, name: str | None = None, tags: Iterable[str] | None = None, note: str | None = None
    ) -> None:
        """Name, tag or note a run; None leaves what there is.

        Raises
        ------
        InputError
            If something is too long, or there are too many tags.
        """
        said = run.annotations()
        said = said if name is None else said.named(name)
        said = said if tags is None else said.tagged(tags)
        said = said if note is None else said.noted(note)
        said.write(run.path)

    def pin(self, run: Run) -> None:
        """Make a run the baseline of its dataset, instead of any other."""
        self.unpin(run.dataset_id)
        run.annotations().pinned_now().write(run.path)

    def unpin(self, dataset: str) -> None:
        """Leave a dataset without a baseline."""
        for run in self.runs(dataset=dataset):
            said = run.annotations()
            if said.pinned is not None:
                said.unpinned().write(run.path)

    def baseline(self, dataset: str) -> Run | None:
        """Return the run that is pinned as baseline, if any."""
        pinned = [(said.pinned, run) for run in self.runs(dataset=dataset) if (said := run.annotations()).pinned]
        return max(pinned, key=lambda pair: pair[0] or 0.0)[1] if pinned else None

    # ------------------------------------------------------------------ deleting

    def removal(self, runs: Iterable[Run]) -> Removal:
        """Return what deleting these runs removes, unused inputs included."""
        return removal.plan(self, list(runs)).removal()

    def delete_run(self, run: Run) -> None:
        """Delete a run and all that `removal` lists.

        A run that is active is refused.
        """
        if not run.is_active():
            attendance.await_end(run)
        removal.plan(self, [run]).carry_out()

    def prune(self, older_than: timedelta | None, keep_last: int | None) -> list[Run]:
        """Return the ended runs beyond an age and a number to keep.

        Deleting them is up to the caller.
        """
        return removal.outdated(self.runs(), older_than, keep_last, time.time())

    def delete_dataset(self, id: str) -> None:
        """Delete a dataset, its runs, and what nothing else uses.

        That is its inputs, and the reviewers' answers about its content.

        Raises
        ------
        InputError
            If a run of it is going on.
        """
        removal.plan(self, self.runs(dataset=checked_id(id, "dataset")), self.dataset(id)).carry_out()


def _versions() -> dict[str, str]:
    torch = torch_version() or "not installed"
    packages = {"torch": torch, "numpy": importlib.metadata.version("numpy")}
    return {"deem_core": __version__, "python": platform.python_version(), **packages, "system": platform.platform()}
