"""Both backends of training beside each other: the same energies, acceptance and labels, over seeds.

Usage: [DEEM_DATA=folder] python -m benchmarks.bench_backends [--seeds 5]

Default settings from the majority vote. The backends draw other random numbers, so figures agree within the spread over
seeds: |difference| / its standard error is near 1 and rarely above 3. Truth is for the score alone.
tree3k, ampdata and mniste from the folder of ensembles; draws of the same recipes without it.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from benchmarks.bench_accuracy import load
from deem_core import Votes
from deem_core.model.config import Shape, TrainConfig, resolve
from deem_core.model.trainer import Trainer
from deem_core.simulation import make
from deem_core.training.parts import ask
from deem_core.typing import Floats
from deem_core.votes.alignment import class_map
from deem_core.votes.describe import accuracy

FIGURES = ("positive F", "negative F", "acceptance", "moved", "per cent right")


def sources() -> Iterator[tuple[str, Votes]]:
    """Yield three sets with truth."""
    folder = os.environ.get("DEEM_DATA")
    if folder:
        for name in ("tree3k", "ampdata", "mniste"):
            yield name, load(Path(folder), name)
        return
    for name, rows in (("tree", 10_000), ("experts", 10_000), ("families", 20_000)):
        yield name, make(name, rows, seed=0).votes


def figures(votes: Votes, backend: str, seed: int) -> Floats:
    """Return the figures of one training, means over its last quarter of records."""
    config = replace(resolve(TrainConfig(start="majority"), Shape.of(votes)).config, backend=backend)
    trainer = Trainer(votes.codes, votes.n_classes, config, [seed], device=torch.device("cpu"))
    records = [own[0] for own in trainer]
    late = records[3 * len(records) // 4 :]
    means = [np.mean([getattr(one, name) for one in late]) for name in ("positive", "negative", "acceptance", "moved")]
    codes = np.concatenate(
        [ask(trainer.finished(), part, exact=False)[0].argmax(-1) for part in np.array_split(votes.codes, 8)]
    )
    majority = votes.majority_vote.codes
    assert votes.truth is not None  # noqa: S101  # every source has it
    right = 100 * accuracy(class_map(codes, majority, votes.n_classes)[codes], votes.truth)
    return np.array([*means, right])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = range(parser.parse_args().seeds)
    torch.set_num_threads(1)
    print(f"{len(seeds)} seeds, mean ± sd\n{'set':<10}{'figure':<16}{'torch':>20}{'numba':>20}{'diff / se':>11}")
    for name, votes in sources():
        each = {backend: np.stack([figures(votes, backend, seed) for seed in seeds]) for backend in ("torch", "numba")}
        for at, figure in enumerate(FIGURES):
            one, two = each["torch"][:, at], each["numba"][:, at]
            error = np.sqrt((one.var(ddof=1) + two.var(ddof=1)) / len(seeds))
            words = [f"{own.mean():.4f} ± {own.std(ddof=1):.4f}" for own in (one, two)]
            apart = abs(one.mean() - two.mean()) / max(error, 1e-9)
            print(f"{name:<10}{figure:<16}{words[0]:>20}{words[1]:>20}{apart:>11.1f}", flush=True)


if __name__ == "__main__":
    main()
