"""The file of the paper's reader: one expert among six learners, on which slow, good and unstable rates differ."""

from __future__ import annotations

import csv
import io

from deem_core import simulation

MAKER, N_ROWS, SEED = "ampdata", 2000, 0


def ensemble(n_rows: int = N_ROWS, *, seed: int = SEED) -> tuple[bytes, dict[str, str]]:
    """Return the file, without any truth, and the truth it hides: id → right class."""
    votes = simulation.make(MAKER, n_rows, seed=seed).votes
    assert votes.truth is not None
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["id", *votes.learners])
    writer.writerows([f"r{row:04d}", *codes] for row, codes in enumerate(votes.codes.tolist()))
    return stream.getvalue().encode(), {f"r{row:04d}": str(label) for row, label in enumerate(votes.truth.tolist())}
