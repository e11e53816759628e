"""Labels on a scale: ordinal Dawid-Skene beside medians, votes and what auto answers without an order.

Usage: DEEM_DATA=folder python -m benchmarks.bench_ordinal [--again] [--seeds N]

Panels are drawn in six worlds, three to choose by and three to judge by, which the priors and the form of the method
never saw: other seeds, and raters that none of its formulas describe. Of the crowd under DEEM_DATA that graded
relevance 1 to 5, one half of the rows (drawn once) was looked at while choosing and the other was not; the regressors
on scikit-learn's diabetes table are all to judge by. Results are kept in benchmarks/results/ordinal.json, and
benchmarks/results/ordinal.md is written from it.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from deem_core import Votes
from deem_core.files.atomic import write_json
from deem_core.methods import ordinal, registry
from deem_core.methods.dawid_skene import Steps
from deem_core.typing import Codes
from deem_core.votes.majority import vote_shares
from deem_core.votes.patterns import Table
from deem_core.votes.statistics import scale_errors

RESULTS = Path(__file__).parent / "results"
STORE, PAGE = RESULTS / "ordinal.json", RESULTS / "ordinal.md"
CHOOSE, JUDGE = "to choose by", "to judge by"
WORLDS = {
    "steps": (CHOOSE, "bias, reach and noise, rounded"),
    "neighbours": (CHOOSE, "right or a few steps off"),
    "nominal": (CHOOSE, "errors know no order"),
    "latent": (JUDGE, "a continuous truth: rows near an edge are hard for all"),
    "matrices": (JUDGE, "an uneven confusion matrix for each"),
    "styles": (JUDGE, "lenient, severe, cautious, extreme; one in six guesses"),
}
SIZES = ((60, 5, 5), (200, 30, 5), (400, 8, 6), (1500, 40, 4), (1000, 7, 7))
"""Rows, learners, and votes in each row."""
STEPS = (3, 5, 7)
METRICS = {"accuracy": "right", "mae": "mean absolute error", "kappa": "quadratic weighted kappa"}

Panel = tuple[Codes, Codes, int]
Labeller = Callable[[Votes], Codes]


# ---------------------------------------------------------------------- ways to answer


def median(votes: Votes) -> Codes:
    """Return the median vote, of two the one nearer to the mean."""
    cast = np.where(votes.codes >= 0, votes.codes, np.nan).astype(float)
    middle, mean = np.nanmedian(cast, axis=1), np.nanmean(cast, axis=1)
    return np.rint(middle + 0.25 * np.sign(mean - middle)).astype(np.int32)


def mean(votes: Votes) -> Codes:
    """Return the mean vote, rounded."""
    return np.floor(np.nanmean(np.where(votes.codes >= 0, votes.codes, np.nan), axis=1) + 0.5).astype(np.int32)


def raters(votes: Votes) -> Codes:
    """Return the labels of the model of raters alone."""
    found = ordinal.fit_raters(Table.of_votes(votes))
    return votes.distinct.spread(found.posterior).argmax(axis=1).astype(np.int32)


def pooled(votes: Votes) -> Codes:
    """Return Dawid-Skene with a prior around the confusions of all learners together; no order."""
    table = Table.of_votes(votes)
    steps, posterior = Steps(table), vote_shares(table.codes, votes.n_classes)
    for _ in range(100):
        cast = ordinal.expected_votes(steps, posterior)
        together = cast.sum(axis=0) + 0.5
        psi = ordinal.smoothed(cast, np.broadcast_to(together / together.sum(axis=0), cast.shape))
        steps.expect(psi, ordinal.shares(table, posterior), posterior)
    return votes.distinct.spread(posterior).argmax(axis=1).astype(np.int32)


def by_name(name: str) -> Labeller:
    """Return a method of the registry; all but the ordinal one are not told of the order."""

    def label(votes: Votes) -> Codes:
        return registry.aggregate(name, votes.as_ordered(name == "ordinal"), np.random.default_rng(0)).codes

    return label


WAYS: dict[str, Labeller] = {
    "majority vote": by_name("mv"),
    "median": median,
    "mean, rounded": mean,
    "Dawid-Skene": by_name("ds"),
    "one-coin": by_name("onecoin"),
    "auto, no order": by_name("auto"),
    "pooled Dawid-Skene": pooled,
    "raters only": raters,
    "ordinal": by_name("ordinal"),
}


# ---------------------------------------------------------------------- panels


def world(kind: str, n: int, d: int, K: int, seed: int) -> tuple[NDArray[Any], Codes]:
    """Draw the votes of all learners, (n, d), and the truth."""
    rng = np.random.default_rng([seed, n, d, K, list(WORLDS).index(kind)])
    pi = _shares(("even", "humped", "skewed")[(seed + K) % 3], K, rng)
    truth, c, k = rng.choice(K, n, p=pi), (K - 1) / 2, np.arange(K)
    far = np.abs(np.subtract.outer(k, k))
    if kind == "steps":
        bias, gain, noise = rng.normal(0, 0.5, d), rng.uniform(0.4, 1.1, d), rng.uniform(0.3, 1.5, d)
        seen = c + gain * (truth[:, None] - c) + bias + noise * rng.normal(size=(n, d))
        return np.clip(np.rint(seen), 0, K - 1), truth
    if kind == "nominal":
        right = rng.random((n, d)) < rng.uniform(1 / K, 0.9, d)
        return np.where(right, truth[:, None], rng.integers(0, K, (n, d))), truth
    if kind == "latent":
        point = rng.normal(size=n)
        edges = np.quantile(point, pi.cumsum()[:-1])
        bias, gain, noise = rng.normal(0, 0.3, d), rng.uniform(0.5, 1.1, d), rng.uniform(0.3, 1.2, d)
        seen = gain * point[:, None] + bias + noise * rng.normal(size=(n, d))
        return np.searchsorted(edges, seen), np.searchsorted(edges, point)
    if kind == "styles":
        return np.column_stack([_styled(truth, K, rng) for _ in range(d)]), truth
    said = np.empty((n, d), int)
    for j in range(d):
        if kind == "neighbours":
            psi = np.where(far == 0, 0, rng.uniform(0.2, 0.6) ** far)
            right = rng.beta(4, 3)
            psi = psi / psi.sum(axis=0) * (1 - right)
            psi[k, k] = right
        else:
            centre = np.exp(-far / rng.uniform(0.3, 1.5))
            psi = np.stack([rng.dirichlet(6 * column / column.sum() + 0.05) for column in centre.T], axis=1)
        said[:, j] = np.minimum((rng.random(n) > psi.cumsum(axis=0)[:, truth]).sum(axis=0), K - 1)
    return said, truth


def _styled(truth: Codes, K: int, rng: np.random.Generator) -> NDArray[Any]:
    """Return the votes of a learner with a style of its own, (n,)."""
    if rng.random() < 1 / 6:
        return rng.integers(0, K, len(truth)) if rng.random() < 0.5 else np.full(len(truth), rng.integers(0, K))
    edges, c = np.arange(K - 1) + 0.5, (K - 1) / 2
    style = rng.choice(["lenient", "severe", "cautious", "extreme", "plain"])
    moved = {
        "lenient": edges - rng.uniform(0.4, 1),
        "severe": edges + rng.uniform(0.4, 1),
        "cautious": c + (edges - c) * rng.uniform(1.2, 2),
        "extreme": c + (edges - c) * rng.uniform(0.3, 0.7),
        "plain": edges,
    }[str(style)]
    return np.searchsorted(moved, truth + rng.logistic(size=len(truth)) * rng.uniform(0.2, 0.6))


def _shares(kind: str, K: int, rng: np.random.Generator) -> NDArray[Any]:
    k = np.arange(K)
    humped = np.exp(-0.5 * ((k - (K - 1) / 2) / (K / 4)) ** 2)
    shares = {"even": np.ones(K), "humped": humped, "skewed": (k + 1.0) ** 1.5}[kind]
    shares = shares[::-1] if kind == "skewed" and rng.random() < 0.5 else shares
    return shares / shares.sum()


def thinned(said: NDArray[Any], per_row: int, rng: np.random.Generator) -> Codes:
    """Keep so many votes in each row; some learners are busier than others."""
    n, d = said.shape
    keys = rng.random((n, d)) * rng.gamma(1.0, 1.0, d) ** -0.3
    kept = np.zeros((n, d), bool)
    np.put_along_axis(kept, np.argsort(keys, axis=1)[:, :per_row], True, axis=1)
    return np.where(kept, said, -1).astype(np.int32)


def drawn(kind: str, seeds: int) -> Iterator[Panel]:
    """Yield the panels of a world; those to judge by have other seeds."""
    first = 0 if WORLDS[kind][0] == CHOOSE else 1000
    for seed in range(first, first + seeds):
        for n, d, per_row in SIZES:
            for K in STEPS:
                said, truth = world(kind, n, d, K, seed)
                yield thinned(said, per_row, np.random.default_rng([seed, n, d])), truth.astype(np.int32), K


def crowd(half: str) -> Iterator[Panel]:
    """Yield one half of the rows of the crowd that graded web pages."""
    path = Path(os.environ.get("DEEM_DATA", "")) / "crowd_web.npz"
    if not path.is_file():
        return
    data = np.load(path)
    order = np.random.default_rng(0).permutation(len(data["X"]))
    rows = order[: len(order) // 2] if half == CHOOSE else order[len(order) // 2 :]
    yield data["X"][rows].astype(np.int32), data["y"][rows].astype(np.int32), int(data["K"])


def diabetes() -> Iterator[Panel]:
    """Yield the levels that regressors predict out of fold, five and seven of them."""
    X, y = datasets.load_diabetes(return_X_y=True)
    models = [
        *(Ridge(10.0**power) for power in (-1, 2)),
        *(KNeighborsRegressor(k) for k in (1, 5, 25)),
        *(DecisionTreeRegressor(max_depth=depth, random_state=0) for depth in (2, 8)),
        RandomForestRegressor(30, random_state=0),
        SVR(C=3.0),
        SVR(C=100.0),
    ]
    features = np.random.default_rng(0)
    said = np.empty((len(y), len(models)))
    for j, model in enumerate(models):
        own = features.choice(X.shape[1], 6, replace=False)
        for train, test in KFold(5, shuffle=True, random_state=j).split(X):
            few = train[:: 2 + j % 3]
            said[test, j] = model.fit(X[few][:, own], y[few]).predict(X[test][:, own])
    for K in (5, 7):
        edges = np.quantile(y, np.arange(1, K) / K)
        yield np.searchsorted(edges, said).astype(np.int32), np.searchsorted(edges, y).astype(np.int32), K


# ---------------------------------------------------------------------- results


def scores_of(panel: Panel) -> dict[str, dict[str, float]]:
    """Return the scores of all ways on one panel."""
    codes, truth, K = panel
    votes = Votes(codes, np.arange(K), tuple(f"rater_{j}" for j in range(codes.shape[1])))
    voted = votes.votes_per_row > 0
    votes, truth = votes.select_rows(voted), truth[voted]
    found = {}
    for name, label in WAYS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said = label(votes)
        error, kappa = scale_errors(said[None], truth, np.arange(K, dtype=float))
        right = float((said == truth)[truth >= 0].mean())
        found[name] = {"accuracy": right, "mae": error, "kappa": kappa}
    return found


def measure(panels: Iterator[Panel]) -> dict[str, Any] | None:
    """Return mean scores over panels, and how often each way beats the others; None without panels."""
    each = [scores_of(panel) for panel in panels]
    if not each:
        return None
    means = {way: {m: float(np.mean([one[way][m] for one in each])) for m in METRICS} for way in WAYS}
    gains = np.array([one["auto, no order"]["mae"] - one["ordinal"]["mae"] for one in each])
    return {
        "panels": len(each),
        "means": means,
        "mae_gain_over_auto": float(gains.mean()),
        "standard_error": float(gains.std(ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else None,
        "worse_than_auto": int((gains < 0).sum()),
        "worst": float(gains.min()),
    }


def main() -> None:
    """Measure what is not stored yet, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", action="store_true", help="measure all sets again")
    parser.add_argument("--seeds", type=int, default=2, help="panels of each size in each world (default 2)")
    options = parser.parse_args()
    stored: dict[str, Any] = {} if options.again or not STORE.is_file() else json.loads(STORE.read_text())
    sets: dict[str, tuple[str, Callable[[], Iterator[Panel]]]] = {
        kind: (half, lambda kind=kind: drawn(kind, options.seeds)) for kind, (half, _) in WORLDS.items()
    }
    sets |= {
        "web, half": (CHOOSE, lambda: crowd(CHOOSE)),
        "web, other half": (JUDGE, lambda: crowd(JUDGE)),
        "diabetes": (JUDGE, diabetes),
    }
    for name, (half, make) in sets.items():
        if name not in stored and (found := measure(make())) is not None:
            stored[name] = {"half": half, **found}
            write_json(stored, STORE)
            print(name, {way: round(score["mae"], 3) for way, score in found["means"].items()}, flush=True)
    PAGE.write_text(page(stored))
    print(page(stored))


def page(stored: dict[str, Any]) -> str:
    """Return the tables as Markdown."""
    lines = ["# Labels on a scale", "", "`DEEM_DATA=… python -m benchmarks.bench_ordinal --again`", ""]
    for half in (CHOOSE, JUDGE):
        names = [name for name, found in stored.items() if found["half"] == half]
        for metric, title in METRICS.items():
            lines += [f"## Sets {half}: {title}", "", f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
            for way in WAYS:
                cells = [stored[name]["means"][way][metric] for name in names]
                lines.append(f"| {way} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |")
            lines.append("")
    lines += ["## Ordinal against auto without an order: mean absolute error won", ""]
    lines += ["| set | | panels | gain | standard error | worse on | worst |", "|---|---|---|---|---|---|---|"]
    for name, found in stored.items():
        error = "–" if found["standard_error"] is None else f"{found['standard_error']:.3f}"
        lines.append(
            f"| {name} | {found['half']} | {found['panels']} | {found['mae_gain_over_auto']:+.3f} | {error} | "
            f"{found['worse_than_auto']} | {found['worst']:+.3f} |"
        )
    lines += ["", "Worlds: " + "; ".join(f"*{kind}*: {words}" for kind, (_, words) in WORLDS.items()) + "."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
