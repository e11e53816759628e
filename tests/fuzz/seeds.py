"""Whole files of every kind, which mutations then spoil."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from deem_core.estimators.verbs import make_model
from deem_core.votes import Votes

Grid = list[list[str]]
"""A table of text, its header first."""

WORDS = (("cat", "dog", "cow"), ("0", "1"), ("A", "B", "C", "D"), ("spam", "ham"), ("yes", "no", "unsure"))
LAYOUTS = ("wide", "long", "soft", "verdicts")
FORMATS = ("csv", "tsv", "semicolon", "pipe", "jsonl", "json", "parquet")


def votes(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Return votes (n, d), truth (n,) and the words for classes; -1 is no vote."""
    n, d = int(rng.integers(4, 40)), int(rng.integers(3, 7))
    words = WORDS[rng.integers(len(WORDS))]
    truth = rng.integers(len(words), size=n)
    codes = np.where(rng.random((n, d)) < 0.7, truth[:, None], rng.integers(len(words), size=(n, d)))
    codes[rng.random((n, d)) < rng.choice([0, 0.2])] = -1
    return codes, truth, words


def grid(rng: np.random.Generator, layout: str) -> Grid:
    """Return a table of votes in a layout."""
    codes, truth, words = votes(rng)
    n, d = codes.shape
    names = [f"{rng.choice(['judge', 'model', 'm', 'rater'])}_{j}" for j in range(d)]
    text = np.array([*words, ""], object)[codes]
    if layout == "long":
        rows = [[f"t{i}", names[j], text[i, j]] for i in range(n) for j in range(d) if codes[i, j] >= 0]
        return [["task", "worker", "label"], *(rows or [["t0", "m", "cat"]])]
    if layout == "soft":
        sharp = np.eye(len(words))[np.maximum(codes, 0)] * 0.7 + 0.3 / len(words)
        header = ["id", *(f"{name}:{word}" for name in names for word in words), "label"]
        return [header, *([f"r{i}", *(f"{p:.3f}" for p in sharp[i].ravel()), words[truth[i]]] for i in range(n))]
    if layout == "verdicts":
        header = ["id", *(part for name in names for part in (name, f"{name}.prob"))]
        sure = rng.uniform(0.5, 1, (n, d)).round(3).astype(str)
        cells = np.stack([text, sure], 2).reshape(n, -1)
        return [header, *([f"r{i}", *cells[i]] for i in range(n))]
    return [["id", *names, "label"], *([f"r{i}", *text[i], words[truth[i]]] for i in range(n))]


def truth_grid(rng: np.random.Generator, table: Grid, header: tuple[str, str]) -> Grid:
    """Return some ids of a table with a label each."""
    labels = [cell for row in table[1:] for cell in row[1:-1] if cell][:20] or ["cat"]
    ids = dict.fromkeys(row[0] for row in table[1:])
    return [list(header), *([name, str(rng.choice(labels))] for name in ids if rng.random() < 0.8)]


def queue_grid(rng: np.random.Generator, table: Grid) -> Grid:
    """Return a review queue that came back."""
    labels = [cell for row in table[1:] for cell in row[1:-1] if cell][:20] or ["cat"]
    some = [[str(at), row[0], "review", str(rng.choice(labels))] for at, row in enumerate(table[1:], 1)]
    return [["row", "id", "asked", str(rng.choice(["gold_label", "reviewed_label"]))], *some[: rng.integers(1, 20)]]


def label_grid(rng: np.random.Generator) -> Grid:
    """Return a label file for some words."""
    words = WORDS[rng.integers(len(WORDS))]
    return [["label", "name"], *([word, str(rng.choice([word.upper(), "other", ""]))] for word in words)]


def write(table: Grid, form: str) -> bytes:
    """Return a table as a file."""
    header, rows = table[0], table[1:]
    if form == "jsonl":
        return "\n".join(json.dumps(dict(zip(header, row, strict=False))) for row in rows).encode(errors="replace")
    if form == "json":
        return json.dumps([dict(zip(header, row, strict=False)) for row in rows]).encode(errors="replace")
    if form == "parquet":
        width = len(header)
        columns = [pa.array([row[j] if j < len(row) else None for row in rows], pa.string()) for j in range(width)]
        return parquet(pa.Table.from_arrays(columns, names=header))
    sink = io.StringIO()
    sign = {"tsv": "\t", "semicolon": ";", "pipe": "|"}.get(form, ",")
    csv.writer(sink, delimiter=sign, lineterminator="\n").writerows(table)
    return sink.getvalue().encode(errors="replace")


def parquet(table: pa.Table) -> bytes:
    """Return a table as a Parquet file."""
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


@cache
def models() -> tuple[bytes, ...]:
    """Return a model file of each estimator."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=120)
    codes = np.where(rng.random((120, 5)) < 0.7, truth[:, None], rng.integers(3, size=(120, 5)))
    hard = Votes.from_labels(codes)
    soft = Votes.from_soft(np.eye(3)[codes] * 0.7 + 0.1)
    made = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        for method in ("deem", "deem_soft", "gds", "irbm", "irbm_cd"):
            settings = {} if method == "gds" else {"epochs": 2}
            model = make_model(method, random_state=0, **settings)
            model.fit(soft if method == "deem_soft" else hard).save(path)
            made.append(path.read_bytes())
    return tuple(made)


def link(rng: np.random.Generator) -> str:
    """Return a filter of rows as an address spells it."""
    parts = (
        *("fused=cat", "truth=dog", "majority=cat", "vote.m_0=cat", "vote.m_1=", "label.mv=dog", "search=r1"),
        *("only=tied", "only=review", "confidence=0.2..0.9", "same=fused|truth", "differ=vote.m_0|vote.m_1"),
    )
    return "&".join(rng.choice(parts, rng.integers(1, 4), replace=False))
