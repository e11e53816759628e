"""Damage on purpose: one file of a workspace is corrupted, then every command is run and every page visited."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from streamlit import cache_data, cache_resource
from streamlit.testing.v1 import AppTest

from benchmarks.faults.corruption import copy, corrupt, files_of
from deem_core import cli
from deem_core.answers import StoredAnswer
from deem_core.diagnostics.inspection import Inspection
from deem_core.errors import InputError
from deem_core.files.seals import SEAL
from deem_core.gold import Field
from deem_core.runs import AnswerBook, FusionSummary, Run, Workspace, settings_of
from deem_core.runs.checksums import FILE as CHECKSUMS
from deem_core.runs.private import remove
from deem_core.training.sweep.result import Sweep
from deem_core.votes import Votes

PAGES = ("home", "data", "learning_rate", "train", "learners", "dependence", "compare", "rows", "review", "export")
ADDRESS = {"fuse": "run", "train": "run", "sweep": "sweep", "compare": "comparison", "ask": "ask", "apply": "run"}
APP = Path(__file__).parents[2] / "app.py"
_MOST_LETTERS = 1000  # of a sentence


@dataclass
class Tally:
    """What came of the damage.

    Attributes
    ----------
    outcomes : Counter
    problems : list of str
        What should never be: tracebacks, runs that are no longer listed, runs that cannot be deleted.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def old(root: Path) -> None:
    """Make a workspace look as if an earlier version had written it: without any checksum."""
    for path in files_of(root):
        if path.name == CHECKSUMS:
            path.unlink()
        elif path.suffix == ".json":
            content = json.loads(path.read_text())
            if content.pop(SEAL, None) is not None:
                path.write_text(json.dumps(content))


def commands(source: Path, place: Path, n: int, seed: int) -> Tally:
    """Damage a file ``n`` times and run all verbs of ``runs`` each time."""
    tally = Tally()
    with _home(place):
        for at, ids, what in _damaged(source, place, n, seed):
            victim = next((each for each in ids if each in what), ids[at % len(ids)])
            for words in _verbs(victim, at):
                _command(words, what, tally)
            left = _listed(what, tally)
            for each in set(ids) - left:
                tally.problems.append(f"{what}: run {each[:6]} is no longer listed")
            _command(["runs", "delete", victim, "--yes"], what, tally, must_work=True)
            if victim in _listed(what, tally):
                tally.problems.append(f"{what}: run {victim[:6]} is still there")
    return tally


def _verbs(id: str, at: int) -> list[list[str]]:
    verbs = [["runs"], ["runs", "list"], ["runs", "show", id], ["runs", "name", id, "Other"], ["runs", "tag", id, "t"]]
    verbs += [["runs", "note", id, "A", "note"], ["runs", "pin", id], ["runs", "unpin", id], ["runs", "untag", id, "t"]]
    verbs += [["runs", "delete", id, "--dry-run"]]
    verbs += [["runs", "prune", "--older-than", "0s", "--dry-run"], ["runs", "resume", id], ["runs", "cancel", id]]
    return [*verbs, ["report", id, "-o", os.devnull + "x"]] if at % 7 == 0 else verbs


def _command(words: list[str], what: str, tally: Tally, must_work: bool = False) -> str:
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.main(words)
    except BaseException as error:  # whatever comes out is what we look for
        place = traceback.extract_tb(error.__traceback__)[-1]
        tally.outcomes["traceback"] += 1
        name = f"{Path(place.filename).name}:{place.lineno}"
        tally.problems.append(f"{what}: {' '.join(words[:2])}: {type(error).__name__}: {str(error)[:80]} at {name}")
        return ""
    said = err.getvalue()
    tally.outcomes["done" if code == 0 else "one sentence"] += 1
    if code and (said.count("\n") != 1 or len(said) > _MOST_LETTERS or must_work):
        tally.problems.append(f"{what}: {' '.join(words[:2])} says {said[:200]!r}")
    return out.getvalue()


def _listed(what: str, tally: Tally) -> set[str]:
    target = Path(os.environ["DEEM_HOME"]).with_suffix(".list.json")
    _command(["runs", "--json", str(target)], what, tally)
    return {item["id"] for item in json.loads(target.read_text())} if target.exists() else set()


