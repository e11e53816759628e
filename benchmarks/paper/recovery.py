"""Recovery: true against recovered ψ and π on CondInd, by three ways of fitting the same model (paper, Lemma 1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.paper.context import Context
from benchmarks.paper.drawing import grouped_points
from benchmarks.paper.outcome import Outcome, Pivot, Table, joined, mean, spread
from deem_core import IRBM, simulation
from deem_core.comparison import aggregate
from deem_core.diagnostics.confusion import Confusion, Recovery, exact_confusion, recovery
from deem_core.diagnostics.reliability import correlation
from deem_core.figures import correlation_heatmap, recovery_scatter
from deem_core.simulation import Ensemble
from deem_core.votes.describe import accuracy

SIZES, QUICK_SIZES = (1_000, 10_000, 100_000), (200, 300, 400)
WAYS = {
    "irbm": "iRBM, exact",
    "irbm_cd": "iRBM, sampled",
    "irbm_cd_long": "iRBM, sampled, 2,000 updates",
    "ds": "Dawid-Skene",
}
LONG = {"updates": 2_000, "restarts": 1}
"""What parameters need, in one restart; labels are good sooner, and on other votes better (benchmarks.bench_length)."""
LENGTHS, QUICK_LENGTHS = (333, 1_000, 2_000, 4_000), (4, 8)
"""Updates of single sampled trainings on draws of the middle size."""


def run(context: Context) -> Outcome:
    """Fit every draw in every way."""
    rows: list[dict[str, Any]] = []
    figures: dict[str, Any] = {}
    sizes = QUICK_SIZES if context.quick else SIZES
    for n in sizes:
        draws = [(seed, simulation.make("condind", n, seed)) for seed in context.seeds()]
        for way, title in WAYS.items():
            units = [_unit(context, made, way, seed) for seed, made in draws]
            rows.append(_row(n, title, units))
            if n == sizes[-1] and units[0]["psi"] is not None:
                figures |= _scatters(draws[0][1], units[0], title)
    figures["Recovery over rows"] = grouped_points(
        rows, "rows", "psi error", "psi error sd", group="method", title="largest error in ψ", log=True
    )
    figures["Correlation of learners and predictions"] = _heatmap(simulation.make("condind", sizes[1], 0))
    lengths = [_length_row(context, sizes[1], updates) for updates in (QUICK_LENGTHS if context.quick else LENGTHS)]
    figures["Recovery over updates"] = grouped_points(
        [{**row, "method": WAYS["irbm_cd"]} for row in lengths],
        "updates",
        "psi error",
        "psi error sd",
        group="method",
        title="largest error in ψ",
        log=True,
    )
    pivot = Pivot("Largest error in ψ, mean ± sd over draws", "method", "rows", "psi error", "psi error sd")
    notes = [
        "CondInd: 15 learners, 3 classes, 4 learners good and 11 guessing; a fresh draw of parameters for every seed.",
        "The paper shows its recovery as a picture without numbers, so no paper column exists.",
        "The prior is recovered by Lemma 1 with the visible biases that the printed formula leaves out.",
        "By Lemma 1 exact fit and Dawid-Skene have the same optimum. Contrastive training comes near it, but slowly: "
        "what is left of its error at the default length, with any number of rows, is mostly the updates it did not "
        "make (last table, single restarts). The default is shorter because longer training loses labels where votes "
        "are missing or depend on each other (benchmarks.bench_length).",
    ]
    tables = [
        Table("recovery", "Errors of recovered parameters", rows, (pivot,)),
        Table("lengths", f"The sampled iRBM by its updates, {sizes[1]:,} rows", lengths),
    ]
    return Outcome(tables, figures, notes, [*_findings(rows), _length_finding(lengths)])


def _findings(rows: list[dict[str, Any]]) -> list[str]:
    said = []
    for title in WAYS.values():
        own = [row for row in rows if row["method"] == title and row["psi error"] is not None]
        errors = ", ".join(f"{row['psi error']:.3f} at {row['rows']:,} rows" for row in own)
        if own:
            said.append(f"{title}: largest error in ψ {errors}; in π {own[-1]['pi error']:.3f} at the end.")
    return said


def _length_finding(rows: list[dict[str, Any]]) -> str:
    told = ", ".join(
        f"{row['psi error']:.3f} after {row['updates']:,} updates ({row['accuracy']:.1f}% right)"
        for row in rows
        if row["psi error"] is not None
    )
    return f"{WAYS['irbm_cd']}, single restarts of {rows[0]['rows']:,} rows: largest error in ψ {told}."


def _length_row(context: Context, n: int, updates: int) -> dict[str, Any]:
    """Return errors and accuracy of single sampled trainings of some length."""
    units = []
    for seed in context.seeds():
        made = simulation.make("condind", n, seed)
        training = {**context.training, "restarts": 1, "updates": updates}
        settings = {"way": "irbm_cd", "seed": seed, "training": training}

        def recover(made: Ensemble = made, seed: int = seed, training: dict[str, Any] = training) -> dict[str, Any]:
            return _recover(made, "irbm_cd", seed, training)

        units.append(context.unit(f"condind{n}-length-{updates}-{seed}", made.votes, settings, recover))
    row = _row(n, WAYS["irbm_cd"], units)
    return {"rows": n, "updates": updates, **{name: value for name, value in row.items() if name != "method"}}


def _unit(context: Context, made: Ensemble, way: str, seed: int) -> Any:
    training = {**(LONG if way == "irbm_cd_long" else {}), **context.training}
    settings = {"way": way, "seed": seed, "training": training}
    name = f"condind{made.votes.n_rows}-recovery-{way}-{seed}"
    return context.unit(name, made.votes, settings, lambda: _recover(made, way, seed, training))


def _recover(made: Ensemble, way: str, seed: int, training: dict[str, Any]) -> dict[str, Any]:
    bare = made.votes.without_truth()
    if way == "ds":
        fit = aggregate("ds", bare, np.random.default_rng(seed))
        assert fit.psi is not None  # noqa: S101  # Dawid-Skene has parameters
        assert fit.pi is not None  # noqa: S101
        labels = fit.posterior.argmax(axis=1)
        support = np.zeros((bare.n_learners, bare.n_classes))
        names = tuple(map(str, bare.classes.tolist()))
        found = Confusion("exact", bare.learners, names, fit.psi, fit.pi, support)
    else:
        model = IRBM(method="exact" if way == "irbm" else "cd", random_state=seed, **training).fit(bare)
        if not model.parts_:
            return {"psi": None, "why_not": joined(model.warnings_)}
        found = exact_confusion(model.parts_[0], model.classes_)
        labels = model.fuse_codes(bare.codes).argmax(axis=1)
    assert made.votes.truth is not None  # noqa: S101  # drawn with it
    told: Recovery = recovery(made.psi, made.pi, found)
    return {
        "psi": told.found_psi,
        "pi": told.found_pi,
        "psi_error": told.psi_error,
        "psi_mean_error": float(np.abs(told.true_psi - told.found_psi).mean()),
        "pi_error": told.pi_error,
        "right": 100 * accuracy(labels, made.votes.truth),
        "why_not": "",
    }


def _row(n: int, title: str, units: list[Any]) -> dict[str, Any]:
    ran = [unit for unit in units if unit["psi"] is not None]
    row: dict[str, Any] = {"rows": n, "method": title, "draws": len(ran)}
    for name, key in (("psi error", "psi_error"), ("psi mean error", "psi_mean_error"), ("pi error", "pi_error")):
        values = [unit[key] for unit in ran]
        row |= {name: mean(values), f"{name} sd": spread(values)}
    right = [unit["right"] for unit in ran]
    row |= {"accuracy": mean(right), "sd": spread(right)}
    return {**row, "note": joined([unit["why_not"] for unit in units])}


def _scatters(made: Ensemble, unit: dict[str, Any], title: str) -> dict[str, Any]:
    n, classes = made.votes.n_rows, made.votes.classes.tolist()
    psi = recovery_scatter(made.psi, np.array(unit["psi"]), learners=made.votes.learners, classes=classes)
    pi = recovery_scatter(made.pi, np.array(unit["pi"]), kind="π", classes=classes)
    return {f"ψ by {title}, {n:,} rows": psi, f"π by {title}, {n:,} rows": pi}


def _heatmap(made: Ensemble) -> Any:
    bare = made.votes.without_truth()
    told = correlation(IRBM().fit(bare).fuse(bare))
    return correlation_heatmap(told.matrix, told.names, order=told.order)
