"""Length of a training without layers: accuracy over learning rate × updates, on two halves of many sets.

Usage: [DEEM_DATA=folder] python -m benchmarks.bench_length [NAME ...] [--restarts 3] [--results FOLDER]

One long contrastive training from the majority vote, without a layer, is looked at on its way: a shorter training is
the beginning of a longer one. Every learner keeps its voice. Rows: mean and spread over restarts, what their consensus
answers (the majority vote where half of them or fewer survive), the largest error in ψ where it is known. Sets of the
first half choose the length, those of the second judge it. What is done is kept in FOLDER/bench_length.json, so that
the table can be made in parts; the truth is for the score alone.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.bench_accuracy import load
from deem_core import Votes, simulation
from deem_core.diagnostics.confusion import exact_confusion, recovery
from deem_core.model.backend import with_backend
from deem_core.model.config import Shape, TrainConfig, resolve
from deem_core.model.energy import Model
from deem_core.model.trainer import Trainer
from deem_core.simulation import Ensemble
from deem_core.training.health import judge, survivors_suffice
from deem_core.training.near_copies import Reduction
from deem_core.training.parts import Part, ask, row_chunks
from deem_core.typing import Floats
from deem_core.votes.alignment import class_map
from deem_core.votes.arrays import spread_rows
from deem_core.votes.describe import accuracy, majority_accuracy

TIMES = (50, 100, 180, 300, 600, 1200)
"""Learning rates × updates."""
BEFORE = 100
"""What others are compared with: the default when this was first run."""
RESULTS = Path(__file__).parent / "results"
STORE = "bench_length.json"
MOST_ROWS = 10_000
LOSS = 0.5
"""Points below the majority vote that are told as a failure."""


@dataclass(frozen=True)
class Set:
    """A set of votes with truth, and its parameters where they are known.

    Attributes
    ----------
    name : str
    votes : Votes
    chooses : bool
        Whether it takes part in choosing the length; it judges otherwise.
    psi, pi : array, optional
    """

    name: str
    votes: Votes
    chooses: bool
    psi: Floats | None = None
    pi: Floats | None = None

    @property
    def layered(self) -> bool:
        """Whether the default gives it a layer."""
        return bool(resolve(TrainConfig(), Shape.of(self.votes)).config.n_layers)


def _few(make: Callable[[], Ensemble], share: float, seed: int) -> Ensemble:
    return simulation.drop_votes(make(), share, rng=np.random.default_rng(seed))


def _crowd(n: int, seed: int, **how: int) -> Ensemble:
    return simulation.crowd(n, rng=np.random.default_rng(seed), **how)


def _made(name: str, n: int, seed: int) -> Ensemble:
    return simulation.make(name, n, seed)


DRAWS: dict[str, tuple[Callable[[], Ensemble], bool]] = {
    **{f"condind-{s}": (partial(_made, "condind", 10_000, s), s < 3) for s in range(6)},
    **{f"condind-small-{s}": (partial(_made, "condind", 400, s), s < 12) for s in range(10, 14)},
    **{f"tree-{s}": (partial(_made, "tree", 10_000, s), s < 2) for s in range(4)},
    **{f"ampdata-{s}": (partial(_made, "ampdata", 10_000, s), s < 2) for s in range(4)},
    **{f"copies-{s}": (partial(_made, "copies", 5_000, s), s < 1) for s in range(2)},
    **{f"experts-{s}": (partial(_made, "experts", 1_000, s), s < 1) for s in range(2)},
    **{f"rules-{s}": (partial(_made, "rules", 2_000, s), s < 1) for s in range(2)},
    **{f"crowd-{s}": (partial(_made, "crowd", 1_000, s), s < 2) for s in range(4)},
    **{
        f"crowd-wide-{s}": (partial(_crowd, 500, s, n_workers=60, votes_per_task=35, n_classes=2), s < 1)
        for s in range(2)
    },
    **{
        f"crowd-thin-{s}": (partial(_crowd, 2_000, s, n_workers=150, votes_per_task=3, n_classes=3), s < 1)
        for s in range(2)
    },
    **{f"condind-missing-{s}": (partial(_few, partial(_made, "condind", 10_000, s), 0.4, s), s < 21) for s in (20, 21)},
}
"""Name → how it is drawn, and whether it chooses."""

STORED: dict[str, tuple[int, bool]] = {
    "mniste": (MOST_ROWS, True),
    "mniste47": (MOST_ROWS, False),
    "uci_gesture": (MOST_ROWS, True),
    "uci_artchars": (MOST_ROWS, False),
    "ens_digits": (MOST_ROWS, True),
    "ens_letter": (1_000, False),
    "uci_gesture-500": (500, False),
    "uci_artchars-1000": (1_000, True),
    "llm_mmlupro": (2_000, False),
    "llmjudge_llmbar": (MOST_ROWS, True),
    "ws_youtube": (MOST_ROWS, True),
    "crowd_bluebird": (MOST_ROWS, True),
    "crowd_rte": (MOST_ROWS, False),
    "crowd_ms": (MOST_ROWS, True),
    "crowd_dog": (MOST_ROWS, False),
    "crowd_zencrowd_us": (MOST_ROWS, True),
    "crowd_zencrowd_all": (MOST_ROWS, False),
    "crowd_web": (MOST_ROWS, False),
    "crowd_cf": (MOST_ROWS, True),
    "crowd_facteval": (MOST_ROWS, False),
}
"""Name of a set under DEEM_DATA, without a number of rows → most rows, evenly spread, and whether it chooses."""


def names() -> list[str]:
    """Return the names of all sets that are here."""
    folder = os.environ.get("DEEM_DATA")
    return [*DRAWS, *(STORED if folder else ())]


def find(name: str) -> Set:
    """Return a set by name."""
    if name in DRAWS:
        make, chooses = DRAWS[name]
        made = make()
        known = not name.startswith(("tree", "copies", "experts", "rules"))  # there learners depend on each other
        return Set(name, made.votes, chooses, *((made.psi, made.pi) if known else ()))
    most, chooses = STORED[name]
    votes = load(Path(os.environ["DEEM_DATA"]), name.partition("-")[0])
    return Set(name, votes.select_rows(spread_rows(votes.n_rows, min(most, votes.n_rows))), chooses)


# ---------------------------------------------------------------------- trainings


def measure(source: Set, restarts: int) -> list[dict[str, Any]]:
    """Return what a training came to at each of `TIMES`."""
    bare = source.votes.without_truth()
    bare = bare.select_rows(bare.votes_per_row > 0)
    config = TrainConfig(n_layers=0, start="majority", near_copies="keep")
    settings = resolve(config, Shape.of(bare)).config
    rate = float(settings.learning_rate or 0)
    stops = {round(time / rate): time for time in TIMES}
    long = TrainConfig(n_layers=0, start="majority", near_copies="keep", updates=max(stops))
    ready = with_backend(resolve(long, Shape.of(bare)), Shape.of(bare), "cpu").config
    trainers = [
        Trainer(bare.codes, bare.n_classes, ready, [seed], device=torch.device("cpu")) for seed in range(restarts)
    ]
    rows = []
    for stop, time in stops.items():
        for trainer in trainers:
            while trainer.update < stop:
                trainer.step()
        rows.append(
            {"time": time, "updates": stop, **_look(source, bare, [trainer.finished() for trainer in trainers])}
        )
    return rows


def _look(source: Set, bare: Votes, models: Sequence[Model]) -> dict[str, Any]:
    """Return scores of some restarts and of their consensus."""
    truth, codes = source.votes.truth, source.votes.codes.copy()
    assert truth is not None  # noqa: S101  # every set has it
    reduction, majority = Reduction.of(bare.learners), bare.majority_vote.codes
    posteriors = [_posterior(model, bare) for model in models]
    maps = [class_map(own.argmax(1), majority, bare.n_classes) for own in posteriors]
    labels = np.stack([own_map[own.argmax(1)] for own_map, own in zip(maps, posteriors, strict=True)])
    finite = [bool(np.isfinite(own).all()) for own in posteriors]
    health = judge(labels, majority, bare.n_classes, [None if good else "not finite" for good in finite])
    parts = [Part(reduction, model, own_map[None]) for model, own_map in zip(models, maps, strict=True)]
    asked = [part.posteriors(codes) for part in parts]
    kept = [one for one, verdict in zip(asked, health, strict=True) if verdict.kept]
    answers = survivors_suffice(len(kept), len(models))
    consensus = 100 * (accuracy(np.mean(kept, axis=0).argmax(1), truth) if answers else majority_accuracy(source.votes))
    errors = [_error(source, part) for part in parts]
    return {
        "right": [100 * accuracy(one.argmax(1), truth) for one in asked],
        "consensus": consensus,
        "kept": len(kept),
        "psi": None if None in errors else errors,
    }


def _posterior(model: Model, votes: Votes) -> Floats:
    found = [ask(model, votes.codes[chunk].copy(), exact=False)[0] for chunk in row_chunks(votes.n_rows, model)]
    return np.concatenate([np.asarray(one) for one in found])


def _error(source: Set, part: Part) -> float | None:
    if source.psi is None or source.pi is None:
        return None
    return recovery(source.psi, source.pi, exact_confusion(part, source.votes.classes)).psi_error


# ---------------------------------------------------------------------- the table


def table(found: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "Consensus of the restarts in per cent, by learning rate × updates; kept restarts in brackets if not all"
    yield "(votes: all cast, or some missing; layer: whether the default has one, which this training has not)"
    yield f"{'set':<20}{'half':>7}{'votes':>9}{'layer':>6}{'MV':>7}" + "".join(f"{time:>11}" for time in TIMES)
    for name, told in found.items():
        cells = "".join(_cell(row, len(row["right"])) for row in told["rows"])
        half, layer = "choose" if told["chooses"] else "judge", "yes" if told["layered"] else "no"
        votes = "all" if told["complete"] else "missing"
        yield f"{name:<20}{half:>7}{votes:>9}{layer:>6}{told['majority']:>7.2f}{cells}"
    yield ""
    yield "Single restarts, mean ± spread"
    yield f"{'set':<20}" + "".join(f"{time:>15}" for time in TIMES)
    for name, told in found.items():
        cells = (f"{np.mean(row['right']):.2f} ± {np.std(row['right']):.2f}" for row in told["rows"])
        yield f"{name:<20}" + "".join(f"{cell:>15}" for cell in cells)
    yield ""
    yield "Largest error in ψ, mean over restarts, where the model holds"
    for name, told in found.items():
        if told["rows"][0]["psi"] is not None:
            yield f"{name:<20}" + "".join(f"{np.mean(row['psi']):>15.3f}" for row in told["rows"])
    yield ""
    yield from _summary(found)


def _cell(row: dict[str, Any], restarts: int) -> str:
    kept = f" ({row['kept']})" if row["kept"] < restarts else ""
    return f"{row['consensus']:.2f}{kept}".rjust(11)


def _summary(found: dict[str, Any]) -> Iterator[str]:
    """Yield paired differences from the default over sets, by half and by whether votes are missing."""
    yield f"Consensus minus that at {BEFORE}, paired by set: mean ± standard error over sets, smallest, largest; sets"
    yield f"more than {LOSS} below the majority vote"
    for kind, complete in (("complete votes", True), ("missing votes", False)):
        for half, chooses in (("choose", True), ("judge", False)):
            own = [told for told in found.values() if told["chooses"] == chooses and told["complete"] == complete]
            yield f"{kind}, sets that {half}: {len(own)}"
            if len(own) > 1:
                yield from _gains(own)


def _gains(chosen: list[dict[str, Any]]) -> Iterator[str]:
    consensus = np.array([[row["consensus"] for row in told["rows"]] for told in chosen])  # (sets, times)
    majority = np.array([told["majority"] for told in chosen])
    gains = consensus - consensus[:, [TIMES.index(BEFORE)]]
    for time, own, gain in zip(TIMES, consensus.T, gains.T, strict=True):
        error = gain.std(ddof=1) / np.sqrt(len(gain))
        lost = int((own < majority - LOSS).sum())
        span = f"{gain.min():>+8.2f}{gain.max():>+8.2f}"
        yield f"  {time:>6}{own.mean():>8.2f}{gain.mean():>+8.2f} ± {error:.2f}{span}{lost:>4}"


def main() -> None:
    """Measure what is asked for and not there yet, and print the table of all that is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="sets (default: all)")
    parser.add_argument("--restarts", type=int, default=3)
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER")
    options = parser.parse_args()
    file = options.results / STORE
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    wanted = options.names or names()
    for name in wanted:
        if name not in found:
            source = find(name)
            rows = measure(source, options.restarts)
            majority = 100 * majority_accuracy(source.votes)
            found[name] = {
                "chooses": source.chooses,
                "layered": source.layered,
                "complete": source.votes.coverage == 1,
                "majority": majority,
                "rows": rows,
            }
            file.write_text(json.dumps(found), encoding="utf-8")
            print(name, [round(row["consensus"], 2) for row in rows], flush=True)
    ordered = {name: found[name] for name in names() if name in found}
    print("\n".join(table(ordered)))


if __name__ == "__main__":
    main()
