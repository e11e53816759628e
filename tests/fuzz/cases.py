"""Cases: one generated file each, and what is done with it."""

from __future__ import annotations

import os
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from deem_core import InputError
from deem_core.answers.export import write_fused
from deem_core.auto.verbs import fuse
from deem_core.diagnostics.rows import RowFilter, RowTable
from deem_core.estimators.files import load
from deem_core.estimators.peek import peek
from deem_core.readers import read
from deem_core.readers.gold import read_gold
from deem_core.readers.label_file import read_labels
from deem_core.readers.large import open_large
from deem_core.readers.sketch import sketch
from deem_core.runs.answer_book import AnswerBook
from deem_core.votes import Votes
from tests.fuzz import formats, mutations, seeds
from tests.fuzz.mutations import pick

Depth = Literal["accepted", "late", "first"]
"""What became of a file: read; refused behind the first checks; refused by them."""

FIRST = frozenset({"decode.py", "parse.py", "records.py", "source.py", "peek.py", "stream.py", "bounds.py"})
"""Modules that decode and parse; what they refuse got no further."""

KINDS = {
    "votes": 9,
    "stream": 2,
    "truth": 2,
    "gold": 2,
    "queue": 2,
    "labels": 1,
    "answers": 1,
    "model": 3,
    "link": 2,
}
"""Kinds of files → how often they come."""

LONGEST = 500
"""Letters that an error sentence may have."""


@dataclass(frozen=True)
class Case:
    """A generated file.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    nearly : bool
        Whether it is a whole file with one to three mutations, rather than a mangled one.
    data : bytes
    name : str
    options : dict
        Of the reader.
    base : bytes
        The file of votes that a second file belongs to.
    """

    kind: str
    nearly: bool
    data: bytes
    name: str
    options: dict[str, Any]
    base: bytes = b""


def case(seed: int, number: int) -> Case:
    """Return the case of a number; the same always."""
    rng = np.random.default_rng((seed, number))
    kind = str(rng.choice(list(KINDS), p=np.array(list(KINDS.values())) / sum(KINDS.values())))
    nearly = bool(rng.random() < 0.7)
    times = int(rng.integers(1, 4)) if nearly else int(rng.integers(4, 40))
    if kind == "model":
        return Case(kind, nearly, _model(rng, nearly, times), "model.safetensors", {})
    if kind == "link":
        text = seeds.link(rng)
        for _ in range(times if nearly else 3 * times):
            text = mutations.mutate_text(rng, text)
        return Case(kind, nearly, text.encode("utf-8", "surrogatepass"), "link", {})
    base = seeds.grid(rng, "wide" if kind == "stream" else pick(rng, seeds.LAYOUTS))
    whole = seeds.write(base, "csv")
    table = {
        "truth": lambda: seeds.truth_grid(rng, base, ("task", "truth")),
        "gold": lambda: seeds.truth_grid(rng, base, ("id", "label")),
        "queue": lambda: seeds.queue_grid(rng, base),
        "answers": lambda: seeds.queue_grid(rng, base),
        "labels": lambda: seeds.label_grid(rng),
    }.get(kind, lambda: base)()
    form = str(rng.choice(seeds.FORMATS if kind != "stream" else ("csv", "tsv", "parquet", "semicolon")))
    data = _table(rng, table, form, nearly, times)
    name = f"file.{'csv' if form in ('semicolon', 'pipe') else form}"
    return Case(kind, nearly, data, name, _options(rng, table[0]) if kind in ("votes", "stream") else {}, whole)


def format_case(seed: int, number: int) -> Case:
    """Return the case of a number among files of other programs.

    They are counted apart, so that the numbers of the others stay.
    """
    rng = np.random.default_rng((seed, number, 1))
    nearly = bool(rng.random() < 0.7)
    table = seeds.grid(rng, pick(rng, ("wide", "long")))
    form = pick(rng, list(formats.FORMATS))
    data = formats.FORMATS[form](table, rng)
    for _ in range(0 if nearly and rng.random() < 0.7 else int(rng.integers(1, 8))):
        data = mutations.mutate_bytes(rng, data)
    options = _options(rng, table[0])
    options |= {"sheet": pick(rng, ("1", "2", "L", "nope"))} if rng.random() < 0.05 else {}
    return Case("votes", nearly, data, f"file.{form}", options)


def _table(rng: np.random.Generator, table: seeds.Grid, form: str, nearly: bool, times: int) -> bytes:
    if not nearly:
        if rng.random() < 0.1:
            return rng.bytes(int(rng.integers(1, 3000)))
        data = seeds.write(table, form)
        for _ in range(times):
            data = mutations.mutate_bytes(rng, data)
        return data
    if form == "parquet" and rng.random() < 0.7:
        return mutations.parquet_file(rng, table, times)
    if form in ("json", "jsonl") and rng.random() < 0.7:
        return mutations.json_file(rng, table, lines=form == "jsonl")
    for _ in range(times):
        mutations.mutate_grid(rng, table)
    if form == "parquet":
        table = [[cell.encode(errors="replace").decode() for cell in row] for row in table]
    data = seeds.write(table, form)
    if rng.random() < 0.2:
        data = mutations.recode(rng, data)
    if rng.random() < 0.2:
        data = mutations.mutate_bytes(rng, data)
    return data


