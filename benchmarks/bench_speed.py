"""Speed of training: one update against the authors' package, whole trainings, and how the cost grows.

Usage: python -m benchmarks.bench_speed [--growth] [--classes]

With ``--growth`` only how the cost grows is measured; its picture goes to results/bench_speed.png either way. With
``--classes`` a thousand classes are set against the authors' package too (two minutes and 5 GB for one of its updates).

CPU time on one thread, in one process, for one restart: 5 sampler steps, batch 1024 unless said, one layer unless
said. The authors' package is deem 0.2.0 from PyPI (requirements-bench.txt); without it only our figures are shown.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import growth
from deem_core import DEEM, Votes, simulation
from deem_core.model.config import Shape, TrainConfig, resolve
from deem_core.model.trainer import Trainer

PICTURE = Path(__file__).parent / "results" / "bench_speed.png"
BACKENDS = ("numba", "torch")
LEAST, MEAN, MANY = 18.0, 25.0, 500.0
"""How many times faster an update of the kernel must be: every set, their geometric mean, a thousand classes."""
MOST_SECONDS = 8.0
"""CPU seconds that five default restarts of tree3k may take."""

COLD = """
import time
import torch
from deem_core.model.kernel import engine
begun = time.process_time()
engine.warm_up()
print(time.process_time() - begun)
"""


def main() -> None:
    """Print the tables and draw the last."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--classes", action="store_true")
    options = parser.parse_args()
    os.environ["DEEM_THREADS"] = "1"
    torch.set_num_threads(1)
    if not options.growth:
        compilation()
        against_the_authors(np.random.default_rng(0), options.classes)
        restarts()
    rows = how_it_grows(np.random.default_rng(1))
    growth.store(growth.growth(rows, BACKENDS, "milliseconds per update"), PICTURE)


def compilation() -> None:
    """Print what compiling the kernel takes, and loading it when it was compiled before."""
    with tempfile.TemporaryDirectory() as folder:
        cold, warm = (
            float(
                subprocess.run(
                    [sys.executable, "-c", COLD],
                    env={**os.environ, "NUMBA_CACHE_DIR": folder},
                    capture_output=True,
                    text=True,
                    check=True,
                ).stdout
            )
            for _ in range(2)
        )
    print(f"The kernel: compiled in {cold:.1f} CPU seconds, once; loaded from disk in {warm:.1f}\n")


def against_the_authors(rng: np.random.Generator, many: bool) -> None:
    """Print the milliseconds of an update beside those of the authors' package."""
    sets = {
        "tree3k": simulation.tree(10_000, rng=rng).votes,
        "AmpData": simulation.ampdata(10_000, rng=rng).votes,
        "MnistE": simulation.copies_with_noise(simulation.families(60_000, rng=rng), 5, rng=rng).votes,
        "letters": simulation.condind(20_000, rng=rng, n_learners=11, n_classes=26, n_informative=11).votes,
    }
    print("Milliseconds per update, sampler's step 0.2")
    print(f"{'set':<10}{'d':>4}{'K':>6}{'numba':>9}{'torch':>9}{'deem 0.2.0':>12}{'ratio':>8}")
    known = importlib.util.find_spec("deem") is not None
    ratios = []
    for name, votes in sets.items():
        theirs = their_update_ms(votes.codes, votes.n_classes) if known else float("nan")
        ratios.append(_line(name, votes, theirs, least=LEAST))
    mean = float(np.exp(np.mean(np.log(ratios))))
    print(f"geometric mean of the ratios {mean:.1f}{_mark(mean, MEAN)}")
    if many:
        votes = simulation.condind(10_000, rng=rng, n_learners=5, n_classes=1000, n_informative=5).votes
        theirs = their_update_ms(votes.codes, 1000, batch=128, runs=1) if known else float("nan")
        _line("thousand", votes, theirs, batch=128, step=None, least=MANY)
        print("  (batch 128; our step from K, since 0.2 would move nearly all votes; one run of theirs)")
    print(flush=True)


def _line(
    name: str, votes: Votes, theirs: float, *, least: float, batch: int = 1024, step: float | None = 0.2
) -> float:
    ours = [update_ms(votes.codes, votes.n_classes, 1, batch, backend=backend, step=step) for backend in BACKENDS]
    ratio = theirs / ours[0]
    size = f"{votes.n_learners:>4}{votes.n_classes:>6}"
    print(
        f"{name:<10}{size}{ours[0]:>9.2f}{ours[1]:>9.1f}{theirs:>12.1f}{ratio:>8.1f}{_mark(ratio, least)}", flush=True
    )
    return ratio


def _mark(ratio: float, least: float) -> str:
    return f"  below the limit of {least:g}" if ratio < least else ""


def restarts() -> None:
    """Print the CPU seconds of five default restarts."""
    votes = simulation.tree(10_000, rng=np.random.default_rng(0)).votes.without_truth()
    print("Five restarts of tree3k with default settings, all of `fit`, CPU seconds")
    for start in ("majority", "auto"):
        for backend in BACKENDS:
            begun = time.process_time()
            DEEM(random_state=0, start=start, backend=backend).fit(votes)
            seconds = time.process_time() - begun
            over = f"  above the limit of {MOST_SECONDS:g}" if backend == "numba" and seconds > MOST_SECONDS else ""
            print(f"start {start:<10}{backend:<8}{seconds:>7.1f}{over}", flush=True)
    print()


def how_it_grows(rng: np.random.Generator) -> list[dict[str, Any]]:
    """Print the milliseconds of an update by shape, and return the table's rows."""
    base = dict(zip(growth.SHAPE, (10_000, 12, 3, 1, 1024), strict=True))
    shapes = [base, *(base | {"rows": rows} for rows in (100_000, 1_000_000))]
    shapes += [base | {"d": d} for d in (24, 48, 96)] + [base | {"K": K} for K in (6, 12, 24)]
    shapes += [base | {"layers": layers} for layers in (0, 2, 3)]
    shapes += [base | {"d": 5, "K": K, "batch": 128} for K in (100, 1000)]
    print("How the cost grows (milliseconds per update)")
    print(f"{'rows':>10}{'d':>4}{'K':>6}{'layers':>8}{'batch':>7}{'numba':>9}{'torch':>9}")
    table = []
    for shape in shapes:
        rows, d, K, layers, batch = (shape[name] for name in growth.SHAPE)
        codes = rng.integers(0, K, (rows, d), dtype=np.int32)
        ours = {backend: update_ms(codes, K, layers, batch, backend=backend) for backend in BACKENDS}
        table.append({**shape, **ours})
        words = "".join(f"{ms:>9.1f}" for ms in ours.values())
        print(f"{rows:>10,}{d:>4}{K:>6}{layers:>8}{batch:>7}{words}", flush=True)
    return table


def update_ms(
    codes: Any, n_classes: int, n_layers: int = 1, batch: int = 1024, *, backend: str, step: float | None = 0.2
) -> float:
    """Return the milliseconds of one of our updates."""
    wish = TrainConfig(n_layers=n_layers, batch_size=batch, step_size=step)
    shape = Shape(len(codes), codes.shape[1], n_classes, float(codes.shape[1]), 1.0)
    config = replace(resolve(wish, shape).config, backend=backend)
    trainer = Trainer(codes, n_classes, config, [0], device=torch.device("cpu"))
    return _best(trainer.step)


def their_update_ms(codes: Any, n_classes: int, batch: int = 1024, runs: int = 50) -> float:
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

    return _best(update, runs)


def _best(action: Callable[[], Any], runs: int = 50) -> float:
    """Return the least CPU time of several runs, in milliseconds."""
    if runs > 1:
        action()
    times: list[float] = []
    while len(times) < min(5, runs) or (sum(times) < 2 and len(times) < runs):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return 1000 * min(times)


if __name__ == "__main__":
    main()
