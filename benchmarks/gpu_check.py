"""Check of a GPU: its tests, and trainings beside the processor's.

Usage: python -m benchmarks.gpu_check [--device DEVICE] [--rows N]

Runs the tests that need a GPU, then trains DEEM on two draws, on the processor with two seeds and on the GPU. Energies
and labels of the GPU must be as near to the processor's as those of another seed are. What it prints can be pasted
into an issue. A device that passes gets a passport; only then does "auto" take an Apple GPU.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deem_core import DEEM, simulation
from deem_core.errors import DeemError
from deem_core.model.devices import UNCHECKED, Device, devices, pick_device
from deem_core.model.passport import issue, torch_version
from deem_core.typing import Codes, Floats
from deem_core.votes import Votes

ROWS = {"tree3k-like": 10_000, "mniste-like": 15_000}
"""Rows of each draw."""

LABELS_SLACK = 0.02
"""How much less than two seeds of the processor the GPU's labels may agree with the processor's."""

ENERGY_SLACK = 0.05
"""How far mean energies may be apart, in nats, beyond three times their spread over restarts."""

SEEDS = (0, 1)


@dataclass(frozen=True)
class Trained:
    """Outcome of one training.

    Attributes
    ----------
    where : str
    seconds : float
    updates : int
        Of all restarts side by side.
    energies : (2, R)
        F of data and chains at the last record of each restart.
    codes : (n,)
        Labels.
    note : str
    """

    where: str
    seconds: float
    updates: int
    energies: Floats
    codes: Codes
    note: str = ""


def main(arguments: list[str] | None = None) -> int:
    """Check a GPU and print a table; 0 if it passed."""
    parser = argparse.ArgumentParser(description="Check that training on a GPU does what it does on the processor.")
    parser.add_argument("--device", help="such as cuda:1 or mps (default: the first GPU)")
    parser.add_argument("--rows", type=int, help="rows of each draw (default 10,000 and 15,000)")
    parser.add_argument("--no-tests", action="store_true", help="only train; gives no passport")
    options = parser.parse_args(arguments)
    try:
        device = _chosen(options.device)
    except DeemError as error:
        print(error, file=sys.stderr)
        return 1
    tests = None if options.no_tests else tests_pass(device.name)
    print(f"\n**GPU check** of {device.title} ({device.name}): PyTorch {torch_version()}, {platform.platform()}\n")
    faults = [] if tests is not False else ["The tests for GPUs failed: see above."]
    for line in table_and_faults(device.name, options.rows, faults):
        print(line, flush=True)
    print()
    for fault in faults:
        print(f"- {fault}")
    if faults or tests is None:
        print("Not passed." if faults else "The trainings agree. Without the tests there is no passport.")
        return int(bool(faults))
    issue(device.name, device.title)
    print("Passed: written down for this device and this version of PyTorch.")
    return 0


def _chosen(wish: str | None) -> Device:
    """Return the device to check, by its own name.

    Raises
    ------
    InputError
        If it is not there.
    """
    known = devices()
    gpus = [device for device in known if device.name != "cpu"]
    if wish is None and not gpus:
        raise DeemError("PyTorch finds no GPU here, so there is nothing to check.")
    name = wish or gpus[0].name
    pick_device(name)
    found = next((device for device in known if device.name in (name, f"{name}:0")), Device(name, name))
    return Device(found.name, found.title.removesuffix(UNCHECKED))


def tests_pass(device: str) -> bool:
    """Run the tests that need a GPU; return whether all passed."""
    root = Path(__file__).resolve().parent.parent
    command = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "tests/core/test_gpu.py"]
    return subprocess.run(command, cwd=root, env=os.environ | {"DEEM_GPU": device}, check=False).returncode == 0


# ---------------------------------------------------------------------- trainings


def table_and_faults(device: str, rows: int | None, faults: list[str]) -> Iterator[str]:
    """Yield a Markdown table line by line; what is wrong is added to ``faults``."""
    yield "| draw | trained on | seconds | ms per update | F of data | F of chains | same label as cpu |"
    yield "|---|---|---|---|---|---|---|"
    for name, votes in draws(rows).items():
        first, second = (train(votes, "cpu", seed) for seed in SEEDS)
        others = [train(votes, device, SEEDS[0])]
        if device.startswith("cuda"):
            others.append(train(votes, device, SEEDS[0], compiled=True))
        for trained in (first, second, *others):
            yield row(name, trained, first)
        faults += [fault for other in others for fault in disagreements(name, first, second, other)]


def draws(rows: int | None) -> dict[str, Votes]:
    """Return votes like those of tree3k and MnistE, without their truth."""
    rng = np.random.default_rng(0)
    sizes = {name: rows or usual for name, usual in ROWS.items()}
    tree = simulation.tree(sizes["tree3k-like"], rng=rng)
    mnist = simulation.copies_with_noise(simulation.families(sizes["mniste-like"], rng=rng), 5, rng=rng)
    return {"tree3k-like": tree.votes.without_truth(), "mniste-like": mnist.votes.without_truth()}


def train(votes: Votes, device: str, seed: int, *, compiled: bool = False, **settings: Any) -> Trained:
    """Train DEEM from the majority vote on all learners."""
    before = os.environ.pop("DEEM_COMPILE", None)
    if compiled:
        os.environ["DEEM_COMPILE"] = "1"
    wish: dict[str, Any] = {"n_layers": 1, "start": "majority", "near_copies": "keep", "device": device, **settings}
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            begun = time.perf_counter()
            model = DEEM(random_state=seed, **wish).fit(votes)
            seconds = time.perf_counter() - begun
    finally:
        os.environ.pop("DEEM_COMPILE", None)
        if before is not None:
            os.environ["DEEM_COMPILE"] = before
    last = {record.restart: record for record in model.history_}
    energies = np.array([[record.positive for record in last.values()], [record.negative for record in last.values()]])
    note = " ".join(str(each.message) for each in caught if "torch.compile" in str(each.message))
    words = f"{device}, compiled" if compiled else f"{device}, seed {seed}"
    updates = max(record.update for record in last.values())
    return Trained(words, seconds, updates, energies, model.fuse(votes).codes, note)


def row(name: str, trained: Trained, reference: Trained) -> str:
    """Return one line of the table."""
    data, chains = (f"{own.mean():.3f} ± {own.std():.3f}" for own in trained.energies)
    same = f"{100 * (trained.codes == reference.codes).mean():.1f}%"
    pace = 1000 * trained.seconds / trained.updates
    where = f"{trained.where} ({trained.note})" if trained.note else trained.where
    return f"| {name} | {where} | {trained.seconds:.1f} | {pace:.2f} | {data} | {chains} | {same} |"


def disagreements(name: str, first: Trained, second: Trained, other: Trained) -> list[str]:
    """Return in words where a training differs from the processor's by more than another seed does."""
    found = []
    expected = (first.codes == second.codes).mean() - LABELS_SLACK
    same = (first.codes == other.codes).mean()
    if not same >= expected:
        found.append(
            f"{name}: {100 * same:.1f}% of the labels on {other.where} are those of the processor, where "
            f"{100 * expected:.1f}% were to be expected."
        )
    for what, ours, theirs, more in zip(
        ("data", "chains"), other.energies, first.energies, second.energies, strict=True
    ):
        room = ENERGY_SLACK + 3 * np.concatenate([theirs, more]).std()
        if not abs(ours.mean() - theirs.mean()) <= room:
            found.append(
                f"{name}: F of {what} on {other.where} is {ours.mean():.3f}, on the processor {theirs.mean():.3f}; "
                f"at most {room:.3f} between them were to be expected."
            )
    return found


if __name__ == "__main__":
    sys.exit(main())