def _model(rng: np.random.Generator, nearly: bool, times: int) -> bytes:
    data: bytes = pick(rng, seeds.models())
    for _ in range(times):
        changed = mutations.mutate_model(rng, data) if nearly else mutations.mutate_bytes(rng, data)
        data = changed or data
    return data


def _options(rng: np.random.Generator, header: list[str]) -> dict[str, Any]:
    """Return options of reading; most often none."""
    wishes: dict[str, Callable[[], Any]] = {
        "layout": lambda: pick(rng, ("wide", "long", "soft")),
        "id": lambda: pick(rng, header),
        "truth": lambda: pick(rng, header),
        "learners": lambda: [pick(rng, header) for _ in range(3)],
        "ignore": lambda: [pick(rng, header)],
        "missing": lambda: ["cat", "?", ""],
        "encoding": lambda: pick(
            rng, ("utf-8", "cp1252", "utf-16", "shift-jis", "hex", "idna", "nonsense", "punycode")
        ),
        "delimiter": lambda: pick(rng, ("comma", ";", "tab", "pipe")),
        "gold": lambda: pick(rng, header),
        "merge_spellings": lambda: True,
        "labels": lambda: {"cat": "Cat", "dog": ""},
        "worker": lambda: pick(rng, header),
        "label": lambda: pick(rng, header),
    }
    return {name: wishes[name]() for name in wishes if rng.random() < 0.04}


# ---------------------------------------------------------------------- what is done with them


def outcome(one: Case) -> tuple[Depth, InputError | None]:
    """Hand a case to the code it is meant for.

    Raises
    ------
    Exception
        Whatever else than an `InputError` comes out.
    """
    try:
        _USES[one.kind](one)
    except InputError as error:
        return _depth(error), error
    return "accepted", None


def _depth(error: InputError) -> Depth:
    context = error.__context__
    if type(context).__name__ == "SafetensorError":
        return "first"
    frames = traceback.extract_tb(error.__traceback__)
    return "first" if os.path.basename(frames[-1].filename) in FIRST else "late"


@contextmanager
def _file(one: Case) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, one.name)
        with open(path, "wb") as stream:
            stream.write(one.data)
        yield path


def _votes(one: Case) -> None:
    try:
        reading = read(one.data, **one.options)
    except InputError as error:
        sketch(one.data, error, one.options)
        raise
    if len(one.data) % 20 == 0:  # the whole way now and then: it takes a hundred times as long
        answer = fuse(reading.votes, method="mv")
        with tempfile.TemporaryDirectory() as folder:
            write_fused(reading, answer, os.path.join(folder, "fused.csv"))


def _stream(one: Case) -> None:
    options = {name: value for name, value in one.options.items() if name != "layout"}
    with _file(one) as path:
        large = open_large(path, **options)
        for part in large.parts():
            assert part.votes.n_rows


def _truth(one: Case) -> None:
    read(one.base, truth_file=one.data)


def _gold(one: Case) -> None:
    read(one.base, gold_file=one.data)


def _answers(one: Case) -> None:
    votes = read(one.base).votes
    gold = read_gold(one.data, votes)
    with tempfile.TemporaryDirectory() as folder:
        from pathlib import Path

        book = AnswerBook(Path(folder) / "answers.jsonl")
        book.take_file(gold, votes, one.name)
        book.labels(votes).export()


def _labels(one: Case) -> None:
    with _file(one) as path:
        names = read_labels(path)
    read(b"id,a,b,c\n1,cat,cat,dog\n2,dog,dog,dog\n3,cat,dog,dog\n", labels=names)


def _model_file(one: Case) -> None:
    codes = np.array([[0, 1, 2, 1, 0], [1, 1, -1, 1, 0], [2, 2, 2, 2, 2]], np.int32)
    with _file(one) as path:
        told = peek(path)
        model = load(path)
    if len(told.learners) == 5:
        model.fuse(Votes.from_labels(codes))


def _link(one: Case) -> None:
    chosen = RowFilter.of(one.data.decode("utf-8", "replace"))
    votes = read(b"id,m_0,m_1,m_2,label\nr1,cat,cat,dog,cat\nr2,dog,dog,dog,dog\nr3,cat,dog,dog,cat\n").votes
    rows = RowTable(
        votes,
        fused=votes.majority_vote.codes,
        confidence=np.array([0.4, 0.9, 0.8]),
        texts=(pa.array(["one", "two", "three"]),),
    )
    assert RowFilter.of(chosen.text) == chosen
    chosen.mask(rows)


_USES: dict[str, Callable[[Case], None]] = {
    "votes": _votes,
    "stream": _stream,
    "truth": _truth,
    "gold": _gold,
    "queue": _gold,
    "labels": _labels,
    "answers": _answers,
    "model": _model_file,
    "link": _link,
}
