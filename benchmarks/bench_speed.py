"""Speed of training: one update against the authors' package, and how the cost grows.

Usage: python -m benchmarks.bench_speed [--growth]

With ``--growth`` only how the cost grows is measured; its picture goes to results/bench_speed.png either way.

CPU time on one thread, in one process, for one restart: 5 sampler steps, batch 1024 unless said, one layer unless
said. The authors' package is deem 0.2.0 from PyPI (requirements-bench.txt); without it only our figures are shown.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import growth
from deem_core import simulation
from deem_core.model.config import Shape, TrainConfig, resolve
from deem_core.model.trainer import Trainer

PICTURE = Path(__file__).parent / "results" / "bench_speed.png"
LIMITS = {"tree3k": 7.0, "MnistE": 6.0}
"""How many times faster than the authors' package an update must be."""


def main() -> None:
    """Print both tables and draw the second."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--growth", action="store_true")
    torch.set_num_threads(1)
    if not parser.parse_args().growth:
        against_the_authors(np.random.default_rng(0))
    rows = how_it_grows(np.random.default_rng(1))
    growth.store(growth.growth(rows, ["deem_core"], "milliseconds per update"), PICTURE)


def against_the_authors(rng: np.random.Generator) -> None:
    """Print the milliseconds of an update beside those of the authors' package."""
    sets = {
        "tree3k": simulation.tree(10_000, rng=rng).votes,
        "MnistE": simulation.copies_with_noise(simulation.families(60_000, rng=rng), 5, rng=rng).votes,
    }
    print(f"Milliseconds per update\n{'set':<10}{'d':>4}{'K':>5}{'deem_core':>11}{'deem 0.2.0':>12}{'ratio':>8}")
    for name, votes in sets.items():
        ours = update_ms(votes.codes, votes.n_classes)
        theirs = their_update_ms(votes.codes, votes.n_classes) if importlib.util.find_spec("deem") else float("nan")
        mark = "" if not theirs / ours < LIMITS[name] else f"  below the limit of {LIMITS[name]:g}"
        size = f"{votes.n_learners:>4}{votes.n_classes:>5}"
        print(f"{name:<10}{size}{ours:>11.1f}{theirs:>12.1f}{theirs / ours:>8.1f}{mark}")
    print()


def how_it_grows(rng: np.random.Generator) -> list[dict[str, Any]]:
    """Print the milliseconds of an update by shape, and return the table's rows."""
    base = dict(zip(growth.SHAPE, (10_000, 12, 3, 1, 1024), strict=True))
    shapes = [base, *(base | {"rows": rows} for rows in (100_000, 1_000_000))]
    shapes += [base | {"d": d} for d in (24, 48, 96)] + [base | {"K": K} for K in (6, 12, 24)]
    shapes += [base | {"layers": layers} for layers in (0, 2, 3)]
    shapes += [base | {"d": 5, "K": K, "batch": 128} for K in (100, 1000)]
    print("How the cost grows (milliseconds per update)")
    print(f"{'rows':>10}{'d':>4}{'K':>6}{'layers':>8}{'batch':>7}{'ms':>9}")
    table = []
    for shape in shapes:
        rows, d, K, layers, batch = (shape[name] for name in growth.SHAPE)
        codes = rng.integers(0, K, (rows, d), dtype=np.int32)
        table.append({**shape, "deem_core": update_ms(codes, K, layers, batch)})
        print(f"{rows:>10,}{d:>4}{K:>6}{layers:>8}{batch:>7}{table[-1]['deem_core']:>9.1f}", flush=True)
    return table


def update_ms(codes: Any, n_classes: int, n_layers: int = 1, batch: int = 1024) -> float:
    """Return the milliseconds of one of our updates."""
    wish = TrainConfig(n_layers=n_layers, batch_size=batch)
    shape = Shape(len(codes), codes.shape[1], n_classes, float(codes.shape[1]), 1.0)
    config = replace(resolve(wish, shape).config, step_size=0.2)
    trainer = Trainer(codes, n_classes, config, [0], device=torch.device("cpu"))
    return _best(trainer.step)


def their_update_ms(codes: Any, n_classes: int, batch: int = 1024) -> float:
    """Return the milliseconds of one update of the authors' package: what its trainer does with a batch."""
    from deem.core.losses import EBMLoss  # type: ignore[import-not-found]  # noqa: PLC0415
    from deem.core.models import MultinomialRBMGwg  # type: ignore[import-not-found]  # noqa: PLC0415
    from deem.core.preprocessing import Multinomial  # type: ignore[import-not-found]  # noqa: PLC0415

    d = codes.shape[1]
    layer = Multinomial(n_classes, n_classes, d, d, init_method="identity", use_softmax=True)
    model = MultinomialRBMGwg(
        dx=d, dh=1, k=n_classes, l=n_classes, m=n_classes, device="cpu", deterministic=True,
        multinomial_net=torch.nn.Sequential(layer), sampler_steps=5, init_method="mv_rand",
    )  # fmt: skip
    optimiser = torch.optim.SGD(model.parameters(), lr=0.001)
    loss_fn = EBMLoss(model)
    data = torch.as_tensor(np.array(codes[:batch])).float()

    def update() -> None:
        model.sampler.clear_buffer()  # chains from the data, as ours
        loss = loss_fn(*model.get_samples(data))
        optimiser.zero_grad()
        loss.backward()
        model.zero_fixed_weights_grad()
        optimiser.step()

    return _best(update)


def _best(action: Callable[[], Any]) -> float:
    """Return the least CPU time of several runs, in milliseconds."""
    action()
    times: list[float] = []
    while len(times) < 5 or (sum(times) < 2 and len(times) < 50):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return 1000 * min(times)


if __name__ == "__main__":
    main()
