"""Findings: what a table of methods says about DEEM, in sentences that are made from its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.paper.methods import REFERENCES

Rows = Sequence[dict[str, Any]]
OURS, MAJORITY = "deem", "mv"
SAME = 0.05
"""Points below which two accuracies, printed with one decimal, are the same."""


def by_set(rows: Rows, value: str = "accuracy") -> dict[str, dict[str, dict[str, Any]]]:
    """Return set → key of method → row, without references to truth and rows that lack the number."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        if row["key"] not in REFERENCES and row[value] is not None:
            found.setdefault(row["set"], {})[row["key"]] = row
    return found


def place(methods: dict[str, dict[str, Any]], value: str = "accuracy", ours: str = OURS) -> str:
    """Return where DEEM stands among the methods on one set, beside the best other and the majority vote."""
    own = methods[ours][value]
    rivals = [row for key, row in methods.items() if key != ours]
    best = max(rivals, key=lambda row: row[value])
    rank = 1 + sum(row[value] > own + SAME for row in rivals)
    theirs = methods[ours].get(f"paper {value}")
    paper = f" (paper {theirs:.1f})" if theirs is not None else ""
    return (
        f"{methods[ours]['method']} {amount(methods[ours], value)}{paper}, place {rank} of {len(methods)}; best other "
        f"{best['method']} {amount(best, value)}, majority vote {methods[MAJORITY][value]:.1f}"
    )


def amount(row: dict[str, Any], value: str) -> str:
    """Return a number with its spread over runs."""
    off = row.get("sd" if value == "accuracy" else f"{value} sd")
    return f"{row[value]:.1f}" + (f" ± {off:.1f}" if off else "")


def places(rows: Rows, value: str = "accuracy", ours: str = OURS) -> list[str]:
    """Return a sentence for every set."""
    return [
        f"{name}: {place(methods, value, ours)}." for name, methods in by_set(rows, value).items() if ours in methods
    ]


def over_sets(rows: Rows, value: str = "accuracy") -> list[str]:
    """Return how often DEEM is ahead over all sets, and the means of those methods that ran on every set."""
    found = by_set(rows, value)
    own = {name: methods[OURS][value] for name, methods in found.items() if OURS in methods}

    def leading(than: Sequence[float]) -> int:
        return sum(mine > other + SAME for mine, other in zip(own.values(), than, strict=True))

    bests = [max(row[value] for key, row in found[name].items() if key != OURS) for name in own]
    majority = [found[name][MAJORITY][value] for name in own]
    lost = [name for name, other in zip(own, majority, strict=True) if own[name] < other - SAME]
    below = f" It is below the majority vote on {', '.join(lost)}." if lost else ""
    everywhere = [key for key in next(iter(found.values())) if all(key in methods for methods in found.values())]
    means = {key: sum(methods[key][value] for methods in found.values()) / len(found) for key in everywhere}
    names = {key: next(iter(found.values()))[key]["method"] for key in everywhere}
    ordered = sorted(means, key=lambda key: -means[key])
    told = ", ".join(f"{names[key]} {means[key]:.1f}" for key in ordered)
    return [
        f"Of {len(own)} sets, DEEM is ahead of every other method on {leading(bests)} and of the majority vote on "
        f"{leading(majority)}.{below}",
        f"Mean {value} over the sets, of methods that ran on all: {told}. DEEM is number {ordered.index(OURS) + 1} of "
        f"{len(ordered)}.",
    ]


def at_a_glance(rows: Rows) -> list[str]:
    """Return a small table in Markdown: on every set the majority vote, Dawid-Skene, the best other method and DEEM."""
    lines = ["| set | majority vote | Dawid-Skene | best other method | DEEM |", "|---|---|---|---|---|"]
    for name, methods in by_set(rows).items():
        best = max((row for key, row in methods.items() if key != OURS), key=lambda row: row["accuracy"])
        cells = [amount(methods[key], "accuracy") for key in (MAJORITY, "ds")]
        cells += [f"{amount(best, 'accuracy')} ({best['method']})", amount(methods[OURS], "accuracy")]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines
