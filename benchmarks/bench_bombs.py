"""Memory and seconds that files cost which are refused before they are unpacked.

Every file is made anew and read in a fresh process, which tells its peak beyond what it held before and beyond the
file itself. Seconds are those of the processor, which other processes do not lengthen. The last ones are whole files of
votes, which must be read: they show what a cell costs.
"""

from __future__ import annotations

import argparse
import gzip
import json
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

MOST_BYTES, MOST_SECONDS = 500_000_000, 5.0
SMALL_VOTES = b"id,a,b,c\n1,x,y,x\n2,y,y,x\n3,x,x,y\n"


@dataclass(frozen=True)
class Bomb:
    """A file, how it is made, and what reads it."""

    name: str
    make: Callable[[Path], None]
    reader: str = "votes"


def packed(unit: bytes, total: int) -> Callable[[Path], None]:
    """Return what writes gzip of one text repeated."""

    def make(path: Path) -> None:
        packer, piece = zlib.compressobj(9, wbits=31), unit * max(1, (1 << 22) // len(unit))
        with path.open("wb") as file:
            for _ in range(total // len(piece)):
                file.write(packer.compress(piece))
            file.write(packer.flush())

    return make


def text(head: bytes, unit: bytes, times: int, tail: bytes = b"") -> Callable[[Path], None]:
    """Return what writes one text repeated."""

    def make(path: Path) -> None:
        path.write_bytes(head + unit * times + tail)

    return make


def rows(millions: int) -> Callable[[Path], None]:
    """Return what writes Parquet of so many equal rows."""

    def make(path: Path) -> None:
        labels = pa.array(["cat"] * 1_000_000).dictionary_encode()
        table = pa.table({f"m{j}": labels for j in range(3)})
        with pq.ParquetWriter(path, table.schema, compression="zstd") as writer:
            for _ in range(millions):
                writer.write_table(table)

    return make


def long_text(path: Path) -> None:
    """Write Parquet with one text of a megabyte in 100,000 rows."""
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(100_000, np.int32)), pa.array(["x" * 1_000_000]))
    pq.write_table(pa.table({"id": pa.array(range(100_000)), "m": texts}), path, compression="zstd")


def crowd(path: Path) -> None:
    """Write a long file in which everybody answers one task."""
    path.write_text("task,worker,label\n" + "".join(f"t{i},w{i},{i % 2}\n" for i in range(30_000)))


def sparse_records(path: Path) -> None:
    """Write one wide record and many empty ones."""
    wide = json.dumps({f"m{j}": "x" for j in range(4_900)})
    path.write_text(wide + "\n" + "{}\n" * 200_000)


def model(path: Path) -> None:
    """Write a model file with a header of 90 MB."""
    told = {"format": "deem-studio-model", "version": "1", "json": "[" + "[]," * 30_000_000 + "[]]"}
    header = json.dumps({"__metadata__": told}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header)


def votes(n: int, path: Path) -> None:
    """Write rare labels of 15 learners, packed as tightly as votes are."""
    rng = np.random.default_rng(0)
    words = pa.array(["no", "yes"])
    table = pa.table({f"m{j}": words.take(pa.array((rng.random(n) < 0.01).astype(int))) for j in range(15)})
    if path.suffix == ".parquet":
        pq.write_table(table, path)
        return
    with gzip.open(path, "wb") as file:
        pyarrow.csv.write_csv(table, file, pyarrow.csv.WriteOptions(quoting_style="none"))


