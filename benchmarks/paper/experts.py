"""Experts: accuracy where only some learners know, and whom DEEM listens to there (paper, mixture of experts)."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.paper import methods as main_table
from benchmarks.paper import published
from benchmarks.paper.context import Context
from benchmarks.paper.data import Source, expert_sets
from benchmarks.paper.drawing import learner_bars
from benchmarks.paper.findings import places
from benchmarks.paper.methods import DS_RULE, accuracy_on, method_row, method_units, title
from benchmarks.paper.outcome import Outcome, Pivot, Table, joined, mean, spread
from deem_core import DEEM
from deem_core.diagnostics.influence import importance
from deem_core.figures import influence_panels
from deem_core.votes.describe import describe

HOWS = ("permuted", "withheld")
RUNS = 3
METHODS = (*main_table.METHODS[:5], "la1", *main_table.METHODS[5:])  # the paper's table has one pass too


def run(context: Context) -> Outcome:
    """Run all methods on all sets with experts, and ask DEEM for the importance of learners."""
    sources = expert_sets(context)
    rows, weights, figures = [], [], {}
    for source in sources:
        rows += [_beside_paper(method_row(context, source, method, runs=RUNS), source) for method in METHODS]
        own = (100 * np.asarray(describe(source.votes).learner_accuracy)).tolist()
        bars = learner_bars(own, source.votes.learners, list(source.experts))
        figures[f"{source.name}: accuracy of every learner"] = bars
        found = _importance(context, source)
        for how, told in found.items():
            weights.append(_weight_row(source, how, told))
            if told["subset"] is not None:
                figures[f"{source.name}: importance of learners, votes {how}"] = influence_panels(
                    told["subset"],
                    told["rest"],
                    source.votes.learners,
                    subset_name=f"classes {', '.join(map(str, source.expert_classes))}",
                    highlight=list(source.experts),
                )
    alone = [_alone_row(context, sources[-2], method) for method in METHODS]
    pivots = (
        Pivot("Accuracy on the expert classes (the paper's in brackets)", "method", "set", "expert", "expert sd"),
        Pivot("Accuracy on the rest (the paper's in brackets)", "method", "set", "remaining", "remaining sd"),
    )
    low, high = published.EXPERT_WEIGHT
    notes = [f"{source.name}: {source.about}; {source.votes.n_rows:,} rows." for source in sources]
    notes += [
        f"The paper's accuracies are from its tables {published.EXPERTS_TABLE} and {published.ALONE_TABLE}; it prints "
        "the same majority vote for MnistE-47 and MnistE-568, of which one may be a slip.",
        DS_RULE,
        "In MnistE-4/7 the paper does not say which two learners are oracles: here the first tree and the first "
        "naive Bayes.",
        f"The paper says that DEEM weighs experts {low:g}–{high:g} times as much as others on their classes and does "
        "not define the weight; ours is the fall of the fused label's centred logit when a learner's votes are "
        "permuted over rows, or withheld. Ten other measures stand beside it in expert_weights.",
        "Rows are divided by their true class, for this evaluation only.",
    ]
    tables = [
        Table("experts", "All numbers", rows, pivots),
        Table("alone", f"{sources[-2].name}: each of the two expert classes alone", alone),
        Table("importance", "Importance of experts: times that of the other learners", weights),
    ]
    return Outcome(tables, figures, notes, _findings(rows, weights))


def _findings(rows: list[dict[str, Any]], weights: list[dict[str, Any]]) -> list[str]:
    said = []
    for part, where in (("expert", "on the expert classes"), ("remaining", "on the rest")):
        said += [sentence.replace(":", f" {where}:", 1) for sentence in places(rows, part)]
    told = [
        f"{row['set']} {row['on their classes']:.1f} (elsewhere {row['on the rest']:.1f})"
        for row in weights
        if row["votes"] == HOWS[0] and None not in (row["on their classes"], row["on the rest"])
    ]
    low, high = published.EXPERT_WEIGHT
    ratio = f"Importance of experts on their classes, in multiples of the others' (paper {low:g}–{high:g}): "
    return [*said, f"{ratio}{', '.join(told)}."] if told else said


def _beside_paper(row: dict[str, Any], source: Source) -> dict[str, Any]:
    nothing = ((None, None), (None, None))
    expert, rest = published.EXPERTS.get(source.paper, {}).get(row["key"], nothing)
    own = {name: value for name, value in row.items() if name not in ("note", "memory GB")}
    return {**own, "paper expert": expert[0], "paper remaining": rest[0], "note": row["note"]}


def _alone_row(context: Context, source: Source, method: str) -> dict[str, Any]:
    """Return the accuracy on each class that one learner is the only expert on."""
    units = method_units(context, source, method, runs=RUNS)
    ran = [unit for unit in units if unit["right"] is not None]
    nothing = ((None, None), (None, None))
    printed = published.ALONE.get(method, nothing) if source.paper else nothing
    row: dict[str, Any] = {"method": title(method), "key": method}
    for label, (theirs, _) in zip(source.expert_classes, printed, strict=True):
        own = [accuracy_on(unit, [label]) for unit in ran]
        row |= {f"class {label}": mean(own), f"class {label} sd": spread(own), f"paper class {label}": theirs}
    return {**row, "note": joined([unit["why_not"] for unit in units])}


def _importance(context: Context, source: Source) -> Any:
    """Return way of asking → importance of every learner on the expert classes and on the rest, by one training."""
    training = context.training

    def ask() -> dict[str, Any]:
        bare = source.votes.without_truth()
        model = DEEM(random_state=0, **training).fit(bare)
        if not model.parts_:
            return {how: {"subset": None, "rest": None, "why_not": joined(model.warnings_)} for how in HOWS}
        chosen = np.isin(np.asarray(source.votes.truth), source.expert_classes)
        made = {}
        for how in HOWS:
            rng = np.random.default_rng(0)
            subset, rest = (importance(model, bare, rng=rng, how=how, subset=rows) for rows in (chosen, ~chosen))
            made[how] = {"subset": subset.overall, "rest": rest.overall, "why_not": ""}
        return made

    settings = {"importance": HOWS, "seed": 0, "training": training, "classes": source.expert_classes}
    return context.unit(f"{source.name}-importance-0", source.votes, settings, ask)


def _weight_row(source: Source, how: str, told: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {"set": source.name, "votes": how, "on their classes": None, "on the rest": None}
    notes = [told["why_not"]]
    is_expert = np.isin(source.votes.learners, list(source.experts))
    for column, key in (("on their classes", "subset"), ("on the rest", "rest")):
        if told[key] is None:
            continue
        values = np.asarray(told[key], np.float64)
        own, others = values[is_expert].mean(), values[~is_expert].mean()
        if own > 0 and others > 0:
            row[column] = float(own / others)
        else:
            notes.append(f"No ratio {column}: experts {own:.3g}, others {others:.3g} nats.")
    return {**row, "note": joined(notes)}
