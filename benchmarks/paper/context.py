"""The context of a run: how large, how many seeds, where results go, and the store of finished units of work."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import deem_core
from deem_core import Votes
from deem_core.files.atomic import write_json
from deem_core.files.plain import to_plain
from deem_core.votes.arrays import spread_rows

CLOCK = "clock.json"
RESULTS = Path(__file__).parent.parent / "results" / "paper"
QUICK_ROWS = 300
QUICK_TRAINING: dict[str, Any] = {"updates": 8, "restarts": 1}
BUDGET, QUICK_BUDGET = 600.0, 0.15
"""Seconds after which a baseline ends where it stands; DEEM and the contrastive iRBM always finish."""


@dataclass
class Context:
    """What an experiment may ask.

    Attributes
    ----------
    quick : bool
        Tiny sizes, one seed: shows that the code runs, says nothing about methods.
    results : Path
        Folder of full results; those of quick runs go to ``quick`` in it.
    again : bool
        Do finished units again.
    seconds : float
        What the units used so far took when they were made, each counted once.
    used_seeds : set of int
    used_units : set of Path
    """

    quick: bool = False
    results: Path = RESULTS
    again: bool = False
    seconds: float = 0.0
    used_seeds: set[int] = field(default_factory=set)
    used_units: set[Path] = field(default_factory=set)

    @property
    def folder(self) -> Path:
        """Where this run writes."""
        return self.results / "quick" if self.quick else self.results

    @property
    def budget(self) -> float:
        """Seconds for one run of a baseline."""
        return QUICK_BUDGET if self.quick else BUDGET

    @property
    def training(self) -> dict[str, Any]:
        """Settings of every training: the paper's start, else the defaults, or very short ones."""
        return {"start": "majority", **(QUICK_TRAINING if self.quick else {})}

    def seeds(self, wished: int = 5) -> list[int]:
        """Return the seeds of repeated runs."""
        chosen = list(range(1 if self.quick else wished))
        self.used_seeds.update(chosen)
        return chosen

    def rows(self, full: int, quick: int = QUICK_ROWS) -> int:
        """Return how many rows to draw."""
        return quick if self.quick else full

    def trim(self, votes: Votes, most: int | None = None) -> Votes:
        """Return evenly spread rows: at most ``most``, or the few of a quick run."""
        limit = min(most or votes.n_rows, QUICK_ROWS if self.quick else votes.n_rows)
        if votes.n_rows <= limit:
            return votes
        return votes.select_rows(spread_rows(votes.n_rows, limit))

    def unit(self, name: str, votes: Votes, settings: dict[str, Any], make: Callable[[], dict[str, Any]]) -> Any:
        """Return what ``make`` gives, from the store if these votes were treated so before.

        The key holds the contents of the votes, the settings and the version of the library, so that nothing stale
        is taken; who changes methods without a new version asks for everything again. Truth is part of the key because
        units hold scores.
        """
        told = [votes.content_hash, to_plain(settings), deem_core.__version__]
        digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]
        file = self.folder / "cache" / f"{name}-{digest}.json"
        if file.exists() and not self.again:
            found = json.loads(file.read_text(encoding="utf-8"))
        else:
            begun = time.perf_counter()
            made = to_plain(make())
            found = {"unit_seconds": time.perf_counter() - begun, "settings": to_plain(settings), "result": made}
            file.parent.mkdir(parents=True, exist_ok=True)
            write_json(found, file)
            if not self.quick:
                print(f"  {name}: {found['unit_seconds']:.1f} s", flush=True)
        if file not in self.used_units:
            self.used_units.add(file)
            self.seconds += found["unit_seconds"]
        return found["result"]


class Clock:
    """Hours that running all experiments took, over however many interrupted calls; kept in ``clock.json``."""

    def __init__(self, context: Context) -> None:
        self._file = context.folder / CLOCK
        self._before = hours_taken(context.folder)
        self._begun = time.perf_counter()

    @staticmethod
    def restart(context: Context) -> None:
        """Begin at nothing."""
        (context.folder / CLOCK).unlink(missing_ok=True)

    def note(self) -> None:
        """Write down how long it took so far."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        write_json({"hours": self._before + (time.perf_counter() - self._begun) / 3600}, self._file)


def hours_taken(folder: Path) -> float:
    """Return how long running all experiments took so far."""
    file = folder / CLOCK
    return float(json.loads(file.read_text(encoding="utf-8"))["hours"]) if file.exists() else 0.0
