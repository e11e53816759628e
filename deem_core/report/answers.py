"""Sections of a report about the answer: labels, learners, dependence, other methods, and the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deem_core import figures
from deem_core.report.data import EVALUATION
from deem_core.report.markup import Html, element, joined, paragraph, table
from deem_core.report.material import Material
from deem_core.report.pictures import picture
from deem_core.report.sections import Numbers, Section, absent
from deem_core.report.words import number, percent

LARGE_RATIO = 100
"""Beyond this, how many times a learner matters as much as another is not told exactly."""

MOST_UNITS = 40
"""Learners of a dependence heatmap, those that depend most."""


def labels(material: Material, numbers: Numbers) -> Section:
    """Return what became of the majority vote, and how sure the labels are."""
    told, found = numbers["labels"], material.labels
    changes = [
        (one["majority"], one["fused"], f"{one['rows']:,}", percent(one["rows"] / max(told["n_rows"], 1)))
        for one in told["largest_changes"]
    ]
    parts: list[Any] = [
        picture(
            lambda theme: figures.class_shares(
                told["class_shares"], told["majority_shares"], material.classes, theme=theme
            ),
            "Bars: the share of each class among the fused labels and by majority vote.",
            "Good: every class keeps a share of the same order. A class that all but vanishes has died in training.",
        ),
        element("h3", "What changed"),
        paragraph(
            f"{told['changed']:,} labels differ from the majority vote; {told['overruled']:,} of them on rows where "
            "all votes agree."
        ),
    ]
    if changes:
        parts += [
            picture(
                lambda theme: figures.label_changes(found.changes, material.classes, theme=theme),
                "Heatmap: rows by majority vote and by fused label.",
                "Off the diagonal are the rows whose label fusing has changed.",
                width=480,
            ),
            table(("majority vote", "fused label", "rows", "of all rows"), changes, numbers=(2, 3), most=10),
        ]
    parts += [
        element("h3", "Confidence"),
        picture(
            lambda theme: figures.confidence_histogram(found.edges, found.confidence, theme=theme),
            "Histogram: rows by the confidence of their label.",
            "Probability of the fused label, usually too high: trust the order of rows more than the numbers.",
        ),
    ]
    return Section("labels", "Labels", joined(*parts))


def importance(material: Material, numbers: Numbers) -> Section:
    """Return whom the labels hang on, overall and class by class."""
    title, found, told = "Importance of learners", material.inspection, numbers["importance"]
    if found is None:
        return absent("importance", title, numbers)
    own = found.influence
    experts = own.experts()
    order = own.order.tolist()
    rows = [
        (
            own.subjects[at],
            number(told["influence"][at]),
            number(told["restart_spread"][at]),
            number(told["withheld"][at]),
            percent(told["estimated_accuracy"][at]),
        )
        for at in order
    ]
    named = [f"{one.learner} for {one.class_name} ({_times(one.ratio)} the median learner)" for one in experts[:8]]
    body = joined(
        picture(
            lambda theme: figures.influence_bars(
                own.subjects, own.overall, spread=own.restart_spread, noise=own.noise, theme=theme
            ),
            "Bars: influence of each learner on the fused labels, the largest first.",
            f"Drop of the fused class's logit when a learner's votes are shuffled, on {own.rows_used:,} rows. "
            "Influence is no merit: it says whom the model listens to.",
            width=460,
        ),
        element("h3", "Experts"),
        picture(
            lambda theme: figures.influence_heatmap(
                own.by_class,
                own.subjects,
                own.classes,
                marked=[(one.learner, one.class_name) for one in experts],
                theme=theme,
            ),
            "Heatmap: influence of each learner on each class.",
            f"Standing out: {'; '.join(named)}." if named else "Nobody stands out in a single class.",
            width=480,
        ),
        table(("learner", "influence", "± restarts", "withheld", "estimated accuracy"), rows, numbers=(1, 2, 3, 4)),
        paragraph("The accuracy is estimated by the model, without truth.", class_="faint"),
    )
    return Section("importance", title, body)


def dependence(material: Material, numbers: Numbers) -> Section:
    """Return who goes with whom beyond what the label explains, layer by layer."""
    title, found, told = "Dependence", material.inspection, numbers["dependence"]
    if found is None:
        return absent("dependence", title, numbers)
    layers = [_strongest(layer.mean_matrix, layer.units) for layer in found.dependence.layers]
    cut = any(len(layer.units) > MOST_UNITS for layer in found.dependence.layers)
    rows = [
        (
            layer["name"],
            len(layer["units"]),
            *(number(layer[name]) for name in ("frobenius", "floor_frobenius", "largest", "entropy")),
        )
        for layer in told["layers"]
    ]
    pairs = [
        (pair["first"], pair["second"], number(pair["information"]), pair["reading"]) for pair in told["pairs"][:10]
    ]
    body = joined(
        paragraph(told["reading"]),
        picture(
            lambda theme: figures.dependence_grid(
                [matrix[None] for matrix, _ in layers],
                [units for _, units in layers],
                [layer.name for layer in found.dependence.layers],
                ["average over classes"],
                theme=theme,
            ),
            "Heatmaps: mutual information of all pairs of learners given the label, layers from left to right.",
            "Average over the classes, in nats: the more, the more two learners err together, as copies do. Less from "
            "left to right: the layers disentangle them."
            + (f" The {MOST_UNITS} that depend most are drawn." if cut else ""),
            width=560,
        ),
        table(
            ("layer", "units", "all pairs (Frobenius)", "by chance alone", "largest pair", "entropy"),
            rows,
            numbers=(1, 2, 3, 4, 5),
        ),
        element("h3", "Most dependent pairs") if pairs else "",
        table(("learner", "learner", "nats", "what it means"), pairs, numbers=(2,)) if pairs else "",
    )
    return Section("dependence", title, body)


def comparison(material: Material, numbers: Numbers) -> Section:
    """Return how other methods do on the same votes."""
    title, found, told = "Comparison of methods", material.comparison, numbers["comparison"]
    if found is None:
        return absent("comparison", title, numbers)
    parts = [paragraph(told["conclusion"], class_="lead")]
    ranked = found.ranked()
    if found.n_truth:
        parts.append(_badge())
        scored = [method for method in ranked if method.accuracy is not None]
        parts.append(
            picture(
                lambda theme: figures.accuracy_intervals(
                    [method.title for method in scored],
                    [method.accuracy or 0.0 for method in scored],
                    [method.intervals["accuracy"][0] for method in scored],
                    [method.intervals["accuracy"][1] for method in scored],
                    highlight="DEEM",
                    theme=theme,
                ),
                "Dots with intervals: accuracy of every method, the best first.",
                "95 % intervals over rows. All methods see the same rows, so their differences are known better than "
                "this; the sentence above rests on them.",
                width=460,
            )
        )
        rows = [
            (one.title, percent(one.accuracy), percent(one.macro_f1), percent(one.stability), _seconds(one.seconds))
            for one in ranked
        ]
        parts.append(table(("method", "accuracy", "macro-F1", "seeds agree", "seconds"), rows, numbers=(1, 2, 3, 4)))
    else:
        costs = [(one.title, percent(one.stability), _seconds(one.seconds)) for one in ranked]
        parts.append(table(("method", "seeds agree", "seconds"), costs, numbers=(1, 2)))
    lacking = [(one.title, one.note) for one in found.methods if not one.ran]
    if lacking:
        parts += [element("h3", "Not run"), table(("method", "why"), lacking)]
    run = (
        f"The latest finished comparison of this dataset (run {(material.compare_run or '')[:12]}). It trains its own "
        "models with default settings, so that its DEEM may differ from this run's."
    )
    return Section("comparison", title, joined(*parts, paragraph(run, class_="faint")))


def evaluation(material: Material, numbers: Numbers) -> Section:
    """Return what truth says; it never reaches training."""
    title, told = "Evaluation", numbers["evaluation"]
    if told is None:
        return absent("evaluation", title, numbers)
    methods = told["methods"]
    rows = [
        (one["title"], _interval(one, "accuracy"), _interval(one, "macro_f1"), _gain(told["gains"].get(one["name"])))
        for one in methods
    ]
    known = f"On {told['rows']:,} of {numbers['dataset']['n_rows']:,} rows with known truth."
    body = joined(
        _badge(),
        paragraph(known),
        picture(
            lambda theme: figures.accuracy_intervals(
                [one["title"] for one in methods],
                [one["accuracy"] for one in methods],
                [one["accuracy_interval"][0] for one in methods],
                [one["accuracy_interval"][1] for one in methods],
                highlight=methods[0]["title"],
                reference=next((one["title"] for one in methods if one["name"] == "majority_vote"), None),
                theme=theme,
            ),
            "Dots with intervals: accuracy of the fused labels, Dawid-Skene and the majority vote.",
            "95 % intervals by bootstrap over rows; they say nothing about another training.",
            width=460,
        ),
        table(("labels", "accuracy (95 %)", "macro-F1 (95 %)", "gain of the fused labels"), rows, numbers=(1, 2, 3)),
    )
    return Section("evaluation", title, body)


def _badge() -> Html:
    return paragraph(element("span", EVALUATION, class_="badge warning"))


def _interval(method: dict[str, Any], name: str) -> str:
    low, high = method[f"{name}_interval"]
    return f"{percent(method[name])} ({percent(low)} to {percent(high)})"


def _gain(gain: list[float] | None) -> str:
    if gain is None:
        return "–"
    middle, low, high = (f"{100 * value:+.1f}".replace("-", "−") for value in gain)
    return f"{middle} points ({low} to {high})"


def _times(ratio: float) -> str:
    """Return a ratio in words; to a median near zero any ratio is large, and its digits mean nothing."""
    return f"{ratio:.1f} times" if ratio < LARGE_RATIO else f"more than {LARGE_RATIO} times"


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _strongest(matrix: NDArray[np.float64], units: tuple[str, ...]) -> tuple[NDArray[np.float64], list[str]]:
    """Return the part of a matrix (u, u) with the units that depend most, in their order."""
    if len(units) <= MOST_UNITS:
        return matrix, list(units)
    pairs = np.where(np.eye(len(units), dtype=bool), 0.0, np.nan_to_num(matrix))
    kept = np.sort(np.argsort(-pairs.max(axis=1), kind="stable")[:MOST_UNITS])
    return matrix[np.ix_(kept, kept)], [units[at] for at in kept]