def pages(source: Path, place: Path, n: int, seed: int) -> Tally:
    """Damage a file ``n`` times and visit a page each time, with the damaged run in the address."""
    tally, rng = Tally(), np.random.default_rng([seed, 1])
    kinds = {run.id: (run.kind, run.dataset_id) for run in Workspace(source).runs()}
    with _home(place):
        for at, ids, what in _damaged(source, place, n, seed):
            cache_data.clear()
            cache_resource.clear()
            victim = next((each for each in ids if each in what), ids[int(rng.integers(len(ids)))])
            kind, dataset = kinds[victim]
            page = PAGES[at % len(PAGES)]
            app = AppTest.from_file(APP, default_timeout=120)
            app.query_params["data"] = dataset
            if kind in ADDRESS:
                app.query_params[ADDRESS[kind]] = victim
            app.run()
            if page != "home":
                app.switch_page(f"pages/{page}.py").run()
            broken = [box.value for box in app.error if "Something broke" in box.value]
            tally.outcomes["broken" if broken or app.exception else "shown"] += 1
            if broken or app.exception:
                words = app.exception[0].value if app.exception else "Something broke"
                tally.problems.append(f"{what}: page {page}: {words[:300]}")
    return tally


def _damaged(source: Path, place: Path, n: int, seed: int) -> Iterator[tuple[int, list[str], str]]:
    """Yield a number, the ids of all runs and what was damaged, ``n`` times.

    Every other workspace is one of an earlier version, without checksums.
    """
    ids = [run.id for run in Workspace(source).runs()]
    earlier = place.with_suffix(".old")
    copy(source, earlier)
    old(earlier)
    for at in range(n):
        rng = np.random.default_rng([seed, at])
        copy(earlier if at % 2 else source, place)
        chosen = files_of(place)
        path = chosen[int(rng.integers(len(chosen)))]
        done = corrupt(path, rng)
        yield at, ids, f"{at} {path.relative_to(place)} {done}{' (earlier version)' if at % 2 else ''}"
    shutil.rmtree(earlier)


@contextlib.contextmanager
def _home(place: Path) -> Iterator[None]:
    """Work in a workspace, in which nothing is started."""
    before, start = os.environ.get("DEEM_HOME"), Workspace._start
    os.environ["DEEM_HOME"] = str(place)
    Workspace._start = _no_start  # type: ignore[method-assign]
    try:
        yield
    finally:
        Workspace._start = start  # type: ignore[method-assign]
        if before is None:
            del os.environ["DEEM_HOME"]
        else:
            os.environ["DEEM_HOME"] = before


def _no_start(self: Any, run: Any) -> None:
    """Start nothing."""


def readings(source: Path, place: Path, n: int, seed: int) -> Tally:
    """Damage a file ``n`` times and read all that the library reads, where nothing but `InputError` may come out."""
    tally = Tally()
    copy(source, place)
    old(place)
    workspace = Workspace(place)
    votes = workspace.read(workspace.datasets()[0]).votes
    book = workspace.answer_book(workspace.datasets()[0])
    by_id = {run.id: run for run in workspace.runs()}
    files = [path for path in files_of(place) if path.name != "tree.csv"]
    for at in range(n):
        rng = np.random.default_rng([seed, 2, at])
        path = files[int(rng.integers(len(files)))]
        before, what = path.read_bytes(), ""
        try:
            what = f"{at} {path.relative_to(place)} {corrupt(path, rng)}"
            for reading in _readings(workspace, by_id.get(path.parent.name), votes, book):
                try:
                    reading()
                    tally.outcomes["read"] += 1
                except InputError:
                    tally.outcomes["one sentence"] += 1
                except Exception as error:
                    here = traceback.extract_tb(error.__traceback__)[-1]
                    name = f"{Path(here.filename).name}:{here.lineno}"
                    tally.outcomes["traceback"] += 1
                    tally.problems.append(f"{what}: {type(error).__name__}: {str(error)[:80]} at {name}")
        finally:
            remove(path)
            path.write_bytes(before)
    return tally


def _readings(workspace: Workspace, run: Run | None, votes: Votes, book: AnswerBook) -> list[Callable[[], Any]]:
    always: list[Callable[[], Any]] = [workspace.runs, workspace.datasets, workspace.wrecks]
    if run is None:
        return [*always, book.answers, lambda: book.labels(votes).export()]
    again = Run.load(run.path)
    if again is None:
        return [*always, lambda: workspace.run(run.id)]
    own = [again.state, again.annotations, again.progress, again.records, again.partial, again.results, again.damage]
    own += [lambda: settings_of(again), lambda: FusionSummary.of(again), lambda: workspace.with_gold(votes, again.spec)]
    own += [lambda: workspace.removal([again])]
    if again.kind == "sweep":
        own.append(lambda: Sweep.from_dict(again.summary() or {}))
    if again.kind == "inspect":
        own.append(lambda: Inspection.load(again.path))
    if again.kind == "ask":
        own.append(lambda: Field.load(again.path, votes))
    if (table := again.result("result.parquet")) is not None and again.kind in ("fuse", "train", "apply"):
        own.append(lambda: StoredAnswer(table, votes.n_classes).answer(votes).summary())
    return [*always, *own]
