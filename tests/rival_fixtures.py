"""Answers of other packages, stored so that tests need not have them.

    pip install -r requirements-bench.txt
    python -m tests.rival_fixtures              # writes tests/core/methods/fixtures/crowdkit.npz and hyperlm.npz
    python -m tests.rival_fixtures crowdkit     # one of them

Nothing of this project takes part: votes come from here, answers from there, and tests/core/methods/test_rivals.py
compares. Of hyperlm's network the questions and its replies are kept as well, since our method asks the same network.
"""

from __future__ import annotations

import argparse
import importlib
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FOLDER = Path(__file__).parent / "core" / "methods" / "fixtures"
STEPS = (1, 2, 5, 10)
"""Iterations after which Dawid-Skene and its one-coin form are looked at."""

CROWDS = {"complete": 1.0, "missing": 0.7}
"""Share of the votes cast."""

QUESTIONS = {"two": (2, 1.0), "three": (3, 1.0), "two_missing": (2, 0.8), "four_missing": (4, 0.8)}
"""Classes, and share of the votes cast."""


def votes(seed: int, n: int, d: int, K: int, coverage: float) -> NDArray[np.int64]:
    """Return (n, d) codes, right in 70%, -1 for no vote; every row has a vote."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(K, size=(n, 1))
    codes = np.where(rng.random((n, d)) < 0.7, truth, rng.integers(K, size=(n, d)))
    codes = np.where(rng.random((n, d)) < coverage, codes, -1)
    return codes[(codes >= 0).any(axis=1)]


def crowdkit() -> dict[str, Any]:
    """Return crowd-kit's posteriors (n, K): majority vote, Dawid-Skene and one-coin."""
    import pandas as pd

    package: Any = importlib.import_module("crowdkit.aggregation")
    kept: dict[str, Any] = {"version": version("crowd-kit")}
    for name, coverage in CROWDS.items():
        codes = votes(15, 120, 6, 4, coverage)
        row, learner = np.nonzero(codes >= 0)
        answers = pd.DataFrame({"task": row, "worker": learner, "label": codes[row, learner]})

        def posterior(model: Any, answers: Any = answers) -> NDArray[np.float64]:
            found = model.fit(answers).probas_.fillna(0.0).sort_index().sort_index(axis=1)
            return np.asarray(found.to_numpy())

        kept[f"{name}.codes"] = codes.astype(np.int32)
        kept[f"{name}.mv"] = posterior(package.MajorityVote())
        for step in STEPS:
            kept[f"{name}.ds.{step}"] = posterior(package.DawidSkene(n_iter=step, tol=-np.inf))
            kept[f"{name}.onecoin.{step}"] = posterior(package.OneCoinDawidSkene(n_iter=step, tol=-np.inf))
    return kept


def hyperlm() -> dict[str, Any]:
    """Return hyperlm's posteriors (n, K), and what its network was asked and replied."""
    import torch

    package: Any = importlib.import_module("hyperlm.hyper_label_model")
    kept: dict[str, Any] = {"version": version("hyperlm")}
    checkpoint = str(Path(package.__file__).with_name("checkpoint.pt"))
    plain_load = torch.load
    torch.load = lambda *a, **k: plain_load(
        *a, **{**k, "weights_only": False}
    )  # the package comes from before that rule
    try:
        model = package.UnsupervisedWraper("cpu", checkpoint)
    finally:
        torch.load = plain_load
    network = model.net
    for name, (K, coverage) in QUESTIONS.items():
        codes = votes(1, 60, 6, K, coverage)
        asked: list[tuple[Any, Any, Any]] = []

        def net(index: Any, values: Any, asked: list[Any] = asked) -> Any:
            reply = network(index, values)
            asked.append((index[0].numpy(), values[0].numpy(), reply[0].detach().numpy()))
            return reply

        model.net = net
        kept[f"{name}.codes"] = codes.astype(np.int32)
        kept[f"{name}.posterior"] = model.predict_prob(codes)
        for what, arrays in zip(("index", "values", "replies"), zip(*asked, strict=True), strict=True):
            kept[f"{name}.{what}"] = np.stack(arrays)
    return kept


PACKAGES = {"crowdkit": crowdkit, "hyperlm": hyperlm}


def main() -> None:
    """Write the files of the packages named, or of all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("packages", nargs="*", default=list(PACKAGES), help="crowdkit, hyperlm; both by default")
    FOLDER.mkdir(exist_ok=True)
    for name in parser.parse_args().packages:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.savez_compressed(FOLDER / f"{name}.npz", **PACKAGES[name]())


if __name__ == "__main__":
    main()