BOMBS = (
    Bomb("zeros, 5 GB.csv.gz", packed(b"0" * 1024, 5 << 30)),
    Bomb("rows, 5 GB.csv.gz", packed(b"a,b,c\n" * 1000, 5 << 30)),
    Bomb("commas, 300 MB.csv.gz", packed(b"," * 4000 + b"\n", 300 << 20)),
    Bomb("records, 2 GB.jsonl.gz", packed(b'{"a": "x", "b": "y"}\n' * 100, 2 << 30)),
    Bomb("rows as a truth file, 5 GB.csv.gz", packed(b"a,b,c\n" * 1000, 5 << 30), "truth"),
    Bomb("rows as a gold file, 5 GB.csv.gz", packed(b"a,b,c\n" * 1000, 5 << 30), "gold"),
    Bomb("rows as a label file, 5 GB.csv.gz", packed(b"a,b,c\n" * 1000, 5 << 30), "labels"),
    Bomb("30 million rows.parquet", rows(30)),
    Bomb("200 million rows.parquet", rows(200)),
    Bomb("200 million rows in parts.parquet", rows(200), "parts"),
    Bomb("rows in parts, 5 GB.csv.gz", packed(b"a,b,c\n" * 1000, 5 << 30), "parts"),
    Bomb("long text in every row.parquet", long_text),
    Bomb("30,000 tasks by 30,000 workers.csv", crowd),
    Bomb("a million columns.csv", text(b"", b"column,", 1_000_000, b"x\n1,2\n")),
    Bomb("a field of 200 MB.csv", text(b'id,a,b\n1,x,"', b"y", 200_000_000, b"\n2,x,y\n")),
    Bomb("an open quote before 100 MB of rows.csv", text(b'id,a,b\n1,"x,y\n', b"2,x,y\n", 16_000_000)),
    Bomb("sparse records.jsonl", sparse_records),
    Bomb("a record of 100 MB.jsonl", text(b'{"a": "', b"x", 100_000_000, b'"}\n{"a": "y"}\n')),
    Bomb("empty objects, 90 MB.json", text(b"[", b"{},", 30_000_000, b"{}]")),
    Bomb("nested lists, 90 MB.json", text(b"[", b"[", 45_000_000, b"]" * 45_000_000 + b"]")),
    Bomb("a label file of 90 MB.json", text(b"[", b"[],", 30_000_000, b"[]]"), "labels"),
    Bomb("a model's header of 90 MB.safetensors", model, "model"),
)
VOTES = (
    Bomb("rare labels, 2,000,000 × 15.csv.gz", lambda path: votes(2_000_000, path)),
    Bomb("rare labels, 2,000,000 × 15.parquet", lambda path: votes(2_000_000, path)),
)

_CHILD = """
import resource, sys, time
from deem_core import InputError, read
from deem_core.estimators import files
from deem_core.readers.label_file import read_labels
from deem_core.readers.large import open_large
kind, path, small = sys.argv[1:]
readers = {
    "votes": lambda: read(path), "parts": lambda: open_large(path), "labels": lambda: read_labels(path),
    "truth": lambda: read(small, truth_file=path), "gold": lambda: read(small, gold_file=path),
    "model": lambda: files.load(path),
}
read(small)
before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
try:
    readers[kind]()
    told = "read"
except InputError as error:
    told = str(error)
grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
print(f"{time.process_time() - began}\\n{grown}\\n{told}")
"""


def measured(bomb: Bomb, folder: Path) -> tuple[int, float, int, str]:
    """Return the size of a file, and seconds, bytes and words of reading it."""
    path, small = folder / bomb.name, folder / "small.csv"
    small.write_bytes(SMALL_VOTES)
    bomb.make(path)
    command = [sys.executable, "-c", _CHILD, bomb.reader, str(path), str(small)]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    seconds, grown, words = told.stdout.split("\n", 2)
    size = path.stat().st_size
    path.unlink()
    return size, float(seconds), max(0, int(grown) - size), words.strip()


def main() -> int:
    """Measure every bomb and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_bombs", description=__doc__)
    parser.add_argument("names", nargs="*", help="only files whose names contain one of these")
    parser.add_argument("--words", action="store_true", help="print the sentences, too")
    given = parser.parse_args()
    print(f"python -m benchmarks.bench_bombs{time.strftime('   (%Y-%m-%d)')}")
    print(f"{'file':<42} {'size':>9} {'seconds':>8} {'memory beyond it':>17}  outcome")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for bomb in (*BOMBS, *VOTES):
            if given.names and not any(name in bomb.name for name in given.names):
                continue
            size, seconds, grown, words = measured(bomb, Path(folder))
            outcome = "read" if words == "read" else "refused"
            wrong = outcome != ("read" if bomb in VOTES else "refused")
            costly = outcome == "refused" and (seconds > MOST_SECONDS or grown > MOST_BYTES)
            failed += wrong or costly
            mark = "  <- WRONG" if wrong else "  <- COSTLY" if costly else ""
            line = f"{bomb.name:<42} {size / 1e6:>6.1f} MB {seconds:>8.1f} {grown / 1e6:>14,.0f} MB  {outcome}{mark}"
            print(line, flush=True)
            if given.words:
                print(f"    {words[:500]}")
    print(f"bounds: {MOST_SECONDS:.0f} s and {MOST_BYTES / 1e6:.0f} MB for each refused file; beyond them: {failed}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
